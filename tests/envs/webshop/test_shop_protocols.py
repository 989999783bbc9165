"""Protocols: the settings of published results, one keyword each, on files in the benchmark's format and without."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

import agentrl
from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.envs.webshop.actions import Action, read_tagged_turn, tagged_reply
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.envs.webshop.page_text import MAX_LENGTH, Past, step_prompt
from agentrl.envs.webshop.players import NaiveShopper
from agentrl.policies.oracle import OraclePolicy
from agentrl.policies.random import RandomPolicy
from agentrl.policies.react import ReActPolicy
from agentrl.testing import KitBudget, check_env
from agentrl.wrappers import History, Reasoning, ToolCalls
from tests.envs.webshop.official_files import a_row, a_wish, write_shop
from tests.envs.webshop.shop_kit import SMALL, small_shop

TEXT, VISUAL = "agentrl/WebShop-Text-v0", "agentrl/WebShop-Visual-v0"
PROTOCOLS = ("webshop", "verl-agent")
PRODUCTS, HUMAN_EACH, VALUES = 24, 70, 75


def asin(number: int) -> str:
    return f"B{number:09}"


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """1,680 human and 1,800 synthetic goals for 24 products; rare attributes weigh more."""
    folder = tmp_path_factory.mktemp("official")
    options = {"size": [{"value": f"{number} inch"} for number in range(VALUES)]}
    rows = [a_row(asin(n), customization_options=options, name=f"Sturdy Boots Number {n}") for n in range(PRODUCTS)]
    human = {
        asin(n): [a_wish(asin(n), f"wish {n} {k}", instruction_options=["3 inch"]) for k in range(HUMAN_EACH)]
        for n in range(PRODUCTS)
    }
    annotations = {
        asin(n): {
            "attributes": ["steel toe"],
            "instruction": f"Find me boots {n}",
            "instruction_attributes": ["rubber sole" if n == 0 else "steel toe"],
        }
        for n in range(PRODUCTS)
    }
    write_shop(folder / "shop", rows, annotations, human)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTRL_CACHE", str(folder / "cache"))
        yield folder / "shop"


def instructions(env: WebShopEnv) -> list[str]:
    return [goal.instruction.partition(", and price")[0] for goal in env.shop.goals(env.split)]


def benchmark_shuffle(texts: list[str], seed: int = 233) -> list[str]:
    """Seeded as the benchmark does it, so that its own cuts are easy to compare."""
    random.Random(seed).shuffle(texts)
    return texts


HUMAN = [f"wish {n} {k}" for n in range(PRODUCTS) for k in range(HUMAN_EACH)]
SYNTHETIC = [f"Find me boots {n} with size: {k} inch" for n in range(PRODUCTS) for k in range(VALUES)]
CUTS = {"test": slice(500), "dev": slice(500, 1500), "train": slice(1500, None)}


# ---------------------------------------------------------------------- goals


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("goals", "texts"), [("human", HUMAN), ("synthetic", SYNTHETIC)])
def test_splits_are_the_benchmarks_own_cuts_goal_by_goal(
    official: Path, protocol: str, goals: str, texts: list[str]
) -> None:
    order = benchmark_shuffle(list(texts))
    for split, cut in CUTS.items():
        env = WebShopEnv(data_dir=official, protocol=protocol, goals=goals, split=split)
        assert instructions(env) == order[cut] and len(env.tasks()) == len(order[cut])
    own = WebShopEnv(data_dir=official, goals=goals, split="train")
    assert len(own.tasks()) != len(order[CUTS["train"]])  # by default no product has goals in two splits


def test_verl_agent_asks_for_synthetic_goals_and_the_benchmark_for_human_ones(official: Path) -> None:
    assert instructions(WebShopEnv(data_dir=official, protocol="verl-agent", split="test"))[0] in SYNTHETIC
    assert instructions(WebShopEnv(data_dir=official, protocol="webshop", split="test"))[0] in HUMAN


def test_the_shuffle_can_have_another_seed_or_none(official: Path) -> None:
    env = WebShopEnv(data_dir=official, cuts="benchmark", shuffle_seed=None, split="dev")
    assert instructions(env) == HUMAN[500:1500]
    env = WebShopEnv(data_dir=official, cuts="benchmark", shuffle_seed=7, split="dev")
    assert instructions(env) == benchmark_shuffle(list(HUMAN), 7)[500:1500]
    for split in CUTS:
        assert instructions(WebShopEnv(data_dir=official, cuts="none", split=split)) == benchmark_shuffle(list(HUMAN))


def test_synthetic_goals_can_be_drawn_by_their_weights(official: Path) -> None:
    """ "rubber sole" is asked for 75 times, "steel toe" 1,725 times: product 0 is drawn as often as all the others."""
    arguments: dict[str, Any] = {"data_dir": official, "goals": "synthetic", "cuts": "benchmark", "split": "train"}
    env = WebShopEnv(**arguments, draw="weight")
    goals = env.shop.goals("train")
    weights = np.array([goal.weight for goal in goals])
    first = np.array([goal.asin == asin(0) for goal in goals])
    expected = weights[first].sum() / weights.sum()
    env.reset(seed=0)
    drawn = Counter(env.reset()[1]["state"]["target"] for _ in range(1_500))
    assert abs(drawn[asin(0)] / 1_500 - expected) < 0.05 and expected > 5 * first.mean()
    assert env.reset(seed=4)[1]["task"] == env.reset(seed=4)[1]["task"]
    assert env.reset(options={"task": "train-3"})[1]["task"] == "train-3"
    walked = WebShopEnv(**arguments)
    walked.reset(seed=0)
    assert len({walked.reset()[1]["task"] for _ in range(len(goals))}) == len(goals)
    generated = small_shop(draw="weight")  # all weights are alike
    generated.reset(seed=0)
    assert len({generated.reset()[1]["task"] for _ in range(40)}) > 10


# ---------------------------------------------------------------------- what is in force


def test_a_protocol_sets_what_no_argument_sets() -> None:
    verl = small_shop(protocol="verl-agent")
    assert (verl.max_turns, verl.invalid_penalty, verl.num_prev_obs, verl.num_prev_actions) == (15, -0.1, 2, 2)
    assert verl.pays_success and verl.reply_format and not verl.show_feedback
    other = small_shop(protocol="verl-agent", max_turns=9, reward="score", prompt="page", invalid_penalty=0.0)
    assert (other.max_turns, other.invalid_penalty) == (9, 0.0) and not other.pays_success and not other.reply_format
    original = small_shop(protocol="webshop")
    assert (original.max_turns, original.invalid_penalty, original.show_feedback) == (100, 0.0, False)
    suite = small_shop()
    assert (suite.max_turns, suite.invalid_penalty, suite.show_feedback) == (15, 0.0, True)
    assert suite.parameters["max_turns"] == 15 and verl.parameters["reward"] == "success"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"protocol": "verl"}, "protocol must be one of webshop, verl-agent or None; got 'verl'. Did you mean"),
        ({"protocol": ["webshop"]}, "protocol must be one of"),
        ({"cuts": "benchmark"}, "need data_dir"),
        ({"goals": "synthetic"}, "need data_dir"),
        ({"reward": "none"}, "reward must be one of score, success; got 'none'"),
        ({"prompt": 3}, "prompt must be one of page, admissible; got 3"),
        ({"draw": "lots"}, "draw must be one of walk, weight"),
        ({"shuffle_seed": 5}, "shuffle_seed needs cuts"),
        ({"shuffle_seed": -1}, "shuffle_seed must be"),
    ],
)
def test_arguments_that_cannot_be_are_refused_in_a_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        small_shop(**arguments)


# ---------------------------------------------------------------------- the prompt


def verl(**arguments: Any) -> WebShopEnv:
    env = small_shop(protocol="verl-agent", **arguments)
    env.reset(seed=3)
    return env


def test_the_first_prompt_holds_wish_page_and_admissible_actions_but_no_history() -> None:
    env = verl()
    text = env._observe()["text"]
    assert env.goal.instruction in text and "step 1 of 15" in text and "You see: 'Search'\n" in text
    assert "[\n'search[<your query>]',\n]\n" in text and "Observation" not in text
    assert text.index(env.goal.instruction) < text.index("You see") < text.index("[\n") < text.index("<think>")
    assert "15 turns" in env.system_prompt and "<think>...</think><action>...</action>" in env.system_prompt
    assert "only if" in env.system_prompt


def test_later_prompts_hold_the_last_two_pages_and_actions() -> None:
    env = verl()
    seen = []
    for action in ("search[made for every day]", "click[next >]", "click[< prev]"):
        seen.append(env._written())
        text = env.step(tagged_reply(action))[0]["text"]
    assert f"[Observation 2: '{seen[1]}', Action 2: 'click[next >]']\n" in text
    assert f"[Observation 3: '{seen[2]}', Action 3: 'click[< prev]']\nThis is step 4 of 15." in text
    assert "Observation 1" not in text and "3 step(s)" in text and "My next step" not in text
    here = env._written()
    assert here.startswith("'Back to Search' [SEP] 'Page 1 (Total results: 50)' [SEP] 'Next >' [SEP] '")
    assert f"You see: {here}\n" in text and env.goal.instruction not in here
    listed = text.partition("[\n")[2].partition("\n]")[0].splitlines()
    assert listed == [f"'click[{name}]'," for name in env.available_actions["clickables"]]


def test_what_could_not_be_read_stands_quoted_in_the_history() -> None:
    text = verl().step("<action>dance</action> <image> " + "x" * 5_000)[0]["text"]
    assert "Action 1: ''\\x3caction>dance" in text and "<image>" not in text


def test_a_prompt_that_grows_too_long_loses_its_history_first() -> None:
    past = Past(["page " * 1_500, "page " * 1_500], ["one", "two"])
    short = step_prompt("wish", "here", ["click[x]"], past, 2, 15)
    assert "Observation" not in short and "You see: here\n" in short and len(short) < MAX_LENGTH
    assert "Observation 1" in step_prompt("wish", "here", ["click[x]"], Past(["page"], ["one"]), 1, 15)


def test_a_picture_takes_the_pages_place() -> None:
    env = small_shop(protocol="verl-agent", kind="visual", image_size=128)
    env.reset(seed=3)
    text = env.step(tagged_reply("search[<image> lamp]"))[0]["text"]
    assert text.count("<image>") == 1 and "You see: <image>\n" in text
    assert "[Action 1: 'search[(image) lamp]']" in text and "'click[next >]'," in text


def test_the_webshop_protocol_shows_the_original_text_and_nothing_else() -> None:
    env = small_shop(protocol="webshop")
    text = env.reset(seed=3)[0]["text"]
    assert text == f"WebShop [SEP] Instruction: [SEP] {env.goal.instruction} [SEP] Search"
    assert env.step("nonsense")[0]["text"] == text
    assert env.system_prompt == small_shop(max_turns=100).system_prompt


# ---------------------------------------------------------------------- replies and rewards


@pytest.mark.parametrize(
    "text",
    [
        "<think>so</think><action>search[Red  Shoes]</action>",
        "<think>so\n</think>\n<ACTION> search[red shoes] </ACTION> and more",
        "<action>search[red shoes]</action><think>late</think>",
        "<think>so</think><action>search[red shoes]</action><action>click[x]</action>",
    ],
)
def test_a_tagged_reply_is_read(text: str) -> None:
    turn = read_tagged_turn(text)
    assert turn.actions == [Action("search", "red shoes")] and turn.error is None


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("search[red shoes]", True),
        ("<answer>search[red shoes]</answer>", True),
        ("<action>search[red shoes]</action>", True),
        ("</think><action>search[red shoes]</action><think>", True),
        ("<think>so</think>search[red shoes]", False),
        ("<think>so</think></action>search[red shoes]<action>", False),
        ("<think>so</think><action>dance</action>", False),
        ("<think>so</think><action></action>", False),
        ("", False),
    ],
)
def test_a_reply_in_another_form_costs_the_penalty_even_where_it_runs(text: str, runs: bool) -> None:
    turn = read_tagged_turn(text)
    assert bool(turn.actions) == runs and turn.error
    env = verl()
    _, reward, _, _, info = env.step(text)
    assert reward == -0.1 and info["reward_terms"] == {"invalid": -0.1} and not info["valid"]
    assert (env.state().page == "results") == runs


def test_buying_without_the_tags_costs_the_penalty_too() -> None:
    env = verl()
    while "buy now" not in (action := str(env.oracle())):
        env.step(action)
    _, reward, terminated, _, info = env.step("click[buy now]")
    assert terminated and info["success"] and not info["valid"] and reward == pytest.approx(9.9)
    assert info["reward_terms"] == {"success": 10.0, "invalid": -0.1}


@pytest.mark.parametrize("action", [None, 7, b"<action>search[x]</action>", "<action>" * 100_000 + "</think>" * 9_999])
def test_hostile_replies_are_only_invalid(action: Any) -> None:
    env = verl()
    before = env.state()
    assert env.step(action)[1] == -0.1 and env.state() == before


def test_only_success_is_paid_and_the_score_is_still_told() -> None:
    env = verl()
    while not env.state().product:
        env.step(env.oracle())
    hasty = verl()
    hasty.step(hasty.reply("search[made for every day]"))
    hasty.step(hasty.hasty_action())
    _, reward, terminated, _, info = hasty.step(hasty.hasty_action())
    assert terminated and reward == 0.0 and info["reward_terms"] == {"success": 0.0} and not info["success"]
    assert info["metrics"]["score"] == info["purchase"]["total"]
    while (action := env.oracle()) is not None:
        _, reward, _, _, info = env.step(action)
    assert reward == 10.0 and info["reward_terms"] == {"success": 10.0} and info["metrics"] == {"score": 1.0}


# ---------------------------------------------------------------------- the suite around it


@pytest.mark.parametrize(("env_id", "protocol"), [(TEXT, "webshop"), (TEXT, "verl-agent"), (VISUAL, "verl-agent")])
def test_the_contract_holds_under_every_protocol(env_id: str, protocol: str) -> None:
    arguments = {"image_size": 128} if env_id == VISUAL else {}
    checks = None if env_id == TEXT else ["spaces", "info", "rewards", "prompt", "snapshot", "oracle"]
    budget = KitBudget(episodes=2, image_size=128, seconds=60)
    report = check_env(
        env_id, checks=checks, budget=budget, catalogue_size=SMALL, protocol=protocol, max_turns=15, **arguments
    )
    report.raise_for_failure()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_oracle_solves_goals_of_the_benchmarks_files(official: Path, protocol: str) -> None:
    for split in CUTS:
        env = WebShopEnv(data_dir=official, protocol=protocol, split=split)
        for seed in range(8):
            env.reset(seed=seed)
            while (action := env.oracle()) is not None:
                *_, info = env.step(action)
                assert info["valid"], info["feedback"]
            assert info["success"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_specs_and_snapshots_round_trip(official: Path, protocol: str) -> None:
    made = gym.make(TEXT, data_dir=str(official), protocol=protocol, split="test", draw="weight")
    assert made.spec is not None
    again = gym.make(EnvSpec.from_json(made.spec.to_json()))
    base: Any = made.unwrapped
    assert json.loads(made.spec.to_json())["kwargs"]["protocol"] == protocol
    made.reset(seed=5)
    again.reset(seed=6)
    for _ in range(3):
        made.step(base.oracle())
    agentrl.restore(again, agentrl.snapshot(made))
    while (action := base.oracle()) is not None:
        first, second = made.step(action), again.step(action)
        assert first[:4] == second[:4] and first[4] == second[4]
    assert made.reset()[0] == again.reset()[0]
    other = gym.make(TEXT, catalogue_size=SMALL)
    other.reset(seed=0)
    with pytest.raises(SnapshotError):
        agentrl.restore(other, agentrl.snapshot(made))


@pytest.mark.parametrize("policy", [OraclePolicy(), RandomPolicy(seed=0), NaiveShopper()])
def test_scripted_players_reply_in_the_form_that_is_asked_for(policy: Any) -> None:
    env = gym.make(TEXT, catalogue_size=SMALL, protocol="verl-agent")
    env.reset(seed=2)
    for _ in range(4):
        (answer,) = policy.act([[]], [env])
        *_, terminated, truncated, info = env.step(answer.action)
        assert info["valid"], (answer.action, info["feedback"])
        if terminated or truncated:
            break
    assert env.action_space.sample().startswith("<think>")


def test_wrappers_with_a_form_of_their_own_refuse_and_others_work() -> None:
    env = gym.make(TEXT, catalogue_size=SMALL, protocol="verl-agent")
    for wrapper in (Reasoning, ToolCalls):
        with pytest.raises(ConfigError, match=rf"{wrapper.__name__} asks for replies .* asks for <think>"):
            wrapper(env)
    with pytest.raises(ConfigError, match="its own reply format"):
        ReActPolicy(OraclePolicy(), examples=1).act([[]], [env])
    told = History(env, turns=1)
    told.reset(seed=0)
    text = told.step(tagged_reply("search[lamp]"))[0]["text"]
    assert text.startswith("Your turns so far:") and "step 2 of 15" in text
    plain = Reasoning(gym.make(TEXT, catalogue_size=SMALL, protocol="webshop"))
    plain.reset(seed=0)
    assert plain.step(plain.gold())[4]["format"]

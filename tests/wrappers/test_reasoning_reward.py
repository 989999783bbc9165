"""ReasoningReward: what is judged against which state, what is earned, and what happens when nobody answers."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec

import agentrl
from agentrl.core.errors import ConfigError, EngineFault, JudgeFault, MissingExtra
from agentrl.core.judging import JudgeRequest, Verdict
from agentrl.core.response import build_response
from agentrl.core.state import State
from agentrl.envs.grid.sokoban import SokobanEnv
from agentrl.judges.structured import StructuredJudge
from agentrl.wrappers import History, Reasoning, ReasoningReward
from agentrl.wrappers.reasoning import describe
from tests import toy_judges as toys

EXACT = "tests.toy_judges:Exact"
JUDGED = ("grounding", "worldmodeling", "grounding_worldmodeling")
BOTH = "grounding_worldmodeling"


def make(
    judge: Any = EXACT,
    strategy: str = BOTH,
    representation: str = "natural",
    game: str = "Sokoban",
    env_kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> ReasoningReward:
    env = gym.make(f"agentrl/{game}-Text-v0", **(env_kwargs or {}))
    return ReasoningReward(Reasoning(env, strategy, representation), judge, **options)


def reply(env: gym.Env, **texts: str) -> str:
    """A strict reply; fields that are not given say nothing true."""
    filled = {"observation": "?", "reasoning": "well", "prediction": "?", "answer": "Up", **texts}
    return build_response(env.get_wrapper_attr("strategy"), filled)


def gold(env: gym.Env) -> str:
    return env.get_wrapper_attr("gold")()


@pytest.mark.parametrize("game", ["Sokoban", "FrozenLake"])
@pytest.mark.parametrize("strategy", JUDGED)
@pytest.mark.parametrize("representation", ["natural", "symbolic", "structured"])
def test_gold_replies_earn_every_term_in_full(game: str, strategy: str, representation: str) -> None:
    env = make(EXACT, strategy, representation, game)
    expected = {name: 0.5 for name in ("grounding", "worldmodeling") if name in strategy}
    for seed in range(10):
        env.reset(seed=seed)
        over = False
        while not over:
            _, reward, terminated, truncated, info = env.step(gold(env))
            over = terminated or truncated
            assert {name: info["reward_terms"].get(name) for name in expected} == expected
            assert set(info["verdicts"]) == set(expected) and info["pending"] == []
            assert reward == math.fsum(info["reward_terms"].values())


def test_observation_is_judged_before_the_turn_and_prediction_after_all_of_its_actions() -> None:
    env = make(toys.Exact())
    for seed in range(20):
        env.reset(seed=seed)
        turn = env.unwrapped.oracle()
        before = describe(env.unwrapped.state(), "natural")
        after = describe(env.get_wrapper_attr("_state_after")(turn), "natural")
        assert before != after
        blob = agentrl.snapshot(env)
        *_, right = env.step(reply(env, observation=before, prediction=after, answer=turn))
        assert (right["reward_terms"]["grounding"], right["reward_terms"]["worldmodeling"]) == (0.5, 0.5)
        agentrl.restore(env, blob)
        *_, swapped = env.step(reply(env, observation=after, prediction=before, answer=turn))
        assert (swapped["reward_terms"]["grounding"], swapped["reward_terms"]["worldmodeling"]) == (0.0, 0.0)


def test_a_turn_that_the_form_is_not_paid_for_is_judged_with_weight_0() -> None:
    env = make(toys.Exact())
    env.reset(options={"task": "######/#__O_#/#_X__#/#____#/#P#__#/######"})
    *_, stalled = env.step(env.get_wrapper_attr("truthful")("Up, Down"))
    assert stalled["unpaid"] == "unchanged" and not {"format"} & stalled["reward_terms"].keys()
    assert {term: verdict["score"] for term, verdict in stalled["verdicts"].items()} == {
        "grounding": 1.0,
        "worldmodeling": 1.0,
    }
    assert stalled["reward_terms"]["grounding"] == stalled["reward_terms"]["worldmodeling"] == 0.0
    *_, moved = env.step(env.get_wrapper_attr("truthful")("Up"))
    assert (
        moved["reward_terms"]["grounding"] == moved["reward_terms"]["worldmodeling"] == moved["reward_terms"]["format"]
    )


def test_the_requests_hold_the_two_states_and_all_that_is_needed_to_judge_later() -> None:
    env = make(toys.Exact(), grounding=0.25, worldmodeling=2)
    env.reset(seed=3)
    before = env.unwrapped.state().to_json()
    *_, info = env.step(gold(env))
    first, second = info["judge_requests"]
    assert first["state"] == before != second["state"] == env.unwrapped.state().to_json()
    assert (first["purpose"], first["term"], first["weight"]) == ("grounding", "grounding", 0.25)
    assert (second["purpose"], second["term"], second["weight"]) == ("worldmodeling", "worldmodeling", 2.0)
    assert first["text"] == info["observation"] and second["text"] == info["prediction"]
    assert first["env_id"] == "agentrl/Sokoban-Text-v0" and first["representation"] == "natural"
    assert json.loads(json.dumps(info["judge_requests"], allow_nan=False)) == info["judge_requests"]
    assert info["reward_terms"]["worldmodeling"] == 2.0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text + " and so on",  # form
        lambda text: text.replace("<think>", "", 1),
        lambda text: text.replace("<answer>", "<answer>Fly, "),  # action
        lambda text: text.partition("<answer>")[0] + "<answer>Up, Fly</answer>",
        lambda text: text.replace("<answer>", "<answer>nothing at all: "),
        lambda text: "",
        lambda text: None,
    ],
)
def test_broken_form_or_invalid_actions_are_never_judged(spoil: Any) -> None:
    judge = toys.Counting()
    toys.Counting.batches.clear()
    env = make(judge)
    env.reset(seed=0)
    *_, info = env.step(spoil(gold(env)))
    assert not info["format"] or not info["valid"]
    assert info["judge_requests"] == [] and info["verdicts"] == {} and info["pending"] == []
    assert not {"grounding", "worldmodeling"} & set(info["reward_terms"])
    assert toys.Counting.batches == []


def test_a_turn_is_asked_about_in_one_batch_and_only_once() -> None:
    toys.Counting.batches.clear()
    env = make("tests.toy_judges:Counting")
    env.reset(seed=0)
    env.step(gold(env))
    assert [[request.purpose for request in batch] for batch in toys.Counting.batches] == [
        ["grounding", "worldmodeling"]
    ]


def test_a_turn_after_the_end_earns_nothing() -> None:
    env = make(EXACT, env_kwargs={"max_turns": 1, "max_solution": 3, "min_solution": 1})
    env.reset(seed=0)
    env.step(gold(env))
    _, reward, _, _, info = env.step(reply(env))
    assert reward == 0.0 and info["judge_requests"] == []


# ---------------------------------------------------------------------- no verdict


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        (toys.Down(), "503"),
        (toys.Raising(), "RuntimeError: socket closed"),
        (toys.Raising(JudgeFault("out of quota")), "out of quota"),
        (toys.Raising(EngineFault("gpu")), "EngineFault"),
        (toys.Short(), "answered 2 requests with 1"),
        (toys.Says(None), "NoneType instead of a verdict"),
        (toys.Says(0.9), "float instead of a verdict"),
        (toys.Says(Verdict(float("nan"), "x")), "between 0 and 1"),
        (toys.Says(Verdict(1.5, "x")), "between 0 and 1"),
        (toys.Says(Verdict(-0.1, "x")), "between 0 and 1"),
        (toys.Says(Verdict(True, "x")), "between 0 and 1"),
        (toys.Says(Verdict("1", "x")), "between 0 and 1"),  # type: ignore[arg-type]
    ],
)
def test_without_a_verdict_the_terms_are_owed_and_nothing_is_zero(judge: Any, says: str) -> None:
    env, plain = make(judge), make(toys.Exact())
    env.reset(seed=1)
    plain.reset(seed=1)
    text = gold(env)
    _, reward, _, _, info = env.step(text)
    _, full, *_ = plain.step(text)
    assert info["pending"] == ["grounding", "worldmodeling"]
    assert not {"grounding", "worldmodeling"} & set(info["reward_terms"])
    assert info["verdicts"] == {}
    assert says in info["judge_faults"]["grounding"]["detail"]
    assert isinstance(reward, float) and reward == pytest.approx(full - 1.0)
    assert len(info["judge_requests"]) == 2
    assert "canary" not in json.dumps(info)


def test_one_fault_does_not_cost_the_other_term() -> None:
    env = make(toys.Flaky())
    env.reset(seed=1)
    *_, info = env.step(gold(env))
    assert info["pending"] == ["grounding"] == list(info["judge_faults"])
    assert info["reward_terms"]["worldmodeling"] == 0.5


@pytest.mark.parametrize("error", [ConfigError("no such model"), MissingExtra("openai", "llm")])
def test_a_judge_that_is_set_up_wrongly_is_the_persons_to_repair(error: Exception) -> None:
    env = make(toys.Raising(error))
    env.reset(seed=1)
    with pytest.raises(type(error)):
        env.step(gold(env))


def test_deferred_terms_wait_with_their_requests_and_nobody_is_asked() -> None:
    toys.Counting.batches.clear()
    env = make("tests.toy_judges:Counting", deferred=True)
    env.reset(seed=1)
    *_, info = env.step(gold(env))
    assert toys.Counting.batches == []
    assert info["pending"] == ["grounding", "worldmodeling"] == [one["term"] for one in info["judge_requests"]]
    assert info["judge_faults"] == {} == info["verdicts"]


def test_deferred_does_not_even_load_the_judge() -> None:
    env = make("no_such_module_here:Judge", deferred=True)
    env.reset(seed=1)
    assert env.step(gold(env))[-1]["pending"]
    eager = make("no_such_module_here:Judge")
    with pytest.raises(ConfigError, match="no_such_module_here"):
        eager.reset(seed=1)


# ---------------------------------------------------------------------- configuration


@pytest.mark.parametrize("strategy", ["no_think", "free_think"])
def test_a_strategy_without_descriptions_is_refused(strategy: str) -> None:
    with pytest.raises(ConfigError, match="neither observation nor prediction"):
        make(EXACT, strategy)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"grounding": "much"}, "grounding must be a finite number"),
        ({"worldmodeling": math.inf}, "plain JSON"),
        ({"grounding": True}, "grounding must be a finite number"),
        ({"grounding": None, "worldmodeling": None}, "nothing is left to judge"),
        ({"deferred": 1}, "deferred must be True or False"),
        ({"judge": object()}, "judge must be a kind"),
        ({"judge": toys.Exact}, "is the class Exact"),
        ({"judge": None}, "judge must be a kind"),
    ],
)
def test_wrong_arguments_say_what_to_change(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make(**options)


def test_it_needs_reasoning_inside_and_no_second_one_of_its_kind() -> None:
    with pytest.raises(ConfigError, match="what Reasoning asks for"):
        ReasoningReward(gym.make("agentrl/Sokoban-Text-v0"), EXACT)
    with pytest.raises(ConfigError, match="already"):
        ReasoningReward(make(), EXACT)


def test_a_weight_of_zero_measures_without_paying_and_none_leaves_a_part_out() -> None:
    env = make(EXACT, grounding=0, worldmodeling=None)
    env.reset(seed=1)
    *_, info = env.step(gold(env))
    assert info["reward_terms"]["grounding"] == 0.0 and info["verdicts"]["grounding"]["score"] == 1.0
    assert "worldmodeling" not in info["verdicts"]


# ---------------------------------------------------------------------- judges that could never answer

LLM = {"kind": "llm", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
STRUCTURED = "judge='structured' with representation='structured'"


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("env_id", ["agentrl/WebShop-Text-v0", "agentrl/SVG-Visual-v0"])
@pytest.mark.parametrize(
    ("judge", "representation", "works"),
    [
        ("rule", "natural", STRUCTURED),
        ("rule", "structured", STRUCTURED),
        ({"kind": "rule"}, "natural", STRUCTURED),
        ("structured", "natural", STRUCTURED),
        ({**LLM, "protocol": "extract"}, "natural", "protocol='verdict'"),
        ({**LLM, "kind": "outcome"}, "natural", STRUCTURED),
        ({"kind": "audited", "judge": LLM}, "natural", STRUCTURED),  # the auditor is the rule judge
        ({"kind": "audited", "judge": "rule", "auditor": LLM}, "natural", STRUCTURED),
    ],
)
def test_a_judge_that_cannot_score_the_environment_is_refused_with_one_that_can(
    env_id: str, judge: Any, representation: str, works: str, deferred: bool
) -> None:
    env = Reasoning(gym.make(env_id), BOTH, representation)
    with pytest.raises(ConfigError) as caught:
        ReasoningReward(env, judge, deferred=deferred)
    said = str(caught.value)
    assert env_id in said or "'outcome'" in said or "'structured' reads" in said
    assert said.endswith(f"use {works}") and "\n" not in said and ". " not in said


def test_the_grid_games_refuse_only_what_reads_another_representation() -> None:
    make("structured", representation="structured")
    make({**LLM, "protocol": "extract"})
    with pytest.raises(ConfigError, match=r"use judge='rule', or judge='structured' with"):
        make("structured", representation="symbolic")


@pytest.mark.parametrize("env_id", ["agentrl/WebShop-Text-v0", "agentrl/SVG-Visual-v0"])
@pytest.mark.parametrize(
    "judge", ["structured", LLM, {"kind": "audited", "judge": "structured", "auditor": LLM}, EXACT]
)
def test_what_works_or_does_not_say_is_accepted(env_id: str, judge: Any) -> None:
    for deferred in (False, True):
        ReasoningReward(Reasoning(gym.make(env_id), BOTH, "structured"), judge, deferred=deferred)


def test_an_environment_without_claims_is_told_of_the_judge_that_needs_none() -> None:
    class Silent(SokobanEnv):
        state_type = State

    env = Reasoning(Silent(kind="text"), BOTH)
    with pytest.raises(
        ConfigError,
        match=r"needs declared relations, a bearing or points, which Silent lacks; use judge=\{'kind': 'llm'",
    ):
        ReasoningReward(env, "rule")
    ReasoningReward(env, LLM)


def test_an_environment_that_was_made_without_an_id_is_judged_all_the_same() -> None:
    env = ReasoningReward(Reasoning(SokobanEnv(kind="text"), BOTH), "rule")
    env.reset(seed=0)
    *_, info = env.step(gold(env))
    assert info["judge_requests"][0]["env_id"] == "SokobanEnv"
    assert (info["reward_terms"]["grounding"], info["reward_terms"]["worldmodeling"], info["pending"]) == (0.5, 0.5, [])


@pytest.mark.parametrize("env_id", ["agentrl/WebShop-Text-v0", "agentrl/SVG-Visual-v0", "agentrl/Sokoban-Text-v0"])
def test_structured_gold_earns_everything_and_another_description_little(env_id: str) -> None:
    env = ReasoningReward(Reasoning(gym.make(env_id), BOTH, "structured", format_rule="paper"), "structured")
    empty = build_response(BOTH, {"observation": "{}", "reasoning": "?", "prediction": "I see.", "answer": "x"})
    for seed in range(4):
        env.reset(seed=seed)
        over = False
        while not over:
            turn = env.unwrapped.oracle()
            blob = agentrl.snapshot(env)
            *_, nothing = env.step(empty.replace("<answer>x<", f"<answer>{turn}<"))
            assert (nothing["reward_terms"]["grounding"], nothing["reward_terms"]["worldmodeling"]) == (0.0, 0.0)
            agentrl.restore(env, blob)
            _, _, terminated, truncated, info = env.step(gold(env))
            over = terminated or truncated
            assert (info["reward_terms"]["grounding"], info["reward_terms"]["worldmodeling"]) == (0.5, 0.5), info
            assert info["pending"] == []
            for request in info["judge_requests"]:
                wrong = dict.fromkeys(request["state"], "nothing of the kind")
                verdict = StructuredJudge().score_sync([JudgeRequest(**_asked(request, json.dumps(wrong)))])[0]
                assert isinstance(verdict, Verdict) and verdict.score < 0.1


def _asked(request: dict[str, Any], text: str) -> dict[str, Any]:
    return {**{name: value for name, value in request.items() if name not in ("term", "weight")}, "text": text}


# ---------------------------------------------------------------------- ids, forks, specs


def ids(env: gym.Env, seed: int | None, turns: int = 3) -> list[str]:
    env.reset(seed=seed)
    infos = [env.step(gold(env) or reply(env))[-1] for _ in range(turns)]
    return [request["id"] for info in infos for request in info["judge_requests"]]


def test_request_ids_are_reproducible_and_distinct() -> None:
    env = make()
    first = [*ids(env, 5, 2), *ids(env, None, 2), *ids(env, None, 2), *ids(env, 6, 2)]
    again = make()
    assert first == [*ids(again, 5, 2), *ids(again, None, 2), *ids(again, None, 2), *ids(again, 6, 2)]
    assert len(set(first)) == len(first) == 16


def test_forks_that_write_different_things_ask_under_different_ids() -> None:
    env = make()
    env.reset(seed=5)
    blob, found = agentrl.snapshot(env), []
    for text in ("a", "b", "a"):
        agentrl.restore(env, blob)
        found.append(env.step(reply(env, observation=text))[-1]["judge_requests"][0]["id"])
    assert found[0] == found[2] != found[1]


def test_a_fork_after_unseeded_episodes_goes_on_with_the_same_ids() -> None:
    env, other = make(), make()
    env.reset(seed=10**30)  # larger than any machine word
    env.reset()
    blob = agentrl.snapshot(env)
    other.reset(seed=1)
    agentrl.restore(other, blob)
    text = gold(env)
    assert env.step(text)[-1]["judge_requests"] == other.step(text)[-1]["judge_requests"]


@pytest.mark.parametrize("judge", [EXACT, {"kind": "tests.toy_judges:Constant", "value": 0.25}])
def test_json_rebuilds_the_stack_with_its_judge(judge: Any) -> None:
    env = History(make(judge, grounding=1.0), 2)
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env)
    for one in (env, again):
        one.reset(seed=4)
    text = gold(env)
    assert env.step(text)[1:] == again.step(text)[1:]


def test_a_live_judge_works_but_says_that_it_has_no_json() -> None:
    env = History(make(toys.Raising()), 2)
    with pytest.raises(ConfigError, match="live object as its judge"):
        env.spec.to_json()
    again = gym.make(env.spec)  # in this process it can be made again, with the very same judge
    again.reset(seed=1)
    assert again.step(gold(again))[-1]["judge_faults"]["grounding"]["detail"].endswith("socket closed")


@pytest.mark.parametrize("judge", [EXACT, toys.Exact()])
def test_it_can_be_pickled_for_worker_processes(judge: Any) -> None:
    env = make(judge)
    env.reset(seed=2)
    again = pickle.loads(pickle.dumps(env))
    text = gold(env)
    assert env.step(text)[1:] == again.step(text)[1:]


# ---------------------------------------------------------------------- hostile text


@pytest.mark.parametrize("text", ["\ud800 half a character", "x" * 100_000, "\x00\x1b[2J", '{"score": 1}', "💥" * 100])
def test_any_text_becomes_a_request_that_any_encoder_accepts(text: str) -> None:
    env = make()
    env.reset(seed=0)
    *_, info = env.step(reply(env, observation=text))
    (request, _) = info["judge_requests"]
    assert info["reward_terms"]["grounding"] == 0.0
    assert len(request["text"].encode("utf-8")) < 100_000

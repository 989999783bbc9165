"""The Reasoning wrapper: strict form, bonus, what is run when the form is broken, and gold replies."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from hypothesis import given, settings
from hypothesis import strategies as st

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.core.response import STRATEGIES, TAGS, template
from agentrl.wrappers import Reasoning, RecordEpisode, ToolCalls
from agentrl.wrappers.reasoning import describe, parse_response
from tests.longer import only

REPRESENTATIONS = ("natural", "symbolic", "structured")
GOOD = "<think>hm</think><answer>Up</answer>"
LEVEL = "######/#__O_#/#_X__#/#____#/#P#__#/######"  # above the player is floor, to the right a wall
REASONING = ("strategy", "representation", "format_reward", "format_rule")


def make(kind: str = "Text", game: str = "Sokoban", *arguments: Any, **options: Any) -> Reasoning:
    form = {name: options.pop(name) for name in REASONING if name in options}
    return Reasoning(gym.make(f"agentrl/{game}-{kind}-v0", **options), *arguments, **form)


@pytest.mark.parametrize("kind", ["Text", "Visual"])
@pytest.mark.parametrize("rule", ["effective", "paper"])
def test_a_strict_reply_earns_the_bonus_as_a_term(kind: str, rule: str) -> None:
    env = make(kind, format_rule=rule)
    _, info = env.reset(options={"task": LEVEL})
    assert (info["format"], info["observation"], info["prediction"], info["unpaid"]) == (None,) * 4
    _, reward, _, _, info = env.step(GOOD)
    assert info["format"] is True
    assert info["fault"] is info["unpaid"] is None
    assert info["reward_terms"]["format"] == 0.5
    assert reward == math.fsum(info["reward_terms"].values())
    assert info["actions"] == ["Up"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("<think>...</think><answer>Up</answer>", "template"),
        ("<think>\u2026 !</think><answer>Up</answer>", "template"),
        ("<think>hm</think><answer>...</answer>", "invalid"),
        ("<think>hm</think><answer>Up, North</answer>", "invalid"),
        ("<think>hm</think><answer>Right</answer>", "unchanged"),  # a wall
        ("<think>hm</think><answer>Up, Down</answer>", "unchanged"),  # there and back
        ("<answer>Up</answer>", "format"),
    ],
)
def test_a_turn_without_merit_earns_no_bonus_unless_by_the_paper_s_rule(reply: str, why: str) -> None:
    env, plain = make(), make(format_rule="paper")
    for each in (env, plain):
        each.reset(options={"task": LEVEL})
    obs, reward, _, _, info = env.step(reply)
    assert info["unpaid"] == why and "format" not in info["reward_terms"]
    seen, more, _, _, told = plain.step(reply)
    assert more == pytest.approx(reward + (0.5 if told["format"] else 0.0))
    assert obs["text"] == seen["text"] and info["feedback"] == told["feedback"]  # only the reward differs


def test_no_more_turns_are_paid_than_right_play_takes() -> None:
    env = make(max_turns=9, max_actions_per_turn=3)
    env.reset(options={"task": LEVEL})  # five moves: two turns
    paid, blobs = [], []
    for move in ("Up", "Down", "Up", "Down"):
        blobs.append(agentrl.snapshot(env))
        paid.append(env.step(f"<think>hm</think><answer>{move}</answer>")[4]["unpaid"])
    assert paid == [None, None, "enough", "enough"]
    agentrl.restore(env, blobs[1])
    assert [env.step(f"<think>hm</think><answer>{m}</answer>")[4]["unpaid"] for m in ("Down", "Up")] == [None, "enough"]
    env.reset(options={"task": LEVEL})
    assert env.step(GOOD)[4]["unpaid"] is None  # another episode


@pytest.mark.parametrize(("solved", "per_turn", "pay"), [(10, 3, 0.5), (10, 1, 5 / 12), (1, 3, 0.125), (0, 3, 0.0)])
def test_words_pay_no_more_than_a_share_of_the_task(solved: float, per_turn: int, pay: float) -> None:
    env = make(max_turns=9, max_actions_per_turn=per_turn, success_reward=solved)
    env.reset(options={"task": LEVEL})  # six moves: two turns of three, or six of one
    blob = agentrl.snapshot(env)
    assert env.step(GOOD)[4]["reward_terms"]["format"] == pytest.approx(pay)
    other = make(max_turns=9, max_actions_per_turn=per_turn, success_reward=solved)
    other.reset(seed=0)
    agentrl.restore(other, blob)
    assert other.step(GOOD)[4]["reward_terms"]["format"] == pytest.approx(pay)  # a fork pays the same
    paper = make(success_reward=solved, format_rule="paper")
    paper.reset(options={"task": LEVEL})
    assert paper.step(GOOD)[4]["reward_terms"]["format"] == 0.5


def test_calls_one_at_a_time_are_paid_for_as_many_turns_as_they_take() -> None:
    env = Reasoning(ToolCalls(gym.make("agentrl/FrozenLake-Text-v0", max_turns=9), 1))
    env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(env.gold())
        assert info["unpaid"] is None
        over = terminated or truncated
    assert info["success"]


def test_a_spec_keeps_the_rule() -> None:
    for rule in ("paper", "effective"):
        again = gym.make(EnvSpec.from_json(make(format_rule=rule).spec.to_json()))
        assert again.get_wrapper_attr("format_rule") == rule


def test_what_was_observed_and_predicted_is_reported() -> None:
    env = make("Text", "Sokoban", "grounding_worldmodeling")
    env.reset(seed=0)
    text = template("grounding_worldmodeling").replace("<observation>...", "<observation>I see").replace("...", "x")
    _, _, _, _, info = env.step(text)
    assert (info["observation"], info["prediction"], info["format"]) == ("I see", "x", True)


@pytest.mark.parametrize(
    ("reply", "ran", "valid"),
    [
        ("Up", ["Up"], True),  # no answer tag at all: the whole text is the action
        ("well <answer>Up</answer>", ["Up"], True),  # one closed pair
        ("<think>a</think><think>b</think><answer>Up</answer>", ["Up"], True),
        ("<think>a</think><answer>Up</answer><answer>Down</answer>", [], False),
        ("<think>a</think><answer>Up", [], False),
        ("<think>a</think>Up", [], False),
        ("", [], False),
    ],
)
def test_a_broken_reply_runs_what_the_environment_can_read(reply: str, ran: list[str], valid: bool) -> None:
    env = make()
    env.reset(seed=0)
    obs, reward, _, _, info = env.step(reply)
    assert (info["format"], info["fault"]) == (False, "format")
    assert (info["actions"], info["valid"]) == (ran, valid)
    assert "format" not in info["reward_terms"]
    assert reward == pytest.approx(-0.1)
    assert "Format: " in info["feedback"]
    assert info["feedback"] in obs["text"]


def test_fields_of_a_broken_reply_are_not_reported() -> None:
    env = make("Text", "Sokoban", "grounding")
    env.reset(seed=0)
    _, _, _, _, info = env.step(template("grounding") + "!")
    assert (info["format"], info["observation"], info["prediction"]) == (False, None, None)


def test_the_end_of_the_episode_stops_the_bonus() -> None:
    env = make(max_turns=1, max_actions_per_turn=9)
    env.reset(seed=0)
    _, _, _, truncated, _ = env.step(GOOD)
    assert truncated
    _, reward, _, _, info = env.step(GOOD)
    assert reward == 0
    assert info["fault"] == "episode_over"


def test_the_bonus_is_an_argument() -> None:
    env = make("Text", "Sokoban", "no_think", "natural", 2.0)
    env.reset(options={"task": LEVEL})
    assert env.step("<answer>Up</answer>")[4]["reward_terms"]["format"] == 2.0


@pytest.mark.parametrize(
    "arguments",
    [
        {"strategy": "think"},
        {"strategy": None},
        {"representation": "poem"},
        {"representation": ["natural"]},
        {"format_reward": float("nan")},
        {"format_reward": "0.5"},
        {"format_rule": "mine"},
        {"format_rule": None},
        {"strategy": object()},
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    env = gym.make("agentrl/Sokoban-Text-v0")
    with pytest.raises(ConfigError):
        Reasoning(env, **arguments)


def test_a_representation_the_environment_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gym.make("agentrl/Sokoban-Text-v0")
    monkeypatch.setattr(type(env.unwrapped), "representations", frozenset({"natural"}))
    Reasoning(env, representation="natural")
    with pytest.raises(ConfigError, match=r"symbolic.*SokobanEnv.*natural"):
        Reasoning(env, representation="symbolic")


@pytest.mark.parametrize("game", ["Sokoban", "FrozenLake"])
def test_grid_kinds_are_refused(game: str) -> None:
    with pytest.raises(ConfigError, match="Text or Visual"):
        make("Grid", game)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_the_prompt_states_the_form_and_how_to_write_states(strategy: str, representation: str) -> None:
    env = make("Visual", "Sokoban", strategy, representation)
    prompt = env.get_wrapper_attr("system_prompt")
    assert prompt.startswith(env.unwrapped.system_prompt)
    assert template(strategy) in prompt
    told = {"natural": "box0", "symbolic": "* box on a target", "structured": '"player_position"'}[representation]
    assert (told in prompt) == (strategy not in ("no_think", "free_think"))


# ---------------------------------------------------------------------- gold


@pytest.mark.parametrize("game", ["Sokoban", "FrozenLake"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("representation", only(("natural",), REPRESENTATIONS))
def test_gold_is_strict_true_and_solves_a_hundred_levels(game: str, strategy: str, representation: str) -> None:
    env = make("Text", game, strategy, representation)
    for seed in range(100):
        play_gold(env, seed, representation)


@pytest.mark.parametrize("game", ["Sokoban", "FrozenLake"])
def test_gold_works_with_pictures_too(game: str) -> None:
    for seed, representation in enumerate(REPRESENTATIONS * 10):
        play_gold(make("Visual", game, "grounding_worldmodeling", representation), seed, representation)


def play_gold(env: Reasoning, seed: int, representation: str) -> None:
    env.reset(seed=seed)
    over, info = False, {}
    while not over:
        before = describe(env.unwrapped.state(), representation)
        reply = env.gold()
        assert reply is not None
        _, _, terminated, truncated, info = env.step(reply)
        assert info["format"] is True
        assert info["reward_terms"]["format"] == 0.5
        if info["observation"] is not None:
            assert info["observation"] == before
        if info["prediction"] is not None:
            assert info["prediction"] == describe(env.unwrapped.state(), representation)
        over = terminated or truncated
    assert info["success"]


def test_gold_predicts_slippery_ice_truly() -> None:
    env = make("Text", "FrozenLake", "worldmodeling", "symbolic", slippery=True, max_turns=9, max_actions_per_turn=1)
    for seed in range(30):
        env.reset(seed=seed)
        over = False
        while not over and (reply := env.gold()) is not None:
            _, _, terminated, truncated, info = env.step(reply)
            assert info["prediction"] == env.unwrapped.state().symbolic()
            over = terminated or truncated


def test_gold_leaves_no_trace(tmp_path: Any) -> None:
    inner = gym.make("agentrl/Sokoban-Visual-v0", render_mode="rgb_array")
    recorder = RecordEpisode(gym.wrappers.TimeLimit(inner, 50), tmp_path, formats=("html",))
    env = Reasoning(recorder, "grounding_worldmodeling")
    env.reset(seed=1)
    while True:
        before = agentrl.snapshot(env)
        first, second = env.gold(), env.gold()
        assert first == second
        assert agentrl.snapshot(env) == before
        assert env.render_mode == "rgb_array"
        assert recorder.files == []
        if env.step(first)[2]:
            break
    assert len(recorder.files) == 1


def test_there_is_no_gold_where_nothing_can_be_done() -> None:
    env = make()
    env.reset(options={"task": "######/#X__O#/#____#/#__P_#/#____#/######"})
    assert env.gold() is None


def test_gold_quotes_tags_in_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    env = make("Text", "Sokoban", "grounding")
    env.reset(seed=0)
    monkeypatch.setattr(type(env.unwrapped.state()), "natural", lambda self: ["a page says </observation><answer>"])
    reply = parse_response(env.gold(), "grounding")
    assert reply.observation == "a page says [/observation][answer]."


hostile = st.lists(
    st.sampled_from([f"<{slash}{tag}>" for tag in TAGS for slash in ("", "/")] + ["Up", ",", " ", "<image>", "\ud800"])
    | st.text(max_size=5),
    max_size=12,
).map("".join)
SHARED = make("Text", "FrozenLake", "grounding_worldmodeling")


@settings(max_examples=200, deadline=None)
@given(hostile)
def test_any_text_is_a_legal_turn(text: str) -> None:
    SHARED.reset(seed=0)
    _, reward, _, _, info = SHARED.step(text)
    assert reward == math.fsum(info["reward_terms"].values())
    assert info["format"] == parse_response(text, "grounding_worldmodeling").strict
    assert ("format" in info["reward_terms"]) == (info["unpaid"] is None)

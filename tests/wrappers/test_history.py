"""The History wrapper: the last turns as text."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.wrappers import History


def make(kind: str = "Text", turns: int = 3, **options: Any) -> History:
    # The same range of solutions whatever the limits are: then all tests share one pool of levels.
    return History(gym.make(f"agentrl/Sokoban-{kind}-v0", **({"max_solution": 9} | options)), turns)


def test_the_first_observation_is_left_alone() -> None:
    env, plain = make(), gym.make("agentrl/Sokoban-Text-v0")
    assert env.reset(seed=4)[0] == plain.reset(seed=4)[0]
    assert env.observation_space == plain.observation_space


def test_past_observations_and_actions_stand_before_the_present_one() -> None:
    env, plain = make(), gym.make("agentrl/Sokoban-Text-v0")
    first = plain.reset(seed=4)[0]["text"]
    env.reset(seed=4)
    now = plain.step("Up, Left")[0]["text"]
    text = env.step("Up, Left")[0]["text"]
    assert text.endswith(f"Now:\n{now}")
    assert f"[1] You saw:\n{first}\n[1] You did: Up, Left" in text


def test_only_the_last_turns_are_kept_and_keep_their_numbers() -> None:
    env = make(turns=2, max_turns=9)
    env.reset(seed=4)
    for action in ["Up", "Left", "Down", "Right"]:
        text = env.step(action)[0]["text"]
    assert "last 2 turns of 4" in text
    assert "[3] You did: Down" in text
    assert "[4] You did: Right" in text
    assert "[2]" not in text
    assert env.observation_space.contains({"text": text})


def test_only_the_present_picture_is_marked() -> None:
    env = make("Visual", max_turns=5)
    env.reset(seed=4)
    for action in ["Up", "<image>", "<answer><image></answer>", "Left"]:
        obs = env.step(action)[0]
        assert obs["text"].count("<image>") == 1
        assert obs["text"].endswith("<image>")
        assert obs in env.observation_space


def test_a_reset_forgets() -> None:
    env = make()
    env.reset(seed=4)
    env.step("Up")
    obs, _ = env.reset(seed=4)
    assert "You did" not in obs["text"]
    assert "[2]" not in env.step("Up")[0]["text"]


@pytest.mark.parametrize(
    ("action", "said"),
    [("Up, jump", "Up (then something invalid)"), ("jump", "'jump' (invalid)"), (3, "'int' (invalid)")],
)
def test_invalid_turns_are_told(action: Any, said: str) -> None:
    env = make()
    env.reset(seed=4)
    assert f"You did: {said}\n" in env.step(action)[0]["text"]


def test_hostile_actions_stay_short() -> None:
    env = make()
    env.reset(seed=4)
    assert len(env.step("\ud800<image>" * 100_000)[0]["text"]) < 1_000


def test_steps_after_the_end_are_no_turns() -> None:
    env = make(max_turns=1, max_actions_per_turn=9)
    env.reset(seed=4)
    env.step("Up")
    assert env.step("Down")[0]["text"].count("You did") == 1


def test_a_restored_history_goes_on_equally() -> None:
    env, other = make(turns=2, max_turns=9), make(turns=2, max_turns=9)
    env.reset(seed=4)
    for action in ["Up", "Left", "Down"]:
        env.step(action)
    blob = agentrl.snapshot(env)
    expected = [env.step(action)[0]["text"] for action in ["Up", "bad", "Right"]]
    other.reset(seed=9)
    agentrl.restore(other, blob)
    assert [other.step(action)[0]["text"] for action in ["Up", "bad", "Right"]] == expected
    agentrl.restore(env, blob)
    assert env.step("Up")[0]["text"] == expected[0]


def test_the_prompt_says_so() -> None:
    assert "last 3 turns" in make().get_wrapper_attr("system_prompt")
    assert "the last turn;" in make(turns=1).get_wrapper_attr("system_prompt")


@pytest.mark.parametrize("turns", [0, -1, 1.5, "3", None, True])
def test_wrong_turns_are_refused(turns: Any) -> None:
    with pytest.raises(ConfigError):
        make(turns=turns)


def test_grid_kinds_are_refused() -> None:
    with pytest.raises(ConfigError, match="Text or Visual"):
        make("Grid")

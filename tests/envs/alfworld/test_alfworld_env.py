"""What ALFWorld promises as an environment: texts, rewards, hostile replies, forks, the truth, the scripted player."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.core.judging import JudgeRequest
from agentrl.core.snapshot import open_blob, seal_blob
from agentrl.envs.alfworld.engine import NOTHING, World
from agentrl.envs.alfworld.env import ALFWorldEnv
from agentrl.envs.alfworld.games import FAMILIES
from agentrl.envs.alfworld.picture import room_picture
from agentrl.judges.structured import StructuredJudge
from agentrl.policies import load_policy
from agentrl.rollout.evaluate import evaluate

TASK = "kitchen-03-001"


def at_home(**arguments: Any) -> ALFWorldEnv:
    """An environment at the beginning of one task."""
    env = ALFWorldEnv(**arguments)
    env.reset(options={"task": TASK})
    return env


def test_the_plain_text_is_that_of_the_game_alone() -> None:
    env = ALFWorldEnv(show_task=False, show_admissible=False)
    observation, info = env.reset(options={"task": TASK})
    world = World(env._find_task(TASK))
    assert observation["text"] == world.reset() and info["admissible_commands"] == world.commands()
    for _ in range(5):
        command = env.oracle()
        observation, _, _, _, info = env.step(f"<answer> {str(command).upper()} </answer>")
        assert observation["text"] == world.step(str(command)) == info["feedback"]
        assert info["admissible_commands"] == world.commands() and info["actions"] == [command]


def test_only_the_goal_is_paid_and_ends_the_episode() -> None:
    env = at_home()
    assert env.about_task() == {"group": env.state().family, "steps": env.actions_needed()}
    for left in range(env.actions_needed() or 0, 0, -1):
        assert env.actions_needed() == left
        _, reward, terminated, truncated, info = env.step(env.oracle())
        assert (reward, terminated) == ((1.0, True) if left == 1 else (0.0, False)) and not truncated
    assert info["success"] and info["reward_terms"] == {"success": 1.0} and env.oracle() is None
    assert info["admissible_commands"] == []


@pytest.mark.parametrize(
    "reply", ["dance", "", "<answer>look", "<answer>\x00</answer>", "x" * 1_000_000, "go to \ud800"]
)
def test_what_is_no_command_is_answered_and_costs_what_was_agreed(reply: str) -> None:
    env = at_home(invalid_penalty=-0.5)
    before = env.state()
    observation, reward, _, _, info = env.step(reply)
    assert observation["text"].startswith(NOTHING) and reward == -0.5
    assert not info["valid"] and info["fault"] == "unparsed" and env.state() == before
    assert len(observation["text"]) < 3_000


def test_a_command_that_is_not_possible_here_is_valid_and_does_nothing() -> None:
    _, reward, _, _, info = at_home(invalid_penalty=-0.5).step("open fridge 1")
    assert (reward, info["valid"], info["effective"], info["feedback"]) == (0.0, True, False, NOTHING)


def test_the_earlier_wording_says_put_and_has_no_help() -> None:
    env = at_home(wording="0.3")
    assert "put THING in/on RECEPTACLE" in env.system_prompt and "help" not in env.legal_actions()
    said = []
    while (command := env.oracle()) is not None:
        said.append(env.step(command)[4]["feedback"])
    assert any(text.startswith("You arrive at loc ") for text in said) and " in/on the " in said[-1]


def test_a_snapshot_in_the_middle_goes_on_alike_and_a_forged_one_is_refused() -> None:
    env = at_home()
    for _ in range(3):
        env.step(env.oracle())
    blob, other = env.snapshot(), ALFWorldEnv()
    other.reset(seed=5)
    other.restore(blob)
    assert other.state() == env.state() and other.legal_actions() == env.legal_actions()
    data = open_blob(blob, env._identity())
    for commands in (["dance"], ["look"], ["go to fridge 1"] * 2, ["x"] * 99, [5]):
        forged = {**data, "world": {**data["world"], "commands": commands}}
        with pytest.raises(SnapshotError):
            other.restore(seal_blob(env._identity(), forged))
        assert other.state() == env.state()


def test_the_truth_tells_what_is_open_held_seen_and_changed() -> None:
    env = ALFWorldEnv(families=[FAMILIES[3]])
    env.reset(seed=3)
    words = []
    while (command := env.oracle()) is not None:
        env.step(command)
        words.append(env.state())
    hot = next(state for state in words if state.changed)
    (thing,) = hot.changed
    assert hot.holding == thing and hot.changed[thing] == ("hot",) and hot.facing[0].startswith("microwave")
    assert f"{thing.capitalize()} is hot." in hot.natural() and f"The agent holds {thing}." in hot.natural()
    assert words[-1].done and thing in words[-1].visible and thing in words[-1].contents[words[-1].facing[0]]
    assert len({state.anchor() for state in words}) == len(words)


def test_judges_score_structured_claims_about_a_home() -> None:
    env = gym.make("agentrl/ALFWorld-Text-v0")
    env.reset(options={"task": TASK})
    env.step(env.unwrapped.oracle())
    state = env.unwrapped.state()
    texts = json.dumps(state.structured()), '{"facing": ["moon 1"], "holding": "cow"}'
    requests = [JudgeRequest("", "", "grounding", text, state, "structured") for text in texts]
    scores = [getattr(verdict, "score", None) for verdict in StructuredJudge().score_sync(requests)]
    assert scores[0] == 1.0 and scores[1] is not None and scores[1] < 0.4


def test_the_tool_is_the_command() -> None:
    env = at_home()
    command = str(env.oracle())
    assert env.tool_calls(command) == [{"name": "act", "arguments": {"command": command}}]
    assert env.tool_action("act", {"command": command}) == command and env.tool_action("jump", {}) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"families": "simple"}, "families must be a list"), ({"families": ["cook"]}, "families must be a list"),
        ({"wording": "0.5"}, "wording must be one of 0.4, 0.3"), ({"backend": "unity"}, "backend must be one of"),
        ({"data_dir": "/nowhere"}, "data_dir must be a folder"), ({"max_actions_per_turn": 2}, "max_actions_per_turn"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_one_sentence(arguments: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        ALFWorldEnv(**arguments)


def test_the_picture_shows_what_is_open_and_what_is_seen() -> None:
    env = at_home(kind="visual", image_size=256)
    first = env._observe()["image"]
    assert first.shape == (256, 256, 3) and first.dtype == np.uint8
    shown = [first]
    while (command := env.oracle()) is not None:
        observation = env.step(command)[0]
        assert observation["text"].count("<image>") == 1
        shown.append(observation["image"])
    assert all((one != other).any() for one, other in pairwise(shown))
    green = (shown[-1] == (178, 226, 178)).all(axis=2).sum() - (first == (178, 226, 178)).all(axis=2).sum()
    assert (green > 50) == bool(env.state().open)


def test_a_crowded_room_fits_into_a_small_picture() -> None:
    env = ALFWorldEnv()
    crowded = max(env.tasks()[::50], key=lambda task: len(env._find_task(task).receptacles))
    assert room_picture(World(env._find_task(crowded)), 128).shape == (128, 128, 3)


def test_the_searcher_reads_only_the_text_and_solves_about_half() -> None:
    found = evaluate("agentrl/ALFWorld-Text-v0", "alfworld-search", 60, seed=1)
    assert found.success is not None and 0.35 < found.success < 0.8
    policy = load_policy("alfworld-search")
    text = at_home()._observe()["text"]
    (answer,) = policy.act([[{"role": "user", "content": text}]])
    assert answer.text.startswith("go to ")

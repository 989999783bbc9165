"""`ControlEnv`: actions that are arrays, pictures drawn when they are looked at, exact snapshots, the test kit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

import agentrl
from agentrl.core.errors import ConfigError, EnvFault
from agentrl.testing import KitBudget, check_env
from agentrl.wrappers import ActionChunks
from tests.toy_control import PUCK, PuckEnv

HOSTILE: list[Any] = [
    None, "0.1, 0.2", "", 0.5, [], [0.1], [0.1, 0.2, 0.3], ["a", "b"], [None, 0.0], [True, 0.0], [[0.1], [0.2]], {},
    [float("nan"), 0.0], [10**400, 0], np.zeros(3, np.float32), np.zeros((2, 1), np.float32), np.zeros(()),
    np.zeros(2, np.int64), np.zeros(2, bool), np.zeros(2, complex), np.zeros(2, object), np.array(["a", "b"]),
    np.array([np.nan, 0.0]), np.array([0.0, np.inf]), np.array([-np.inf, 0.0]), b"\x00" * 8, [[[0.1, 0]]],
]  # fmt: skip


def begun(**arguments: Any) -> PuckEnv:
    env = PuckEnv(**arguments)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("obs_mode", ["image", "state"])
def test_the_whole_kit_passes(obs_mode: str) -> None:
    report = check_env(PUCK, budget=KitBudget(episodes=3, hostile_replies=200), obs_mode=obs_mode)
    assert report.passed and not report.skipped, str(report)


@pytest.mark.parametrize("action", HOSTILE, ids=[f"{type(action).__name__}{i}" for i, action in enumerate(HOSTILE)])
def test_a_hostile_action_is_feedback_and_a_turn_and_moves_nothing(action: Any) -> None:
    env = begun(full_info=True)
    before = env._save()
    observation, reward, terminated, truncated, info = env.step(action)
    assert env.steps == 0 and env._save() == before
    assert (reward, terminated, truncated, info["valid"], info["effective"]) == (0.0, False, False, False, False)
    assert info["turn"] == 1 and info["fault"] == "unparsed" and info["actions"] == []
    assert "an action must be an array of 2 floats from -1 to 1; got" in info["feedback"]
    assert info["feedback"] in observation["text"]


TAKEN: list[Any] = [
    [1, -1], (0.5, Fraction(1, 2)), np.array([0.5, 1.0]), np.zeros(2, np.float16), np.zeros((1, 2)), [[0.5, 1.0]],
]  # fmt: skip


@pytest.mark.parametrize("action", TAKEN)
def test_lists_of_numbers_every_floating_type_and_batches_of_one_are_actions(action: Any) -> None:
    info = begun().step(action)[4]
    assert info["valid"] and len(info["actions"]) == 1 and info["clipped"] == 0


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16"])
def test_a_tensor_is_an_action_unless_it_holds_whole_numbers(kind: str) -> None:
    tensor = torch.tensor([[0.5, -3.0]], dtype=getattr(torch, kind), requires_grad=True)
    info = begun().step(tensor)[4]
    assert info["valid"] and info["actions"] == ["[0.5, -1]"] and info["clipped"] == 1
    assert not begun().step(torch.tensor([1, 0]))[4]["valid"]


OUTSIDE: list[tuple[Any, str, int]] = [
    ([1.5, 0], "[1, 0]", 1), (np.array([-1.001, 2.0]), "[-1, 1]", 2), (np.array([1e300, 0.5]), "[1, 0.5]", 1),
]  # fmt: skip


@pytest.mark.parametrize(("action", "ran", "clipped"), OUTSIDE)
def test_numbers_out_of_range_are_clipped_and_counted_or_refused(action: Any, ran: str, clipped: int) -> None:
    env = begun()
    info = env.step(action)[4]
    assert info["valid"] and info["actions"] == [ran] and info["clipped"] == clipped
    assert env.step([0.0, 0.0])[4]["clipped"] == 0, "the count is that of one action"
    strict = begun(out_of_range="refuse")
    info = strict.step(action)[4]
    assert not info["valid"] and "an action must be an array of 2 floats from -1 to 1; got" in info["feedback"]
    assert strict.steps == 0 and info["clipped"] == 0


def test_a_chunk_is_clipped_row_by_row_or_stops_at_the_row_that_is_refused() -> None:
    chunk = np.array([[0.1, 0.2], [2.0, -9.0], [0.0, 1.5]])
    env = ActionChunks(gym.make(PUCK), 3)
    env.reset(seed=1)
    info = env.step(chunk)[4]
    assert info["valid"] and info["ran"] == 3 and info["clipped"] == 3 and info["actions"][1] == "[1, -1]"
    env = ActionChunks(gym.make(PUCK, out_of_range="refuse"), 3)
    env.reset(seed=1)
    info = env.step(chunk)[4]
    assert not info["valid"] and "row 1" in info["feedback"] and info["actions"] == ["[0.1, 0.2]"]


@pytest.mark.parametrize(("convention", "rows", "columns"), [("upright", 1, 1), ("openvla", 1, -1), ("raw", -1, 1)])
def test_pictures_lie_as_the_convention_says_and_render_is_upright(convention: str, rows: int, columns: int) -> None:
    env = begun(picture_convention=convention, render_mode="rgb_array")
    seen = env.step(np.ones(2, np.float32))[0]
    assert np.array_equal(seen["image"], env.render()[::rows, ::columns])
    assert np.array_equal(seen["image"], env.picture("image")) and seen["image"].flags.c_contiguous


def test_without_text_the_observation_is_arrays_and_the_instruction_is_told_elsewhere() -> None:
    env = gym.make(PUCK, obs_text=False)
    seen, info = env.reset(seed=1)
    assert sorted(seen) == sorted(env.observation_space) == ["image", "proprio", "wrist_image"]
    assert info["instruction"] == env.unwrapped.instruction == "Push the puck to the mark."
    assert env.step(np.array([np.nan, 0.0]))[4]["feedback"]


def test_success_pays_one_and_ends_the_episode_and_the_horizon_truncates_it() -> None:
    env, rewards = begun(), []
    while (action := env.oracle()) is not None:
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
    assert terminated and not truncated and info["success"] and rewards == [0.0] * (len(rewards) - 1) + [1.0]
    env = begun(max_turns=2)
    flags = [env.step(np.zeros(2, np.float32))[2:4] for _ in range(2)]
    assert flags == [(False, False), (False, True)]


def test_a_frame_is_drawn_once_for_a_state_and_again_when_the_state_changes() -> None:
    env = begun(render_mode="rgb_array")
    first = env.render()
    assert env.frames == 2  # one for each camera: the observation and render() share them
    env.step(None)
    assert env.frames == 2 and np.array_equal(env.render(), first)
    env.step(np.ones(2, np.float32))
    assert env.frames == 4 and not np.array_equal(env.render(), first)
    env.reset(seed=2)
    assert env.frames == 6


def test_a_restored_environment_does_not_show_what_was_drawn_before() -> None:
    env = begun(render_mode="rgb_array")
    kept, blob = env.render(), env.snapshot()
    moved = env.step(np.ones(2, np.float32))[0]["image"]
    env.restore(blob)
    assert np.array_equal(env.render(), kept) and not np.array_equal(kept, moved)


def test_state_mode_draws_nothing_until_it_is_asked_to() -> None:
    env = begun(obs_mode="state", render_mode="rgb_array")
    observation = env.step(np.ones(2, np.float32))[0]
    assert sorted(observation) == ["proprio", "state", "text"] and env.frames == 0
    assert env.render().shape == (32, 32, 3) and env.frames == 1


def test_without_pictures_only_the_last_observation_of_an_episode_has_one() -> None:
    env, shown = begun(), []
    with env.without_pictures():
        while (action := env.oracle()) is not None:
            shown.append(env.step(action)[0]["image"].any())
    assert shown == [False] * (len(shown) - 1) + [True]
    assert env.reset()[0]["image"].any()


def test_a_vector_that_is_declared_and_not_given_is_refused_in_one_sentence() -> None:
    class WithForce(PuckEnv):
        def _extra_vectors(self) -> dict[str, int]:
            return {"force": 2}

    with pytest.raises(ConfigError, match=r"WithForce must override _vector, .* names 'force'"):
        WithForce().reset(seed=1)


def test_a_simulation_that_diverges_is_a_fault_and_a_reset_repairs_it() -> None:
    env = begun()
    env.speed = np.array([np.nan, 0.0])
    with pytest.raises(EnvFault, match="diverged"):
        env.step(np.zeros(2, np.float32))
    assert env.reset(seed=3)[0]["proprio"].tolist() == [0.0, 0.0]


def test_the_state_says_the_truth_in_numbers() -> None:
    env = begun()
    info = env.step(np.array([0.5, -0.5]))[4]
    assert info["state"] == env.state().to_json()
    assert env.state().structured() == {"proprio": [0.05, -0.05], "object_state": [*env.place, *env.mark]}
    assert env.instruction in env._draw_text() and "proprio: [0.05, -0.05]" in env._draw_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"obs_mode": "pixels"}, "obs_mode must be one of image, state; got 'pixels'"),
        ({"obs_text": "no"}, "obs_text must be True or False; got 'no'"),
        ({"picture_convention": "flipped"}, "picture_convention must be one of upright, openvla, raw; got 'flipped'"),
        ({"out_of_range": "clamp"}, "out_of_range must be one of clip, refuse; got 'clamp'"),
        ({"image_size": 0}, "image_size must be a whole number"),
        ({"max_turns": 0}, "max_turns must be a whole number"),
        ({"max_actions_per_turn": 2}, "ActionChunks"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        PuckEnv(**arguments)


def test_vector_environments_step_arrays_and_keep_episodes_apart() -> None:
    envs = gym.make_vec(
        PUCK, num_envs=3, vectorization_mode="sync", vector_kwargs={}, obs_mode="state", full_info=False
    )
    envs.reset(seed=5)
    observation, reward, *_, info = envs.step(envs.action_space.sample())
    assert observation["state"].shape == (3, 4) and observation["state"].dtype == np.float32
    assert reward.shape == (3,) and set(info) >= {"success", "valid", "effective"}
    envs.close()


def test_a_snapshot_of_the_wrapped_environment_continues_in_another_one() -> None:
    first, second = (gym.make(PUCK) for _ in range(2))
    first.reset(seed=3)
    first.step(np.array([0.9, 0.1], np.float32))
    agentrl.restore(second, agentrl.snapshot(first))
    for _ in range(3):
        one, other = (env.step(np.array([0.2, -0.4], np.float32)) for env in (first, second))
        assert all(np.array_equal(one[0][key], other[0][key]) for key in one[0]) and one[4] == other[4]

"""`ActionChunks`: rows run in order, what ran stays, one picture a chunk, and the stack can be saved and rebuilt."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec as GymSpec
from gymnasium.wrappers import TimeLimit

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.policies import load_policy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.testing.hostility import _no_action
from agentrl.wrappers import ActionChunks
from tests.toy_control import PUCK, PuckEnv

CHUNKED = ({"wrapper": "ActionChunks", "size": 4},)


def chunked(size: int = 4, **arguments: Any) -> ActionChunks:
    env = ActionChunks(gym.make(PUCK, disable_env_checker=True, **arguments), size)
    env.reset(seed=1)
    return env


def puck(env: gym.Env) -> PuckEnv:
    assert isinstance(env.unwrapped, PuckEnv)
    return env.unwrapped


ROWS = np.array([[0.1, 0.0], [0.2, 0.1], [0.0, -0.3], [0.0, 0.1]], np.float32)


def test_a_chunk_is_its_rows_one_after_the_other() -> None:
    single, chunk = gym.make(PUCK), chunked()
    single.reset(seed=1)
    infos = [single.step(row)[4] for row in ROWS]
    observation, reward, *_, info = chunk.step(ROWS)
    assert np.array_equal(observation["image"], puck(single).picture("image"))
    assert info["state"] == infos[-1]["state"] and info["turn"] == 4 and reward == 0.0
    assert info["actions"] == [text for each in infos for text in each["actions"]]
    assert (info["ran"], info["rewards"], info["effective"]) == (4, [0.0] * 4, True)


def test_only_the_last_frame_of_a_chunk_is_drawn() -> None:
    env = chunked()
    drawn = puck(env).frames
    assert env.step(ROWS)[0]["image"].any()
    assert puck(env).frames == drawn + 2  # the two cameras, once


def test_the_end_of_the_episode_ends_the_chunk_with_its_picture_and_its_reward() -> None:
    env = chunked(size=30)
    chunk = env.oracle()
    assert chunk is not None and chunk in env.action_space
    observation, reward, terminated, truncated, info = env.step(chunk)
    assert terminated and not truncated and reward == 1.0 and info["success"]
    assert info["reward_terms"] == {"success": 1.0} and info["rewards"] == [0.0] * (info["ran"] - 1) + [1.0]
    assert info["ran"] == info["turn"] < 30
    assert np.array_equal(observation["image"], puck(env).picture("image"))
    assert env.oracle() is None
    assert env.step(ROWS)[4]["fault"] == "episode_over"


def test_a_limit_between_the_two_ends_the_chunk_with_a_picture_too() -> None:
    env = ActionChunks(TimeLimit(PuckEnv(), 2), 4)
    env.reset(seed=1)
    observation, _, _, truncated, info = env.step(ROWS)
    assert truncated and info["ran"] == 2 and np.array_equal(observation["image"], puck(env).picture("image"))


def test_the_oracle_plays_ahead_and_leaves_no_trace() -> None:
    env = chunked()
    before = agentrl.snapshot(env)
    first, second = env.oracle(), env.oracle()
    assert np.array_equal(first, second) and agentrl.snapshot(env) == before
    while not (result := env.step(env.oracle()))[2]:
        assert result[4]["valid"]


@pytest.mark.parametrize("bad", [[np.nan, 0.0], [np.inf, 0.0], [0.0], "up", None])
def test_an_invalid_row_stops_the_chunk_and_what_ran_stays(bad: Any) -> None:
    env = chunked()
    observation, reward, *_, info = env.step([ROWS[0], ROWS[1], bad, ROWS[3]])
    assert puck(env).steps == 2 and info["ran"] == info["turn"] == 3 and reward == 0.0
    assert not info["valid"] and info["effective"] and len(info["actions"]) == 2
    assert "Invalid: row 2: an action must be" in info["feedback"] and info["feedback"] in observation["text"]
    assert observation["image"].any()


def test_shorter_chunks_run_and_surplus_rows_are_dropped() -> None:
    env = chunked()
    assert env.step(ROWS[:1])[4]["ran"] == 1
    info = env.step(np.zeros((6, 2), np.float32))[4]
    assert info["ran"] == 4 and info["valid"] and "2 dropped" in info["feedback"]


@pytest.mark.parametrize("action", [ROWS[0], ROWS[None], ROWS[:0], np.zeros(()), "chunk", None, [], {}])
def test_what_is_no_chunk_moves_nothing_and_takes_one_turn(action: Any) -> None:
    env = chunked()
    info = env.step(action)[4]
    assert puck(env).steps == 0 and not info["valid"] and (info["ran"], info["turn"]) == (1, 1)
    assert "a chunk must be an array of up to 4 rows" in info["feedback"]


def test_hostile_objects_never_raise() -> None:
    env, random = chunked(max_turns=1000), np.random.default_rng(0)
    for _ in range(300):
        hostile = _no_action(env.action_space.sample(), random)
        info = env.step(hostile if random.random() < 0.5 else [ROWS[0], hostile])[4]
        assert isinstance(info["feedback"], str)
        if info["fault"] == "episode_over":
            env.reset()


def test_a_snapshot_and_a_spec_make_an_equal_stack() -> None:
    env = chunked()
    env.step(ROWS)
    assert env.spec is not None
    other = gym.make(GymSpec.from_json(env.spec.to_json()))
    agentrl.restore(other, agentrl.snapshot(env))
    one, two = env.step(-ROWS), other.step(-ROWS)
    assert np.array_equal(one[0]["image"], two[0]["image"]) and one[1:] == two[1:]
    assert "Up to 4 actions" in other.get_wrapper_attr("system_prompt")
    with pytest.raises(agentrl.core.errors.SnapshotError):
        agentrl.restore(chunked(3), agentrl.snapshot(env))


def test_brief_infos_stay_brief_in_vectors() -> None:
    make = [lambda: ActionChunks(gym.make(PUCK, full_info=False, obs_mode="state", disable_env_checker=True), 4)] * 2
    envs = gym.vector.SyncVectorEnv(make)
    envs.reset(seed=3)
    observation, reward, *_, info = envs.step(envs.action_space.sample())
    assert observation["state"].shape == (2, 4) and reward.shape == (2,)
    assert sorted(key for key in info if not key.startswith("_")) == ["effective", "ran", "success", "valid"]
    assert info["ran"].tolist() == [4, 4]
    envs.close()


@pytest.mark.parametrize("hosts", [0, 1])
def test_oracle_and_random_policies_play_chunks(hosts: int) -> None:
    specs = [EnvSpec("tests.toy_control:" + PUCK, {"obs_mode": "state"}, CHUNKED)]
    for name in ("oracle", "random"):
        collector = Collector(specs, load_policy(name), num_envs=2, hosts=hosts)
        try:
            found = collector.collect([Start(1), Start(2)]).trajectories
        finally:
            collector.close()
        assert [one.fault for one in found] == [None, None]
        assert all(np.shape(step.action) == (4, 2) for one in found for step in one.steps)
        if name == "oracle":
            assert all(one.success and one.reward == 1.0 for one in found)


def test_stacks_that_cannot_work_are_refused() -> None:
    with pytest.raises(ConfigError, match="needs actions that are arrays"):
        ActionChunks(gym.make("CartPole-v1"), 4)
    with pytest.raises(ConfigError, match="size must be a whole number"):
        ActionChunks(PuckEnv(), 0)
    with pytest.raises(ConfigError, match="use it once"):
        ActionChunks(ActionChunks(PuckEnv(), 2), 2)

"""`StateObservation`: numbers alone, in the order asked for, ready for classic RL libraries."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.wrappers import StateObservation
from tests.toy_control import PUCK, PuckEnv


def test_the_numbers_stand_one_after_the_other() -> None:
    plain, env = gym.make(PUCK, obs_mode="state"), StateObservation(gym.make(PUCK, obs_mode="state"))
    seen = plain.reset(seed=2)[0]
    assert np.array_equal(env.reset(seed=2)[0], np.concatenate([seen["proprio"], seen["state"]]))
    action = np.array([0.5, 0.1], np.float32)
    seen, after = plain.step(action)[0], env.step(action)[0]
    assert np.array_equal(after, np.concatenate([seen["proprio"], seen["state"]])) and after in env.observation_space
    assert env.observation_space.shape == (6,) and after.dtype == np.float32


def test_gymnasiums_checker_a_spec_and_a_snapshot() -> None:
    env = StateObservation(PuckEnv(obs_mode="state"), keys=("state",))
    with pytest.warns(UserWarning):  # it prefers bare environments, and bounds
        check_env(env, skip_render_check=True)
    made = StateObservation(gym.make(PUCK, obs_mode="state"))
    made.reset(seed=1)
    assert made.spec is not None
    copied = gym.make(EnvSpec.from_json(made.spec.to_json()))
    agentrl.restore(copied, agentrl.snapshot(made))
    action = np.zeros(2, np.float32)
    assert np.array_equal(made.step(action)[0], copied.step(action)[0])


def test_observations_without_these_numbers_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"no vector state \(it has proprio\).*obs_mode=\"state\""):
        StateObservation(PuckEnv())
    with pytest.raises(ConfigError, match="it has none"):
        StateObservation(gym.make("CartPole-v1"))

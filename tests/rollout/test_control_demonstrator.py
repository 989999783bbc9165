"""Demonstrations of continuous control: noise in what is done, none in what is learned."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import GOLD, ControlDemonstrator
from tests.toy_control import PUCK

STATE = {"obs_mode": "state"}


def test_demonstrations_are_noisy_and_their_labels_are_not() -> None:
    collector = Collector([EnvSpec(PUCK, STATE)], ControlDemonstrator(noise=0.3), num_envs=2)
    first, second = (collector.collect([Start(1), Start(2)]).trajectories for _ in range(2))
    collector.close()
    assert [one.id for one in first] == [one.id for one in second]
    env = gym.make(PUCK, **STATE)
    env.reset(seed=1)
    for step in first[0].steps:
        assert np.allclose(step.sampling[GOLD], env.get_wrapper_attr("oracle")())
        env.step(np.array(step.action, np.float32))
    assert any(step.sampling[GOLD] != step.action for step in first[0].steps)

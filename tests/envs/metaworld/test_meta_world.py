"""Meta-World's tasks, bridged: starts, splits, rewards, snapshots, pictures."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agentrl.registry import FAMILIES

pytestmark = pytest.mark.extra_robots
TASKS = [
    entry.kwargs["task"]
    for family in FAMILIES
    if family.name == "metaworld"
    for entry in family.envs
    if entry.kwargs["task"].islower()
]


def make(task: str, **kwargs: Any) -> Any:
    return gym.make(f"agentrl/MetaWorld-{task}-v0", **{"obs_mode": "state", **kwargs}).unwrapped


def played(env: Any, actions: list[np.ndarray]) -> list[Any]:
    results = [env.step(action) for action in actions]
    return [
        (obs["state"].tobytes(), obs["proprio"].tobytes(), reward, info["state"]) for obs, reward, _, _, info in results
    ]


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_played_drawn_forked_and_continued_to_the_bit(task: str) -> None:
    env = make(task, split="test", reward="dense", render_mode="rgb_array", image_size=64, max_turns=1000)
    env.reset(options={"task": f"{task}:test:0"})
    for _ in range(8):
        env.step(env.oracle())
    assert env.instruction and env.render().std() > 10
    blob = env.snapshot()
    actions = [env.action_space.sample() for _ in range(6)]
    expected = played(env, actions)
    env.restore(blob)  # where the simulation has this start already
    assert played(env, actions) == expected
    env.reset(options={"task": f"{task}:test:1"})
    env.restore(blob)  # where it has another one
    assert played(env, actions) == expected

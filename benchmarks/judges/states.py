"""Real states to judge texts about: of whichever registered environments declare what is asked for."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.env_class import env_class
from agentrl.core.state import State
from agentrl.registry import TABLE, is_available


def envs_with_relations() -> list[str]:
    """One id for each class of states that declares relations, text before other kinds."""
    return envs_declaring("relations")


def envs_declaring(part: str) -> list[str]:
    """One id for each class of states whose claims have that part ("bearing", "points", "relations")."""
    found: dict[type, str] = {}
    for entry in sorted(TABLE, key=lambda entry: entry.kind != "Text"):
        if is_available(entry):
            state_type = getattr(env_class(entry.id), "state_type", State)
            if getattr(state_type.claims(), part, None) is not None:
                found.setdefault(state_type, entry.id)
    return list(found.values())


def visited_states(env_id: str, count: int, **arguments: Any) -> list[dict[str, Any]]:
    """States as trajectories record them, after up to two random turns of as many tasks."""
    env, rng = gym.make(env_id, **arguments).unwrapped, np.random.default_rng(0)
    env.reset(seed=0)
    env.action_space.seed(0)
    states = []
    for _ in range(count):
        _, info = env.reset()
        for _ in range(rng.integers(3)):
            info = env.step(env.action_space.sample())[-1]
        states.append(info["state"])
    env.close()
    return states

"""Real states of both games, visited by random play."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import pytest

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.state import State

MOVES = ("Left", "Down", "Right", "Up")


def visited_states(env_id: str, count: int, **arguments: Any) -> list[State]:
    """States after up to two random moves from as many levels."""
    env, rng = gym.make(env_id, **arguments).unwrapped, random.Random(0)
    env.reset(seed=0)
    states = []
    for _ in range(count):
        env.reset()
        for _ in range(rng.randrange(3)):
            env.step(rng.choice(MOVES))
        states.append(env.state())
    env.close()
    return states


@pytest.fixture(scope="session")
def rooms() -> list[State]:
    """Sokoban with one box, and some rooms with three."""
    many = visited_states("agentrl/Sokoban-Text-v0", 150, size=8, boxes=3, min_solution=1, levels=150)
    return visited_states("agentrl/Sokoban-Text-v0", 1000) + many


@pytest.fixture(scope="session")
def lakes() -> list[State]:
    """FrozenLake of the default size, and some larger ones."""
    return visited_states("agentrl/FrozenLake-Text-v0", 1000) + visited_states(
        "agentrl/FrozenLake-Text-v0", 50, size=8, levels=100
    )

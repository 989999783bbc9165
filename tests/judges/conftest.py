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


@pytest.fixture(scope="session")
def instructions() -> dict[str, str]:
    """Everything that an agent is told, by game."""
    told = {}
    for game, env_id in (("sokoban", "agentrl/Sokoban-Text-v0"), ("frozenlake", "agentrl/FrozenLake-Text-v0")):
        env = gym.make(env_id).unwrapped
        guides = [env.guide(name) for name in ("natural", "symbolic", "structured")]
        told[game] = "\n".join([env.system_prompt, *guides])
    return told


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path, monkeypatch):
    """Judges in tests never read or write the user's own cache, and never see a real key."""
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

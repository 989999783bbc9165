"""An environment of every family goes to another process within an episode, as Ray and process pools send it."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import cloudpickle
import gymnasium as gym
import pytest

from agentrl import AnyText
from agentrl.registry import FAMILIES, Entry, is_available
from agentrl.rollout.trajectory import plain

ENTRIES = [next((e for e in family.envs if e.kind == "Text"), family.envs[0]) for family in FAMILIES]
STEPS = 3


def continued(blob: bytes) -> str:
    """The next turns of the oracle, as JSON."""
    env = cloudpickle.loads(blob)
    turns: list[Any] = []
    while len(turns) < STEPS and (action := env.unwrapped.oracle()) is not None:
        observation, reward, terminated, truncated, info = env.step(action)
        seen = observation["text"] if isinstance(observation, dict) else observation
        turns.append([plain(action), plain(seen), float(reward), terminated, truncated, info["success"]])
        if terminated or truncated:
            break
    env.close()
    return json.dumps(turns)


@pytest.mark.long
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_it_continues_in_a_spawned_process_as_it_would_have_here(entry: Entry) -> None:
    assert is_available(entry)
    env = gym.make(entry.id)
    env.reset(seed=7)
    env.step("" if isinstance(env.action_space, AnyText) else env.action_space.sample())
    blob = cloudpickle.dumps(env)
    env.close()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(continued, blob).result(timeout=200)
    assert there == continued(blob) and len(json.loads(there)) >= 1

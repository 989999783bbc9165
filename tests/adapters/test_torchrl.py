"""torchrl's GymWrapper takes our environments as they are: Grid, Text and Visual kinds."""

from __future__ import annotations

from importlib.metadata import version

import gymnasium as gym
import numpy as np
import pytest
import torch
from torchrl.envs import GymWrapper

from agentrl.rollout.trajectory import picture_hash
from tests.adapters.library_check import (
    ENV_KWARGS,
    SEEDS,
    TEXT,
    VISUAL,
    Episode,
    answer,
    check_row,
    compare,
    play,
)

GRID = "agentrl/FrozenLake-Grid-v0"


def played(env_id, seed):
    """An episode of the script, step by step, as torchrl's `rollout` does it."""
    env = GymWrapper(gym.make(env_id, full_info=False, **ENV_KWARGS))
    now, found = env.reset(seed=seed), Episode(seed=seed, actions=[], reward=0.0, rewards=[], shown=[])
    while not found.actions or not bool(now["done"]):
        found.shown.append(shown(now))
        found.actions.append(answer(seed, len(found.actions)))
        now = env.step(now.set("action", found.actions[-1]))["next"]
        found.rewards.append(now["reward"].item())
    found.reward = sum(found.rewards)
    found.terminated, found.truncated = bool(now["terminated"]), bool(now["truncated"])
    env.close()
    return found


def shown(data):
    text = str(data["text"])
    image = data.get("image", None)
    return text if image is None else text.replace("<image>", f"<image {picture_hash(image.numpy())}>")


def test_the_episodes_of_text_and_pictures_are_those_of_our_collector():
    text, pictures = (compare([played(id, seed) for seed in SEEDS], play(id)) for id in (TEXT, VISUAL))
    check_row("torchrl, `GymWrapper`", version("torchrl"), text=text, pictures=pictures)


def test_a_rollout_of_the_grid_kind_is_that_of_gymnasium():
    wrapped, plain = GymWrapper(gym.make(GRID, full_info=False)), gym.make(GRID, full_info=False)
    torch.manual_seed(0)
    data = wrapped.rollout(6, auto_reset=False, tensordict=wrapped.reset(seed=5))
    assert len(data)
    seen, _ = plain.reset(seed=5)
    for step in data:
        assert np.array_equal(step["observation"].numpy(), seen)
        action = step["action"]
        seen, reward, terminated, truncated, _ = plain.step(int(action.argmax() if action.numel() > 1 else action))
        assert step["next", "reward"].item() == pytest.approx(float(reward))
        assert (bool(step["next", "terminated"]), bool(step["next", "truncated"])) == (terminated, truncated)

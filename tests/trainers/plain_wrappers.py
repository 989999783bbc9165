"""Wrappers as users write them, without a word about snapshots."""

from __future__ import annotations

from typing import Any

import gymnasium as gym


class Bonus(gym.Wrapper):
    """Keeps nothing."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + 0.1, *rest


class Counter(gym.Wrapper):
    """Counts for ever."""

    steps = 0

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.env.step(action)

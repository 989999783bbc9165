"""`ImageObservation`: the picture alone, for classic RL libraries."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from agentrl.core.errors import ConfigError
from agentrl.wrappers.base import AgentWrapper, StepResult, require_no_second


class ImageObservation(AgentWrapper):
    """The observation is the picture called `key` (a `Box` of uint8), and nothing else."""

    def __init__(self, env: gym.Env, key: str = "image") -> None:
        super().__init__(env, key=key)
        require_no_second(env, ImageObservation)
        parts = env.observation_space.spaces if isinstance(env.observation_space, spaces.Dict) else {}
        if key not in parts:
            have = ", ".join(parts) or "no parts"
            raise ConfigError(f"the observation has no {key!r} (it has {have}); use a Visual kind")
        if not isinstance(parts[key], spaces.Box):
            raise ConfigError(f"observation {key!r} must be a Box; got {parts[key]}")
        self.key = key
        self.observation_space = parts[key]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first picture."""
        obs, info = self.env.reset(seed=seed, options=options)
        return obs[self.key], info

    def step(self, action: Any) -> StepResult:
        """The next picture."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs[self.key], reward, terminated, truncated, info

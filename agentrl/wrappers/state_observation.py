"""`StateObservation`: the numbers of an observation as one array, for classic RL libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.errors import ConfigError
from agentrl.wrappers.base import AgentWrapper, StepResult, require_no_second


class StateObservation(AgentWrapper):
    """The observation is one `Box`: the vectors called `keys`, one after the other; text and pictures are left out."""

    def __init__(self, env: gym.Env, keys: Sequence[str] = ("proprio", "state")) -> None:
        super().__init__(env, keys=keys)
        require_no_second(env, StateObservation)
        parts = env.observation_space.spaces if isinstance(env.observation_space, spaces.Dict) else {}
        vectors = {name: part for name, part in parts.items() if isinstance(part, spaces.Box) and len(part.shape) == 1}
        missing = [key for key in keys if key not in vectors]
        if missing or not keys:
            have = ", ".join(vectors) or "none"
            raise ConfigError(
                f"the observation has no vector {', '.join(missing)} (it has {have}): "
                'make the environment with obs_mode="state", or name others with keys'
            )
        self.keys = tuple(keys)
        low, high = (np.concatenate([getattr(vectors[key], bound) for key in self.keys]) for bound in ("low", "high"))
        self.observation_space = spaces.Box(low.astype(np.float32), high.astype(np.float32))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first numbers."""
        obs, info = self.env.reset(seed=seed, options=options)
        return self._joined(obs), info

    def step(self, action: Any) -> StepResult:
        """The next numbers."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        return self._joined(obs), reward, terminated, truncated, info

    def _joined(self, obs: Any) -> np.ndarray:
        return np.concatenate([obs[key] for key in self.keys]).astype(np.float32)

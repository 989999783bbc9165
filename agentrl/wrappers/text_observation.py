"""`TextObservation`: environments of other packages, whose observation is a text or holds one under another name."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from agentrl.wrappers.base import AgentWrapper, StepResult


class TextObservation(AgentWrapper):
    """The observation is a dict with the environment's text under "text", as all of the suite have it."""

    def __init__(self, env: gym.Env, key: str = "") -> None:
        super().__init__(env, key=key)
        self.key = key  # of the text in a dict; "" where the observation is the text itself
        space = env.observation_space
        inner = dict(space.spaces) if isinstance(space, spaces.Dict) else {key: space}
        self.observation_space = spaces.Dict({"text": inner.pop(key), **inner})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._named(observation), info

    def step(self, action: Any) -> StepResult:
        """The next observation."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._named(observation), reward, terminated, truncated, info

    def _named(self, observation: Any) -> dict[str, Any]:
        parts = dict(observation) if self.key else {"": observation}
        return {"text": parts.pop(self.key), **parts}


def with_text(env: gym.Env) -> gym.Env:
    """`env`, with its text under "text" where it has exactly one under another name or is nothing but text."""
    space = env.observation_space
    if isinstance(space, spaces.Text):
        return TextObservation(env)
    if not isinstance(space, spaces.Dict) or "text" in space.spaces:
        return env
    texts = [name for name, part in space.spaces.items() if isinstance(part, spaces.Text)]
    return TextObservation(env, texts[0]) if len(texts) == 1 else env

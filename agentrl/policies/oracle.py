"""The policy that plays what the environment itself knows to be right: the ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, as_generation, require_envs
from agentrl.policies.random import RandomPolicy


class OraclePolicy:
    """Asks the environment. Where it knows no way (any more), a random legal action keeps the episode going."""

    name = "oracle"

    def __init__(self, *, seed: int = 0) -> None:
        self._fallback = RandomPolicy(seed=seed)

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One whole correct turn for each environment."""
        answers = []
        for env in require_envs(self.name, conversations, envs):
            action = gold_action(env)
            answers.append(as_generation(self._fallback.sample(env) if action is None else action))
        return answers


def gold_action(env: gym.Env) -> Any:
    """A correct turn in the form the whole stack expects, or None where none is known."""
    # A wrapper that asks for a format offers gold(): the same turn with truthful reasoning around it.
    source = "gold" if env.has_wrapper_attr("gold") else "oracle"
    if not env.has_wrapper_attr(source):
        raise ConfigError(f"{type(env.unwrapped).__name__} has no oracle(); choose another policy")
    action = env.get_wrapper_attr(source)()
    if action is not None and not env.action_space.contains(action):
        raise ConfigError(f"the {source} of this stack answers {action!r}, which its wrappers do not accept")
    return action

"""Scripted players: baselines that look at the environments themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.policy import Conversation, Generation, as_generation, require_envs


class ScriptedPlayer(ABC):
    """Plays by rules. A subclass has a name, and says what its next turn is."""

    name: str

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed  # every policy takes one, though hardly any script has something random

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One turn for each environment."""
        turns = []
        for env in require_envs(self.name, conversations, envs):
            turn = self.turn(env.unwrapped)
            if env.has_wrapper_attr("truthful"):  # a wrapper that asks for a format tells the truth around any turn
                turn = env.get_wrapper_attr("truthful")(turn)
            turns.append(as_generation(turn))
        return turns

    @abstractmethod
    def turn(self, env: Any) -> str:
        """The next turn in this environment; `ConfigError` for one that it does not know how to play."""

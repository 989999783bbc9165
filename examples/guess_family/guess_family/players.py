"""Scripted players that see what a model sees: the text of the observation."""

from __future__ import annotations

import re
from collections.abc import Sequence

import gymnasium as gym

from agentrl.core.policy import Conversation, Generation, as_generation


class Constant:
    """Says the same number every time: what a reply without thought earns."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed  # every policy takes one; this one has nothing random

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One reply for each conversation."""
        return [as_generation("50") for _ in conversations]


class BinarySearch:
    """Remembers nothing: it reads the answers in the conversation again at every turn."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One reply for each conversation."""
        return [as_generation(self._next(conversation)) for conversation in conversations]

    def _next(self, conversation: Conversation) -> str:
        low, high = 0, 99
        for message in conversation:
            for way, number in re.findall(r"The secret is (higher|lower) than (\d+)", str(message.get("content"))):
                low, high = (max(low, int(number) + 1), high) if way == "higher" else (low, min(high, int(number) - 1))
        return str((low + high) // 2)

"""`agentrl setup guess`: a family with data of its own would fetch it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guess_family.env import GuessEnv


def count_tasks(say: Callable[[str], None]) -> dict[str, Any]:
    """How many tasks each split has."""
    say("counting")
    return {split: len(GuessEnv(split=split).tasks()) for split in ("train", "dev", "test")}

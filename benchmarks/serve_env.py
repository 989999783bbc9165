"""The trivial environment of `agentrl bench serve`: 110 characters, whatever is done."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentrl.core.spaces import AnyText

WORDS = ("Turn 1 of 4.\nO___\nG_OP\n___O\n_O__ " * 4)[:110]
TRIVIAL = "benchmarks.serve_env:bench/Trivial-v0"


class TrivialEnv(gym.Env):
    """Says the same thing for ever."""

    action_space, observation_space = AnyText(("Down",)), gym.spaces.Dict({"text": AnyText()})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Nothing begins."""
        super().reset(seed=seed)
        return {"text": WORDS}, {"success": False, "turn": 0}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Nothing happens."""
        return {"text": WORDS}, 0.5, False, False, {"success": False, "turn": 1}


gym.register(id="bench/Trivial-v0", entry_point="benchmarks.serve_env:TrivialEnv")

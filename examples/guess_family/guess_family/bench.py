"""`agentrl bench guess`: turns per second."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

import agentrl
from agentrl.core.measure import machine, rates, result


def run(quick: bool = False) -> dict[str, Any]:
    """Play with the oracle, one environment on one thread."""
    env = gym.make("guess/Guess-Text-v0")

    def play() -> int:
        env.reset()
        turns, over = 0, False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.unwrapped.oracle())  # type: ignore[attr-defined]
            turns, over = turns + 1, terminated or truncated
        return turns

    seconds, repeats = (0.1, 1) if quick else (1.0, 5)
    row = result("oracle", "agentrl", agentrl.__version__, rates(play, seconds, repeats), "turns/s", obs="text")
    common = {"schema": 1, "name": "guess", "machine": machine(), "threads": 1}
    return {**common, "results": [row], "peers": {}, "ratios": [], "pass": True}

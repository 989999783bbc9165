"""Stages that take their time and no processor: an environment, a policy and a trainer that sleep.

A generator and a trainer on another device leave the processor alone, as these do; so an asynchronous pipeline can be
measured on a machine without one.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.policy import Conversation, Generation, as_generation
from agentrl.core.spaces import AnyText

SLEEPING = "benchmarks.stages:agentrl-bench/Sleeping-v0"


class SleepingEnv(gym.Env):
    """`turns` turns of `seconds` each."""

    render_mode = None
    system_prompt = "Wait."

    def __init__(self, split: str = "train", turns: int = 4, seconds: float = 0.0) -> None:
        self.action_space, self.observation_space = AnyText(("wait",)), gym.spaces.Dict({"text": AnyText()})
        self.split, self.turns, self.seconds, self.turn = split, turns, seconds, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.turn = 0
        return {"text": "turn 0"}, {"task": "wait"}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        time.sleep(self.seconds)
        self.turn += 1
        info = {"success": True, "actions": [action], "feedback": "", "reward_terms": {"time": 1.0}}
        return {"text": f"turn {self.turn}"}, 1.0, self.turn == self.turns, False, info


Choose = Callable[[Conversation, random.Random], Any]


def any_word(*words: str) -> Choose:
    """One of these."""
    return lambda conversation, rng: rng.choice(words)


def any_move(size: int) -> Choose:
    """A control of so many numbers."""
    return lambda conversation, rng: np.array([rng.uniform(-1, 1) for _ in range(size)], np.float32)


def any_link(conversation: Conversation, rng: random.Random) -> str:
    """A click on one of the links and buttons that the page shows."""
    shown = re.findall(r'<(?:a|button) id="(\d+)"', conversation[-1]["content"])
    return f'do(action="Click", element="{rng.choice(shown)}")' if shown else 'do(action="Go Backward")'


class SleepingPolicy:
    """Takes `base` seconds for a batch and `each` for a request. Its answers are of the weights that `version` names.

    It chooses from what it is shown, as a model does, and asks the environment nothing: a question to an environment in
    another process waits until that has stepped.
    """

    name = "sleeping"

    def __init__(self, base: float, each: float, choose: Choose) -> None:
        self.base, self.each, self.choose, self.version = base, each, choose, 0
        self._rng = random.Random(0)

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One answer to each."""
        began = time.perf_counter()
        answers = [as_generation(self.choose(conversation, self._rng)) for conversation in conversations]
        rest = self.base + self.each * len(conversations) - (time.perf_counter() - began)
        time.sleep(max(0.0, rest))
        return [replace(answer, version=self.version) for answer in answers]


if "agentrl-bench/Sleeping-v0" not in gym.registry:
    gym.register(
        "agentrl-bench/Sleeping-v0",
        entry_point="benchmarks.stages:SleepingEnv",
        disable_env_checker=True,
        order_enforce=False,
    )

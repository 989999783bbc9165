"""Stages that take their time and no processor: an environment, a policy and a trainer that sleep.

A generator and a trainer on another device leave the processor alone, as these do; so an asynchronous pipeline can be
measured on a machine without one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from agentrl.core.policy import Conversation, Generation, Policy
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


class SleepingPolicy:
    """Takes `base` seconds for a batch and `each` for a request, on top of what `policy` takes; without one it says
    "wait". Its answers are of the weights that `version` names."""

    name = "sleeping"

    def __init__(self, base: float, each: float, policy: Policy | None = None) -> None:
        self.base, self.each, self.policy, self.version = base, each, policy, 0

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One answer to each."""
        began = time.perf_counter()
        if self.policy is None:
            answers = [Generation("wait", "wait", version=self.version) for _ in conversations]
        else:
            found = self.policy.act(conversations, envs)
            answers = [Generation(one.text, one.action, version=self.version) for one in found]
        rest = self.base + self.each * len(conversations) - (time.perf_counter() - began)
        time.sleep(max(0.0, rest))
        return answers


if "agentrl-bench/Sleeping-v0" not in gym.registry:
    gym.register(
        "agentrl-bench/Sleeping-v0",
        entry_point="benchmarks.stages:SleepingEnv",
        disable_env_checker=True,
        order_enforce=False,
    )

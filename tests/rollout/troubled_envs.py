"""Environments that hang, die, lie and raise, and a policy that makes them do so; importable in other processes too."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.errors import ConfigError, EngineFault, EnvFault
from agentrl.core.policy import Generation
from agentrl.core.spaces import AnyText

TROUBLED = "tests.rollout.troubled_envs:rollout-tests/Troubled-v0"


@dataclass
class Census:
    """How many environments came and went."""

    made: int = 0
    closed: int = 0


class TroubledEnv(gym.Env):
    """`turns` turns; every word but those of `trouble` is worth 1. `once` names a file: no trouble once it is there."""

    census = Census()
    render_mode = None
    system_prompt = "Be good."

    def __init__(self, split="train", turns=2, once=None, seconds=60.0, make_fails=False, wait=0.0):
        if make_fails:
            raise RuntimeError("no display")
        self.counted = type(self).census  # one that hangs may outlive its test: the next counts anew
        self.counted.made += 1
        self.action_space, self.observation_space = AnyText(("good", "fine")), gym.spaces.Dict({"text": AnyText()})
        self.split, self.turns, self.once, self.seconds, self.wait = split, turns, once, seconds, wait

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turn, self.start = 0, seed
        if (options or {}).get("task") == "nonsense":
            raise ConfigError("no such task")
        self.trouble("reset-" + str(seed)) if seed in (666, 667) else None
        return self.see(), {"task": (options or {}).get("task", "t")}

    def see(self):
        return {"text": f"episode {self.start} turn {self.turn}"}

    def step(self, action):
        time.sleep(self.wait)
        if answer := self.trouble(action):
            return answer
        self.turn += 1
        over = self.turn == self.turns
        info = {"success": over, "actions": [action], "feedback": f"You said {action}.", "reward_terms": {"word": 1.0}}
        return self.see(), 1.0, over, False, info

    def trouble(self, action):
        if self.once is not None and Path(self.once).exists():
            return None
        if self.once is not None and action not in ("good", "fine"):
            Path(self.once).touch()
        match action:
            case "hang" | "reset-666":
                time.sleep(self.seconds)
            case "die":
                os.kill(os.getpid(), 9)
            case "raise" | "reset-667":
                raise RuntimeError("a bug of the simulator")
            case "exit":
                sys.exit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case "fault":
                raise EnvFault("the backend is gone")
            case "nan":
                return self.see(), float("nan"), False, False, {}
            case "short":
                return self.see(), 0.0, False

    def close(self):
        self.counted.closed += 1

    @classmethod
    def count_anew(cls) -> Census:
        """Of the environments made from now on."""
        cls.census = Census()
        return cls.census


def eventually(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


class Playing:
    """Says what its script says for the episode and turn it is shown; "good" where the script is silent."""

    name = "playing"

    def __init__(self, script: dict[int, list[str]] | None = None) -> None:
        self.script, self.batches = script or {}, []

    def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
        self.batches.append([conversation[-1]["content"] for conversation in conversations])
        return [self.answer(conversation) for conversation in conversations]

    def answer(self, conversation: Any) -> Generation:
        episode, turn = map(int, re.search(r"episode (\d+) turn (\d+)", conversation[-1]["content"]).groups())
        said = self.script.get(episode, [])
        text = said[turn] if turn < len(said) else "good"
        return Generation(text, text)


class Failing(Playing):
    """Fails the first `failures` times it is asked."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
        self.failures -= 1
        if self.failures >= 0:
            raise EngineFault("out of memory")
        return super().act(conversations, envs)


class Remembering(gym.Wrapper):
    """Counts episodes for ever; adds a picture, too."""

    def __init__(self, env):
        super().__init__(env)
        self.episodes = 0

    def reset(self, **arguments):
        self.episodes += 1
        observation, info = self.env.reset(**arguments)
        return {**observation, "image": np.full((4, 4, 3), self.episodes, np.uint8)}, info

    def step(self, action):
        observation, *rest, info = self.env.step(action)
        return observation, *rest, {**info, "episodes": self.episodes}

    def snapshot(self):
        return str(self.episodes).encode()

    def restore(self, blob):
        self.episodes = int(blob)


if "rollout-tests/Troubled-v0" not in gym.registry:
    gym.register(
        "rollout-tests/Troubled-v0",
        entry_point="tests.rollout.troubled_envs:TroubledEnv",
        disable_env_checker=True,
        order_enforce=False,
    )


class Peculiar(gym.Wrapper):
    """Shows arrays of many kinds, and tells what JSON cannot say."""

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        arrays = {"image": np.full((8, 9, 3), 7, np.uint8)[:, ::2], "proprio": np.array([0.1, -2], np.float32)}
        arrays |= {"state": np.array([np.nan]), "depth": np.zeros((8, 9))}
        strange = {1: {2.5}, "nan": [np.nan, 1], "array": np.arange(3), "thing": object(), "path": Path("a")}
        held = {"reward_terms": {"word": np.float32(0.1)}, "pending": ("word",), "anchor": "here"}
        return {**observation, **arrays}, np.float64(reward), terminated, truncated, info | strange | held

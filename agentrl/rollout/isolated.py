"""An environment in a slot of a host: it may crash, hang or leak there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec as GymSpec

from agentrl.core.errors import AgentRLError, ConfigError
from agentrl.core.space_codec import from_plain
from agentrl.rollout.hosts import START_SECONDS, Call, Host, Region, make_stack
from agentrl.rollout.starts import Stack


class IsolatedEnv(gym.Env):
    """The side here: looks like the environment to collectors and policies.

    Whatever goes wrong there is a `Fault`. Without a `host` it has one of its own, of the interpreter `python`.
    """

    def __init__(self, stack: Stack, host: Host | None = None, *, python: str | Path | None = None) -> None:
        if host is not None and python is not None:
            raise ConfigError("python must be given to the host, where there is one")
        self._stack, self.host, self._owner = stack, host or Host(python=python), host is None
        self._open()

    def _open(self) -> None:
        """Make the environment there, and look like it."""
        stack, self._life, self._slot = self._stack, self.host.life, None
        self.facts = facts = self._ask("open", [stack.id, stack.kwargs, stack.wrappers], seconds=START_SECONDS)
        self._slot, self._region = facts["slot"], self.host.region(self._life, facts["start"], facts["layout"])
        self.split, self.env_id, self.render_mode = facts["split"], facts["env_id"], facts["render_mode"]
        self.metadata = facts["metadata"]
        self.spec = None if facts["spec"] is None else GymSpec.from_json(json.dumps(facts["spec"]))
        if facts["rules"] is not None:
            self.system_prompt = facts["rules"]
        if facts["spaces"] is not None:
            self.action_space, self.observation_space = map(from_plain, facts["spaces"])
        for name in facts["asked"]:
            setattr(self, name, lambda *args, name=name: self._ask("ask", name, args))
        for name, value in facts["told"].items():
            setattr(self, name, value)

    # ------------------------------------------------------------------ episodes

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode there."""
        super().reset(seed=seed)
        observation, info = self.read_reset(self._ask("reset", seed, options))
        return copied(observation), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play a turn there."""
        return self.read_step(self._ask("step", action))

    def read_reset(self, answer: Any) -> tuple[Any, dict[str, Any]]:
        """What `reset` gives, of its answer; arrays are shared with the process and last until the next call."""
        told, info, rules = answer
        if rules:
            self.system_prompt = rules
        return self._seen(told), info

    def read_step(self, answer: Any, copy: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """What `step` gives, of its answer; arrays that are not copied last until the next call."""
        told, reward, terminated, truncated, info = answer
        observation = self._seen(told)
        return copied(observation) if copy else observation, reward, terminated, truncated, info

    def _seen(self, told: Any) -> Any:
        """The observation of an answer."""
        return self._region.get(*told)

    def legal_actions(self) -> list[Any]:
        """Whole turns that make sense there at this moment."""
        return self._ask("legal")

    def render(self) -> Any:
        """What it looks like there."""
        return self._ask("render")

    # ------------------------------------------------------------------ memory

    def save(self) -> list[bytes]:
        """What each wrapper there remembers from one episode to the next."""
        return [bytes(blob) for blob in self._ask("save")]

    def load(self, blobs: list[bytes]) -> None:
        """Inverse of `save`."""
        self._ask("load", blobs)

    def snapshot(self) -> bytes:
        """Everything its future depends on: the snapshot of the whole stack there."""
        return self._ask("snapshot")

    def restore(self, blob: bytes) -> None:
        """Inverse of `snapshot`."""
        self._ask("restore", blob)

    # ------------------------------------------------------------------ the process

    def close(self) -> None:
        """Leave the host, after whatever it is doing. May be called twice."""
        self._region = Region()
        if self._slot is not None and not self.lost:
            self.host.call([self.asked("close")], START_SECONDS)  # what it says changes nothing any more
        self._slot = None
        if self._owner:
            self.host.close()

    @property
    def lost(self) -> bool:
        """Has the process that it was in been replaced?"""
        return not self.host.lives(self._life)

    @property
    def pid(self) -> int | None:
        """The process, or None once it is gone."""
        return self._life.pid

    def __getattr__(self, name: str) -> Any:
        if name not in ("action_space", "observation_space"):
            raise AttributeError(name)
        self.action_space, self.observation_space = deepcopy(spaces_of(self._stack))
        return self.__dict__[name]

    def asked(self, method: str, *args: Any) -> Call:
        """A call in its slot, for a message of the host's."""
        return self._life, self._slot, method, args

    def _ask(self, method: str, *args: Any, seconds: float | None = None) -> Any:
        (value,) = self.host.call([self.asked(method, *args)], seconds)
        if isinstance(value, AgentRLError):
            raise value
        return value


def ask_all(calls: Sequence[tuple[IsolatedEnv, Call]]) -> list[Any]:
    """Values or errors, in the order of the calls: one message for each host, to all of them at the same time."""
    by_host: dict[Host, list[int]] = {}
    for place, (env, _) in enumerate(calls):
        by_host.setdefault(env.host, []).append(place)
    found: list[Any] = [None] * len(calls)
    # In one order everywhere: two threads that wait for each other's hosts would wait for ever.
    pending = {}
    try:
        for host in sorted(by_host, key=id):
            pending[host] = host.send([calls[place][1] for place in by_host[host]])
        for host in list(pending):
            for place, value in zip(by_host[host], pending.pop(host)(), strict=True):
                found[place] = value
    except BaseException as error:  # answers that nobody waits for would meet the next messages
        for host, result in pending.items():
            if not isinstance(error, Exception):  # interrupted
                host.kill()
            result()
        raise
    return found


def copied(observation: Any) -> Any:
    """With arrays of its own."""
    if isinstance(observation, dict):
        return {name: copied(part) for name, part in observation.items()}
    return observation.copy() if isinstance(observation, np.ndarray) else observation


_known_spaces: dict[str, tuple[gym.Space, gym.Space]] = {}


def spaces_of(stack: Stack) -> tuple[gym.Space, gym.Space]:
    """Of actions and observations; a stack is made for them once, however many processes there are."""
    key = repr((stack.id, stack.kwargs, stack.wrappers))
    if key not in _known_spaces:
        env = make_stack(stack)
        _known_spaces[key] = env.action_space, env.observation_space
        env.close()
    return _known_spaces[key]

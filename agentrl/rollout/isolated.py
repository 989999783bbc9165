"""An environment in a process of its own: it may crash, hang or leak there and costs its own episode only."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec as GymSpec

from agentrl.core.errors import (
    AgentRLError,
    ConfigError,
    EnvFault,
    Fault,
    MissingExtra,
    SnapshotError,
    SnapshotUnsupported,
)
from agentrl.core.snapshot import restore_layers, snapshot_layers
from agentrl.core.worker import Worker
from agentrl.policies.random import legal_actions
from agentrl.rollout.episode import make, spec_json
from agentrl.rollout.prompts import rules_of
from agentrl.rollout.starts import EnvSpec
from agentrl.wrappers.build import wrap

START_SECONDS = 120.0  # importing a simulator takes long, and longer where many start at once
ASKED = ("oracle", "gold", "truthful", "hasty_action", "about_task")  # what policies and records ask for
TOLD = ("max_actions_per_turn", "action_separator")  # what they read


def make_stack(spec: EnvSpec, split: str) -> gym.Env:
    """The environment of a spec inside its wrappers."""
    return wrap(make(spec.id, split=split, **spec.kwargs), spec.wrappers)


class EnvHost:
    """The side in the process: holds the stack and answers with `["ok", value]`, or says whose mistake it was."""

    def __init__(self, id: str, split: str, kwargs: dict[str, Any], wrappers: list[dict[str, Any]]) -> None:
        self._build: Callable[[], gym.Env] = lambda: wrap(make(id, split=split, **kwargs), wrappers)
        self._env: gym.Env | None = None

    def open(self) -> list[Any]:
        """Make the stack; the facts about it."""
        return self._answer(self._open)

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> list[Any]:
        """Begin an episode; the rules come along, since a task may change them."""
        return self._answer(lambda: [*self._made.reset(seed=seed, options=options), rules_of(self._made)])

    def step(self, action: Any) -> list[Any]:
        """Play a turn."""
        return self._answer(lambda: list(self._made.step(action)))

    def ask(self, name: str, *args: Any) -> list[Any]:
        """The oracle's turn, the gold one, a turn with the truth around it, a typical mistake, facts about the task."""
        return self._answer(lambda: self._made.get_wrapper_attr(name)(*args) if name in ASKED else None)

    def legal(self) -> list[Any]:
        """Whole turns that make sense at this moment."""
        return self._answer(lambda: list(legal_actions(self._made)))

    def render(self) -> list[Any]:
        """A picture or a drawing."""
        return self._answer(lambda: self._made.render())

    def save(self) -> list[Any]:
        """What the wrappers remember."""
        return self._answer(lambda: snapshot_layers(self._made))

    def load(self, blobs: list[bytes]) -> list[Any]:
        """Inverse of `save`."""
        return self._answer(lambda: restore_layers(self._made, blobs))

    def close(self) -> None:
        """Close the stack."""
        if self._env is not None:
            self._env.close()

    @property
    def _made(self) -> gym.Env:
        if self._env is None:
            raise EnvFault("the process was replaced and its environment is gone")
        return self._env

    def _open(self) -> dict[str, Any]:
        self._env = env = self._build()
        base = env.unwrapped
        return {
            "spec": spec_json(env),
            "split": getattr(base, "split", None),
            "env_id": base.spec.id if base.spec else type(base).__name__,
            "rules": rules_of(env) if env.has_wrapper_attr("system_prompt") else None,
            "asked": [name for name in ASKED if env.has_wrapper_attr(name)],
            "told": {name: getattr(base, name) for name in TOLD if hasattr(base, name)},
            "render_mode": env.render_mode,
        }

    @staticmethod
    def _answer(function: Callable[[], Any]) -> list[Any]:
        try:
            return ["ok", function()]
        except MissingExtra as error:
            return ["missing", [error.package, error.extra]]
        except Fault as error:
            return ["fault", error.to_json()]
        except (SnapshotError, SnapshotUnsupported) as error:
            return [type(error).__name__, str(error)]
        except AgentRLError as error:
            return ["config", str(error)]


class IsolatedEnv(gym.Env):
    """The side here: looks like the environment to collectors and policies.

    `timeout` is the deadline of every reset and step; the process is killed when it passes, and whatever goes wrong is
    a `Fault`. Spaces cannot be sent between processes: where a policy asks for one (random play does), a stack is made
    here, looked at and closed.
    """

    def __init__(self, spec: EnvSpec, split: str, timeout: float | None = None) -> None:
        self._spec, self._split = spec, split
        arguments = {"id": spec.id, "split": split, "kwargs": dict(spec.kwargs), "wrappers": list(spec.wrappers)}
        self._worker = Worker(
            "agentrl.rollout.isolated:EnvHost",
            kwargs=arguments,
            deadline=math.inf if timeout is None else timeout,
            start_deadline=START_SECONDS,
        )
        try:
            facts = self._ask("open", deadline=START_SECONDS)
        except BaseException:
            self._worker.close()
            raise
        self.split, self.env_id, self.render_mode = facts["split"], facts["env_id"], facts["render_mode"]
        self.spec = None if facts["spec"] is None else GymSpec.from_json(json.dumps(facts["spec"]))
        if facts["rules"] is not None:
            self.system_prompt = facts["rules"]
        for name in facts["asked"]:
            setattr(self, name, lambda *args, name=name: self._ask("ask", name, *args))
        for name, value in facts["told"].items():
            setattr(self, name, value)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode there."""
        super().reset(seed=seed)
        observation, info, rules = self._ask("reset", seed, options)
        if rules:
            self.system_prompt = rules
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play a turn there."""
        return tuple(self._ask("step", action))  # pyright: ignore[reportReturnType]  (five, as that side's step gave)

    def legal_actions(self) -> list[Any]:
        """Whole turns that make sense there at this moment."""
        return self._ask("legal")

    def render(self) -> Any:
        """What it looks like there."""
        return self._ask("render")

    def save(self) -> list[bytes]:
        """What each wrapper there remembers from one episode to the next."""
        return [bytes(blob) for blob in self._ask("save")]

    def load(self, blobs: list[bytes]) -> None:
        """Inverse of `save`."""
        self._ask("load", blobs)

    def close(self) -> None:
        """End the process; a call in flight in another thread fails."""
        self._worker.close()

    @property
    def pid(self) -> int | None:
        """The process, or None once it is gone."""
        return self._worker.pid

    def __getattr__(self, name: str) -> Any:
        if name not in ("action_space", "observation_space"):
            raise AttributeError(name)
        self.action_space, self.observation_space = deepcopy(_spaces(self._spec, self._split))
        return self.__dict__[name]

    def _ask(self, method: str, *args: Any, deadline: float | None = None) -> Any:
        status, value = self._worker.call(method, *args, deadline=deadline)
        if status == "ok":
            return value
        if status == "missing":
            raise MissingExtra(*value)
        if status == "fault" and isinstance(value, Mapping):
            kind, detail = value["kind"], value["detail"]
            raise EnvFault(detail if kind == "EnvFault" else f"{kind}: {detail}")
        refused = {"SnapshotError": SnapshotError, "SnapshotUnsupported": SnapshotUnsupported}
        raise refused.get(status, ConfigError)(str(value))


_known_spaces: dict[str, tuple[gym.Space, gym.Space]] = {}


def _spaces(spec: EnvSpec, split: str) -> tuple[gym.Space, gym.Space]:
    """Of actions and observations; a stack is made for them once, however many processes there are."""
    key = repr((spec.id, split, spec.kwargs, spec.wrappers))
    if key not in _known_spaces:
        env = make_stack(spec, split)
        _known_spaces[key] = env.action_space, env.observation_space
        env.close()
    return _known_spaces[key]

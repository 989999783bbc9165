"""Which episodes to collect: environments of a mix, and where an episode begins."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation
from agentrl.wrappers.build import EXAMPLE


@dataclass(frozen=True)
class Stack:
    """An environment inside its wrappers, as JSON: all that another process needs to make it."""

    id: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    wrappers: tuple[dict[str, Any], ...] = ()  # from the inside out: {"wrapper": "Reasoning", ...arguments}

    def __post_init__(self) -> None:
        if not isinstance(self.id, str):
            raise ConfigError(f"an environment id must be a string; got {type(self.id).__name__}")
        if not isinstance(self.kwargs, Mapping):
            raise ConfigError(f"kwargs must be a mapping of argument names to values; got {type(self.kwargs).__name__}")
        if isinstance(self.wrappers, (str, bytes, Mapping)) or not isinstance(self.wrappers, Sequence):
            raise ConfigError(f"wrappers must be a list such as {EXAMPLE}")


@dataclass(frozen=True)
class EnvSpec(Stack):
    """One environment of a mix, as JSON. `weight` is its share of the starts where those are drawn at random."""

    weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if "split" in self.kwargs:
            raise ConfigError("choose the split with split=..., not inside the environment's kwargs")
        if self.kwargs.get("full_info") is False:
            raise ConfigError("trajectories need full_info=True; full_info=False is for other libraries")
        if finite_number("weight", self.weight) < 0:
            raise ConfigError(f"weight must be 0 or more; got {self.weight!r}")

    def stack(self, split: str) -> Stack:
        """It in one split."""
        return Stack(self.id, {"split": split, **self.kwargs}, self.wrappers)


ON_DEVICE = ("simulator", "device", "starts", "tasks")  # arguments of `gym.make_vec` alone


def on_device(spec: EnvSpec) -> bool:
    """Are its episodes played in many worlds of one simulator?"""
    return spec.kwargs.get("simulator", "mujoco") != "mujoco"


def alone(spec: EnvSpec) -> EnvSpec:
    """The same as a single environment."""
    return replace(spec, kwargs={name: value for name, value in spec.kwargs.items() if name not in ON_DEVICE})


@dataclass(frozen=True)
class Start:
    """Where an episode begins: a seed, or exactly one task; `env` is the index of its environment in the mix.

    With an `opening` it begins with turns of an earlier episode: these answers are given again before the policy is
    asked, so that it plays on from where they lead. They are part of the record.
    """

    seed: int
    env: int = 0
    task: str | None = None
    group_id: str | None = None  # episodes that are compared with each other
    id: str | None = None  # of the trajectory; without one it follows from the content
    opening: tuple[Generation, ...] = field(default=(), hash=False)

    def __post_init__(self) -> None:
        whole_number("seed", self.seed, at_least=0)
        whole_number("env", self.env, at_least=0)


def grouped(starts: Sequence[Start], size: int) -> list[Start]:
    """`size` copies of each start, side by side: one seed, one group id, ids of their own.

    A group is named by its start's `group_id` or `id`; otherwise by its place and what it plays, so that no two groups
    of one call share a name.
    """
    whole_number("size", size, at_least=1)
    named = [
        (start, start.group_id or start.id or f"g{number}-e{start.env}-s{start.seed}")
        for number, start in enumerate(starts)
    ]
    if len({name for _, name in named}) < len(named):
        raise ConfigError("two starts have the same id or group_id; names of groups must differ")
    return [
        replace(start, group_id=name, id=f"{start.id or name}.{copy}") for start, name in named for copy in range(size)
    ]


def sampling_names(starts: Sequence[Start]) -> list[str]:
    """A name that seeds the sampling of each start: its id, or environment, seed, task and how often those came before.

    So an episode samples the same tokens whatever runs beside it, and equal starts sample differently.
    """
    seen: dict[tuple[int, int, str | None], int] = {}
    names = []
    for start in starts:
        what = (start.env, start.seed, start.task)
        seen[what] = seen.get(what, -1) + 1
        names.append(start.id or f"e{start.env}-s{start.seed}-{start.task or ''}-{seen[what]}")
    return names


def checked_starts(starts: Sequence[Start], envs: Sequence[EnvSpec]) -> list[Start]:
    """A list of starts whose environments are there and whose ids differ."""
    found = list(starts)
    for start in found:
        if not isinstance(start, Start):
            raise ConfigError(f"starts must be Start(seed, ...) objects; got {type(start).__name__}")
        if start.env >= len(envs):
            raise ConfigError(f"env of a start must be below {len(envs)}, the number of environments; got {start.env}")
    ids = [start.id for start in found if start.id is not None]
    if len(set(ids)) < len(ids):
        raise ConfigError("two starts have the same id; ids of trajectories must differ")
    return found


def takes(env_id: str, name: str) -> bool:
    """Has the environment's constructor this argument, itself or in a class to which it passes others on?"""
    module, _, plain_id = env_id.rpartition(":")
    if module:  # environments of other packages are registered by importing it
        import_module(module)
    spec = gym.registry.get(plain_id)
    if spec is None or spec.entry_point is None:
        return True  # `gym.make` says what is wrong
    creator = load_env_creator(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
    layers: list[Any] = [creator]
    if isinstance(creator, type):
        layers = [vars(layer)["__init__"] for layer in creator.__mro__[:-1] if "__init__" in vars(layer)]
    for layer in layers:
        parameters = inspect.signature(layer).parameters
        if name in parameters:
            return True
        if all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
            return False
    return not isinstance(creator, type)  # a function passes on what it does not name

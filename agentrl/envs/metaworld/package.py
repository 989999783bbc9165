"""The package `metaworld`: its simulations, its scripted experts and the tasks of its suites, by our names."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from agentrl.core.errors import MissingExtra
from agentrl.envs.common.mujoco.loading import load as load_mujoco
from agentrl.envs.metaworld.fast_step import use_fast_step

VERSION = "v3"  # of the tasks: "reach" is "reach-v3" there
SUITES = ("ML10", "ML45", "MT10", "MT50")
Expert = Callable[[np.ndarray], np.ndarray]


@cache
def load() -> ModuleType:
    """The package; `MissingExtra` if it is not installed."""
    load_mujoco()  # first: it chooses a driver that draws without a display
    try:
        return import_module("metaworld.env_dict")
    except ModuleNotFoundError as error:
        raise MissingExtra("metaworld", "metaworld") from error


def simulation(task: str) -> Any:
    """A new simulation of a task, with its goal among the observations."""
    sim = _sharing(load().ALL_V3_ENVIRONMENTS[f"{task}-{VERSION}"])()
    sim._set_task_called = True  # its own way of choosing starts is not used
    sim._partially_observable = False
    vars(sim).pop("sawyer_observation_space", None)  # computed from the line above, and kept
    sim.max_path_length = 10**9  # the limit is ours to set
    use_fast_step(sim)
    return sim


@cache
def _sharing(simulated: type) -> type:
    """The same class, whose models are copies of one that is compiled once: that takes longer than anything else."""

    def _initialize_simulation(self: Any) -> tuple[Any, Any]:
        model = copy.copy(_compiled(self.fullpath))
        return model, load_mujoco().MjData(model)

    return type(simulated.__name__, (simulated,), {"_initialize_simulation": _initialize_simulation})


@lru_cache(maxsize=12)  # of up to 10 MB
def _compiled(path: str) -> Any:
    return load_mujoco().MjModel.from_xml_path(path)


@cache
def expert(task: str) -> Expert:
    """The scripted expert of a task: from the 39 numbers of an observation to an action, not clipped.

    A private copy of its function, so that it does not warn at every action that will be clipped. It gets a copy of the
    observation, too: some experts write into what they are given.
    """
    load()
    policy = import_module("metaworld.policies").ENV_POLICY_MAP[f"{task}-{VERSION}"]
    shown = policy.get_action
    quiet = FunctionType(shown.__code__, {**shown.__globals__, "move": _towards}, closure=shown.__closure__)
    return lambda observation: quiet(policy(), observation.copy())


def _towards(from_xyz: np.ndarray, to_xyz: np.ndarray, p: float) -> np.ndarray:
    return p * (to_xyz - from_xyz)


def suite_tasks(suite: str, split: str) -> tuple[str, ...]:
    """The tasks of a suite's split. The suites for meta-learning (ML) are tested on tasks of their own; our dev split
    has their training tasks. The others (MT) have the same tasks everywhere."""
    known = getattr(load(), f"{suite}_V3")
    chosen = known["test" if split == "test" else "train"] if suite.startswith("ML") else known
    return tuple(name.removesuffix(f"-{VERSION}") for name in chosen)

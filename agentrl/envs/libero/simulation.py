"""What an environment needs of a simulated task, and the tasks simulated with object models and an arm of our own."""

from __future__ import annotations

from collections import OrderedDict
from importlib import import_module
from typing import Any, Protocol

import msgspec
import numpy as np

from agentrl.core.errors import ConfigError, EnvFault, did_you_mean
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.perturb import UNCHANGED, Perturbation
from agentrl.envs.libero.controller import Controller, robot_state
from agentrl.envs.libero.perturb import perturbed_world
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import World

mujoco = load()

SOURCES = {
    "procedural": "agentrl.envs.libero.simulation:ProceduralSimulation",
    "official": "agentrl.envs.libero.official.simulation:OfficialSimulation",
}
PICTURES = {"image": "agentview", "wrist_image": "eye_in_hand"}  # name in the observation -> camera


class Simulation(Protocol):
    """One task at a time. Metres and radians in the world's frame."""

    @property
    def conditions(self) -> dict[str, bool]:
        """Those of the goal, and which hold now."""
        ...

    def begin(self, chosen: Chosen) -> None:
        """Set a task up at one of its starts, and let it settle."""
        ...

    def step(self, action: np.ndarray) -> bool:
        """Run one action; is the goal reached?"""
        ...

    def frame(self, camera: str, size: int) -> np.ndarray:
        """A picture of this moment, uint8 [size, size, 3]."""
        ...

    def robot(self) -> dict[str, np.ndarray]:
        """The robot's own state, by robosuite's names (`agentrl.envs.libero.controller.ROBOT_STATE`)."""
        ...

    def names(self) -> tuple[list[str], list[str]]:
        """The objects, what the task is about first, and the joints of drawers, doors and knobs."""
        ...

    def numbers(self) -> np.ndarray:
        """Position and quaternion (w, x, y, z) of each of the objects, then the values of the joints."""
        ...

    def distractors(self) -> dict[str, np.ndarray]:
        """The same of each object that the task does not know, by name."""
        ...

    def held(self) -> str | None:
        """The object between the fingers."""
        ...

    def save(self) -> dict[str, Any]:
        """Everything the future depends on, as values that msgpack can write."""
        ...

    def load(self, chosen: Chosen, data: dict[str, Any]) -> None:
        """Inverse of `save`; ValueError if the data does not fit the task."""
        ...

    def close(self) -> None:
        """Free what it holds; `begin` takes it again."""
        ...


def make_simulation(assets: Any, settle_steps: int, change: Perturbation, **official: Any) -> Simulation:
    """The simulation with these assets; a sentence says why there is none."""
    if not isinstance(assets, str) or assets not in SOURCES:
        raise ConfigError(
            f"assets must be one of {', '.join(SOURCES)}; got {assets!r}.{did_you_mean(str(assets), SOURCES)}"
        )
    module, _, attribute = SOURCES[assets].partition(":")
    make = getattr(import_module(module), attribute)
    if assets == "official" and change:
        raise ConfigError(f'perturb must be None with assets="official"; got "{change}"')
    return make(settle_steps, **(official if assets == "official" else {"change": change}))


# ---------------------------------------------------------------------- with models of our own

REST = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0])  # the action of settling steps: no motion, the gripper opens
KEPT = 4  # worlds of tasks that stay in memory, so that playing them in turn builds each once


class ProceduralSimulation:
    """A `World` and the controller that moves its arm."""

    def __init__(self, settle_steps: int = 0, change: Perturbation = UNCHANGED) -> None:
        self._settle_steps, self._change = settle_steps, change
        self._kept: OrderedDict[tuple[str, int], tuple[World, Controller]] = OrderedDict()
        self._playing: tuple[World, Controller] | None = None
        self._chosen: Chosen | None = None
        self._columns: np.ndarray | None = None  # of the numbers in data.qpos

    @property
    def world(self) -> World:
        """That of the task which is played."""
        return self._current[0]

    @property
    def controller(self) -> Controller:
        """What moves the arm of that world."""
        return self._current[1]

    @property
    def _current(self) -> tuple[World, Controller]:
        if self._playing is None:
            raise EnvFault("the environment is closed; call reset()")
        return self._playing

    @property
    def conditions(self) -> dict[str, bool]:
        """Those of the goal, and which hold now."""
        return self.world.conditions()

    def begin(self, chosen: Chosen) -> None:
        """Set a task up at one of its starts, and let it settle."""
        self._set_up(chosen)
        self.controller.begin()
        for _ in range(self._settle_steps):
            self.step(REST)

    def _set_up(self, chosen: Chosen) -> None:
        self._chosen, self._columns, key = chosen, None, chosen[:2]
        if self._change:  # a model of its own for every start
            world = perturbed_world(chosen, self._change)
            self._playing = world, Controller(world.arm)
            return
        if key not in self._kept:
            world = World(*key)
            self._kept[key] = world, Controller(world.arm)
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        self._playing = self._kept[key]
        self.world.reset(self.world.start(f"{chosen.split}/{chosen.start}"))

    def step(self, action: np.ndarray) -> bool:
        """Run one action; is the goal reached?"""
        world, controller = self._current
        controller.step(action)
        settle(world)
        return world.goal_holds()

    def frame(self, camera: str, size: int) -> np.ndarray:
        """A picture of this moment."""
        return self.world.draw(camera, size)

    def robot(self) -> dict[str, np.ndarray]:
        """The arm's own state."""
        return robot_state(self.world.arm)

    def names(self) -> tuple[list[str], list[str]]:
        """The objects, what the task is about first, and the joints of fixtures."""
        return names_of(self.world)

    def numbers(self) -> np.ndarray:
        """Position and quaternion of each object, then the joints."""
        if self._columns is None:
            self._columns = columns_of(self.world)
        return self.world.data.qpos[self._columns]

    def distractors(self) -> dict[str, np.ndarray]:
        """The same of each distractor."""
        world = self.world
        return {name: world.data.qpos[world.addresses[name] :][:7] for name in world.distractors}

    def held(self) -> str | None:
        """The object between the fingers."""
        return self.world.held()

    def save(self) -> dict[str, Any]:
        """The state of the simulation, and the orientation that the controller keeps."""
        return {"physics": self.world.save(), "orientation": self.controller.orientation.ravel().tolist()}

    def load(self, chosen: Chosen, data: dict[str, Any]) -> None:
        """Continue from `save`."""
        saved = msgspec.convert(data, _Saved)
        orientation = np.array(saved.orientation)
        if orientation.shape != (9,) or not np.isfinite(orientation).all():
            raise ValueError("the orientation that the gripper keeps must be nine finite numbers")
        self._set_up(chosen)
        self.world.load(saved.physics)
        self.controller.orientation = orientation.reshape(3, 3)

    def close(self) -> None:
        """Forget all worlds."""
        self._kept.clear()
        self._chosen = self._playing = None

    def __getstate__(self) -> dict[str, Any]:
        saved = self.save() if self._chosen else None
        how = {"settle_steps": self._settle_steps, "change": self._change}
        return {**how, "chosen": self._chosen, "saved": saved}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["settle_steps"], state["change"])
        if state["chosen"] is not None:
            self.load(state["chosen"], state["saved"])


def names_of(world: World) -> tuple[list[str], list[str]]:
    """The objects of a task, what it is about first, and the joints of fixtures."""
    first = [name for name in world.problem.interest if name in world.objects]
    known = [name for name in world.objects if name not in world.distractors]
    return list(dict.fromkeys([*first, *known])), list(world.joints)


def columns_of(world: World) -> np.ndarray:
    """Where in `data.qpos` the poses of the objects lie, then the joints."""
    objects, joints = names_of(world)
    rows = [np.arange(7) + world.addresses[name] for name in objects]
    at = [int(world.model.joint(name).qposadr[0]) for name in joints]
    return np.concatenate([*rows, np.array(at, dtype=int)])


class _Saved(msgspec.Struct):
    physics: bytes
    orientation: list[float]


def settle(world: World) -> None:
    """Make poses and contacts those of this instant, as they are after `load`; a simulator step leaves older ones."""
    # The parts of `mj_fwdPosition` that somebody looks at: inertia and constraints are computed by the next step.
    mujoco.mj_kinematics(world.model, world.data)
    mujoco.mj_comPos(world.model, world.data)
    mujoco.mj_camlight(world.model, world.data)
    mujoco.mj_collision(world.model, world.data)

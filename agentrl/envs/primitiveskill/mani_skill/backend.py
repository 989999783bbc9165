"""The table simulated by ManiSkill 3, where it can be installed: x86-64 with `pip install 'agentrl-suite[maniskill]'`.

The same things, primitives and measurements as in MuJoCo, with ManiSkill's own Panda, table, controller and PhysX.
"""

from __future__ import annotations

import os
import platform
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.envs.primitiveskill.backend import Point, Result, Start
from agentrl.envs.primitiveskill.motion import FAST, Move
from agentrl.envs.primitiveskill.primitives import HOME, Primitives

PHYSICS = {"cpu": "physx_cpu", "gpu": "physx_cuda"}
NEEDED = ("sapien", "mani_skill")
_started_in: set[int] = set()  # the process that uses the simulator; what it forks inherits this


def check_available() -> None:
    """`ConfigError` or `MissingExtra` says in one sentence why ManiSkill cannot be used here."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise ConfigError(
            f"backend 'mani_skill' needs an x86-64 machine: its simulator, sapien, has no build for "
            f"{platform.machine()}; use backend='mujoco'"
        )
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingExtra(package, "maniskill")


class ManiSkillBackend(Primitives):
    """A Panda arm and things on a table, in ManiSkill.

    `physics="cpu"` runs PhysX on the processor. `physics="gpu"` asks ManiSkill for PhysX on a GPU; it needs NVIDIA's
    PhysX library, which ManiSkill downloads, and has never been run by agentrl's own tests. Pictures are drawn by
    software Vulkan in both cases.

    PhysX keeps contacts that cannot be read or written, so a saved table is the list of the primitives so far, and
    loading it repeats them from the start, which takes as long as they took: exact, but slow.
    """

    def __init__(self, physics: str = "cpu") -> None:
        if physics not in PHYSICS:
            raise ConfigError(f"physics must be one of {', '.join(PHYSICS)}; got {physics!r}")
        check_available()
        self.physics = physics
        self._table: Any = None

    def begin(self, start: Start) -> None:
        """Set the table; the arm is at rest above it."""
        _claim_process()
        with _without_traces():
            from agentrl.envs.primitiveskill.mani_skill.motion import ManiSkillMotion
            from agentrl.envs.primitiveskill.mani_skill.scene import Tabletop

            if self._table is None:
                self._table = _started(lambda: Tabletop(start, PHYSICS[self.physics]))
            else:
                self._table.begin(start)
            self._motion = ManiSkillMotion(self._table)
            self._motion.move(Move(HOME, 0.0, FAST))
        self._start, self._done = start, []
        self._drawn: dict[int, np.ndarray] = {}

    # ---------------------------------------------------------------- primitives

    def pick(self, at: Point) -> Result:
        """Grasp what is at a point and lift it."""
        self._asked = ("pick", (at,))
        with _without_traces():
            return super().pick(at)

    def place(self, at: Point) -> Result:
        """Lower what the gripper holds over a point, to z and on until it touches something, and let go."""
        self._asked = ("place", (at,))
        with _without_traces():
            return super().place(at)

    def push(self, start: Point, end: Point) -> Result:
        """Move the closed gripper from one point to another, and retreat."""
        self._asked = ("push", (start, end))
        with _without_traces():
            return super().push(start, end)

    def _finish(self) -> None:
        name, points = self._asked
        self._done.append([name, *([float(value) for value in point] for point in points)])
        self._drawn = {}

    # ---------------------------------------------------------------- looking

    def values(self) -> dict[str, float]:
        """How far each drawer is open, in mm."""
        openings = {name: drawer.get_qpos()[0, 0] for name, drawer in self._table.drawers.items()}
        return {f"{name}_open_value": 1000 * float(value) for name, value in openings.items()}

    def picture(self, size: int) -> np.ndarray:
        """The table from the viewer's place; drawn once for each state."""
        if size not in self._drawn:
            self._drawn[size] = self._table.look(size)
        return self._drawn[size].copy()

    # ---------------------------------------------------------------- saving

    def save(self) -> dict[str, Any]:
        """What was done since `begin`, and where that led."""
        return {"done": [list(action) for action in self._done], "positions": _listed(self.positions())}

    def load(self, data: dict[str, Any]) -> None:
        """Repeat what was done; ValueError if it does not fit or leads elsewhere."""
        done = _checked(data)
        if self._done != done[: len(self._done)]:
            self.begin(self._start)
        for name, *points in done[len(self._done) :]:
            getattr(self, name)(*map(tuple, points))
        if _listed(self.positions()) != data.get("positions"):
            raise ValueError("the saved actions lead elsewhere here: another processor or another version saved them")

    def close(self) -> None:
        """Free the simulator."""
        if self._table is not None:
            self._table.close()
            self._table = None


@contextmanager
def _without_traces() -> Iterator[None]:
    """Keep the program's own generators as they are, which libraries of ManiSkill draw names from, and its output free
    of warnings about ManiSkill's code."""
    states = random.getstate(), np.random.get_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _claim_process() -> None:
    """`ConfigError` in a process forked from one that simulates: Vulkan would wait there for ever."""
    _started_in.add(os.getpid())
    if len(_started_in) > 1:
        _started_in.discard(os.getpid())
        raise ConfigError(
            "ManiSkill cannot run in a process forked from one where it runs already; start processes by 'spawn'"
        )


def _started(make: Any) -> Any:
    """The simulator; `ConfigError` with the cause if it does not start, most often for want of a Vulkan driver."""
    try:
        return make()
    except (RuntimeError, OSError) as error:
        raise ConfigError(
            f"ManiSkill does not start here ({error}); it needs a Vulkan driver even to simulate, such as "
            "mesa-vulkan-drivers 25 (Debian 12: from bookworm-backports)"
        ) from error


def _listed(positions: dict[str, Point]) -> dict[str, list[float]]:
    return {name: list(at) for name, at in positions.items()}


def _checked(data: dict[str, Any]) -> list[list[Any]]:
    """The actions of a saved table; ValueError if they are none."""
    counts = {"pick": 1, "place": 1, "push": 2}
    done = data.get("done")
    if not isinstance(done, list):
        raise ValueError("the saved table has no list of actions")
    for action in done:
        name, points = (action[0], action[1:]) if isinstance(action, list) and action else (None, [])
        right = isinstance(name, str) and counts.get(name) == len(points)
        for point in points if right else ():
            right &= isinstance(point, list) and len(point) == 3 and all(isinstance(part, float) for part in point)
        if not right:
            raise ValueError(f"a saved action must be pick, place or push with its points; got {action!r}")
    return done

"""What a simulator must do for the tasks; the folders `mujoco` and `mani_skill` implement it.

Millimetres in the prompt's frame: the viewer faces -x, -y is to the left, z is up, and a position is the centre of an
object. The arm's base is at x = -615, y = 0, as in ManiSkill.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from agentrl.envs.common.perturb import Perturbation
from agentrl.envs.common.primitives import SEPARATOR, Action, Grammar, Point, Result

__all__ = [
    "GRAMMAR",
    "PARAMETERS",
    "SEPARATOR",
    "WORKSPACE",
    "Action",
    "Backend",
    "Point",
    "Result",
    "Start",
    "Thing",
    "pick",
    "place",
    "push",
    "read_action",
    "read_turn",
    "run",
]


WORKSPACE = ((-200.0, 200.0), (-300.0, 300.0), (0.0, 300.0))  # limits of x, y and z of every argument


@dataclass(frozen=True)
class Thing:
    """Something on the table."""

    name: str  # red_cube, apple, left_target, drawer
    shape: (
        str  # cube, sphere, disc (a flat mark, touches nothing), drawer (a cabinet with one drawer that slides along x)
    )
    size: float  # half side, or radius
    colour: tuple[float, float, float]


@dataclass(frozen=True)
class Start:
    """Where everything is at the beginning."""

    things: tuple[Thing, ...]
    places: dict[str, tuple[float, float, float]]  # name -> x, y, angle in radians; z follows from what it stands on
    values: dict[str, float]  # such as drawer_open_value in mm
    look: tuple[Perturbation, str] | None = None  # what changes the light, the camera and surfaces, and of which task


class Backend(Protocol):
    """One simulated table with a Panda arm."""

    def begin(self, start: Start) -> None:
        """Set the table; the arm is at rest above it."""
        ...

    def pick(self, at: Point) -> Result:
        """Grasp what is at a point and lift it."""
        ...

    def place(self, at: Point) -> Result:
        """Put what the gripper holds down at a point."""
        ...

    def push(self, start: Point, end: Point) -> Result:
        """Move the closed gripper from one point to another, and retreat."""
        ...

    def positions(self) -> dict[str, Point]:
        """The centres of all things, by name."""
        ...

    def values(self) -> dict[str, float]:
        """Other measurements, such as drawer_open_value in mm."""
        ...

    def held(self) -> str | None:
        """What the gripper holds."""
        ...

    def picture(self, size: int) -> np.ndarray:
        """The table from the viewer's place, uint8 [size, size, 3]."""
        ...

    def save(self) -> dict[str, Any]:
        """Everything the future depends on, the controller's memory included, as values that msgpack can write."""
        ...

    def load(self, data: dict[str, Any]) -> None:
        """Inverse of `save`, after `begin` with the same start; ValueError if it does not fit."""
        ...

    def close(self) -> None:
        """Free what it holds; may be called twice."""
        ...


PARAMETERS = {"pick": ("x", "y", "z"), "place": ("x", "y", "z"), "push": ("x1", "y1", "z1", "x2", "y2", "z2")}
GRAMMAR = Grammar(PARAMETERS, dict(zip("xyz", WORKSPACE, strict=True)))
read_turn, read_action = GRAMMAR.read_turn, GRAMMAR.read_action


def run(action: Action, backend: Backend) -> Result:
    """Let the arm do it."""
    return getattr(backend, action.verb)(*action.points())


def pick(at: Point) -> Action:
    """Grasp what is at a point."""
    return Action("pick", GRAMMAR.rounded(at))


def place(at: Point) -> Action:
    """Put down what is held."""
    return Action("place", GRAMMAR.rounded(at))


def push(start: Point, end: Point) -> Action:
    """Move the closed gripper from one point to another."""
    return Action("push", (*GRAMMAR.rounded(start), *GRAMMAR.rounded(end)))

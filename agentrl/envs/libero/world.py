"""A LIBERO task as a MuJoCo simulation: the scene of its BDDL file with object models of our own.

Metres and radians in the frame of LIBERO's own scenes: x points away from the arm, y to its left, z up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

AGENT_VIEW, WRIST = "agentview", "eye_in_hand"


class Start(NamedTuple):
    """Where everything is at the beginning of an episode."""

    name: str  # test/7, train/12345
    places: dict[str, tuple[float, float, float]]  # object or fixture -> x, y, yaw
    joints: dict[str, float]  # joint of a fixture -> value
    arm: tuple[float, ...]  # seven joints
    opening: float  # of each finger


class Handle(NamedTuple):
    """What the gripper takes or presses to move a joint of a fixture."""

    joint: str
    position: np.ndarray
    along: np.ndarray  # unit vector: the direction in which the bar extends
    outward: np.ndarray  # unit vector: away from the fixture
    value: float  # of the joint now
    limits: tuple[float, float]  # of the joint


class Grasp(NamedTuple):
    """One way to take an object from above."""

    position: np.ndarray  # the point between the finger pads
    yaw: float  # as in `agentrl.envs.common.gripper.pointing_down`: fingers move along y at 0
    width: float  # between the fingers, once closed


class World:
    """One task. `arm` moves the Panda (`agentrl.envs.common.mujoco.arm.Arm`); everything else stands in `data`."""

    model: Any
    data: Any
    arm: Any
    problem: Any  # the parsed task: .language, .goal, .objects, .fixtures, .regions, .interest
    objects: tuple[str, ...]  # names of movable things, as in the BDDL file
    fixtures: tuple[str, ...]  # names of cabinets, stoves, ...; without the table itself
    joints: tuple[str, ...]  # wooden_cabinet_1_top_level, flat_stove_1_button, microwave_1_microjoint, ...

    def __init__(self, suite: str, task: str | int) -> None:
        """`suite`: libero_spatial, libero_object, libero_goal, libero_10 or libero_90; `task`: name or number."""
        raise NotImplementedError

    def start(self, name: str) -> Start:
        """`test/0` to `test/49`: those that LIBERO gives; `train/SEED`, `dev/SEED`: drawn from the task's regions."""
        raise NotImplementedError

    def reset(self, start: Start) -> None:
        """Put everything in its place, at rest, and forward the simulation."""
        raise NotImplementedError

    def goal_holds(self) -> bool:
        """Is the task done now? `data` must be forwarded."""
        raise NotImplementedError

    def conditions(self) -> dict[str, bool]:
        """Each condition of the goal, as text such as `On akita_black_bowl_1 plate_1`, and whether it holds."""
        raise NotImplementedError

    def position(self, name: str) -> np.ndarray:
        """The middle of an object, fixture or region."""
        raise NotImplementedError

    def pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The middle of an object, fixture or region, and its 3 x 3 rotation."""
        raise NotImplementedError

    def size(self, name: str) -> np.ndarray:
        """Half of the extent of an object, fixture or region along its own axes."""
        raise NotImplementedError

    def joint(self, name: str) -> float:
        """The value of a fixture's joint."""
        raise NotImplementedError

    def handle(self, name: str) -> Handle:
        """The handle or knob of a joint (`wooden_cabinet_1_top_level`) or of its region (`..._top_region`)."""
        raise NotImplementedError

    def grasps(self, name: str) -> list[Grasp]:
        """Ways to take an object where it is now, the best one first."""
        raise NotImplementedError

    def held(self) -> str | None:
        """The object between the fingers."""
        raise NotImplementedError

    def draw(self, camera: str, size: int) -> np.ndarray:
        """A picture through `agentview` or `eye_in_hand`, uint8 [size, size, 3]."""
        raise NotImplementedError

    def save(self) -> bytes:
        """The state of the simulation: what is loaded continues bit for bit."""
        raise NotImplementedError

    def load(self, blob: bytes) -> None:
        """Inverse of `save`; ValueError if the bytes do not belong to this task."""
        raise NotImplementedError


def suites() -> dict[str, tuple[str, ...]]:
    """The five suites, and the names of their tasks in LIBERO's order."""
    raise NotImplementedError

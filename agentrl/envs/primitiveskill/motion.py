"""How the arm moves among the things on the table: straight lines, gripper down, with an eye on what it touches.

Every motion lasts a number of ticks that is known before it starts, so nothing can hang.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from math import atan2, ceil, pi
from typing import Any, NamedTuple, Protocol

import numpy as np

from agentrl.envs.common.gripper import OPENING, TIP, pointing_down
from agentrl.envs.primitiveskill.backend import Result, Thing
from agentrl.envs.primitiveskill.shapes import INSIDE, MOVABLE, top_of

UP = np.array([0.0, 0.0, 1.0])
FAST, CAREFUL = 0.7, 0.2  # metres a second, on average
TURNING = 2.0  # radians a second
TURNED = 1e-3  # radians that are not worth turning for
ARRIVED = 0.001  # metres
LOWEST = TIP + 0.002  # of the gripper: its tips just clear the table
HARD = 15.0  # newtons: a contact that means the way is blocked


class Move(NamedTuple):
    """Take the gripper straight to a point; answered by whether nothing ended it early."""

    to: np.ndarray
    yaw: float
    speed: float  # metres a second, on average
    until: str = ""  # what ends it early: "blocked", "behind", "landed"
    held: str = ""  # what lands


class Wait(NamedTuple):
    """Let the fingers move and things come to rest."""

    ticks: int


class Grip(NamedTuple):
    """Tell each finger how far from the middle to go; 0 grasps."""

    opening: float


Command = Move | Wait | Grip
# What an arm shall do, one command after the other, each chosen after the last one was carried out. `Motion` carries
# scripts out alone; on a GPU those of many worlds take turns.
Script = Generator[Command, bool | None, Result]


class Course(NamedTuple):
    """The straight line of a move, and when the gripper is where on it."""

    start: np.ndarray
    way: np.ndarray
    turned: float  # yaw at its start
    turn: float
    ticks: int


def smooth(share: Any) -> Any:
    """How far a move has come after a share of its time: it speeds up and slows down."""
    return share**2 * (3 - 2 * share)


class Steered(Protocol):
    """An arm as a simulator moves it: rotations are 3 x 3 matrices, positions those of the point between the pads."""

    def grip(self, opening: float) -> None:
        """Tell each finger how far from the middle to go; 0 grasps."""
        ...

    def steer(self, position: np.ndarray, rotation: np.ndarray) -> None:
        """Aim the servos at a pose that is near the present one."""
        ...

    def advance(self) -> None:
        """Simulate one tick; `EnvFault` if the simulation diverges."""
        ...

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the gripper is now."""
        ...

    def opening(self) -> float:
        """How far the fingers are from the middle, on average."""
        ...

    def solve(self, position: np.ndarray, rotation: np.ndarray) -> np.ndarray | None:
        """Joints at which the gripper has a pose; None if it is out of reach."""
        ...


class Motion(ABC):
    """The arm and the things around it. Metres, in the world's frame."""

    arm: Steered
    things: dict[str, Thing]
    tick: float  # seconds
    settling: int  # ticks after a motion in which the arm may come to rest
    slack: float  # metres that a pushing gripper may stay behind its schedule

    @abstractmethod
    def held(self) -> str | None:
        """The thing between the fingers."""

    @abstractmethod
    def at(self, name: str) -> np.ndarray:
        """The middle of a thing."""

    @abstractmethod
    def side(self, name: str) -> np.ndarray:
        """The direction of a cube's x axis."""

    @abstractmethod
    def blocked(self) -> bool:
        """Does the arm press against anything?"""

    @abstractmethod
    def landed(self, name: str) -> bool:
        """Does a held thing touch anything but the arm, or the arm press against anything else?"""

    @abstractmethod
    def fits(self, point: np.ndarray, yaw: float, opening: float, held: str | None) -> bool:
        """Would the gripper, opened that far, touch nothing at a point but what it holds?"""

    # ---------------------------------------------------------------- moving

    def carry_out(self, script: Script) -> Result:
        """Let this arm do what a script says, to its end."""
        answer = None
        while True:
            try:
                command = script.send(answer)
            except StopIteration as end:
                return end.value
            answer = None
            match command:
                case Move():
                    answer = self.move(command)
                case Wait(ticks):
                    self.wait(ticks)
                case Grip(opening):
                    self.arm.grip(opening)

    def course(self, move: Move) -> Course:
        """The way of a move from where the gripper is."""
        start, rotation = self.arm.pose()
        way = move.to - start
        turned = atan2(rotation[1, 0], rotation[0, 0])
        turn = (move.yaw - turned + pi) % (2 * pi) - pi
        seconds = max(float(np.linalg.norm(way)) / move.speed, abs(turn) / TURNING)
        return Course(start, way, turned, turn, max(ceil(seconds / self.tick), 1))

    def move(self, move: Move) -> bool:
        """Take the gripper straight to a point; False if something ended it early."""
        start, way, turned, turn, ticks = self.course(move)
        down = pointing_down(move.yaw)
        for tick in range(1, ticks + self.settling):
            share = smooth(min(tick / ticks, 1.0))
            self.reference = start + share * way
            turning = share < 1.0 and abs(turn) > TURNED
            self.arm.steer(self.reference, pointing_down(turned + share * turn) if turning else down)
            self.arm.advance()
            if self._stopped(move):
                return False
            if tick >= ticks and np.abs(self.arm.pose()[0] - move.to).max() < ARRIVED:
                break
        return True

    def _stopped(self, move: Move) -> bool:
        match move.until:
            case "blocked":
                return self.blocked()
            case "behind":
                return self.behind()
            case "landed":
                return self.landed(move.held)
        return False

    def wait(self, ticks: int) -> None:
        """Let the fingers move and things come to rest."""
        for _ in range(ticks):
            self.arm.advance()

    def behind(self) -> bool:
        """Has the gripper stayed behind because something does not give way?"""
        return bool(np.linalg.norm(self.arm.pose()[0] - self.reference) > self.slack)

    # ---------------------------------------------------------------- choosing

    def above(self, point: np.ndarray) -> np.ndarray:
        """Over a point, high enough for what is held to pass over everything else."""
        held = self.held()
        tops = [top_of(thing, self.at(name)) for name, thing in self.things.items() if name != held]
        hanging = self.things[held].size / 1000 if held else TIP
        return np.array([point[0], point[1], max(point[2] + 0.03, max(tops, default=0.0) + hanging + 0.04, 0.15)])

    def reaches(self, point: np.ndarray, yaw: float = 0.0) -> bool:
        """Can the gripper be at a point and above it?"""
        down = pointing_down(yaw)
        return self.arm.solve(point, down) is not None and self.arm.solve(self.above(point), down) is not None

    def free_yaw(self, point: np.ndarray, candidates: tuple[float, ...], opening: float, held: str | None) -> float:
        """The first yaw at which the gripper, opened that far, touches nothing at a point; else the first of all."""
        return next((yaw for yaw in candidates if self.fits(point, yaw, opening, held)), candidates[0])

    def yaw_for_picking(self, point: np.ndarray) -> float:
        """A yaw at which the open gripper fits around the cube that stands at a point; straight where there is none."""
        turned = self._angle_of_cube(point)
        return self.free_yaw(point, (turned, turned - pi / 2 if turned > 0 else turned + pi / 2), OPENING, None)

    def yaw_for_placing(self, point: np.ndarray, name: str, opening: float) -> float:
        """A yaw at which the gripper can let go of a thing between its neighbours: straight if possible."""
        size = self.things[name].size / 1000
        offset = self.arm.pose()[0] - self.at(name)  # from the thing to the gripper
        heights = [0.0]  # of what the thing would stand on there
        for other, thing in self.things.items():
            away, reach = np.abs(self.at(other) - point)[:2].max(), thing.size / 1000
            if other != name and thing.shape in MOVABLE and away < size + reach:
                heights.append(top_of(thing, self.at(other)))
            elif thing.shape == "drawer" and away < reach:
                heights.append(INSIDE * reach)
        rest = max(heights) + size
        low = np.array([point[0], point[1], min(point[2], rest)]) + offset
        return self.free_yaw(low, (0.0, pi / 2, pi / 4, -pi / 4), opening, name)

    def _angle_of_cube(self, point: np.ndarray) -> float:
        """The angle of the cube nearest to a point, between -45 and 45 degrees; 0 if none is near."""
        cubes = [name for name, thing in self.things.items() if thing.shape == "cube"]
        distances = {name: float(np.linalg.norm(self.at(name) - point)) for name in cubes}
        nearest = min(distances, key=distances.__getitem__, default=None)
        if nearest is None or distances[nearest] > 1.5 * self.things[nearest].size / 1000:
            return 0.0
        side = self.side(nearest)
        return (atan2(side[1], side[0]) + pi / 4) % (pi / 2) - pi / 4

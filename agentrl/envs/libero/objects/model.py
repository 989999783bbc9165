"""What is said about a type of thing, whatever it looks like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from agentrl.envs.libero.objects.sculptor import Sculptor

Vector = tuple[float, float, float]


class Grip(NamedTuple):
    """A way to take something from above, in its own frame."""

    middle: Vector  # the point between the finger pads
    angle: float  # direction in which the fingers move, from x
    width: float  # of what is between the fingers


class Place(NamedTuple):
    """A region of a thing, in the frame of the part that it belongs to."""

    middle: Vector
    half: Vector
    part: str = ""  # joint of the part that carries it; empty: the thing itself


class Joint(NamedTuple):
    """A moving part. Signs and ranges are LIBERO's: drawers and doors open towards negative values."""

    kind: str  # slide, hinge
    limits: tuple[float, float]
    opened: float  # open, or switched on, at and beyond this value
    closed: float  # shut, or switched off, on the other side of this value
    start: dict[str, tuple[float, float]]  # predicate -> values it may have at the start of an episode
    region: str = ""  # the region whose predicates are about this joint; empty: those of the thing
    handle: Vector = (0.0, 0.0, 0.0)  # in the part's frame
    outward: Vector = (0.0, -1.0, 0.0)

    def holds(self, predicate: str, value: Any) -> Any:
        """Is `open`, `close`, `turnon` or `turnoff` true at a value, or at each of a tensor?"""
        sign = 1.0 if self.opened > 0 else -1.0
        if predicate in ("open", "turnon"):
            return sign * value >= sign * self.opened
        return sign * value < sign * self.closed


@dataclass(frozen=True)
class Model:
    """A type of thing. The origin of something movable is its middle; that of a fixture is on the table."""

    half: Vector  # half of its extent
    build: Callable[[Sculptor], None]
    mass: float = 0.0  # kilograms; 0: a fixture
    grips: tuple[Grip, ...] = ()
    places: dict[str, Place] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    facing: float = 0.0  # yaw that LIBERO's own model has where ours has 0
    turns: tuple[float, float] = (0.0, 0.0)  # yaws of a drawn start
    middle: Vector = (0.0, 0.0, 0.0)  # from the origin


def rim(radius: float, height: float, width: float, count: int = 8) -> tuple[Grip, ...]:
    """Grips of the wall of something round: one finger inside."""
    angles = [2 * pi * number / count for number in range(count)]
    return tuple(Grip((radius * cos(angle), radius * sin(angle), height), angle, width) for angle in angles)


def around(height: float, width: float, count: int = 4) -> tuple[Grip, ...]:
    """Grips around something round that is narrower than the open gripper."""
    return tuple(Grip((0.0, 0.0, height), pi * number / count, width) for number in range(count))


def across(height: float, *sides: tuple[float, float]) -> tuple[Grip, ...]:
    """Grips of a box: (angle, width) of each pair of sides that the gripper fits."""
    return tuple(Grip((0.0, 0.0, height), angle, width) for angle, width in sides)

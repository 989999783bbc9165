"""What a kind of object is: its name, where it belongs, how large it is, how it looks, what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentrl.envs.navigation.homes.home import Rectangle
from agentrl.envs.navigation.shapes import Part, Vector

Look = tuple[int, ...]  # the colours of one variant, in the order in which the shape takes them
Shape = Callable[[float, float, float, Look], list[Part]]  # width, depth, height, colours


@dataclass(frozen=True)
class Surface:
    """A level place on furniture where small objects may stand."""

    level: float  # as a share of the height
    area: Rectangle = (-0.44, -0.42, 0.44, 0.42)  # in shares of width and depth, from the middle
    headroom: float = 1.0  # metres above it


@dataclass(frozen=True)
class ObjectType:
    """One type of furniture or object."""

    name: str  # CamelCase
    noun: str  # "coffee machine"
    rooms: tuple[str, ...]  # kinds of rooms where it belongs
    sizes: tuple[Vector, ...]  # width, depth, height of what there is in shops, seen from the front
    looks: tuple[Look, ...]
    shape: Shape
    uses: tuple[str, ...]  # what somebody says who wants it, without its name
    stands: str = "surface"  # on a surface, on the floor, against a wall, hung on a wall, or set by the room's plan
    on: tuple[str, ...] = ()  # the furniture it may stand on
    surfaces: tuple[Surface, ...] = ()
    hangs: float = 0.0  # the height of its middle, if it hangs on a wall
    target: bool = True  # may somebody be sent to look for it?

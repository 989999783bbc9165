"""What can be seen from a place, without drawing it: points inside the things against the boxes of everything else.

A thing is seen if the line from the eye to one of its points is free. Its own parts cannot hide it: where they would,
they are seen instead.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.homes.home import Home, Item, Rectangle
from agentrl.envs.navigation.shapes import Part, Vector
from agentrl.envs.navigation.walking import VECTORS, Floor

EYE = 1.5  # metres above the floor
SMALLEST = 0.1  # metres: narrower parts hide too little to be looked at
CORNERS = np.array([(0, 0, 0), *((x, y, z) for x in (-0.8, 0.8) for y in (-0.8, 0.8) for z in (-0.8, 0.8))])
POINTED = 3  # the largest parts of a thing have points
LARGE = 0.12  # metres: parts with a longer side have points in their corners as well
NOBODY = -1
DOOR_HEIGHT, POST, CEILING = 2.02, 0.06, 3.0  # metres: doors as `scene` draws them, and more than any room is high
BEFORE = np.float32(0.999)  # the share of a line at which a box still stands before the point


@dataclass(frozen=True)
class Eye:
    """Where somebody is and looks."""

    x: float
    y: float
    heading: int  # of `walking.HEADINGS`
    tilt: int  # degrees above the horizon; below zero: down

    def turned(self, quarters: int) -> Eye:
        """The same place, looking further to the right by quarter turns."""
        return Eye(self.x, self.y, (self.heading + quarters) % 4, self.tilt)


class Sight:
    """The points and boxes of one home."""

    def __init__(self, home: Home) -> None:
        hides, owners, points, pointed = [], [], [], []
        for index, boxes in enumerate(map(parts_of, home.items)):
            wide = np.sort(boxes[:, 3:], axis=1)[:, 1] >= SMALLEST  # the second side: a board hides, a rod does not
            hides.append(boxes[wide])
            owners += [index] * int(wide.sum())
            for box in boxes[np.argsort(-boxes[:, 3:].prod(axis=1), kind="stable")[:POINTED]]:
                chosen = CORNERS if box[3:].max() > LARGE else CORNERS[:1]
                points.append(box[:3] + chosen * box[3:] / 2)
                pointed += [index] * len(chosen)
        walls = [_box(wall.area, 0.0, wall.height) for wall in home.walls]
        walls += [box for door in home.doors for box in _frame(door.area)]
        self._walls = _Boxes(np.array(walls), [NOBODY] * len(walls))
        self._things = _Boxes(np.concatenate([*hides, np.zeros((0, 6))]), owners)
        self._points = np.concatenate([*points, np.zeros((0, 3))]).astype(np.float32)
        self._pointed = np.array(pointed, np.int32)

    def seen(self, eye: Eye, fov: float) -> list[int]:
        """The indices of the items that are in view."""
        origin, axes = camera(eye)
        slope = math.tan(math.radians(fov) / 2)
        local = (self._points - origin) @ axes  # right, up, ahead
        ahead = slope * local[:, 2]
        left = np.flatnonzero((ahead > 0) & (np.abs(local[:, 0]) <= ahead) & (np.abs(local[:, 1]) <= ahead))
        for boxes in (self._walls, self._things):  # walls first: few of them hide most of a home
            left = left[~boxes.reaching(origin, axes, slope).hide(origin, self._points[left], self._pointed[left])]
        return np.unique(self._pointed[left]).tolist()


class _Boxes:
    """Boxes that may hide something; each belongs to an item or to nobody."""

    def __init__(self, boxes: np.ndarray, owners: list[int] | np.ndarray) -> None:
        self._boxes, self._owners = boxes.astype(np.float32).reshape(-1, 6), np.array(owners, np.int32)
        self._reach = np.linalg.norm(self._boxes[:, 3:], axis=1) / 2

    def reaching(self, origin: np.ndarray, axes: np.ndarray, slope: float) -> _Boxes:
        """Those that may reach into a view."""
        local = (self._boxes[:, :3] - origin) @ axes
        ahead, beside = slope * local[:, 2], self._reach * math.hypot(1, slope)
        near = (local[:, 2] > -self._reach) & (np.abs(local[:, :2]).max(axis=1) - ahead <= beside)
        return _Boxes(self._boxes[near], self._owners[near])

    def hide(self, origin: np.ndarray, points: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """Which lines from the eye to points are cut by a box that does not belong to the point's own item."""
        enter = np.full((len(points), len(self._boxes)), -np.inf, np.float32)
        leave = np.full_like(enter, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            for axis in range(3):  # the shares of each line at which it enters and leaves the slab between two faces
                inverse = (1 / (points[:, axis] - origin[axis]))[:, None]
                middle, half = self._boxes[:, axis] - origin[axis], self._boxes[:, 3 + axis] / 2
                first, second = (middle - half) * inverse, (middle + half) * inverse
                np.maximum(enter, np.minimum(first, second), out=enter)
                np.minimum(leave, np.maximum(first, second), out=leave)
        cut = (enter < leave) & (leave > 0) & (enter < BEFORE)
        return (cut & (self._owners != owners[:, None])).any(axis=1)


def camera(eye: Eye) -> tuple[np.ndarray, np.ndarray]:
    """Where the eye is, and its axes right, up and ahead as columns."""
    (ahead_x, ahead_y), tilt = VECTORS[eye.heading], math.radians(eye.tilt)
    level, rise = math.cos(tilt), math.sin(tilt)
    right = (ahead_y, -ahead_x, 0.0)
    up = (-ahead_x * rise, -ahead_y * rise, level)
    ahead = (ahead_x * level, ahead_y * level, rise)
    return np.array((eye.x, eye.y, EYE), np.float32), np.array((right, up, ahead), np.float32).T


def bearing(eye: Eye, x: float, y: float) -> float:
    """The angle from straight ahead to a point, in degrees: right is positive, from -180 to 180."""
    (ahead_x, ahead_y), east, north = VECTORS[eye.heading], x - eye.x, y - eye.y
    return math.degrees(math.atan2(east * ahead_y - north * ahead_x, east * ahead_x + north * ahead_y))


def parts_of(item: Item) -> np.ndarray:
    """The boxes around a thing's opaque parts, float [n, 6]: centre and sides."""
    kind, (x, y, z), (width, depth, height) = TYPES[item.type], item.position, item.size
    if item.turned % 2:
        width, depth = depth, width
    look = kind.looks[item.variant % len(kind.looks)]
    boxes = []
    for part in kind.shape(width, depth, height, look):
        if part.opacity >= 1.0:
            side, back, _ = part.centre
            half = _upright(part)
            for _ in range(item.turned % 4):
                side, back, half = -back, side, (half[1], half[0], half[2])
            boxes.append([x + side, y + back, z - height / 2 + part.centre[2], *(2 * each for each in half)])
    return np.array(boxes or [[*item.position, *item.size]])


def _upright(part: Part) -> Vector:
    """Half the sides of the box around a part as it is turned."""
    half = np.array(part.half)
    for axis, degrees in enumerate(part.turned):
        if degrees:
            turn = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
            first, second = (axis + 1) % 3, (axis + 2) % 3
            a, b = half[first], half[second]
            half[first], half[second] = turn[0] * a + turn[1] * b, turn[1] * a + turn[0] * b
    return tuple(half.tolist())


def _frame(area: Rectangle) -> list[list[float]]:
    """The posts of a door and what is above it."""
    x0, y0, x1, y1 = area
    if x1 - x0 > y1 - y0:
        posts = (x0, y0, x0 + POST, y1), (x1 - POST, y0, x1, y1)
    else:
        posts = (x0, y0, x1, y0 + POST), (x0, y1 - POST, x1, y1)
    return [_box(area, DOOR_HEIGHT, CEILING), *(_box(post, 0.0, DOOR_HEIGHT) for post in posts)]


def _box(area: Rectangle, low: float, high: float) -> list[float]:
    """Centre and sides."""
    x0, y0, x1, y1 = area
    return [(x0 + x1) / 2, (y0 + y1) / 2, (low + high) / 2, x1 - x0, y1 - y0, high - low]


KEPT = 64  # homes of a process
REMEMBERED = 20_000  # views of a home


class Place:
    """One home, and what is asked of it again and again."""

    def __init__(self, seed: int, step: float) -> None:
        self.home = build_home(seed)
        self.floor = Floor(self.home, step)
        self._sight = Sight(self.home)
        self._seen: dict[tuple[Eye, float], tuple[int, ...]] = {}
        self._steps: dict[tuple[int, float], np.ndarray] = {}

    def seen(self, eye: Eye, fov: float) -> tuple[int, ...]:
        """The items in view."""
        if (found := self._seen.get((eye, fov))) is None:
            if len(self._seen) >= REMEMBERED:
                self._seen.clear()
            found = self._seen[eye, fov] = tuple(self._sight.seen(eye, fov))
        return found

    def steps_to(self, item: int, distance: float) -> np.ndarray:
        """How many steps every place of the floor is away from being this near to an item."""
        if (found := self._steps.get((item, distance))) is None:
            x, y, _ = self.home.items[item].position
            found = self._steps[item, distance] = self.floor.steps_to(self.floor.near(x, y, distance))
        return found

    def targets(self, distance: float) -> list[int]:
        """The items somebody may be sent to: the only one of a type that can be a target, and within reach."""
        counts = Counter(item.type for item in self.home.items)
        single = [
            index for index, item in enumerate(self.home.items) if counts[item.type] == 1 and TYPES[item.type].target
        ]
        return [index for index in single if self.floor.near(*self.home.items[index].position[:2], distance).any()]


@lru_cache(maxsize=KEPT)
def place_of(seed: int, step: float) -> Place:
    """A home by its seed, with a lattice of this step."""
    return Place(seed, step)

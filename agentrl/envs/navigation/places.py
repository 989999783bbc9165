"""Homes that this process has built, with all that was computed on them; many environments share them."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np

from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.sight import Eye, Sight
from agentrl.envs.navigation.walking import Floor

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

"""Homes are drawn from a seed: always the same ones, all different, with every point of their floors in reach."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import numpy as np
import pytest

from agentrl.envs.navigation.catalogue import KINDS, TYPES
from agentrl.envs.navigation.catalogue.object_type import ObjectType
from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.homes.furnish import FLAT, Floor, before_door, box_of, overlap, surface_area
from agentrl.envs.navigation.homes.home import Home


@pytest.fixture(scope="module")
def homes() -> list[Home]:
    return [build_home(seed) for seed in range(300)]


def free_floor(home: Home) -> Floor:
    """The floor of a home, found anew from its data."""
    blocking = [box_of(item.position, item.size) for item in home.items if item.blocks]
    solid = [wall.area for wall in home.walls] + [(x0, y0, x1, y1) for x0, y0, _, x1, y1, _ in blocking]
    return Floor([room.area for room in home.rooms], [door.area for door in home.doors], solid)


def test_all_of_the_floor_can_be_reached(homes: list[Home]) -> None:
    for home in homes:
        floor = free_floor(home)
        assert floor.connected(floor.free), home.seed
        for room in home.rooms:
            x0, y0, x1, y1 = room.area
            assert any(x0 < x < x1 and y0 < y < y1 for x, y in floor.points()), (home.seed, room)


def test_things_do_not_overlap_and_leave_doors_free(homes: list[Home]) -> None:
    for home in homes:
        boxes = [(box_of(item.position, item.size), item) for item in home.items if item.size[2] > FLAT]
        for number, (box, item) in enumerate(boxes):
            assert not any(overlap(box, before_door(door.area)) for door in home.doors), (home.seed, item)
            for other, second in boxes[:number]:
                inside = second.on is not None and home.items[second.on] is item
                inside |= item.on is not None and home.items[item.on] is second
                assert inside or not overlap(box, other), (home.seed, item, second)


def test_no_two_homes_are_alike(homes: list[Home]) -> None:
    assert len({(home.rooms, home.items) for home in homes}) == len(homes)


@pytest.mark.parametrize("seed", [-1, 1.5, "3", None, True])
def test_a_seed_is_a_number(seed: object) -> None:
    with pytest.raises(ValueError, match="must be an integer of at least 0"):
        build_home(seed)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_home_everywhere(homes: list[Home]) -> None:
    digest = hashlib.sha256(repr(homes[:50]).encode()).hexdigest()
    assert digest == "7d88590c166b5bf62f5686edd99688aed7f5bac803cb0813f12b7c7abf13a247", digest
    assert build_home(7) == homes[7]


def test_every_type_occurs_and_most_of_them_often(homes: list[Home]) -> None:
    counts = Counter(item.type for home in homes for item in home.items)
    assert set(counts) == set(TYPES)
    assert min(counts.values()) >= 5, counts.most_common()[-5:]
    assert set(kind for home in homes for kind in [room.kind for room in home.rooms]) == set(KINDS)
    assert {len(home.rooms) for home in homes} == {1, 2, 3, 4}
    assert min(len(home.items) for home in homes) >= 12


def test_things_stand_where_they_belong(homes: list[Home]) -> None:
    for home in homes:
        for item in home.items:
            kind, room = TYPES[item.type], home.rooms[item.room]
            assert room.kind in kind.rooms, (home.seed, item)
            x0, y0, _, x1, y1, z1 = box_of(item.position, item.size)
            assert room.area[0] <= x0 and room.area[1] <= y0 and x1 <= room.area[2] and y1 <= room.area[3] and z1 < 2.6
            if item.on is not None:
                assert home.items[item.on].type in (*kind.on, "TVStand"), (home.seed, item)
            if item.type in ("Toilet", "Bed", "Fridge", "Sofa", "Stove", "Bathtub", "Wardrobe"):
                gap = (room.area[3] - y1, x0 - room.area[0], y0 - room.area[1], room.area[2] - x1)[item.turned]
                assert gap < 0.02, "its back is not at a wall"


def test_what_stands_on_furniture_stands_on_a_surface_of_it(homes: list[Home]) -> None:
    for home in homes:
        for item in home.items:
            if item.on is not None and item.type != "Television":
                below = home.items[item.on]
                x0, y0, z0, x1, y1, _ = box_of(item.position, item.size)
                surfaces = [surface_area(below, surface) for surface in TYPES[below.type].surfaces]
                assert any(
                    abs(z - z0) < 0.001 and a - 0.001 <= x0 and x1 <= c + 0.001 and b - 0.001 <= y0 and y1 <= d + 0.001
                    for (a, b, c, d), z in surfaces
                ), (home.seed, item)


def test_most_things_can_be_approached_to_a_metre(homes: list[Home]) -> None:
    near, all_of_them = 0, 0
    for home in homes[:100]:
        points = np.array(free_floor(home).points())
        for item in home.items:
            all_of_them += 1
            near += bool((np.hypot(*(points - item.position[:2]).T) < 1.0).any())
    assert near / all_of_them > 0.95


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES.keys())
def test_a_description_by_use_does_not_name_the_object(kind: ObjectType) -> None:
    assert len(set(kind.uses)) >= 2
    for sentence in kind.uses:
        words = set(re.findall(r"[a-z]+", sentence.lower()))
        for name in kind.noun.lower().split():
            assert not {name, name + "s", name.rstrip("s")} & words, sentence

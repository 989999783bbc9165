"""Homes are drawn from a seed: always the same ones, all different, with every point of their floors in reach."""

from __future__ import annotations

import pytest

from agentrl.envs.navigation.build import build_home
from agentrl.envs.navigation.floor import Floor
from agentrl.envs.navigation.furnish import FLAT, before_door, box_of, overlap
from agentrl.envs.navigation.home import Home

HOMES = [build_home(seed) for seed in range(300)]


def free_floor(home: Home) -> Floor:
    """The floor of a home, found anew from its data."""
    blocking = [box_of(item.position, item.size) for item in home.items if item.blocks]
    solid = [wall.area for wall in home.walls] + [(x0, y0, x1, y1) for x0, y0, _, x1, y1, _ in blocking]
    return Floor([room.area for room in home.rooms], [door.area for door in home.doors], solid)


def test_all_of_the_floor_can_be_reached() -> None:
    for home in HOMES:
        floor = free_floor(home)
        assert floor.connected(floor.free), home.seed
        for room in home.rooms:
            x0, y0, x1, y1 = room.area
            assert any(x0 < x < x1 and y0 < y < y1 for x, y in floor.points()), (home.seed, room)


def test_things_do_not_overlap_and_leave_doors_free() -> None:
    for home in HOMES:
        boxes = [(box_of(item.position, item.size), item) for item in home.items if item.size[2] > FLAT]
        for number, (box, item) in enumerate(boxes):
            assert not any(overlap(box, before_door(door.area)) for door in home.doors), (home.seed, item)
            for other, second in boxes[:number]:
                inside = second.on is not None and home.items[second.on] is item
                inside |= item.on is not None and home.items[item.on] is second
                assert inside or not overlap(box, other), (home.seed, item, second)


def test_no_two_homes_are_alike() -> None:
    assert len({(home.rooms, home.items) for home in HOMES}) == len(HOMES)


@pytest.mark.parametrize("seed", [-1, 1.5, "3", None, True])
def test_a_seed_is_a_number(seed: object) -> None:
    with pytest.raises(ValueError, match="must be an integer of at least 0"):
        build_home(seed)  # type: ignore[arg-type]

"""Walking: a disc on a lattice, stopped by walls and furniture, and how far every place is from a goal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.homes.home import Door, Home, Item, Room, Wall
from agentrl.envs.navigation.walking import HEADINGS, RADIUS, UNREACHABLE, VECTORS, Floor

NORTH, EAST, SOUTH, WEST = range(4)


def two_rooms(*items: Item) -> Home:
    """Rooms of 2 m x 2 m side by side, with a door of 0.9 m between them."""
    walls = [(-0.1, -0.1, 4.2, 0.0), (-0.1, 2.0, 4.2, 2.1), (-0.1, 0.0, 0.0, 2.0), (4.1, 0.0, 4.2, 2.0)]
    walls += [(2.0, 0.0, 2.1, 0.55), (2.0, 1.45, 2.1, 2.0)]
    return Home(
        seed=0,
        rooms=(Room("kitchen", (0.0, 0.0, 2.0, 2.0)), Room("bedroom", (2.1, 0.0, 4.1, 2.0))),
        walls=tuple(Wall(area, 2.5) for area in walls),
        doors=(Door((2.0, 0.55, 2.1, 1.45), (0, 1)),),
        items=items,
    )


def box(x: float, y: float, width: float, depth: float, *, blocks: bool = True) -> Item:
    return Item("Box", (x, y, 0.25), (width, depth, 0.5), blocks=blocks)


def test_a_step_leads_one_cell_on_in_each_heading() -> None:
    floor = Floor(two_rooms(), 0.25)
    for heading, (x, y) in enumerate(VECTORS):
        assert floor.can_step((4, 4), heading)
        assert floor.place((4 + x, 4 + y)) == (1.0 + 0.25 * x, 1.0 + 0.25 * y)
    assert HEADINGS[NORTH] == "north" and VECTORS[EAST] == (1, 0)


def test_walls_stop_the_walker_at_its_radius() -> None:
    floor = Floor(two_rooms(), 0.25)
    assert floor.stands((1, 4))  # 0.25 m from the wall
    assert not floor.stands((0, 4))
    assert not floor.can_step((1, 4), WEST)


def test_a_door_is_passed_where_the_walker_fits_through() -> None:
    floor = Floor(two_rooms(), 0.25)
    assert all(floor.can_step((i, 4), EAST) for i in range(1, 15))  # y = 1.0: the middle of the door
    assert not floor.can_step((7, 6), EAST)  # y = 1.5: into the wall beside it


def test_furniture_blocks_and_rugs_do_not() -> None:
    assert not Floor(two_rooms(box(1.0, 1.0, 0.3, 0.3)), 0.25).stands((4, 4))
    assert Floor(two_rooms(box(1.0, 1.0, 0.3, 0.3, blocks=False)), 0.25).stands((4, 4))


def test_the_way_between_two_free_places_can_be_blocked() -> None:
    """A thin post between two places touches neither disc at rest, but the moving one."""
    floor = Floor(two_rooms(box(1.125, 1.19, 0.01, 0.01)), 0.25)
    assert floor.stands((4, 4)) and floor.stands((5, 4))
    assert not floor.can_step((4, 4), EAST) and not floor.can_step((5, 4), WEST)


@pytest.mark.parametrize("step", [0.25, 0.1, 0.37, 1.0])
@pytest.mark.parametrize("seed", [2, 7])
def test_every_open_step_keeps_its_distance_from_everything(seed: int, step: float) -> None:
    home = build_home(seed)
    floor = Floor(home, step)
    solid = [wall.area for wall in home.walls]
    solid += [
        (
            i.position[0] - i.size[0] / 2,
            i.position[1] - i.size[1] / 2,
            i.position[0] + i.size[0] / 2,
            i.position[1] + i.size[1] / 2,
        )
        for i in home.items
        if i.blocks
    ]
    rng = np.random.default_rng(0)
    opened = np.argwhere(floor.open)
    for heading, i, j in opened[rng.permutation(len(opened))[:100]].tolist():
        cell = i + floor.low[0], j + floor.low[1]
        for share in np.linspace(0, 1, 9):
            x = (cell[0] + share * VECTORS[heading][0]) * step
            y = (cell[1] + share * VECTORS[heading][1]) * step
            assert min(gap(x, y, area) for area in solid) >= RADIUS - 1e-6


def gap(x: float, y: float, area: tuple[float, float, float, float]) -> float:
    x0, y0, x1, y1 = area
    return math.hypot(max(x0 - x, x - x1, 0), max(y0 - y, y - y1, 0))


def test_steps_are_open_both_ways() -> None:
    floor = Floor(build_home(3), 0.25)
    for heading, (x, y) in enumerate(VECTORS):
        back = np.roll(floor.open[(heading + 2) % 4], (-x, -y), axis=(0, 1))
        assert (floor.open[heading] == back).all()


def test_distances_are_those_of_a_plain_search() -> None:
    floor = Floor(build_home(5), 0.25)
    goal = tuple(np.argwhere(floor.free)[0].tolist())
    goals = np.zeros(floor.shape, bool)
    goals[goal] = True
    expected, waiting = {goal: 0}, [goal]
    for i, j in waiting:
        for heading, (x, y) in enumerate(VECTORS):
            beside = i + x, j + y
            if floor.open[heading, i, j] and beside not in expected:
                expected[beside] = expected[i, j] + 1
                waiting.append(beside)
    found = floor.steps_to(goals)
    assert {cell: found[cell] for cell in expected} == expected
    assert (found != UNREACHABLE).sum() == len(expected)


def test_without_a_goal_nothing_is_reachable() -> None:
    floor = Floor(two_rooms(), 0.25)
    assert (floor.steps_to(np.zeros(floor.shape, bool)) == UNREACHABLE).all()


@pytest.mark.parametrize("cell", [(-1000, 0), (10**9, 10**9), (0, 0)])
def test_nobody_stands_outside(cell: tuple[int, int]) -> None:
    assert not Floor(two_rooms(), 0.25).stands(cell)

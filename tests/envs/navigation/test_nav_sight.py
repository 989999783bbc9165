"""Seeing without drawing: directions, fields of view, what hides what, and agreement with real pictures."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.homes.home import Home, Item, Room, Wall
from agentrl.envs.navigation.scene import EYE_HEIGHT, item_of_geom
from agentrl.envs.navigation.sight import EYE, Eye, Sight, bearing, place_of
from agentrl.envs.navigation.truth import Sighting, direction_of, spoken, with_article
from agentrl.envs.navigation.views import View

NORTH, EAST, SOUTH, WEST = range(4)


def home_with(*items: Item, walls: tuple[Wall, ...] = ()) -> Home:
    return Home(0, (Room("kitchen", (0.0, 0.0, 8.0, 8.0)),), walls, (), items)


def standing(kind: str, x: float, y: float, size: tuple[float, float, float], low: float = 0.0) -> Item:
    return Item(kind, (x, y, low + size[2] / 2), size)


FRIDGE = standing("Fridge", 4.0, 6.0, (0.7, 0.7, 1.8))


@pytest.mark.parametrize(
    ("heading", "x", "y", "expected"),
    [(NORTH, 4, 6, 0), (NORTH, 6, 4, 90), (NORTH, 2, 4, -90), (EAST, 6, 4, 0), (EAST, 4, 2, 90), (SOUTH, 4, 2, 0),
     (SOUTH, 6, 4, -90), (WEST, 4, 6, 90), (WEST, 2, 4, 0), (NORTH, 6, 6, 45)],
)  # fmt: skip
def test_bearings_count_to_the_right(heading: int, x: float, y: float, expected: float) -> None:
    assert bearing(Eye(4.0, 4.0, heading, 0), x, y) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("angle", "word"),
    [(0, "ahead"), (45, "ahead"), (-45, "ahead"), (45.1, "right"), (90, "right"), (135, "right"), (135.1, "back"),
     (180, "back"), (-180, "back"), (-90, "left"), (-135, "left"), (-135.1, "back")],
)  # fmt: skip
def test_directions_are_quarters(angle: float, word: str) -> None:
    assert direction_of(angle) == word


def test_a_narrower_ahead_widens_left_and_right() -> None:
    assert [direction_of(angle, 20) for angle in (20, 21, -21, 159, 161)] == ["ahead", "right", "left", "right", "back"]


def test_words_for_types() -> None:
    assert [spoken(name) for name in ("CoffeeMachine", "TVStand", "Sofa")] == ["coffee machine", "TV stand", "sofa"]
    assert with_article("armchair") == "an armchair"
    assert Sighting("ArmChair", "left", 1.5).sentence() == "An arm chair is to your left, 1.50 m away."


def test_what_stands_before_the_eye_is_seen_and_what_stands_behind_is_not() -> None:
    sight = Sight(home_with(FRIDGE))
    assert [sight.seen(Eye(4.0, 3.0, heading, 0), 100.0) for heading in range(4)] == [[0], [], [], []]


def test_a_narrow_view_misses_what_a_wide_one_shows() -> None:
    sight, eye = Sight(home_with(FRIDGE)), Eye(2.0, 4.0, NORTH, 0)  # the fridge is 45 degrees to the right
    assert sight.seen(eye, 100.0) == [0] and sight.seen(eye, 60.0) == []


def test_a_tilted_eye_sees_the_floor_before_it() -> None:
    sight = Sight(home_with(standing("GarbageCan", 4.0, 4.6, (0.3, 0.3, 0.2))))
    assert sight.seen(Eye(4.0, 4.0, NORTH, 0), 60.0) == []
    assert sight.seen(Eye(4.0, 4.0, NORTH, -60), 60.0) == [0]


def test_walls_and_furniture_hide_what_is_behind_them() -> None:
    eye = Eye(4.0, 3.0, NORTH, 0)
    wall = Wall((2.0, 5.0, 6.0, 5.1), 2.5)
    assert Sight(home_with(FRIDGE, walls=(wall,))).seen(eye, 100.0) == []
    small = standing("GarbageCan", 4.0, 7.5, (0.3, 0.3, 0.3))
    assert Sight(home_with(FRIDGE, small)).seen(eye, 100.0) == [0]


def test_an_empty_home_shows_nothing() -> None:
    assert Sight(home_with()).seen(Eye(4.0, 3.0, NORTH, 0), 100.0) == []


def test_the_camera_and_the_lines_of_sight_start_at_the_same_height() -> None:
    assert EYE == EYE_HEIGHT


def test_lines_of_sight_agree_with_the_pictures() -> None:
    """Items that cover a good part of a picture must be found, and what is found must nearly always be in it."""
    rng, missed, found, wrong, said = np.random.default_rng(0), 0, 0, 0, 0
    for seed in (0, 3, 8):
        place, view = place_of(seed, 0.25), View(build_home(seed))
        owners = item_of_geom(view.model)
        cells = np.argwhere(place.floor.free) + place.floor.low
        for i, j in cells[rng.permutation(len(cells))[:12]].tolist():
            eye = Eye(i * 0.25, j * 0.25, int(rng.integers(4)), int(rng.choice((0, -30))))
            geoms = view.draw(eye, 96, 100.0, segmentation=True)
            pixels = np.bincount(owners[geoms[geoms >= 0]] + 1, minlength=len(place.home.items) + 1)[1:]
            seen = set(place.seen(eye, 100.0))
            large = set(np.flatnonzero(pixels >= 40).tolist())  # of 9,216
            missed, found = missed + len(large - seen), found + len(large)
            wrong, said = wrong + sum(pixels[item] == 0 for item in seen), said + len(seen)
    print(f"large items missed: {missed} of {found}; seen but not in the picture: {wrong} of {said}")
    assert found > 100 and missed <= 0.05 * found
    assert wrong <= 0.05 * said

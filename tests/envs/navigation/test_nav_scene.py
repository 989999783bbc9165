"""Homes can be seen: every type has a look of its own, and a picture shows the pose it was taken from."""

from __future__ import annotations

from math import atan2, degrees, hypot

import numpy as np
import pytest

from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.pictures import draw
from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.catalogue.object_type import ObjectType
from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.homes.home import Home, Item, Room
from agentrl.envs.navigation.scene import EYE_HEIGHT, compile_home, draw_from_above, item_of_geom, place_eye
from tests.longer import only

mujoco = load()


def alone(kind: ObjectType, variant: int) -> Home:
    """A large room with one thing in it."""
    width, depth, height = kind.sizes[0]
    item = Item(
        kind.name,
        (4.0, 4.0, kind.hangs or (0.75 if kind.stands == "surface" else 0.0) + height / 2),
        (width, depth, height),
        0,
        variant,
    )
    return Home(0, (Room("kitchen", (0.0, 0.0, 8.0, 8.0)),), (), (), (item,))


def before(model: object, data: object, item: Item, away: float) -> None:
    """Look at an item from the south."""
    x, y, z = item.position
    place_eye(model, data, x, y - item.size[1] / 2 - away, 0, degrees(atan2(z - EYE_HEIGHT, away)))


@pytest.mark.parametrize("name", only([*TYPES][::4], TYPES))
def test_every_type_can_be_seen_and_its_looks_differ(name: str) -> None:
    kind, pictures = TYPES[name], []
    for variant in range(len(kind.looks)):
        home = alone(kind, variant)
        model = compile_home(home)
        data = mujoco.MjData(model)
        before(model, data, home.items[0], 0.9)
        if variant == 0:
            ids = draw(model, data, "eye", 255, segmentation=True)
            owners = np.append(item_of_geom(model), -1)[ids]
            assert (owners == 0).sum() >= 40, "fewer than 40 of 255 x 255 pixels show it"
        pictures.append(draw(model, data, "eye", 64))
    assert len({picture.tobytes() for picture in pictures}) == len(pictures) >= 2


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES.keys())
def test_a_shape_keeps_to_its_box(kind: ObjectType) -> None:
    for size in kind.sizes:
        for part in kind.shape(*size, kind.looks[0]):
            assert all(part.half[axis] > 0 for axis in range(3)), part
            for axis, (low, high) in enumerate(
                ((-size[0] / 2, size[0] / 2), (-size[1] / 2, size[1] / 2), (0, size[2]))
            ):
                assert low - 0.06 <= part.centre[axis] <= high + 0.06, (axis, part)


def test_a_picture_changes_with_the_pose_and_only_with_it() -> None:
    model = compile_home(build_home(3))
    data = mujoco.MjData(model)
    area = build_home(3).rooms[0].area
    x, y = (area[0] + area[2]) / 2, (area[1] + area[3]) / 2
    poses = [
        (x, y, 0, 0),
        (x, y, 90, 0),
        (x, y, 180, 0),
        (x, y, 270, 0),
        (x, y, 0, 30),
        (x, y, 0, -30),
        (x + 0.25, y, 0, 0),
    ]
    seen = []
    for pose in poses + poses[::-1]:
        place_eye(model, data, *pose)
        seen.append(draw(model, data, "eye", 96))
    for number, picture in enumerate(seen[: len(poses)]):
        assert (picture == seen[-1 - number]).all()
        assert all((picture != other).any() for other in seen[:number])
        assert picture.std() > 5, "all of it has one colour"


def test_heading_is_a_compass_and_pitch_looks_up() -> None:
    mug = TYPES["Mug"]
    home = alone(mug, 0)
    model = compile_home(home)
    data = mujoco.MjData(model)
    for dx, dy, heading in ((0, 1, 0), (1, 0, 90), (0, -1, 180), (-1, 0, 270)):
        place_eye(model, data, 4.0 - dx, 4.0 - dy, heading, -35)
        ids = np.append(item_of_geom(model), -1)[draw(model, data, "eye", 64, segmentation=True)]
        rows, columns = np.nonzero(ids == 0)
        assert hypot(rows.mean() - 32, columns.mean() - 32) < 8
        place_eye(model, data, 4.0 - dx, 4.0 - dy, heading, 50)
        assert not (np.append(item_of_geom(model), -1)[draw(model, data, "eye", 64, segmentation=True)] == 0).any()


def test_from_above_the_ceiling_is_left_out() -> None:
    home = build_home(2)
    model = compile_home(home)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert (draw_from_above(model, data, 128) != draw(model, data, "top", 128)).mean() > 0.2
    assert set(item_of_geom(model)) == {-1, *range(len(home.items))}

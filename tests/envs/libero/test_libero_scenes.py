"""Scenes: every type of thing and every room is built, stands still, is drawn, and is saved exactly."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.bddl import read_problem
from agentrl.envs.libero.objects import MODELS, model_of
from agentrl.envs.libero.scene import TABLES, compile_scene
from agentrl.envs.libero.starts import joints_of
from agentrl.envs.libero.world import AGENT_VIEW, WRIST, World

mujoco = load()

# Together they have all five rooms, all 26 types that can be moved and all fixtures.
SAMPLE = (
    ("libero_spatial", 4), ("libero_spatial", 5), ("libero_object", 0), ("libero_object", 3), ("libero_object", 4),
    ("libero_goal", 3), ("libero_10", 4), ("libero_10", 8), ("libero_10", 9), ("libero_90", 5), ("libero_90", 24),
    ("libero_90", 36), ("libero_90", 41), ("libero_90", 52), ("libero_90", 64), ("libero_90", 83), ("libero_90", 88),
)  # fmt: skip
_worlds: dict[tuple[str, int], World] = {}


def world(suite: str = "libero_spatial", task: int = 4, start: str = "test/0") -> World:
    """A world of this module, reset."""
    if (suite, task) not in _worlds:
        _worlds[suite, task] = World(suite, task)
    found = _worlds[suite, task]
    found.reset(found.start(start))
    return found


def depth(found: World) -> float:
    """How deep anything is in anything else."""
    return float(-min(found.data.contact.dist, default=0.0))


def test_the_sample_has_every_type_and_every_room() -> None:
    problems = [World(*task).problem for task in SAMPLE]
    assert len({problem.name for problem in problems}) == 5
    kinds = {kind for problem in problems for kind in {**problem.objects, **problem.fixtures}.values()}
    assert kinds == {*MODELS, *TABLES} and len(MODELS) == 26 + 7


@pytest.mark.parametrize(("suite", "task"), SAMPLE)
@pytest.mark.parametrize("start", ["test/17", "train/3"])
def test_everything_stands_still_where_the_start_says(suite: str, task: int, start: str) -> None:
    found = world(suite, task, start)
    given = found.start(start)
    before = {name: found.position(name) for name in found.objects}
    values = {name: found.joint(name) for name in found.joints}
    assert depth(found) < 0.001 and not found.goal_holds()
    for name, place in before.items():
        assert np.hypot(*(place[:2] - given.places[name][:2])) < 0.015, name
        assert found.pose(name)[1][2, 2] > 0.99, f"{name} stands upright"
    assert values == pytest.approx(given.joints, abs=0.005)
    for _ in range(50):
        found.arm.advance()
    mujoco.mj_forward(found.model, found.data)
    for name, place in before.items():
        assert np.linalg.norm(found.position(name) - place) < 0.003, name
    assert {name: found.joint(name) for name in found.joints} == pytest.approx(values, abs=0.005)
    assert not found.goal_holds()


@pytest.mark.parametrize(("suite", "task"), [SAMPLE[0], SAMPLE[2], SAMPLE[6], SAMPLE[8], SAMPLE[15]])
def test_both_cameras_see_the_scene(suite: str, task: int) -> None:
    found = world(suite, task)
    front, wrist = found.draw(AGENT_VIEW, 64), found.draw(WRIST, 64)
    for picture in (front, wrist):
        assert picture.shape == (64, 64, 3) and picture.dtype == np.uint8
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
    assert (front != wrist).any()
    assert (found.draw(AGENT_VIEW, 64) == front).all()
    found.data.joint(found.objects[0]).qpos[1] += 0.05
    mujoco.mj_forward(found.model, found.data)
    assert (found.draw(AGENT_VIEW, 64) != front).any(), "a picture is never an old one"


def test_a_stove_that_is_on_glows() -> None:
    found = world("libero_goal", 3)
    cold = found.draw(AGENT_VIEW, 96)
    found.data.joint("flat_stove_1_button").qpos[0] = 0.6
    mujoco.mj_forward(found.model, found.data)
    hot = found.draw(AGENT_VIEW, 96)
    red = (hot[..., 0] > 200) & (hot[..., 1] < 120) & (hot[..., 2] < 90)
    assert red.sum() > 50 and (cold != hot).any()


def test_the_same_start_gives_the_same_state_in_other_processes() -> None:
    names = ("test/3", "dev/12")
    here = [world(start=name).save().hex() for name in names]
    assert here == [world(start=name).save().hex() for name in names], "and again after other episodes"
    code = (
        "from agentrl.envs.libero.world import World\nw = World('libero_spatial', 4)\n"
        f"for name in {names}:\n    w.reset(w.start(name)); print(w.save().hex())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert there == here


def test_a_saved_state_continues_bit_for_bit() -> None:
    found, other = world("libero_90", 5, "train/8"), World("libero_90", 5)
    found.arm.grip(0.0)
    for _ in range(5):
        found.arm.advance()
    other.load(found.save())
    assert other.conditions() == found.conditions() and other.model is found.model
    for _ in range(20):
        found.arm.advance()
        other.arm.advance()
    assert found.save() == other.save()
    with pytest.raises(ValueError, match="a state of"):
        world("libero_10", 9).load(found.save())


def test_starts_differ_by_name_and_stay_in_their_regions() -> None:
    found = world("libero_90", 36)
    starts = [found.start(name) for name in ("train/0", "train/1", "dev/0", "dev/1", "test/0", "test/49")]
    assert len({str(start.places) for start in starts}) == len(starts)
    assert found.start("train/1") == found.start("train/1")
    for start in starts[:4]:
        x, y, _ = start.places["plate_1"]
        assert -0.025 <= x <= 0.025 and -0.025 <= y <= 0.025
        assert len(start.arm) == 7 and set(start.joints) == set(found.joints)


@pytest.mark.parametrize(
    "name", ["", "test/50", "test/-1", "test/01", "train/", "other/1", "train/1 ", "train/" + "9" * 19, "test/٣"]
)
def test_starts_that_do_not_exist_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="a start must be"):
        world().start(name)


def test_things_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ConfigError, match='Did you mean "libero_goal"'):
        World("libero_gaol", 0)
    with pytest.raises(ConfigError, match="it must be a name, or 0 to 9"):
        World("libero_goal", 10)
    with pytest.raises(ConfigError, match="has no task 'open the door'"):
        World("libero_goal", "open the door")
    with pytest.raises(ConfigError, match="nothing in this task is called 'moon'"):
        world().position("moon")
    with pytest.raises(ConfigError, match="has no handle"):
        world().handle("plate_1")
    with pytest.raises(ValueError, match="the cameras are"):
        world().draw("frontview", 32)
    with pytest.raises(ConfigError, match="no model of a 'zebra'"):
        model_of("zebra")


def test_a_task_with_a_fixture_to_move_is_refused() -> None:
    text = """(define (problem LIBERO_Floor_Manipulation) (:domain robosuite) (:language x)
      (:regions (a (:target floor) (:ranges ((0 0 0 0))))) (:fixtures floor - floor) (:objects m_1 - microwave)
      (:obj_of_interest) (:init (On m_1 floor_a)) (:goal (Open m_1)))"""
    with pytest.raises(ConfigError, match="a microwave cannot be moved"):
        compile_scene(read_problem(text))
    with pytest.raises(ConfigError, match="unknown problem class"):
        compile_scene(read_problem(text.replace("LIBERO_Floor", "LIBERO_Moon")))


def test_joints_have_the_order_of_the_given_starts() -> None:
    found = world("libero_90", 24, "test/4")
    assert joints_of(found.problem)[:3] == [f"white_cabinet_1_{level}_level" for level in ("top", "middle", "bottom")]
    assert found.joint("white_cabinet_1_bottom_level") < -0.13 and found.joint("white_cabinet_1_top_level") == 0

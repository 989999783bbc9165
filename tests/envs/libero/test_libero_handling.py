"""What a gripper can do with the models: drawers open by their handles, knobs turn, and things are picked up."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.envs.common.gripper import pointing_down
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.controller import osc_torques
from agentrl.envs.libero.oracle.carrying import OPEN, towards
from agentrl.envs.libero.oracle.operating import RELAXED
from agentrl.envs.libero.world import Grasp, World

mujoco = load()

UP = np.array([0.0, 0.0, 1.0])


def begin(suite: str, task: int, start: str = "test/1") -> World:
    world = World(suite, task)
    world.reset(world.start(start))
    return world


def pull(world: World, position: np.ndarray, rotation: np.ndarray) -> None:
    """Draw the gripper to a pose for 0.04 s, as the controller does."""
    for _ in range(4):
        world.arm.push(lambda now: osc_torques(now, position, rotation), 5)


def go(world: World, position: np.ndarray, rotation: np.ndarray, ticks: int) -> None:
    """Move the gripper on a straight line, turning it on the way."""
    start, turned = world.arm.pose()
    first, last, matrix = np.empty(4), np.empty(4), np.empty(9)
    mujoco.mju_mat2Quat(first, turned.flatten())
    mujoco.mju_mat2Quat(last, rotation.flatten())
    last *= np.sign(first @ last)
    for share in [*(np.arange(1, ticks + 1) / ticks), *[1.0] * 12]:
        between = first + share * (last - first)
        mujoco.mju_quat2Mat(matrix, between / np.linalg.norm(between))
        pull(world, start + share * (position - start), matrix.reshape(3, 3))
    mujoco.mj_forward(world.model, world.data)


def close(world: World, position: np.ndarray, rotation: np.ndarray) -> None:
    world.arm.grip(0.0)
    go(world, position, rotation, ticks=15)


def leaning(outward: np.ndarray) -> np.ndarray:
    """The gripper points down and at a front, by half a right angle; of two ways that which the arm's last joint can
    turn further from."""
    approach = -(outward + UP) / np.sqrt(2)
    fingers = np.cross(UP, outward)
    fingers = fingers * np.sign(fingers @ RELAXED)
    return np.column_stack([np.cross(fingers, approach), fingers, approach])


@pytest.mark.parametrize("level", ["top", "middle", "bottom"])
@pytest.mark.parametrize(
    ("suite", "task", "cabinet"), [("libero_90", 7, "wooden_cabinet_1"), ("libero_90", 30, "white_cabinet_1")]
)
def test_every_drawer_opens_and_shuts(suite: str, task: int, cabinet: str, level: str) -> None:
    world = begin(suite, task)
    for name in world.joints:
        world.data.joint(name).qpos[0] = 0.0
    mujoco.mj_forward(world.model, world.data)
    handle = world.handle(f"{cabinet}_{level}_region")
    rotation = leaning(handle.outward)
    world.arm.grip(0.04)
    go(world, handle.position - 0.12 * rotation[:, 2], rotation, ticks=40)
    go(world, handle.position, rotation, ticks=15)
    close(world, handle.position, rotation)
    go(world, handle.position + 0.17 * handle.outward, rotation, ticks=40)
    assert world.joint(handle.joint) < -0.14
    others = [name for name in world.joints if name != handle.joint]
    assert all(abs(world.joint(name)) < 0.01 for name in others), "the other drawers stay shut"
    go(world, handle.position, rotation, ticks=40)
    assert world.joint(handle.joint) > -0.005


@pytest.mark.parametrize(("task", "turn"), [(("libero_goal", 7), 0.9), (("libero_90", 39), -2.2)])
def test_the_knob_of_the_stove_turns(task: tuple[str, int], turn: float) -> None:
    world = begin(*task)
    assert not world.goal_holds()
    handle = world.handle("flat_stove_1")
    yaw = np.arctan2(handle.along[1], handle.along[0])
    yaw = (yaw + np.pi / 2) % np.pi - np.pi / 2
    world.arm.grip(0.03)
    go(world, handle.position + 0.1 * UP, pointing_down(yaw), ticks=40)
    go(world, handle.position, pointing_down(yaw), ticks=10)
    close(world, handle.position, pointing_down(yaw))
    for share in np.arange(1, 61) / 50:
        pull(world, handle.position, pointing_down(yaw + turn * min(share, 1.0)))
    mujoco.mj_forward(world.model, world.data)
    assert world.goal_holds()


def test_the_microwave_opens_and_stays_open() -> None:
    world = begin("libero_90", 35)
    handle = world.handle("microwave_1")
    rotation = leaning(handle.outward)
    world.arm.grip(0.04)
    go(world, handle.position - 0.12 * rotation[:, 2], rotation, ticks=40)
    go(world, handle.position, rotation, ticks=15)
    close(world, handle.position, rotation)
    hinge = world.data.body("microwave_1_microjoint").xpos.copy()
    for angle in -np.arange(1, 51) / 100:
        sine, cosine = np.sin(angle), np.cos(angle)
        turn = np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
        pull(world, hinge + turn @ (handle.position - hinge), turn @ rotation)
    assert world.joint("microwave_1_microjoint") < -0.4


@pytest.mark.parametrize(
    ("suite", "task", "name"),
    [
        ("libero_spatial", 0, "akita_black_bowl_1"), ("libero_spatial", 0, "cookies_1"),
        ("libero_spatial", 0, "glazed_rim_porcelain_ramekin_1"), ("libero_object", 1, "milk_1"),
        ("libero_object", 0, "alphabet_soup_1"), ("libero_object", 0, "butter_1"), ("libero_object", 2, "ketchup_1"),
        ("libero_goal", 0, "wine_bottle_1"), ("libero_10", 2, "chefmate_8_frypan_1"), ("libero_10", 2, "moka_pot_1"),
        ("libero_10", 4, "red_coffee_mug_1"), ("libero_10", 5, "black_book_1"), ("libero_90", 36, "white_bowl_1"),
    ],
)  # fmt: skip
def test_things_are_picked_up(suite: str, task: int, name: str) -> None:
    world = begin(suite, task)
    grasp, rotation = free_grasp(world, name)
    world.arm.grip(min(0.04, grasp.width / 2 + 0.012))
    go(world, grasp.position + 0.12 * UP, rotation, ticks=40)
    go(world, grasp.position, rotation, ticks=12)
    close(world, grasp.position, rotation)
    height = world.position(name)[2]
    go(world, grasp.position + 0.12 * UP, rotation, ticks=20)
    assert world.held() == name and world.position(name)[2] > height + 0.09
    assert world.pose(name)[1][2, 2] > 0.9, "it hangs upright"


def free_grasp(world: World, name: str) -> tuple[Grasp, np.ndarray]:
    """The first grasp where the gripper touches nothing, and its rotation."""
    for grasp in world.grasps(name):
        joints = world.arm.solve(grasp.position, pointing_down(grasp.yaw))
        if joints is not None:
            imagined = world.arm.imagine(joints, min(0.04, grasp.width / 2 + 0.012))
            mujoco.mj_fwdPosition(world.model, imagined)
            if not world.arm.touched(imagined):
                return grasp, pointing_down(grasp.yaw)
    raise AssertionError(f"{name} cannot be taken")


@pytest.mark.parametrize(("elbow", "share"), [(-2.0, 1.0), (-1.2, 0.45), (-0.8, 0.0)])
def test_the_more_the_arm_is_stretched_the_slower_the_oracle_goes_outward(elbow: float, share: float) -> None:
    world = begin("libero_spatial", 0)
    world.arm.rest([0.0, 0.6, 0.0, elbow, 0.0, 1.7, 0.8])
    at, rotation = world.arm.pose()
    outward = at + np.array([0.0, 0.0, 0.2035 - 0.333]) - world.model.body("panda_base").pos  # from shoulder to wrist
    outward[0] -= 0.088
    outward /= np.linalg.norm(outward)
    assert towards(world, at + outward, rotation, OPEN)[:3] @ outward == pytest.approx(share, abs=0.02)
    assert towards(world, at - outward, rotation, OPEN)[:3] @ outward == pytest.approx(-1.0, abs=0.02)

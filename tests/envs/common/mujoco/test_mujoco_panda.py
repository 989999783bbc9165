"""The Panda in MuJoCo: published kinematics, a controller without memory, and honest contacts."""

from __future__ import annotations

from math import degrees
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import EnvFault
from agentrl.envs.common.gripper import READY, pointing_down
from agentrl.envs.common.mujoco import physics
from agentrl.envs.common.mujoco.arm import Arm
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import JOINTS, SITE, add_panda

mujoco = load()

# Craig's parameters a, d, alpha of Franka's documentation, then the flange and the hand.
PUBLISHED = [
    (0, 0.333, 0), (0, 0, -np.pi / 2), (0, 0.316, np.pi / 2), (0.0825, 0, np.pi / 2),
    (-0.0825, 0.384, -np.pi / 2), (0, 0, np.pi / 2), (0.088, 0, np.pi / 2),
]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Any:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    add_panda(spec, (0.0, 0.0, 0.0))
    ball = spec.worldbody.add_body(name="ball")
    ball.add_freejoint()
    ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(0.02, 0, 0), density=400.0)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(2, 2, 0.1))
    return spec.compile()


@pytest.fixture
def arm(model: Any) -> Arm:
    data = mujoco.MjData(model)
    data.joint(model.body("ball").jntadr[0]).qpos[:3] = (0.4, 0.4, 0.02)
    arm = Arm(model, data)
    arm.rest(READY)
    mujoco.mj_forward(model, data)
    return arm


def expected_pose(joints: Any) -> np.ndarray:
    pose = np.eye(4)
    for angle, (a, d, alpha) in zip(joints, PUBLISHED, strict=True):
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        pose = pose @ [[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]]
    c = np.cos(np.pi / 4)
    return pose @ [[c, c, 0, 0], [-c, c, 0, 0], [0, 0, 1, 0.107 + 0.1034], [0, 0, 0, 1]]


def test_poses_are_those_of_the_published_parameters(model: Any, arm: Arm) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        low, high = np.array([model.joint(name).range for name in JOINTS]).T
        joints = random.uniform(low, high)
        arm.rest(joints)
        position, rotation = arm.pose()
        wanted = expected_pose(joints)
        np.testing.assert_allclose(position, wanted[:3, 3], atol=1e-9)
        np.testing.assert_allclose(rotation, wanted[:3, :3], atol=1e-9)


def test_limits_of_joints_and_torques_are_the_published_ones(model: Any) -> None:
    assert [tuple(model.joint(name).range) for name in JOINTS[3:6:2]] == [(-3.0718, -0.0698), (-0.0175, 3.7525)]
    assert [model.actuator(name).forcerange[1] for name in JOINTS] == [87.0] * 4 + [12.0] * 3


def test_the_arm_holds_still_without_being_told_to(arm: Arm) -> None:
    before = arm.pose()[0]
    for _ in range(50):
        arm.advance()
    assert np.abs(arm.pose()[0] - before).max() < 1e-5


def tilt(rotation: np.ndarray, yaw: float) -> float:
    """Degrees between a rotation and the gripper pointing down."""
    return degrees(np.arccos(np.clip((np.trace(pointing_down(yaw).T @ rotation) - 1) / 2, -1, 1)))


def test_straight_motions_keep_the_wrist_and_end_where_they_should(arm: Arm) -> None:
    for to in ([0.65, 0.2, 0.1], [0.45, -0.25, 0.15], [0.6, 0.0, 0.3]):
        start, goal = arm.pose()[0], np.array(to)
        for tick in range(1, 61):
            share = min(tick / 45, 1.0)
            arm.steer(start + share * share * (3 - 2 * share) * (goal - start), pointing_down(0.0))
            arm.advance()
            assert tilt(arm.pose()[1], 0.0) < 1.0
        assert np.linalg.norm(arm.pose()[0] - goal) < 0.001


def test_solving_says_what_is_out_of_reach(arm: Arm) -> None:
    for yaw in (-0.7, 0.0, 1.2):
        joints = arm.solve(np.array([0.6, -0.2, 0.05]), pointing_down(yaw))
        assert joints is not None
        np.testing.assert_allclose(expected_pose(joints)[:3, 3], [0.6, -0.2, 0.05], atol=1e-3)
        assert tilt(expected_pose(joints)[:3, :3], yaw) < 0.1
    for point in ([0.85, 0.0, 0.05], [0.0, 0.0, 0.2], [0.5, 0.0, 1.5], [1e6, 0.0, 0.0]):
        assert arm.solve(np.array(point), pointing_down(0.0)) is None


def test_a_saved_motion_continues_bit_for_bit(model: Any, arm: Arm) -> None:
    def go_on(arm: Arm) -> bytes:
        for _ in range(15):
            arm.steer(np.array([0.55, 0.15, 0.2]), pointing_down(0.4))
            arm.advance()
        return physics.save(model, arm.data)

    go_on(arm)
    saved = physics.save(model, arm.data)
    other = Arm(model, mujoco.MjData(model))
    physics.load_into(model, other.data, saved)
    assert go_on(other) == go_on(arm)


def test_fingers_say_what_they_hold_and_what_they_hit(model: Any, arm: Arm) -> None:
    ball = model.body("ball").id
    joints = arm.solve(np.array([0.5, 0.0, 0.021]), pointing_down(0.0))
    assert joints is not None
    arm.rest(joints)
    arm.data.joint(model.body("ball").jntadr[0]).qpos[:3] = (0.5, 0.0, 0.02)
    arm.advance()
    assert arm.grasped() is None and arm.touched() == set()
    arm.grip(0.0)
    for _ in range(15):
        arm.advance()
    assert arm.grasped() == ball and 0.01 < arm.opening() < 0.021
    assert arm.touched() == {ball} and arm.pressure() > 20.0 and arm.pressure(ignored=ball) == 0.0


def test_a_diverged_simulation_is_a_fault(arm: Arm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log behind
    arm.data.qvel[:] = np.nan
    with pytest.raises(EnvFault, match="diverged"):
        arm.advance()


def test_the_gripper_is_drawn_by_shapes_of_its_own(model: Any) -> None:
    assert model.nmesh == 0 and model.site(SITE).group[0] == 5

"""LIBERO's controller: robosuite's law, the same motions as robosuite's own, no drift, what it remembers."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.core.errors import EnvFault
from agentrl.envs.libero.arm import READY, Moment
from agentrl.envs.libero.controller import osc_torques, turn
from agentrl.envs.libero.simulation import ProceduralSimulation
from agentrl.envs.libero.task_ids import Chosen

pytestmark = pytest.mark.extra_robots
REST = np.array([0, 0, 0, 0, 0, 0, -1.0])
CHOSEN = Chosen("libero_spatial", 3, "test", 0)
# Where robosuite 1.4.0's own Panda and controller end after 20 actions and 40 of rest, from LIBERO's ready posture:
# the way in millimetres, and the hand's quaternion (x, y, z, w).
ENDS = {
    (1, 0, 0, 0, 0, 0): ((267.66, 0.0, 1.22), (0.9996, 0.0002, -0.0286, 0.0)),
    (0, 1, 0, 0, 0, 0): ((-7.54, 267.21, -0.84), (0.9996, 0.0002, -0.0284, 0.0)),
    (0, 0, 1, 0, 0, 0): ((-11.04, 0.0, 261.44), (0.9996, 0.0002, -0.0284, 0.0)),
    (0, 0, 0, 0.5, 0, 0): ((-7.01, 4.61, -16.41), (0.7987, 0.0075, 0.0397, -0.6004)),
    (0, 0, 0, 0, 0, 1): ((-8.46, 99.31, -8.69), (0.6631, 0.7474, 0.0134, 0.0391)),
    (0.5, -0.5, 0.3, 0.2, -0.2, 0.4): ((123.26, -138.99, 63.91), (0.8206, 0.4404, 0.2609, -0.2544)),
}


@pytest.fixture
def ready() -> ProceduralSimulation:
    """The arm in LIBERO's ready posture, at rest."""
    simulation = ProceduralSimulation()
    simulation.begin(CHOSEN)
    world = simulation.world
    world.reset(world.start("test/0")._replace(arm=READY))
    simulation.controller.begin()
    return simulation


def test_torques_are_those_of_robosuites_formulas() -> None:
    """Against the law as it is written down: wrench by the felt inertias, posture torques in the null space."""
    random = np.random.default_rng(0)
    half = random.standard_normal((7, 7))
    mass, jacobian = half @ half.T + np.diag(np.arange(1.0, 8.0)), random.standard_normal((6, 7))
    goal, joints, speeds = 0.1 * random.standard_normal(6), random.standard_normal(7), random.standard_normal(7)
    angle = np.linalg.norm(goal[3:])
    error = np.concatenate([goal[:3], goal[3:] * np.sin(angle) / angle])  # by half the sum of the axes' cross products
    inverse, (upper, lower) = np.linalg.inv(mass), (jacobian[:3], jacobian[3:])
    wanted = 150.0 * error - 2 * np.sqrt(150.0) * jacobian @ speeds
    force = np.linalg.pinv(upper @ inverse @ upper.T) @ wanted[:3]
    torque = np.linalg.pinv(lower @ inverse @ lower.T) @ wanted[3:]
    bar = inverse @ jacobian.T @ np.linalg.pinv(jacobian @ inverse @ jacobian.T)
    posture = mass @ (10.0 * (np.array(READY) - joints) - 2 * np.sqrt(10.0) * speeds)
    expected = jacobian.T @ np.concatenate([force, torque]) + (np.eye(7) - bar @ jacobian).T @ posture
    law = osc_torques(Moment(joints, mass, jacobian, np.zeros(3), np.eye(3)), goal[:3], turn(goal[3:]))
    assert law.constant - law.angles @ joints - law.speeds @ speeds == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("action", ENDS, ids=["x", "y", "z", "turn x", "turn z", "mixed"])
def test_twenty_actions_and_forty_of_rest_end_where_robosuites_arm_ends(ready, action) -> None:
    start = ready.robot()["eef_pos"]
    for step in range(60):
        ready.step(np.array([*action, -1.0]) if step < 20 else REST)
    robot, (way, turned) = ready.robot(), ENDS[action]
    assert np.linalg.norm(robot["eef_pos"] - start - np.array(way) / 1000) < 0.002
    assert 2 * np.arccos(min(1.0, abs(float(robot["eef_quat"] @ np.array(turned))))) < 0.02


def test_rest_does_not_drift(ready) -> None:
    before = ready.robot()
    for _ in range(60):
        ready.step(REST)
    after = ready.robot()
    assert np.abs(after["eef_pos"] - before["eef_pos"]).max() < 1e-4
    assert np.abs(after["joint_pos"] - before["joint_pos"]).max() < 1e-3


def test_an_action_without_rotation_keeps_the_orientation_that_was_asked_for_and_a_snapshot_too(ready) -> None:
    for _ in range(3):
        ready.step(np.array([0, 0, 0, 0, 0, 1.0, -1]))
    kept, saved = ready.controller.orientation.copy(), ready.save()
    other = ProceduralSimulation()
    other.load(CHOSEN, saved)
    for simulation in (ready, other):
        for _ in range(20):
            simulation.step(REST)
        assert np.array_equal(simulation.controller.orientation, kept)
        assert simulation.world.arm.pose()[1] == pytest.approx(kept, abs=0.01), "the arm has caught up with it"
    assert ready.save() == other.save()
    with pytest.raises(ValueError, match="nine finite numbers"):
        other.load(CHOSEN, {**saved, "orientation": [float("nan")] * 9})


def test_a_simulation_that_blows_up_is_a_fault(ready, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log behind
    ready.world.data.qvel[:] = 1e6
    with pytest.raises(EnvFault, match="diverged"):
        ready.step(REST)

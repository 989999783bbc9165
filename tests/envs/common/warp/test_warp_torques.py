"""The law of torques as kernels: the numbers of the same formulas in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.envs.common.mujoco.arm import rotation_between
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.panda import JOINTS, SITE
from agentrl.envs.libero.controller import turn
from agentrl.envs.libero.starts import READY
from agentrl.envs.libero.world import World

pytestmark = pytest.mark.warp
mujoco = load()
METRES, RADIANS, STIFFNESS, POSTURE = 0.05, 0.5, 150.0, 10.0


def torques_in_numpy(world: World, goal: np.ndarray, orientation: np.ndarray) -> np.ndarray:
    """Operational space control as robosuite has it: position and rotation apart, a posture in what is left free."""
    model, data = world.model, world.data
    dofs = [int(model.joint(name).dofadr[0]) for name in JOINTS]
    joints, speeds = data.qpos[[int(model.joint(name).qposadr[0]) for name in JOINTS]], data.qvel[dofs]
    jacobian, inertia = np.zeros((6, model.nv)), np.zeros((model.nv, model.nv))
    mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], model.site(SITE).id)
    mujoco.mj_fullM(model, data, inertia)
    jacobian, mass = jacobian[:, dofs], inertia[np.ix_(dofs, dofs)]
    mobility = jacobian @ np.linalg.inv(mass) @ jacobian.T
    apart = np.zeros((6, 6))
    apart[:3, :3], apart[3:, 3:] = np.linalg.inv(mobility[:3, :3]), np.linalg.inv(mobility[3:, 3:])
    free = mass - jacobian.T @ np.linalg.inv(mobility) @ jacobian
    at = data.site(SITE)
    error = np.concatenate([goal - at.xpos, rotation_between(at.xmat.reshape(3, 3), orientation)])
    pull = jacobian.T @ apart @ (STIFFNESS * error - 2 * STIFFNESS**0.5 * (jacobian @ speeds))
    drawn = free @ (POSTURE * (np.array(READY) - joints) - 2 * POSTURE**0.5 * speeds)
    return pull + drawn + data.qfrc_bias[dofs] - data.qfrc_gravcomp[dofs]


@pytest.mark.parametrize("rotation", [(0.3, -0.8, 0.5), (0.0, 0.0, 0.0)])
def test_torques_are_those_of_the_formulas(rotation: tuple[float, float, float]) -> None:
    from agentrl.envs.common.warp.batch import STATE, Batch
    from agentrl.envs.common.warp.law import ArmPlace
    from agentrl.envs.common.warp.loading import mjw, torch, wp
    from agentrl.envs.common.warp.torques import Gains, Posture, SpringTorques

    world = World("libero_spatial", 0)
    world.reset(world.start("test/0"))
    gains = Gains(METRES, RADIANS, STIFFNESS, 2 * STIFFNESS**0.5, 0.1, 5, 0.05)
    batch = Batch(
        world.model,
        world.data,
        2,
        torch.device("cpu"),
        lambda m, n: SpringTorques(m, n, gains, Posture(READY, POSTURE)),
    )
    kept = world.data.site(SITE).xmat.reshape(3, 3).copy()
    batch.begin({name: torch.tensor(np.array([getattr(world.data, name)] * 2)).float() for name in STATE})
    dofs = [int(world.model.joint(name).dofadr[0]) for name in JOINTS]
    moved = np.random.default_rng(0).uniform(-0.2, 0.2, (2, 7))
    world.data.qvel[dofs] = moved[0]
    world.data.qpos[[int(world.model.joint(name).qposadr[0]) for name in JOINTS]] += moved[1]
    mujoco.mj_forward(world.model, world.data)
    for name in ("qpos", "qvel"):
        batch.state[name].copy_(torch.tensor(np.array([getattr(world.data, name)] * 2)))
    action = np.array([0.5, -0.3, 0.9, *rotation, 1.0])
    batch.law.actions.copy_(torch.tensor(np.array([action] * 2)))
    with wp.ScopedDevice("cpu"):
        mjw.forward(batch.model, batch.data)
    at = world.data.site(SITE)
    wanted = turn(RADIANS * action[3:6]) @ at.xmat.reshape(3, 3) if any(rotation) else kept
    torques = torques_in_numpy(world, at.xpos + METRES * action[:3], wanted)
    first = ArmPlace.of(world.model).servo
    found = batch.state["ctrl"][:, first : first + 7].numpy()
    assert np.abs(found - torques).max() < 2e-3 * np.abs(torques).max()

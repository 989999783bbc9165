"""LIBERO as policies of the field expect it: proprio, pictures, settling steps, limits, protocols, other libraries."""

from __future__ import annotations

import subprocess
import sys
from math import pi
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from agentrl.envs.libero.controller import quat2axisangle
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.simulation import ProceduralSimulation
from agentrl.envs.libero.starts import READY
from agentrl.envs.libero.task_ids import Chosen

pytestmark = pytest.mark.extra_robots
ROOT = Path(__file__).parents[3]
START = {"task": "libero_spatial/3:test:7"}


@pytest.mark.parametrize(
    ("quaternion", "vector"),
    [
        ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
        ((1.0, 0.0, 0.0, 0.0), (pi, 0.0, 0.0)),
        ((0.8, 0.0, 0.0, 0.6), (2 * np.arccos(0.6), 0.0, 0.0)),
        ((0.8, 0.0, 0.0, -0.6), (2 * np.arccos(-0.6), 0.0, 0.0)),  # beyond pi: it does not jump to the other side
        ((0.0, -1.0, 0.0, 1e-9), (0.0, -pi, 0.0)),
        # what robosuite's own function gives at LIBERO's ready posture
        ((0.999596605, 2.46212832e-4, -0.0284001205, -6.99529596e-6), (3.14033934, 7.73503869e-4, -0.0892220072)),
    ],
)  # fmt: skip
def test_quat2axisangle_keeps_the_sign_and_does_not_wrap(quaternion, vector):
    assert quat2axisangle(np.array(quaternion)) == pytest.approx(np.array(vector), abs=1e-6)


def test_at_the_ready_posture_the_robot_measures_what_robosuite_measures():
    simulation = ProceduralSimulation()
    simulation.begin(Chosen("libero_spatial", 3, "test", 0))
    world = simulation.world
    world.reset(world.start("test/0")._replace(arm=READY))
    robot = simulation.robot()
    base = np.array([-0.66, 0.0, 0.912])
    assert robot["eef_pos"] - base == pytest.approx([0.45153534, 0.0, 0.26127948], abs=1e-6)
    assert robot["eef_quat"] == pytest.approx([0.999596605, 2.46212832e-4, -0.0284001205, -6.99529596e-6], abs=1e-6)
    assert robot["joint_pos"] == pytest.approx(READY) and not robot["joint_vel"].any()


def test_the_orientation_never_jumps_on_the_way():
    with gym.make("agentrl/LIBERO-Spatial-v0", split="test", task=3, obs_mode="state") as env:
        turned = [env.reset(options=START)[0]["proprio"][3:6]]
        for _ in range(60):
            turned.append(env.step(env.unwrapped.oracle())[0]["proprio"][3:6])
    assert np.abs(np.diff(turned, axis=0)).max() < 0.3 and turned[0][0] > 3.0


def test_settling_steps_open_the_gripper_and_are_no_turns():
    seen = {}
    for steps in (0, 10):
        with gym.make("agentrl/LIBERO-Spatial-v0", split="test", task=3, obs_mode="state", settle_steps=steps) as env:
            observation, info = env.reset(options=START)
            seen[steps] = observation["proprio"][6]
            assert info["turn"] == 0
    assert seen[0] == pytest.approx(0.020833, abs=1e-4) and seen[10] > 0.035


@pytest.mark.parametrize(
    ("protocol", "convention", "size", "steps", "limits"),
    [
        (None, "upright", 128, 10, (280, 280, 300, 520, 400)),
        ("libero", "raw", 128, 5, (600, 600, 600, 600, 600)),
        ("openvla", "openvla", 256, 10, (220, 280, 300, 520, 400)),
        ("lerobot", "openvla", 256, 10, (280, 280, 300, 520, 400)),
    ],
)
def test_a_protocol_sets_pictures_settling_steps_and_limits(protocol, convention, size, steps, limits):
    suites = ("libero_spatial", "libero_object", "libero_goal", "libero_10", "libero_90")
    envs = [LiberoEnv(suite=suite, protocol=protocol) for suite in suites]
    assert tuple(env.max_turns for env in envs) == limits
    env = envs[0]
    assert (env.picture_convention, env.image_size, env.settle_steps) == (convention, size, steps)
    assert env.out_of_range == "clip" and env.observation_space["image"].shape == (size, size, 3)


def test_options_beside_a_protocol_win():
    env = LiberoEnv(protocol="openvla", image_size=64, settle_steps=0, max_turns=7, picture_convention="raw")
    assert (env.image_size, env.settle_steps, env.max_turns, env.picture_convention) == (64, 0, 7, "raw")


def test_the_robots_own_state_is_given_on_request():
    with gym.make("agentrl/LIBERO-Spatial-v0", split="test", task=3, obs_mode="state", robot_state=True) as env:
        seen, _ = env.reset(options=START)
        assert env.observation_space.contains(seen)
        assert [len(seen[name]) for name in ("eef_pos", "eef_quat", "gripper_qpos")] == [3, 4, 2]
        assert seen["joint_pos"].shape == seen["joint_vel"].shape == (7,)
        assert np.array_equal(
            seen["proprio"], np.concatenate([seen["eef_pos"], seen["proprio"][3:6], seen["gripper_qpos"]])
        )
        opening, *_ = env.step(np.array([0, 0, 0, 0, 0, 0, 1.0]))
        assert opening["gripper_qvel"][0] < 0 < opening["gripper_qvel"][1]


def arrays_alone() -> gym.Env:
    """What other libraries are given."""
    return gym.make(
        "agentrl:agentrl/LIBERO-Spatial-v0", task=3, image_size=36, obs_text=False, full_info=False, max_turns=6
    )


def test_stable_baselines3_takes_the_observation_without_text():
    from stable_baselines3 import PPO, SAC
    from stable_baselines3.common.env_checker import check_env

    with arrays_alone() as env:
        check_env(env.unwrapped)
        PPO("MultiInputPolicy", env, n_steps=4, batch_size=4, n_epochs=1, device="cpu").learn(4)
        settings = {"buffer_size": 20, "learning_starts": 1, "batch_size": 2, "device": "cpu"}
        learner = SAC("MultiInputPolicy", env, **settings).learn(4)
        assert learner.replay_buffer.size() == 4 and learner._n_updates > 0


def test_vectors_share_the_memory_of_the_observation_without_text():
    envs = gym.vector.AsyncVectorEnv([arrays_alone], shared_memory=True, context="spawn")
    try:
        first, _ = envs.reset(seed=[1])
        seen, rewards, *_ = envs.step(np.array([[0.5, 0.5, 0.5, 0, 0, 0, 1]], np.float32))
        assert seen["image"].shape == (1, 36, 36, 3) and rewards.shape == (1,)
        assert (seen["proprio"][0, :3] > first["proprio"][0, :3]).all()
    finally:
        envs.close()


DEFAULTS = """
import gymnasium as gym, numpy as np
from tests.envs.libero.test_libero_interface import arrays_alone
arrays_alone().reset(seed=0)  # a process that has drawn itself
envs = gym.vector.AsyncVectorEnv([arrays_alone] * 2)
first, _ = envs.reset(seed=[1, 2])
for _ in range(3):
    seen, *_ = envs.step(np.array([[0.5, 0.5, 0.5, 0, 0, 0, 0]] * 2, np.float32))
print(seen["image"].shape, bool((seen["proprio"][:, :3] > first["proprio"][:, :3]).all()))
envs.close()
"""


def test_a_vector_with_its_defaults_forks_a_process_that_has_drawn_already():
    # In a process of its own: other tests draw by other means, whose threads would be lost in the fork.
    done = subprocess.run(
        [sys.executable, "-c", DEFAULTS], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "(2, 36, 36, 3) True"

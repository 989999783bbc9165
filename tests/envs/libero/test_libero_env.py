"""LIBERO's environments: control steps, the oracle, snapshots, hostile actions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.simulation import ProceduralSimulation
from agentrl.envs.libero.task_ids import Chosen, TaskIds

pytestmark = pytest.mark.extra_robots
ROOT = Path(__file__).parents[3]
CONTINUE = """
import sys, gymnasium as gym, agentrl
blob = sys.stdin.buffer.read()
env = gym.make("agentrl/LIBERO-Spatial-v0", split="test", task=3, obs_mode="state")
env.reset(seed=1)
agentrl.restore(env, blob)
for _ in range(12):
    env.step(env.unwrapped.oracle())
sys.stdout.buffer.write(env.unwrapped._simulation.world.save())
"""


@pytest.fixture(scope="module")
def env():
    with gym.make("agentrl/LIBERO-Spatial-v0", split="test", task=3, obs_mode="state") as made:
        yield made


def play(env: gym.Env, task: str) -> tuple[bool, int]:
    """Follow the oracle: (success, steps)."""
    env.reset(options={"task": task})
    for step in range(1, env.unwrapped.max_turns + 1):
        _, reward, terminated, truncated, info = env.step(env.unwrapped.oracle())
        if terminated or truncated:
            assert reward == float(info["success"])
            return info["success"], step
    raise AssertionError("no end")


def test_observations_are_those_of_a_vision_language_action_policy():
    with gym.make("agentrl/LIBERO-Spatial-v0", split="test", task=3, image_size=64) as env:
        seen, info = env.reset(options={"task": "libero_spatial/3:test:7"})
        assert seen["text"] == "pick up the black bowl on the cookie box and place it on the plate"
        assert seen["image"].shape == seen["wrist_image"].shape == (64, 64, 3)
        assert seen["proprio"].shape == (8,) and env.action_space.shape == (7,)
        assert info["state"]["conditions"] == {"On akita_black_bowl_1 plate_1": False}
        moved, *_ = env.step(np.array([1, 0, 0, 0, 0, 0, -1], dtype=np.float32))
        assert not np.array_equal(moved["image"], seen["image"]), "a picture changes when the arm moves"
        assert not np.array_equal(moved["wrist_image"], seen["wrist_image"])


def test_oracle_puts_the_bowl_on_the_plate_and_the_state_says_so(env):
    success, steps = play(env, "libero_spatial/3:test:0")
    assert success and steps < 200
    assert env.unwrapped.state().conditions == {"On akita_black_bowl_1 plate_1": True}
    assert env.unwrapped.oracle() is None, "nothing is left to do"


@pytest.mark.parametrize(
    ("suite", "task"),
    [("Object", "libero_object/0:test:0"), ("Goal", "libero_goal/0:test:0"), ("Goal", "libero_goal/7:test:0")],
    ids=["basket", "middle drawer", "stove"],
)
def test_oracle_solves_tasks_of_other_suites(suite, task):
    with gym.make(f"agentrl/LIBERO-{suite}-v0", split="test", obs_mode="state") as env:
        assert play(env, task)[0]


def test_a_snapshot_in_mid_grasp_continues_bit_for_bit_in_another_process(env):
    env.reset(options={"task": "libero_spatial/3:test:1"})
    while env.unwrapped._simulation.held() is None:
        env.step(env.unwrapped.oracle())
    blob = agentrl.snapshot(env)
    for _ in range(12):
        env.step(env.unwrapped.oracle())
    expected = env.unwrapped._simulation.world.save()
    done = subprocess.run([sys.executable, "-c", CONTINUE], input=blob, capture_output=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == expected


def test_hostile_actions_are_answered_and_nothing_moves(env):
    env.reset(options={"task": "libero_spatial/3:test:2"})
    before = env.unwrapped._simulation.world.save()
    odd = np.zeros(7, dtype=np.float32)
    odd[3] = np.nan
    for action in (odd, np.full(7, np.inf), np.zeros(6), np.zeros((7, 1)), "up", None, [object()] * 7, [10**400] * 7):
        _, reward, terminated, truncated, info = env.unwrapped.step(action)
        assert not info["valid"] and info["feedback"] and reward == 0.0 and not terminated and not truncated
    assert env.unwrapped._simulation.world.save() == before
    assert info["turn"] == 8, "the turns count"


def test_extreme_actions_never_break_the_simulation(env):
    env.reset(options={"task": "libero_spatial/3:test:3"})
    random = np.random.default_rng(0)
    for step in range(60):
        action = np.where(random.random(7) < 0.5, -1.0, 1.0) if step % 20 else np.full(7, -1.0)
        seen, *_, info = env.step(action.astype(np.float32))
        assert info["valid"] and np.isfinite(seen["proprio"]).all() and np.isfinite(seen["state"]).all()


def test_an_action_moves_the_gripper_as_the_page_says():
    simulation = ProceduralSimulation()
    simulation.begin(Chosen("libero_spatial", 3, "test", 0))
    forward = np.array([1.0, 0, 0, 0, 0, 0, 0])
    places = [simulation.robot()["eef_pos"][0]]
    for _ in range(12):
        simulation.step(forward)
        places.append(simulation.robot()["eef_pos"][0])
    first, last = places[1] - places[0], places[-1] - places[-2]
    assert 0.004 < first < 0.009 and 0.011 < last < 0.015
    before = simulation.robot()["gripper_qpos"]
    for _ in range(10):
        simulation.step(np.array([0, 0, 0, 0, 0, 0, 1.0]))
    assert simulation.robot()["gripper_qpos"] == pytest.approx([0.0, 0.0], abs=2e-3), "the fingers close"
    assert before[0] > 0.01 and before[1] < -0.01, "robosuite counts the second one backwards"


def test_ids_name_suite_task_split_and_start():
    ids = TaskIds("libero_goal", (0, 4), "dev")
    assert ids[:3] == ["libero_goal/0:dev:0", "libero_goal/4:dev:0", "libero_goal/0:dev:1"] and len(ids) == 100
    assert ids.find("libero_goal/4:dev:49") == Chosen("libero_goal", 4, "dev", 49)
    for name in (
        "libero_goal/1:dev:0",
        "libero_goal/4:dev:50",
        "libero_goal/4:test:0",
        "libero_goal/04:dev:0",
        "x",
        "",
    ):
        assert ids.find(name) is None


def test_wrong_arguments_get_one_sentence():
    for kwargs, word in (
        ({"suite": "libero_spacial"}, "libero_spatial"),
        ({"task": 10}, "0 to 9"),
        ({"task": "pick_up"}, "name"),
        ({"assets": "offical"}, "official"),
        ({"obs_mode": "pixels"}, "obs_mode"),
        ({"protocol": "openvl"}, "protocol must be one of libero, openvla, lerobot or None; got 'openvl'"),
        ({"settle_steps": -1}, "settle_steps must be a whole number of at least 0"),
        ({"robot_state": 1}, "robot_state must be True or False; got 1"),
        ({"picture_convention": "mirrored"}, "picture_convention must be one of upright, openvla, raw"),
        ({"max_turns": 0}, "max_turns"),
    ):
        with pytest.raises(ConfigError, match=word):
            LiberoEnv(**kwargs)

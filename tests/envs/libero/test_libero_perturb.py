"""Changed worlds of LIBERO: the same change everywhere, tasks that stay what they are."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from itertools import combinations
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.common.perturb import read_perturbation
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.perturb import ARM, DISTRACTORS, GAP, SHIFT, perturbed_world
from agentrl.envs.libero.scene import AGENT_VIEW
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import World

pytestmark = pytest.mark.extra_robots
TASK = "libero_spatial/3:test:7"
EVERYTHING = "light:3,camera:3,textures:3,distractors:3,poses:3,instructions:3"
SEEN = """
import hashlib, sys
from agentrl.envs.libero.env import LiberoEnv
env = LiberoEnv(split="test", task=3, image_size=64, settle_steps=0, perturb=sys.argv[1])
seen, _ = env.reset(options={"task": sys.argv[2]})
print(hashlib.sha256(b"".join([seen["image"], seen["proprio"], seen["text"].encode()])).hexdigest())
"""


def make(perturb: Any, **others: Any) -> LiberoEnv:
    return LiberoEnv(**{"split": "test", "task": 3, "image_size": 64, "settle_steps": 0, "perturb": perturb} | others)


def first(perturb: Any, **others: Any) -> dict[str, Any]:
    return make(perturb, **others).reset(options={"task": TASK})[0]


@pytest.mark.parametrize("factor", ["light", "camera", "textures"])
def test_looks_change_more_with_the_level_and_the_simulation_not_at_all(factor):
    plain, far = make(None), []
    before = plain.reset(options={"task": TASK})[0]
    for level in (1, 3):
        env = make(f"{factor}:{level}")
        seen = env.reset(options={"task": TASK})[0]
        assert np.array_equal(seen["proprio"], before["proprio"]) and seen["text"] == before["text"]
        far.append(np.abs(seen["image"].astype(int) - before["image"]).mean())
    assert 1.0 < far[0] < far[1]
    action = np.array([0.5, 0.2, -0.5, 0, 0, 0.3, 1.0])
    assert env.step(action)[4]["anchor"] == plain.step(action)[4]["anchor"], "to the bit"


def test_level_0_is_the_unchanged_world_to_the_bit():
    before, seen = first(None), first({"light": 0, "distractors": 0})
    assert all(np.array_equal(before[name], seen[name]) for name in before)


def test_another_process_and_a_snapshot_show_the_same_change_and_another_seed_another():
    env = make(EVERYTHING)
    seen = env.reset(options={"task": TASK})[0]
    told = hashlib.sha256(b"".join([seen["image"], seen["proprio"], seen["text"].encode()])).hexdigest()
    there = subprocess.run([sys.executable, "-c", SEEN, EVERYTHING, TASK], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == told
    env.step(np.ones(7))
    blob, other = agentrl.snapshot(env), make(EVERYTHING)
    other.reset(seed=5)
    agentrl.restore(other, blob)
    assert other.instruction == env.instruction and np.array_equal(other.picture(), env.picture())
    one, two = env.step(np.ones(7)), other.step(np.ones(7))
    assert one[4]["state"] == two[4]["state"] and np.array_equal(one[0]["image"], two[0]["image"])
    differs = first(EVERYTHING, perturb_seed=1)
    assert not np.array_equal(differs["image"], seen["image"]) and differs["text"] != seen["text"]


SAMPLE = [("libero_spatial", 3), ("libero_object", 0), ("libero_goal", 5), ("libero_10", 3), ("libero_90", 80)]


@pytest.mark.parametrize(("suite", "task"), SAMPLE)
def test_distractors_stand_apart_are_of_other_kinds_and_in_view(suite, task):
    chosen = Chosen(suite, task, "test", 4)
    world, plain = perturbed_world(chosen, read_perturbation("distractors:3")), World(suite, task)
    assert 3 <= len(world.distractors) <= DISTRACTORS[-1]
    assert not {world.kinds[name] for name in world.distractors} & set(plain.kinds.values())
    words = set(chosen.instruction.split())
    assert not any(words & set(world.kinds[name].split("_")) for name in world.distractors)
    assert not world.goal_holds() and not world.arm.touched(world.data)
    for name, other in combinations(world.objects, 2):
        if {name, other} & set(world.distractors):
            apart = np.hypot(*(world.position(name) - world.position(other))[:2])
            room = sum(float(np.hypot(*world.size(one)[:2])) for one in (name, other))
            assert apart > room + GAP - 0.002, (name, other)
    assert world.goal_holds() == all(world.conditions().values())
    assert not any(name in condition for name in world.distractors for condition in world.conditions())
    camera = world.data.camera(AGENT_VIEW)
    for name in world.distractors:
        right, up, back = (world.position(name) - camera.xpos) @ camera.xmat.reshape(3, 3)
        assert max(abs(right), abs(up)) < -back * np.tan(np.radians(45.0 / 2)), name


def test_distractors_are_in_the_truth_and_not_in_the_state_vector():
    env, plain = make("distractors:2", obs_mode="state"), make(None, obs_mode="state")
    seen, info = env.reset(options={"task": TASK})
    before, told = plain.reset(options={"task": TASK})
    others = set(info["state"]["objects"]) - set(told["state"]["objects"])
    assert others == set(env._simulation.world.distractors) and len(others) == DISTRACTORS[1]
    assert seen["state"].shape == before["state"].shape
    assert np.allclose(seen["state"], before["state"], atol=1e-4), "the task's own things are where they were"


@pytest.mark.parametrize("level", [1, 3])
def test_poses_move_all_objects_together_and_the_arm(level):
    chosen = Chosen("libero_goal", 8, "test", 2)
    world, plain = perturbed_world(chosen, read_perturbation({"poses": level})), World("libero_goal", 8)
    plain.reset(plain.start("test/2"))
    moves = [world.position(name)[:2] - plain.position(name)[:2] for name in world.objects]
    assert np.allclose(moves, moves[0], atol=2e-3) and np.hypot(*moves[0]) == pytest.approx(SHIFT[level - 1], abs=2e-3)
    assert all(np.array_equal(world.position(name), plain.position(name)) for name in world.fixtures)
    turned = world.arm.joints() - plain.arm.joints()
    assert np.linalg.norm(turned) == pytest.approx(ARM[level - 1], abs=1e-3)


@pytest.mark.long
def test_the_oracle_solves_a_task_with_everything_changed():
    env = make(EVERYTHING, obs_mode="state")
    env.reset(options={"task": "libero_spatial/3:test:8"})
    done = False
    while not done:
        _, _, terminated, truncated, info = env.step(env.oracle())
        done = terminated or truncated
    assert info["success"]


def test_text_kinds_list_distractors_and_say_it_in_other_words():
    with gym.make("agentrl/LIBERO-Goal-Text-v0", split="test", perturb="distractors:1,instructions:2") as env:
        text = env.reset(options={"task": "libero_goal/8:test:0"})[0]["text"]
        name = env.unwrapped._simulation.world.distractors[0]
        assert name.removesuffix("_1").replace("_", " ") in text
        assert "put the bowl on the plate" not in text and "the bowl" in text


def test_what_cannot_be_is_refused_when_made():
    with pytest.raises(ConfigError, match="the level of light must be a whole number from 0 to 3; got 9"):
        gym.make("agentrl/LIBERO-Spatial-v0", perturb="light:9")
    with pytest.raises(ConfigError, match='perturb must be None with assets="official"; got "light:1"'):
        LiberoEnv(assets="official", perturb="light:1")

"""Changed tables of PrimitiveSkill, and how large things are in its pictures."""

from __future__ import annotations

import itertools
import pickle
import re
from typing import Any

import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco import pictures
from agentrl.envs.common.perturb import HIGHEST, read_perturbation
from agentrl.envs.primitiveskill.backend import WORKSPACE
from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.envs.primitiveskill.mujoco.backend import MujocoBackend
from agentrl.envs.primitiveskill.mujoco.scene import CAMERA
from agentrl.envs.primitiveskill.perturb import DISTRACTORS, OTHERS, SHIFT, TURN, perturbed_start
from agentrl.envs.primitiveskill.starts import candidate
from agentrl.envs.primitiveskill.tasks import TASKS, Align, Drawer, Place, Stack, Task
from agentrl.envs.primitiveskill.tasks.scene import APART

pytestmark = pytest.mark.extra_robots


def table(task: Task, perturb: str = "", number: int = 0) -> MujocoBackend:
    backend = MujocoBackend()
    start = candidate(task, "test", number, 0)
    change = read_perturbation(perturb)
    backend.begin(perturbed_start(start, change, f"test:{number}", 0) if change else start)
    return backend


# -------------------------------------------------------------------- the camera


def test_a_cube_fills_half_a_percent_of_the_picture_and_more():
    backend = table(Stack())
    geoms = pictures.draw(backend.model, backend.data, CAMERA, 256, segmentation=True)
    bodies = backend.model.geom_bodyid[np.maximum(geoms, 0)]
    shares = [float(((bodies == backend.model.body(n).id) & (geoms >= 0)).mean()) for n in backend.positions()]
    assert all(0.0055 < share < 0.007 for share in shares), shares  # 0.0030 before the viewer stepped back


def test_the_picture_shows_the_whole_workspace_up_to_the_height_of_two_cubes():
    backend = table(Align())
    camera = backend.data.camera(CAMERA)
    slope = np.tan(np.radians(backend.model.camera(CAMERA).fovy[0]) / 2)
    for corner in itertools.product(WORKSPACE[0], WORKSPACE[1], (0.0, 80.0)):
        right, up, back = (np.array(corner) / 1000 - camera.xpos) @ camera.xmat.reshape(3, 3)
        assert max(abs(right), abs(up)) < -back * slope, corner


# -------------------------------------------------------------------- looks


@pytest.mark.parametrize("factor", ["light", "camera", "textures"])
def test_looks_change_more_with_the_level_and_the_simulation_not_at_all(factor):
    plain = table(Place())
    before, far = plain.picture(64).astype(int), []
    for level in (1, 3):
        backend = table(Place(), f"{factor}:{level}")
        assert backend.positions() == plain.positions()
        far.append(np.abs(backend.picture(64) - before).mean())
    assert 1.0 < far[0] < far[1]
    spot = plain.positions()["red_cube"]
    backend.pick(spot), plain.pick(spot)
    assert backend.save() == plain.save(), "to the bit"


@pytest.mark.parametrize("task", TASKS)
def test_every_thing_stays_in_the_picture_through_every_camera(task):
    for number in range(6):
        backend = table(TASKS[task](), "camera:3,distractors:3,poses:3", number)
        camera = backend.data.camera(CAMERA)
        slope = np.tan(np.radians(backend.model.camera(CAMERA).fovy[0]) / 2)
        for name, position in backend.positions().items():
            right, up, back = (np.array(position) / 1000 - camera.xpos) @ camera.xmat.reshape(3, 3)
            assert max(abs(right), abs(up)) < -back * slope, (number, name)


# -------------------------------------------------------------------- starts


@pytest.mark.parametrize("task", TASKS)
def test_distractors_stand_apart_and_bring_no_stage_nearer(task):
    for number in range(4):
        start = candidate(TASKS[task](), "test", number, 0)
        changed = perturbed_start(start, read_perturbation("distractors:3"), f"{task}:test:{number}", 0)
        added = changed.things[len(start.things) :]
        assert len(added) == DISTRACTORS[2] and set(added) <= set(OTHERS)
        assert {name: changed.places[name] for name in start.places} == start.places
        for thing in added:
            others = [at for name, at in changed.places.items() if name != thing.name]
            away = [np.hypot(*np.subtract(changed.places[thing.name][:2], other[:2])) for other in others]
            assert min(away) >= APART


def test_a_distractor_in_the_gripper_is_no_stage():
    env = PrimitiveSkillEnv(task="place", split="test", perturb="distractors:1", max_turns=1)
    env.reset(options={"task": "place:test:0"})
    name = next(thing.name for thing in OTHERS if thing.name in env.state().positions)
    x, y, z = env.state().positions[name]
    *_, info = env.step(f"pick({x},{y},{z})")
    assert info["state"]["held"] == name and info["reward_terms"] == {"step": -0.1}


@pytest.mark.parametrize("level", [1, 3])
def test_poses_shift_everything_together_and_turn_the_cubes(level):
    start = candidate(Drawer(), "test", 0, 0)
    changed = perturbed_start(start, read_perturbation({"poses": level}), "drawer:test:0", 0)
    moves = {n: np.subtract(changed.places[n][:2], start.places[n][:2]) for n in start.places}
    assert np.allclose(moves["apple"], moves["drawer"], atol=1.0)
    assert np.hypot(*moves["apple"]) == pytest.approx(SHIFT[level - 1], abs=1.0)
    start = candidate(Stack(), "test", 0, 0)
    changed = perturbed_start(start, read_perturbation({"poses": level}), "stack:test:0", 0)
    turns = [changed.places[name][2] - start.places[name][2] for name in start.places]
    assert np.abs(turns) == pytest.approx(TURN[level - 1])


def test_a_changed_episode_is_solved_saved_pickled_and_continued():
    options: dict[str, Any] = {"kind": "visual", "task": "align", "split": "test", "image_size": 64}
    options["perturb"] = "light:2,camera:2,textures:2,distractors:2,poses:2,instructions:2"
    env, other = PrimitiveSkillEnv(**options), PrimitiveSkillEnv(**options)
    first, _ = env.reset(options={"task": "align:test:1"})
    again, _ = other.reset(options={"task": "align:test:1"})
    assert np.array_equal(first["image"], again["image"]) and first["text"] == again["text"]
    env.step(env.oracle())
    other.reset(seed=3)
    agentrl.restore(other, agentrl.snapshot(env))
    copy = pickle.loads(pickle.dumps(env))
    results = [one.step(one.oracle()) for one in (env, other, copy)]
    assert all(result[4]["success"] and result[4]["state"] == results[0][4]["state"] for result in results)
    assert all(np.array_equal(result[0]["image"], results[0][0]["image"]) for result in results)


# -------------------------------------------------------------------- words


def test_paraphrases_name_the_same_things_in_the_same_roles():
    for task in TASKS.values():
        assert len(task.paraphrases) == HIGHEST and all(len(level) > 1 for level in task.paraphrases)
    for said in itertools.chain(*Place.paraphrases, [Place.instruction]):
        words = re.findall(r"\b(?:red|green|left|right)\b", said)
        assert [set(words[:2]), set(words[2:])] == [{"red", "left"}, {"green", "right"}], said
    for said in itertools.chain(*Stack.paraphrases, [Stack.instruction]):
        named = re.findall(r"[Tt]he (red|green|yellow) cube", said)
        upward = "bottom to top" in said or "carries" in said
        towers = {("red", "green", "yellow", "red"), ("green", "red", "red", "yellow"), ("green", "red", "yellow")}
        assert tuple(named) in towers and upward == (named[0] == "green" and "On the green" not in said), said
    for said in itertools.chain(*Drawer.paraphrases, [Drawer.instruction]):
        assert re.search(r"apple.*drawer|drawer with the apple", said), said
        assert re.search(r"clos|shut|not leave the drawer open", said) and " opened" not in said, said
    for said in itertools.chain(*Align.paraphrases, [Align.instruction]):
        assert all(part in said for part in ("the red cube", "the green cube", "x = 0", "10 mm")), said


def test_what_cannot_be_is_refused_when_made():
    class Silent(Stack):
        paraphrases = ()

    globals()["Silent"] = Silent
    for arguments, words in (
        ({"perturb": "colour:1"}, "a factor of perturb must be one of"),
        ({"perturb": "light:1", "backend": "mani_skill"}, 'perturb must be None with backend="mani_skill"'),
        ({"perturb": "instructions:1", "task": f"{__name__}:Silent"}, "has no paraphrases"),
    ):
        with pytest.raises(ConfigError, match=words):
            PrimitiveSkillEnv(**arguments)

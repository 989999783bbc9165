"""LIBERO's own package and assets beside our own models, task by task: starts, pictures, controller, goals, replays.

    agentrl setup libero-official --from CHECKOUT
    python -m benchmarks.libero.official --folder runs/libero-official
    python -m benchmarks.libero.official --folder runs/libero-official --summary benchmarks/results/libero_official.json

The first command of Python measures (a task at a time, those that are in the folder already are left out) and keeps a
line of JSON and a picture for each; nothing of LIBERO's is to be committed but the figures of the second, which also
prints the tables of `docs/results/libero.md`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from PIL import Image

import agentrl  # noqa: F401 (registers the environments)
from agentrl.core.cache import cache_dir
from agentrl.core.worker import Worker
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.objects import model_of
from agentrl.envs.libero.objects.sculptor import turned_about_z
from agentrl.envs.libero.official.assets import default_assets
from agentrl.envs.libero.official.interpreter import INSIDE, find_libero
from agentrl.envs.libero.package import SUITES
from agentrl.envs.libero.simulation import PICTURES
from agentrl.envs.libero.starts import Start, _yaw
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import World, suites
from benchmarks.libero.summary import summary, tables

mujoco = load()
PROBE = "agentrl_libero_probe:Probe"
STATES = 14  # settled states of a task whose goals are compared
PROGRAMS = {
    "x": [1, 0, 0, 0, 0, 0, -1], "y": [0, 1, 0, 0, 0, 0, -1], "z": [0, 0, 1, 0, 0, 0, -1],
    "turn": [0, 0, 0, 0, 0, 0.5, -1], "rest": [0, 0, 0, 0, 0, 0, -1],
}  # fmt: skip
MOVES, RESTS = 20, 40  # steps of a program, and of rest behind it
STEPS, SLOW = 600, 0.02  # of coming to rest, as in the probe
CLEAR = 0.01  # metres from which things fall
STAYS = 0.3  # share of the states in which a thing that should be in something is left where it is
Record = dict[str, Any]


class Pair:
    """Both sources of one suite, at the same start."""

    def __init__(self, suite: str) -> None:
        name = f"agentrl/LIBERO-{suite.removeprefix('libero_').capitalize()}-v0"
        how = {"split": "test", "obs_text": False, "full_info": False, "max_turns": 1000}
        self.ours: LiberoEnv = gym.make(name, **how).unwrapped  # pyright: ignore[reportAttributeAccessIssue]
        self.theirs: LiberoEnv = gym.make(name, assets="official", **how).unwrapped  # pyright: ignore[reportAttributeAccessIssue]
        self.suite = suite
        simulation: Any = self.theirs._simulation
        simulation._worker.close()
        folders = (str(cache_dir() / "libero" / "config"), str(default_assets()))
        path, wait = [INSIDE, Path(__file__).parent / "inside"], 300.0
        python = find_libero().python
        self.probe = Worker(PROBE, folders, python=python, path=path, deadline=wait, start_deadline=wait)
        simulation._worker = self.probe

    def reset(self, task: int, start: int = 0, state: bool = False) -> list[dict[str, Any]]:
        """The first observations, ours and theirs."""
        seen = []
        for env in (self.ours, self.theirs):
            env.obs_mode = "state" if state else "image"
            seen.append(env.reset(options={"task": str(Chosen(self.suite, task, "test", start))})[0])
        return seen

    def close(self) -> None:
        """End both."""
        self.ours.close()
        self.theirs.close()


# ---------------------------------------------------------------------- one task


def measure(pair: Pair, task: int, folder: Path, deep: bool, replay: bool) -> Record:
    """Everything about one task; where `deep`, also goals of settled states, and the programs of the first task."""
    began = time.perf_counter()
    ours, theirs = pair.reset(task)
    record: Record = {"suite": pair.suite, "task": task, "reset_s": round(time.perf_counter() - began, 1)}
    record |= {"start": compare_starts(pair), "pictures": compare_pictures(pair, ours, theirs, folder)}
    stepped = pair.theirs.step(np.array(PROGRAMS["x"], dtype=np.float32))[0]
    record["stepped_mm"] = round(1000 * float(np.linalg.norm(stepped["proprio"][:3] - theirs["proprio"][:3])), 2)
    if deep:
        record["goals"] = compare_goals(pair, task)
        programs = [] if task else list(PROGRAMS) if pair.suite == SUITES[0] else ["x"]
        record["programs"] = {name: compare_program(pair, task, name) for name in programs}
    if replay:
        record["replay"] = compare_replay(pair, task)
    return record


def compare_starts(pair: Pair) -> Record:
    """How far things, fixtures and the arm are apart after the settling steps."""
    ours, theirs = pair.ours.state(), pair.theirs.state()
    world: World = pair.ours._simulation.world  # pyright: ignore[reportAttributeAccessIssue]
    apart, turned = {}, {}
    for name in world.objects:
        a, b = np.array(ours.objects[name]), np.array(theirs.objects[name])
        apart[name] = round(1000 * float(np.hypot(*(a - b)[:2])), 2)
        angle = _yaw(list(b[3:])) - model_of(world.kinds[name]).facing - _yaw(list(a[3:]))
        turned[name] = round(float(np.degrees(abs((angle + np.pi) % (2 * np.pi) - np.pi))), 2)
    stand = pair.probe.call("fixtures")
    fixtures = {
        name: round(1000 * float(np.hypot(*(world.data.body(name).xpos - stand[name])[:2])), 2)
        for name in world.fixtures
    }
    joints = {name: round(abs(ours.objects[name][0] - theirs.objects[name][0]), 5) for name in world.joints}
    arm = np.abs(np.array(ours.proprio) - np.array(theirs.proprio))
    return {
        "things_mm": apart, "turned_deg": turned, "fixtures_mm": fixtures, "joints": joints,
        "arm_mm": round(1000 * float(np.linalg.norm(arm[:3])), 2), "hand_rad": round(float(arm[3:6].max()), 4),
        "fingers_mm": round(1000 * float(arm[6:].max()), 2), "goal": [ours.conditions, theirs.conditions],
    }  # fmt: skip


def compare_pictures(pair: Pair, ours: Record, theirs: Record, folder: Path) -> Record:
    """How far the cameras are apart, and the pictures, of 255; both are kept side by side."""
    world: World = pair.ours._simulation.world  # pyright: ignore[reportAttributeAccessIssue]
    found: Record = {}
    for picture, camera in PICTURES.items():
        there, here = pair.probe.call("cameras")[camera], world.data.camera(camera)
        number = world.model.camera(camera).id
        between = here.xmat.reshape(3, 3).T @ np.array(there["rotation"]).reshape(3, 3)
        angle = np.degrees(np.arccos(np.clip((np.trace(between) - 1) / 2, -1, 1)))
        found[camera] = {
            "apart_mm": round(1000 * float(np.linalg.norm(here.xpos - there["position"])), 2),
            "turned_deg": round(float(angle), 3),
            "fovy_deg": round(abs(float(world.model.cam_fovy[number]) - there["fovy"]), 3),
            "difference": round(float(np.abs(ours[picture].astype(int) - theirs[picture].astype(int)).mean()), 1),
            "spread": round(float(theirs[picture].std()), 1),
        }
    rows = [np.hstack([seen[picture] for picture in PICTURES]) for seen in (theirs, ours)]
    assert pair.ours._chosen is not None
    Image.fromarray(np.vstack(rows)).save(folder / f"{pair.suite}-{pair.ours._chosen.task}.png")
    return found


def compare_program(pair: Pair, task: int, name: str) -> Record:
    """Where the hand ends after full steps and rest, from its beginning, ours and theirs."""
    began = pair.reset(task, state=True)
    ends = []
    for env, first in zip((pair.ours, pair.theirs), began, strict=True):
        for number in range(MOVES + RESTS):
            action = PROGRAMS[name if number < MOVES else "rest"]
            seen = env.step(np.array(action, dtype=np.float32))[0]
        ends.append(1000 * (seen["proprio"] - first["proprio"])[:3].astype(float))
    return {
        "ours_mm": ends[0].round(2).tolist(),
        "theirs_mm": ends[1].round(2).tolist(),
        "apart_mm": round(float(np.linalg.norm(ends[0] - ends[1])), 2),
    }


def compare_replay(pair: Pair, task: int) -> Record:
    """The oracle's actions in our world, then the same in theirs without looking."""
    pair.reset(task, state=True)
    actions, path, solved = [], [], False
    while not solved and len(actions) < 600 and (action := pair.ours.oracle()) is not None:
        seen, _, solved, _, _ = pair.ours.step(action)
        actions.append(action)
        path.append(seen["proprio"][:3])
    reached, apart = False, []
    for action, point in zip(actions, path, strict=True):
        seen, _, reached, _, _ = pair.theirs.step(action)
        apart.append(1000 * float(np.linalg.norm(seen["proprio"][:3] - point)))
        if reached:
            break
    facts = pair.theirs.state().conditions
    return {
        "actions": len(actions), "solved": solved, "theirs": reached, "conditions": facts,
        "apart_mm": {"median": round(statistics.median(apart), 1), "most": round(max(apart), 1)},
    }  # fmt: skip


# ---------------------------------------------------------------------- goals of settled states


def compare_goals(pair: Pair, task: int) -> list[Record]:
    """Move what the goal is about to where it may just hold, in our world; put all in the same places in theirs."""
    pair.reset(task, state=True)
    world: World = pair.ours._simulation.world  # pyright: ignore[reportAttributeAccessIssue]
    theirs = {name: np.array(pose) for name, pose in pair.theirs.state().objects.items() if name in world.objects}
    start = world.start("test/0")
    random = np.random.default_rng([SUITES.index(pair.suite), task])
    found = []
    for _ in range(STATES):
        world.reset(start)
        before = {name: (world.position(name), world.lowest(name)) for name in world.objects}
        dropped, joints = drop_near_goal(world, start, random)
        things = dict(theirs)
        for name, (x, y, bottom) in dropped.items():  # their origins and axes are others, but a motion is the same
            moved = np.array([x, y, bottom]) - [*before[name][0][:2], before[name][1]]
            things[name] = np.concatenate([theirs[name][:3] + moved, theirs[name][3:]])
        fixtures = {name: world.data.body(name).xpos[:2].tolist() for name in world.fixtures}
        seen = pair.probe.call("place", fixtures, things, {**start.joints, **joints})
        apart = [
            (seen["poses"][name][:3] - theirs[name][:3]) - (world.position(name) - before[name][0]) for name in dropped
        ]
        most = max((1000 * float(np.hypot(*offset[:2])) for offset in apart), default=0.0)
        found.append({"ours": world.conditions(), "theirs": seen["conditions"], "apart_mm": round(most, 1)})
    return found


Drops = dict[str, tuple[float, float, float]]


def drop_near_goal(world: World, start: Start, random: np.random.Generator) -> tuple[Drops, dict[str, float]]:
    """Draw places and joint values around the borders of the goal, drop what is to be there, and let all come to rest.
    Returns where things were dropped (x, y, lowest point), and the joints."""
    facts = list(world.problem.goal.facts())
    joints: dict[str, float] = {}
    for fact in facts:
        if fact.predicate in ("open", "close", "turnon", "turnoff"):
            for name, joint in world.joints_about(fact.arguments[0]):
                low, high = joint.limits
                border = joint.opened if fact.predicate in ("open", "turnon") else joint.closed
                near = border + random.uniform(-0.05, 0.05) * (high - low)
                value = near if random.random() < 0.5 else random.uniform(low, high)
                joints[name] = float(np.clip(value, low, high))
    moved = [fact for fact in facts if fact.predicate in ("on", "in")]
    for fact in moved:  # a drawer is opened before something is put into it
        region = world.problem.regions.get(fact.arguments[1])
        if region is not None and region.target in world.fixtures:
            model = model_of(world.kinds[region.target])
            part = model.places[fact.arguments[1].removeprefix(f"{region.target}_")].part
            if part and f"{region.target}_{part}" not in joints:
                joints[f"{region.target}_{part}"] = model.joints[part].opened
    for name, value in joints.items():
        world.data.joint(name).qpos[0] = value
    drops: Drops = {}
    for fact in moved:
        thing, where = fact.arguments
        mujoco.mj_kinematics(world.model, world.data)
        (middle, rotation), size, inside = world.pose(where), world.size(where), where in world.problem.regions
        half = np.array(model_of(world.kinds[thing]).half)
        if fact.predicate == "in":
            if random.random() < STAYS:
                continue
            reach, bottom = np.maximum(size[:2] - half[:2].max(), 0.0), middle[2] - size[2]
        else:
            reach = 1.2 * np.minimum(size[:2], 0.12) if inside else np.full(2, 0.05)
            bottom = middle[2] + (0.0 if inside else size[2])
        x, y = (middle + rotation @ np.array([*(random.uniform(-1.0, 1.0, size=2) * reach), 0.0]))[:2].tolist()
        low = float(bottom) + CLEAR
        for other, (there_x, there_y, lowest) in drops.items():  # above what is there already
            if np.hypot(there_x - x, there_y - y) < 0.1:
                low = max(low, lowest + 2 * model_of(world.kinds[other]).half[2] + CLEAR)
        drops[thing] = x, y, low
        world.data.joint(thing).qpos[:] = [x, y, low + half[2], *turned_about_z(start.places[thing][2])]
    free = np.concatenate([np.arange(at, at + 7) for at in world.addresses.values()])
    kept = np.setdiff1d(np.arange(world.model.nq), free)
    held = world.data.qpos[kept].copy()
    for _ in range(STEPS):
        mujoco.mj_step(world.model, world.data)
        world.data.qpos[kept] = held
        world.data.qvel *= 1 - SLOW
    mujoco.mj_forward(world.model, world.data)
    return drops, joints


# ---------------------------------------------------------------------- all tasks


def main() -> None:
    """Measure what is not in the folder yet, or sum up what is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the records and pictures are kept")
    parser.add_argument("--deep", type=int, default=10, help="tasks of each suite whose goals are compared")
    parser.add_argument("--replays", type=int, default=4, help="tasks of each suite that are replayed")
    parser.add_argument("--tasks", type=int, default=90, help="tasks of each suite at most")
    parser.add_argument("--summary", type=Path, help="write the summary of the folder here, and measure nothing")
    given = parser.parse_args()
    kept = given.folder / "records.jsonl"
    if given.summary:
        records = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
        found = summary(records)
        given.summary.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(tables(found))
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    done = {(r["suite"], r["task"]) for r in map(json.loads, kept.open(encoding="utf-8"))} if kept.exists() else set()
    for suite in SUITES:
        wanted = [n for n in range(min(given.tasks, len(suites()[suite]))) if (suite, n) not in done]
        pair = Pair(suite) if wanted else None
        for task in wanted:
            assert pair is not None
            try:
                record = measure(pair, task, given.folder, task < given.deep, task < given.replays)
            except Exception as error:  # a failure is a finding
                record = {"suite": suite, "task": task, "error": f"{type(error).__name__}: {error}".splitlines()[0]}
            print(json.dumps(record), flush=True)
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        if pair is not None:
            pair.close()


if __name__ == "__main__":
    main()

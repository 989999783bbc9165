"""`agentrl bench libero`: what environments cost beside MuJoCo alone, doing the same in the same run.

* Steps: the oracle's actions through `env.step` (from state, with the brief info that RL libraries use, and with the
  whole), and then the same actions in a bare loop of controller and `mj_step` on the same scene.
* Pictures: both cameras through the environment, and through a `mujoco.Renderer` on the same scene.

Seconds are those of the processor, all threads together, so that other programs on the machine do not count.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

import agentrl
from agentrl.core.measure import compare, cpu_seconds, machine, result
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.controller import Controller
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.simulation import PICTURES, ProceduralSimulation
from agentrl.envs.libero.world import World
from benchmarks.search import anonymous_megabytes

mujoco = load()
PIXELS = 128
REQUIRED = 0.9  # of the rate of MuJoCo alone
CONTROLLER, RENDERER = "mujoco, same controller", "mujoco.Renderer"
TASKS = {"spatial": ("libero_spatial", 3), "living room": ("libero_10", 0), "kitchen": ("libero_10", 2)}
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """Play, replay and draw a task of each kind of room."""
    repeats, steps = (1, 20) if quick else (5, 60)
    names = list(TASKS)[: 1 if quick else None]
    episodes = [Episode(name, steps) for name in names]
    rows = [row for episode in episodes for row in step_rows(episode, repeats)]
    rows += [row for episode in episodes for row in picture_rows(episode, 2 if quick else 20, repeats)]
    rows += memory_rows(2 if quick else 16)
    pairs = [(f"{name} {what}", peer) for name in names for what, peer in CASES.items()]
    ratios = [compare(rows, case, peer, REQUIRED) for case, peer in pairs]
    return {
        "schema": 1,
        "name": "libero",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": {"mujoco": {"installed": True, "version": mujoco.__version__, "reason": None}},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


CASES = {"steps": CONTROLLER, "pictures": RENDERER}


class Episode:
    """One start of a task, and the first actions of the oracle in it."""

    def __init__(self, name: str, steps: int) -> None:
        self.name = name
        self.brief, self.whole = (self._make(name, full_info) for full_info in (False, True))
        self.begin = self.brief.snapshot()
        self.actions: list[np.ndarray] = []
        for _ in range(steps):
            action = self.brief.oracle()
            if action is None:
                break
            self.actions.append(action)
            self.brief.step(action)
        self.end = world_of(self.brief).save()

    def _make(self, name: str, full_info: bool) -> LiberoEnv:
        suite, task = TASKS[name]
        env = LiberoEnv(suite=suite, task=task, split="test", obs_mode="state", full_info=full_info)
        env.reset(options={"task": f"{suite}/{task}:test:0"})
        return env

    def play(self, env: LiberoEnv) -> None:
        """All actions, as an agent would."""
        for action in self.actions:
            env.step(action)

    def replay(self, controller: Controller) -> None:
        """The actions alone."""
        for action in self.actions:
            controller.step(action.astype(np.float64))


def simulation_of(env: LiberoEnv) -> ProceduralSimulation:
    """The simulation inside an environment."""
    assert isinstance(env._simulation, ProceduralSimulation)
    return env._simulation


def world_of(env: LiberoEnv) -> World:
    """Its scene."""
    return simulation_of(env).world


def step_rows(episode: Episode, repeats: int) -> Rows:
    """Control steps a second, ours and bare in turn, so that both meet the same machine."""
    found: dict[str, list[float]] = {"agentrl": [], "agentrl, whole info": [], CONTROLLER: []}
    count = len(episode.actions)
    for _ in range(repeats):
        for impl, env in (("agentrl", episode.brief), ("agentrl, whole info", episode.whole)):
            env.restore(episode.begin)
            found[impl].append(count / cpu_seconds(lambda env=env: episode.play(env)))
        episode.whole.restore(episode.begin)
        bare = simulation_of(episode.whole).controller
        found[CONTROLLER].append(count / cpu_seconds(lambda bare=bare: episode.replay(bare)))
        if world_of(episode.whole).save() != episode.end:
            raise AssertionError("the replay ended elsewhere, so it did not do the same")
    return [
        result(f"{episode.name} steps", impl, _version(impl), values, "steps/s", obs="state")
        for impl, values in found.items()
    ]


def picture_rows(episode: Episode, count: int, repeats: int) -> Rows:
    """Pictures a second, from both cameras in turn, drawn anew each time."""
    env, world = episode.whole, world_of(episode.whole)
    renderer = mujoco.Renderer(world.model, PIXELS, PIXELS)

    def ours() -> None:
        for _ in range(count):
            for camera in PICTURES.values():
                simulation_of(env).frame(camera, PIXELS)

    def theirs() -> None:
        for _ in range(count):
            for camera in PICTURES.values():
                renderer.update_scene(world.data, camera=camera)
                renderer.render()

    for work in (ours, theirs):
        work()
    drawn = count * len(PICTURES)
    rates = [(drawn / cpu_seconds(ours), drawn / cpu_seconds(theirs)) for _ in range(repeats)]
    renderer.close()
    pairs = zip(("agentrl", RENDERER), zip(*rates, strict=True), strict=True)
    return [
        result(f"{episode.name} pictures", impl, _version(impl), list(values), "pictures/s", obs="image", px=PIXELS)
        for impl, values in pairs
    ]


def memory_rows(count: int) -> Rows:
    """What one more environment of a task needs in an episode; the model is shared by a process."""
    gc.collect()
    before = anonymous_megabytes()
    envs = [LiberoEnv(task=3, split="test", obs_mode="state") for _ in range(count)]
    for env in envs:
        env.reset(seed=0)
    found = max(0.0, anonymous_megabytes() - before) / count
    for env in envs:
        env.close()
    return [result("memory of one more", "agentrl", agentrl.__version__, [found], "MB", obs="state")]


def _version(impl: str) -> str:
    return agentrl.__version__ if impl.startswith("agentrl") else mujoco.__version__

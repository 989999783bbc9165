"""`agentrl bench metaworld`: what environments cost beside the package alone, doing the same in the same run.

* Steps: the same actions from the same start, through `env.step` (observation, truth and checks included) and through
  `step` of the package's own environment.
* Pictures: ours beside a `mujoco.Renderer` on the same prepared model, and beside the package's own renderer on the
  model as it is shipped, with shadows, mirrors and four samples a pixel.
* Memory of one more environment in an episode.

Seconds are those of the processor, all threads together, so that other programs on the machine do not count.
"""

from __future__ import annotations

import gc
from importlib.metadata import version
from typing import Any

import numpy as np

import agentrl
from agentrl.core.measure import compare, cpu_seconds, machine, result
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.metaworld import package
from agentrl.envs.metaworld.env import MetaWorldEnv
from benchmarks.search import anonymous_megabytes

mujoco = load()
TASKS = ("reach", "pick-place", "drawer-open", "stick-push")
PIXELS, CAMERA = 256, "corner4"
REQUIRED = 0.9  # of the rate of the package, or of MuJoCo alone
PACKAGE, RENDERER, SHIPPED = "metaworld", "mujoco.Renderer", "metaworld, as shipped"
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """Play and draw some tasks."""
    repeats, tasks = (1, TASKS[:1]) if quick else (5, TASKS)
    drawn = tasks[:2]
    rows = [row for task in tasks for row in step_rows(task, 50 if quick else 300, repeats)]
    rows += [row for task in drawn for row in picture_rows(task, 2 if quick else 10, repeats)]
    rows.append(memory_row(2 if quick else 16))
    ratios = [compare(rows, f"{task} steps", PACKAGE, REQUIRED) for task in tasks]
    ratios += [compare(rows, f"{task} pictures", RENDERER, REQUIRED) for task in drawn]
    return {
        "schema": 1,
        "name": "metaworld",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": {PACKAGE: {"installed": True, "version": version(PACKAGE), "reason": None}},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def started(task: str, **kwargs: Any) -> MetaWorldEnv:
    """An environment in an episode that does not run into its limit."""
    env = MetaWorldEnv(task=task, split="test", max_turns=10**9, image_size=PIXELS, camera=CAMERA, **kwargs)
    env.reset(options={"task": f"{task}:test:0"})
    return env


def raw(env: MetaWorldEnv, **kwargs: Any) -> Any:
    """The package's own environment, at the same start."""
    peer = package.load().ALL_V3_ENVIRONMENTS[f"{env.task}-{package.VERSION}"](**kwargs)
    peer._set_task_called, peer._partially_observable = True, False
    vars(peer).pop("sawyer_observation_space", None)
    peer.max_path_length = 10**9
    peer._freeze_rand_vec, peer._last_rand_vec = True, env._world._sim._last_rand_vec.copy()
    peer.reset()
    return peer


def step_rows(task: str, count: int, repeats: int) -> Rows:
    """Small random motions: they never end the episode."""
    env = started(task, obs_mode="state")
    peer = raw(env)
    random = np.random.default_rng(0)
    actions = [random.uniform(-0.3, 0.3, 4).astype(np.float32) for _ in range(count)]
    begin = env.snapshot()

    def ours() -> None:
        for action in actions:
            env.step(action)

    def theirs() -> None:
        for action in actions:
            peer.step(action)

    found: dict[str, list[float]] = {"agentrl": [], PACKAGE: []}
    for _ in range(repeats):  # in turn, so that both meet the same machine
        env.restore(begin)
        peer.reset()
        found["agentrl"].append(count / cpu_seconds(ours))
        found[PACKAGE].append(count / cpu_seconds(theirs))
    return [_row(f"{task} steps", impl, rates, "steps/s", obs="state") for impl, rates in found.items()]


def picture_rows(task: str, count: int, repeats: int) -> Rows:
    """The same moment drawn again and again."""
    env = started(task)
    world = env._world
    renderer = mujoco.Renderer(world.model, PIXELS, PIXELS)
    shipped = raw(env, render_mode="rgb_array", camera_name=CAMERA, width=PIXELS, height=PIXELS)

    def ours() -> None:
        for _ in range(count):
            world.picture(CAMERA, PIXELS)

    def theirs() -> None:
        for _ in range(count):
            renderer.update_scene(world.data, CAMERA)
            renderer.render()

    def as_shipped() -> None:
        for _ in range(max(1, count // 5)):
            shipped.render()

    for work in (ours, theirs, as_shipped):
        work()  # uploads the model
    found: dict[str, list[float]] = {
        "agentrl": [],
        RENDERER: [],
        SHIPPED: [max(1, count // 5) / cpu_seconds(as_shipped)],
    }
    for _ in range(repeats):
        found["agentrl"].append(count / cpu_seconds(ours))
        found[RENDERER].append(count / cpu_seconds(theirs))
    renderer.close()
    shipped.close()
    return [_row(f"{task} pictures", impl, rates, "pictures/s", px=PIXELS) for impl, rates in found.items()]


def memory_row(count: int) -> dict[str, Any]:
    """Memory of this process for each further environment of one task."""
    kept = [started("reach", obs_mode="state")]
    gc.collect()
    before = anonymous_megabytes()
    kept += [started("reach", obs_mode="state") for _ in range(count)]
    gc.collect()
    used = (anonymous_megabytes() - before) / count
    return _row("memory of one more environment", "agentrl", [used], "MB", num_envs=len(kept))


def _row(case: str, impl: str, values: list[float], unit: str, **shape: Any) -> dict[str, Any]:
    versions = {"agentrl": agentrl.__version__, RENDERER: mujoco.__version__}
    return result(case, impl, versions.get(impl) or version(PACKAGE), values, unit, **shape)

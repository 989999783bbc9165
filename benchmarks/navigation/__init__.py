"""`agentrl bench homes`: how quick walking, seeing and drawing are, and what pictures cost beside MuJoCo alone.

* Actions without observations, turns as text (with lines of sight), resets in homes that were never seen.
* Pictures: the Visual kind turning round, beside a `mujoco.Renderer` that draws the same scene from the same places.
* MiniWorld's pictures of far emptier rooms, for scale.
* Memory of one more environment in an episode; a process shares homes and models.

Seconds are those of the processor, all threads together, so that other programs on the machine do not count.
"""

from __future__ import annotations

import gc
from typing import Any

import agentrl
from agentrl.core.measure import cpu_seconds, machine, measure_peers, result
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.navigation.env import NavigationEnv
from agentrl.envs.navigation.homes.build import build_home
from agentrl.envs.navigation.scene import place_eye
from agentrl.envs.navigation.views import CAMERA, View
from benchmarks.search import anonymous_megabytes

mujoco = load()
PIXELS = 255
HOMES = (0, 2, 3)  # seeds of the test split: large and small ones
REQUIRED = 0.9  # of the rate of MuJoCo alone
RENDERER = "mujoco.Renderer"
PEER, PEER_SCRIPT, PEER_TIMEOUT = "miniworld", "rooms.py", 300.0
WALK = ("rotateleft", "moveahead", "moveright", "moveback", "lookdown", "lookup")
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """Walk, look and draw."""
    repeats = 1 if quick else 5
    rows = [*walking_rows(200 if quick else 5_000, repeats), reset_row(4 if quick else 40)]
    rows += [row for seed in HOMES[: 1 if quick else None] for row in picture_rows(seed, 4 if quick else 20, repeats)]
    theirs = measure_peers(PEER_SCRIPT, [str(PIXELS), "5" if quick else "50"], (PEER,), PEER_TIMEOUT)
    rows += [*theirs["results"], *memory_rows(4 if quick else 32)]
    ratios = [compare(rows, case) for case in dict.fromkeys(row["case"] for row in rows if row["impl"] == RENDERER)]
    return {
        "schema": 1,
        "name": "homes",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": {"mujoco": {"installed": True, "version": mujoco.__version__, "reason": None}, **theirs["peers"]},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def compare(rows: Rows, case: str) -> dict[str, Any]:
    """Our rate over that of MuJoCo alone."""
    rates = {row["impl"]: row["value"] for row in rows if row["case"] == case}
    ratio = rates["agentrl"] / rates[RENDERER]
    return {
        "case": case,
        "ours": rates["agentrl"],
        "peer": rates[RENDERER],
        "ratio": ratio,
        "required": REQUIRED,
        "pass": ratio >= REQUIRED,
    }


def started(task: str, **kwargs: Any) -> NavigationEnv:
    """An environment in an episode that does not run into its limit."""
    env = NavigationEnv(split="test", max_turns=10**9, max_solution=20, image_size=PIXELS, **kwargs)
    env.reset(options={"task": task})
    return env


def walking_rows(count: int, repeats: int) -> Rows:
    """Actions alone, and whole turns of five actions with their observation and truth."""
    env = started(f"home-{HOMES[0]}:base:0")
    turns = [", ".join(WALK[(n + k) % len(WALK)] for k in range(5)) for n in range(len(WALK))]

    def actions() -> None:
        for n in range(count):
            env._world.act(WALK[n % len(WALK)])

    def whole_turns() -> None:
        for n in range(count // 10):
            if env._over:  # it walked into the target
                env.reset(options={"task": f"home-{HOMES[0]}:base:0"})
            env.step(turns[n % len(turns)])

    return [
        _row("actions", [count / cpu_seconds(actions) for _ in range(repeats)], "actions/s"),
        _row("turns of five actions", [count // 10 / cpu_seconds(whole_turns) for _ in range(repeats)], "turns/s"),
    ]


def reset_row(count: int) -> dict[str, Any]:
    """Resets in new homes: built, furnished, a task drawn."""
    env = started("home-0:base:0")

    def resets() -> None:
        for seed in range(100, 100 + count):
            env.reset(options={"task": f"home-{seed}:base:0"})

    return _row("resets in new homes", [count / cpu_seconds(resets)], "resets/s")


def picture_rows(seed: int, count: int, repeats: int) -> Rows:
    """Pictures a second while turning round at the start of a task."""
    env = started(f"home-{seed}:base:0", kind="visual", full_info=False)
    eye, view = env._world.eye, View(build_home(seed))
    data, renderer = mujoco.MjData(view.model), mujoco.Renderer(view.model, PIXELS, PIXELS)
    mujoco.mj_forward(view.model, data)

    def ours() -> None:
        for _ in range(count):
            env.step("rotateright")

    def theirs() -> None:
        for n in range(count):
            place_eye(view.model, data, eye.x, eye.y, 90 * (eye.heading + n + 1), eye.tilt)
            renderer.update_scene(data, camera=CAMERA)
            renderer.render()

    found: dict[str, list[float]] = {"agentrl": [], RENDERER: []}
    for work in (ours, theirs):
        work()  # the first pictures of a scene take longer
    for _ in range(repeats):  # in turn, so that both meet the same machine
        found["agentrl"].append(count / cpu_seconds(ours))
        found[RENDERER].append(count / cpu_seconds(theirs))
    renderer.close()
    case = f"pictures of home {seed}, {len(build_home(seed).items)} objects"
    return [_row(case, values, "pictures/s", impl=impl, px=PIXELS) for impl, values in found.items()]


def memory_rows(count: int) -> Rows:
    """What one more environment needs, each in a home of its own."""
    rows = []
    for kind in ("text", "visual"):
        started("home-50:base:0", kind=kind)  # what a process needs once
        gc.collect()
        before = anonymous_megabytes()
        envs = [started(f"home-{200 + n}:base:0", kind=kind) for n in range(count)]
        found = max(0.0, anonymous_megabytes() - before) / count
        rows.append(_row(f"memory of one more, {kind}", [found], "MB"))
        for env in envs:
            env.close()
    return rows


def _row(case: str, values: list[float], unit: str, impl: str = "agentrl", px: int | None = None) -> dict[str, Any]:
    version = agentrl.__version__ if impl == "agentrl" else mujoco.__version__
    return result(case, impl, version, values, unit, obs="text" if px is None else "image", px=px)

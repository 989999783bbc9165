"""The environment in Chromium measured: resets, steps, observations, memory, eight episodes at once, and how often a
page is the same as without a browser. A part of `agentrl bench web`."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import agentrl
from agentrl.core.measure import result, times_of
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.observing.modes import observe
from benchmarks.webarena.differential import compare

PREFIX = "browser: "
LIMITS = {  # milliseconds, and megabytes for memory
    f"{PREFIX}text observation": 100.0,
    f"{PREFIX}observation with picture": 200.0,
    f"{PREFIX}memory of one more episode": 80.0,
}
AT_ONCE = 8
Rows = list[dict[str, Any]]


def browser_rows(quick: bool, opening: Callable[[WebArenaLiteEnv, int], list[float]]) -> Rows:
    """Everything in Chromium; `opening` opens one page after the other, as the peer does."""
    env = WebArenaLiteEnv(backend="browser")
    try:
        env.reset(seed=0)
        rows = [*_played(env, 5 if quick else 40), _row("step that opens a page", opening(env, 10 if quick else 100))]
    finally:
        env.close()
    return [*rows, *at_once(3 if quick else AT_ONCE), _equal_row(5 if quick else 200)]


def _played(env: WebArenaLiteEnv, episodes: int) -> Rows:
    """Episodes of the oracle over tasks of all sites, and a look at every page."""
    resets: list[float] = []
    steps: list[float] = []
    looks: list[float] = []
    pictures: list[float] = []
    tasks = env.tasks()
    for number in range(episodes):
        task = tasks[number * len(tasks) // episodes]
        resets += times_of(lambda task=task: env.reset(options={"task": task}), 1)
        while (action := env.oracle()) is not None:
            steps += times_of(env.step, [action])
            looks += times_of(lambda: _look(env), 1)
            pictures.append(looks[-1] + times_of(lambda: _picture(env), 1)[0])
    rows = {"reset": resets, "step": steps, "text observation": looks, "observation with picture": pictures}
    return [_row(case, found) for case, found in rows.items()]


def _look(env: WebArenaLiteEnv) -> None:
    env.backend.refresh()
    observe(env.backend.view(), env.observation_mode)


def _picture(env: WebArenaLiteEnv) -> None:
    """What is in sight, as the kind Visual sees it before marks are drawn."""
    view = env.backend.view()
    env.backend.picture(view.scroll, view.viewport[1])


def at_once(count: int) -> Rows:
    """Episodes side by side in threads: steps a second, and the memory of Chromium for each one more."""
    envs = [WebArenaLiteEnv(backend="browser") for _ in range(count)]
    try:
        envs[0].reset(seed=0)
        before = browser_megabytes()
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(lambda env: env.reset(seed=0), envs))
            memory = (browser_megabytes() - before) / (count - 1)
            start = time.perf_counter()
            steps = sum(threads.map(_some_steps, envs))
            rate = steps / (time.perf_counter() - start)
    finally:
        for env in envs:
            env.close()
    version = agentrl.__version__
    return [
        result(f"{PREFIX}episodes in threads", "agentrl", version, [rate], "steps/s", num_envs=count),
        result(f"{PREFIX}memory of one more episode", "agentrl", version, [memory], "MB", num_envs=count),
    ]


def _some_steps(env: WebArenaLiteEnv) -> int:
    count = 0
    while count < 5 and (action := env.oracle()) is not None:
        env.step(action)
        count += 1
    return count


def browser_megabytes() -> float:
    """The memory of all processes that this one has started; what several share counts once (Linux)."""
    import psutil

    total = 0
    for child in psutil.Process().children(recursive=True):
        try:
            lines = Path(f"/proc/{child.pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1e3


def _equal_row(walks: int) -> dict[str, Any]:
    report = compare(walks)
    share = 100 * report.exact / report.pages
    more = {"pages": report.pages, "equal_but_for_the_edge": 100 * report.equal / report.pages}
    return result(f"{PREFIX}pages as without a browser", "agentrl", agentrl.__version__, [share], "%", **more)


def _row(case: str, seconds: list[float]) -> dict[str, Any]:
    return result(PREFIX + case, "agentrl", agentrl.__version__, [1e3 * one for one in seconds], "ms")

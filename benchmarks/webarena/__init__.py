"""The web environment measured: resets, steps, forks, many episodes at once, memory; BrowserGym on the same pages.

agentrl bench web
"""

from __future__ import annotations

import gc
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import agentrl
from agentrl.core.errors import AgentRLError
from agentrl.core.measure import machine, measure_peers, result, times_of
from agentrl.envs.webarena.env import WebArenaLiteEnv
from benchmarks.search import anonymous_megabytes

LIMITS = {  # milliseconds, and megabytes for memory
    "reset": 5.0,
    "step": 15.0,
    "fork": 5.0,
    "memory of one more episode": 5.0,
}
MAX_SIZE = 0.05  # share of the steps that counts as those with the largest pages
AT_ONCE = 64
PEER_FOLDER, PEER_SCRIPT, PEER_TIMEOUT = ".venv-peers-web", "browser.py", 600.0
PEERS = ("browsergym-core",)
PAGES = ("/beauty-personal-care.html", "/")  # of the shop: what the peer opens in turn
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """Everything; few episodes if `quick`."""
    env = WebArenaLiteEnv()
    env.reset(seed=0)
    episodes = 20 if quick else 300
    rows = [*played(env, episodes), fork_row(env, episodes), *at_once(8 if quick else AT_ONCE)]
    theirs = peer_rows(1 if quick else 5)
    rows += [_row("step that opens a page", opening_times(env, 20 if quick else 200)), *theirs["results"]]
    limits = dict(LIMITS)
    if has_browser():
        from benchmarks.webarena import browser

        rows += browser.browser_rows(quick, opening_times)
        limits |= browser.LIMITS
    ratios = [*(limit(rows, case, most) for case, most in limits.items()), *peer_ratios(rows)]
    return {
        "schema": 1,
        "name": "web",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": theirs["peers"],
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def played(env: WebArenaLiteEnv, episodes: int) -> Rows:
    """Whole episodes of the oracle over tasks of all sites: a step includes the request, the layout, the observation
    and the state in `info`."""
    resets: list[float] = []
    steps: list[tuple[int, float]] = []  # length of the page, seconds
    tasks = env.tasks()
    for number in range(episodes):
        task = tasks[number * len(tasks) // episodes]
        resets += times_of(lambda task=task: env.reset(options={"task": task}), 1)
        while (action := env.oracle()) is not None:
            start = time.perf_counter()
            env.step(action)
            seconds = time.perf_counter() - start
            steps.append((len(env.backend.view().boxes), seconds))
    by_size = sorted(steps)
    largest = by_size[-max(1, int(MAX_SIZE * len(steps))) :]
    return [
        _row("reset", resets),
        _row("step", [seconds for _, seconds in steps], p95=1e3 * _percentile([s for _, s in steps], 0.95)),
        _row("step, largest pages", [seconds for _, seconds in largest], elements=largest[0][0]),
    ]


def opening_times(env: WebArenaLiteEnv, count: int) -> list[float]:
    """What the peer does, here: open one page after the other."""
    env.reset(options={"task": next(task for task in env.tasks() if task.startswith("shop-"))})
    addresses = [f"http://shopping.localhost{PAGES[number % len(PAGES)]}" for number in range(count)]
    found: list[float] = []
    for number, address in enumerate(addresses):
        if number % 20 == 0:
            env.reset()
        found += times_of(env.step, [f'do(action="Go To", argument="{address}")'])
    return found


def fork_row(env: WebArenaLiteEnv, count: int) -> dict[str, Any]:
    """Save an episode that has changed something, and load it into another environment."""
    other = WebArenaLiteEnv()
    other.reset(seed=1)
    env.reset(seed=2)
    for _ in range(3):
        action = env.oracle()
        if action is not None:
            env.step(action)
    return _row("fork", times_of(lambda: other.restore(env.snapshot()), count))


def at_once(count: int) -> Rows:
    """Many episodes in one process, stepped in turn: steps a second and memory for each."""
    gc.collect()
    before = anonymous_megabytes()
    envs = [WebArenaLiteEnv() for _ in range(count)]
    for number, env in enumerate(envs):
        env.reset(seed=number)
    steps, start = 0, time.perf_counter()
    for _ in range(4):
        for env in envs:
            action = env.oracle()
            if action is not None:
                env.step(action)
                steps += 1
    rate = steps / (time.perf_counter() - start)
    memory = max(0.0, anonymous_megabytes() - before) / count
    for env in envs:
        env.close()
    return [
        result("episodes in turn", "agentrl", agentrl.__version__, [rate], "steps/s", num_envs=count),
        result("memory of one more episode", "agentrl", agentrl.__version__, [memory], "MB", num_envs=count),
    ]


# ---------------------------------------------------------------------- the peer


def peer_rows(episodes: int) -> dict[str, Any]:
    """BrowserGym on two pages of our shop, served on loopback."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing = {"installed": False, "version": None, "reason": "no Chromium on this machine"}
        return {"results": [], "peers": {name: missing for name in PEERS}}
    with served() as port:
        urls = [f"http://shopping.localhost:{port}{page}" for page in PAGES]
        return measure_peers(PEER_SCRIPT, [*urls, str(episodes), chromium], PEERS, PEER_TIMEOUT, PEER_FOLDER)


@contextmanager
def served() -> Iterator[int]:
    """The sites over HTTP, on a free port of this machine, by a process of their own while the block runs."""
    command = [sys.executable, "-m", "agentrl.cli", "site", "webarena", "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        port = urlsplit(json.loads(process.stdout.readline())["url"]).port
        assert port is not None
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=30)


def peer_ratios(rows: Rows) -> list[dict[str, Any]]:
    """How many times as long the peer takes; required only of the back end that is a browser, too."""
    found = []
    for case, times in (("reset", 10.0), ("step that opens a page", 5.0)):
        theirs = _value(rows, case, PEERS[0])
        for name, required in ((case, None), (f"browser: {case}", times)):
            ours = _value(rows, name, "agentrl")
            if ours and theirs:
                ratio = {"case": f"{name}, {PEERS[0]} over ours", "ours": ours, "peer": theirs, "ratio": theirs / ours}
                passed = required is None or theirs / ours >= required
                found.append({**ratio, "required": required, "pass": passed})
    return found


def has_browser() -> bool:
    """Can the back end with a browser run here?"""
    try:
        from agentrl.envs.common.browser import find_chromium

        return bool(find_chromium())
    except AgentRLError:
        return False


# ---------------------------------------------------------------------- rows


def limit(rows: Rows, case: str, most: float) -> dict[str, Any]:
    """What is required; the peer of the ratio is the limit."""
    ours = _value(rows, case, "agentrl")
    ratio = most / ours if ours else None
    passed = ratio is not None and ratio >= 1
    return {
        "case": f"{case}, limit over ours",
        "ours": ours,
        "peer": most,
        "ratio": ratio,
        "required": 1,
        "pass": passed,
    }


def _value(rows: Rows, case: str, impl: str) -> float | None:
    return next((row["value"] for row in rows if row["case"] == case and row["impl"] == impl), None)


def _row(case: str, seconds: list[float], **more: Any) -> dict[str, Any]:
    return result(case, "agentrl", agentrl.__version__, [1e3 * one for one in seconds], "ms", **more)


def _percentile(found: list[float], share: float) -> float:
    return statistics.quantiles(found, n=100)[round(100 * share) - 1] if len(found) > 1 else found[0]

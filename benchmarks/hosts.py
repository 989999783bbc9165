"""`agentrl bench hosts`: many robots in a few processes, beside Gymnasium's own vector environments.

The same actions from the same starts in as many environments by hosts (one, and one a core), by `SyncVectorEnv` in this
process and by `AsyncVectorEnv` as Gymnasium makes it: forked, a process for each environment, observations in shared
memory. Rates are of the clock and want an idle machine; repeats of all four take turns. Memory is that of the
processes (their proportional share of pages), `start` the seconds until the first observation.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import agentrl
from agentrl.core.measure import compare, machine, result

CASES: dict[str, tuple[str, dict[str, Any], int]] = {  # id, arguments, steps of a repeat
    "LIBERO state": ("agentrl/LIBERO-Spatial-v0", {"obs_mode": "state"}, 25),
    "LIBERO two pictures": ("agentrl/LIBERO-Spatial-v0", {"image_size": 128}, 10),
    "Meta-World state": ("agentrl/MetaWorld-drawer-open-v0", {"obs_mode": "state"}, 250),
}
ENDLESS = {"max_turns": 10**9, "full_info": False, "split": "test", "obs_text": False}
SYNC, ASYNC, ONE_HOST = "SyncVectorEnv", "AsyncVectorEnv", "agentrl, 1 host"
REQUIRED = {SYNC: 1.0, ASYNC: 0.9}
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """Step all cases in all four ways."""
    num_envs, repeats = (4, 1) if quick else (16, 5)
    rows = [row for case in CASES for row in case_rows(case, num_envs, repeats)]
    ratios = [
        {**compare(rows, case, peer, required), "case": f"{case}, beside {peer}"}
        for case in CASES
        for peer, required in REQUIRED.items()
    ]
    return {
        "schema": 1,
        "name": "hosts",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": {"gymnasium": {"installed": True, "version": gym.__version__, "reason": None}},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def case_rows(case: str, num_envs: int, repeats: int) -> Rows:
    """Steps a second, seconds of the start and memory, in each way."""
    env_id, kwargs, steps = CASES[case]
    many = partial(gym.make_vec, env_id, num_envs, **kwargs, **ENDLESS)
    hosts = partial(many, vectorization_mode="vector_entry_point")
    makers: dict[str, Callable[[], Any]] = {
        ASYNC: partial(many, vectorization_mode="async"),  # first, while there is least to fork
        SYNC: partial(many, vectorization_mode="sync"),
        ONE_HOST: partial(hosts, hosts=1),
        "agentrl": hosts,
    }
    made, starts, rates = {}, {}, {impl: list[float]() for impl in makers}
    random = np.random.default_rng(0)
    try:
        for impl, make in makers.items():
            begun = time.perf_counter()
            made[impl] = make()
            made[impl].reset(seed=0)
            starts[impl] = time.perf_counter() - begun
        shape = made["agentrl"].action_space.shape
        for _ in range(repeats):
            actions = random.uniform(-0.3, 0.3, (steps, *shape)).astype(np.float32)
            for impl, envs in made.items():
                rates[impl].append(num_envs * steps / seconds_of(envs, actions))
        memory = {impl: megabytes(processes_of(envs)) for impl, envs in made.items()}
    finally:
        for envs in made.values():
            envs.close()
    obs = {"obs": kwargs.get("obs_mode", "image"), "px": kwargs.get("image_size"), "num_envs": num_envs}
    rows = [result(case, impl, version(impl), found, "steps/s", **obs) for impl, found in rates.items()]
    rows += [result(f"{case}: start", impl, version(impl), [found], "s", **obs) for impl, found in starts.items()]
    rows += [result(f"{case}: memory", impl, version(impl), [found], "MB", **obs) for impl, found in memory.items()]
    return rows


def seconds_of(envs: Any, actions: np.ndarray) -> float:
    """To play all actions."""
    begun = time.perf_counter()
    for action in actions:
        envs.step(action)
    return time.perf_counter() - begun


def processes_of(envs: Any) -> set[int]:
    """The processes that a vector environment has beside this one; this one where it has none."""
    if isinstance(envs, gym.vector.AsyncVectorEnv):
        return {process.pid for process in envs.processes if process.pid}
    return {env.pid for env in getattr(envs, "_envs", [])} or {os.getpid()}


def megabytes(pids: Iterable[int]) -> float:
    """Memory of processes; what they share is counted once."""
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def version(impl: str) -> str:
    """Of agentrl or Gymnasium."""
    return agentrl.__version__ if impl.startswith("agentrl") else gym.__version__

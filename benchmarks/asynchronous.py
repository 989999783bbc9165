"""`agentrl bench async`: what asynchronous rollouts and asynchronous training add, and how near they come to the bound.

One loop of rollouts and updates in four ways: in step (sync); with dynamic batches, but no update while episodes are
played (rollout); in step, but with updates meanwhile (train); both. `both` has a loose bound on staleness, `gated` one
of a single update. The figure is transitions of trained episodes a second, from the end of the first update to that of
the last.

The bound is what perfect overlap could give: the transitions of an update over the seconds of its slowest stage, as the
synchronous loop has measured them at their shortest. It beats that loop by (sum of stages) / (slowest stage). It gives
every stage a machine of its own; the bound of the processor is what these cores allow, as the processor time of a
transition in the synchronous loop has it. The aims are shares of the first.

Simulated stages are those of RL-VLA3's ManiSkill runs, 22 s of simulator and 9 s of generator for 640 transitions, with
a trainer of 5, 15 or 30 s, all scaled down. The other cases have real environments; their generators and trainers
sleep, as ones on another device would: 15 ms a batch and 0.4 ms a request, and a trainer as slow as the rest. What
`agentrl plan` makes of the timeline of `both` stands beside what was measured.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import mean
from types import SimpleNamespace
from typing import Any

import psutil

import agentrl
from agentrl.core.measure import machine, result
from agentrl.rollout.async_collect import AsyncCollector
from agentrl.rollout.collect import Collector
from agentrl.rollout.planning import measured_loop, simulate
from agentrl.rollout.starts import EnvSpec, Start
from agentrl.trainers.parallel.async_rollouts import AsyncRollouts
from benchmarks.stages import SLEEPING, Choose, SleepingPolicy, any_link, any_move, any_word

BATCH, TURNS = 32, 4
SIMULATOR, GENERATOR, TRAINERS = 22.0, 9.0, (5.0, 15.0, 30.0)  # seconds of 640 transitions
LOOSE, TIGHT = 8, 1  # bounds on staleness
WAIT = any_word("wait")
REQUIRED = {"both": 0.9, "gated": 0.75}


@dataclass(frozen=True)
class Profile:
    """A loop to measure: environments, and what a batch, a request and an update take."""

    spec: EnvSpec
    base: float
    each: float
    update: float
    choose: Choose = WAIT
    num_envs: int = BATCH
    collector: dict[str, Any] = field(default_factory=dict)
    asynchronous: dict[str, Any] = field(default_factory=dict)


def run(quick: bool = False) -> dict[str, Any]:
    """Measure all profiles in all ways."""
    agentrl.__version__  # noqa: B018 (registers the environments)
    rows: list[dict[str, Any]] = []
    ratios: list[dict[str, Any]] = []
    for case, profile in profiles(quick).items():
        found, compared = measure(case, profile, 5 if quick else 11)
        rows += found
        ratios += compared
    return {
        "schema": 1,
        "name": "async",
        "machine": machine(),
        "threads": 1,
        "results": rows,
        "peers": {},
        "ratios": ratios,
        "pass": all(ratio["pass"] for ratio in ratios),
    }


def profiles(quick: bool) -> dict[str, Profile]:
    """By name."""
    scale = 1 / 60 if quick else 1 / 20  # an update of 128 transitions here stands for one of 640 there
    each = scale / (BATCH * TURNS)
    simulated = {
        f"simulated, trainer {trainer:g} s": Profile(
            EnvSpec(SLEEPING, {"turns": TURNS, "seconds": SIMULATOR * each}),
            base=0.0,
            each=GENERATOR * each,
            update=trainer * scale,
            asynchronous={"simulators": 1, "simulator_batch": BATCH // 4, "max_batch": BATCH // 4},
        )
        for trainer in TRAINERS
    }
    robots = {"obs_mode": "state", "max_turns": 20}
    return simulated | {
        "grid": Profile(
            EnvSpec("agentrl/FrozenLake-Text-v0"),
            0.015,
            0.0004,
            0.15,
            any_word("Left", "Down", "Right", "Up"),
            asynchronous={"simulators": 1},
        ),
        "Meta-World, 2 hosts": Profile(
            EnvSpec("agentrl/MetaWorld-drawer-open-v0", robots),
            0.015,
            0.0004,
            0.6,
            any_move(4),
            collector={"hosts": 2},
            # Twice as many slots, so that half of them fill the batches of the bound, which cost 15 ms however small.
            asynchronous={"num_envs": 2 * BATCH},
        ),
        "sites, dom, 2 hosts": Profile(
            EnvSpec("agentrl/WebArenaLite-Text-v0", {"max_turns": 5}),
            0.015,
            0.0004,
            0.6,
            any_link,
            collector={"hosts": 2},
        ),
    }


def measure(case: str, profile: Profile, updates: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows and ratios of one profile."""
    rates, stages, transitions, processor = sync_loop(profile, updates)
    slowest, total = max(stages.values()), sum(stages.values())
    bound = transitions / slowest
    rows = [row(case, "sync", rates), row(case, f"bound, {total / slowest:.2f} x sync", [bound])]
    rows.append(row(case, "bound of the processor", [(os.cpu_count() or 1) / processor]))
    rows += [result(f"{case}: {name}", "sync", agentrl.__version__, [spent], "s") for name, spent in stages.items()]
    in_step = {"num_envs": profile.num_envs, "max_batch": profile.num_envs, "max_wait_ms": math.inf}
    ways: dict[str, tuple[int, dict[str, Any]]] = {
        "rollout": (0, {}),
        "train": (LOOSE, in_step),
        "both": (LOOSE, {}),
        "gated": (TIGHT, {}),
    }
    ratios = []
    for name, (bound_on_staleness, options) in ways.items():
        found, told = async_loop(profile, updates, bound_on_staleness, options)
        rows.append(row(case, name, found))
        rows.append(result(f"{case}: dropped", name, agentrl.__version__, [told["dropped"]], "share"))
        if name in REQUIRED:
            ratio, required = mean(found) / bound, REQUIRED[name]
            facts = {"case": f"{case}, {name}, beside the bound", "ours": mean(found), "peer": bound}
            ratios.append({**facts, "ratio": ratio, "required": required, "pass": ratio >= required})
        if name == "both":  # what `agentrl plan RUN` would say of the same run
            ratio = told["planned"] / mean(found)
            facts = {"case": f"{case}, planned beside measured", "ours": told["planned"], "peer": mean(found)}
            ratios.append({**facts, "ratio": ratio, "required": 0.9, "pass": 0.9 <= ratio <= 1.1})
    return rows, ratios


def row(case: str, impl: str, rates: list[float]) -> dict[str, Any]:
    """Transitions a second."""
    return result(case, impl, agentrl.__version__, rates, "transitions/s", num_envs=BATCH)


def starts(iteration: int) -> list[Start]:
    """Those of an update."""
    return [Start(BATCH * iteration + n, id=f"{iteration}-{n}") for n in range(BATCH)]


def new_policy(profile: Profile) -> SleepingPolicy:
    """The generator of a profile."""
    return SleepingPolicy(profile.base, profile.each, profile.choose)


def sync_loop(profile: Profile, updates: int) -> tuple[list[float], dict[str, float], float, float]:
    """Transitions a second of each update but the first, the shortest seconds of its stages, its transitions, and the
    processor time of one transition."""
    collector = Collector([profile.spec], new_policy(profile), num_envs=profile.num_envs, **profile.collector)
    stages: dict[str, list[float]] = {"generate": [], "environment": [], "update": []}
    rates, counts, spent_before = [], [], 0.0
    try:
        for update in range(updates):
            began = time.perf_counter()
            found = collector.collect(starts(update))
            count = sum(len(one.steps) for one in found.trajectories)
            spent = found.seconds | {"update": slept(profile.update)}
            if update:
                rates.append(count / (time.perf_counter() - began))
                counts.append(count)
                for name, held in stages.items():
                    held.append(spent[name])
            else:
                spent_before = processor_seconds()
        processor = (processor_seconds() - spent_before) / sum(counts)
    finally:
        collector.close()
    return rates, {name: min(held) for name, held in stages.items()}, mean(counts), processor


def processor_seconds() -> float:
    """Of this process and of the hosts that it has started."""
    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def async_loop(
    profile: Profile, updates: int, max_staleness: int, options: dict[str, Any]
) -> tuple[list[float], dict[str, float]]:
    """The same with asynchronous rollouts, as one rate over all updates but the first, and what was dropped."""
    policy = new_policy(profile)
    given = {"num_envs": profile.num_envs, **profile.collector, **profile.asynchronous, **options}
    collector = AsyncCollector([profile.spec], policy, **given)
    publish: Callable[[int], None] = lambda version: setattr(policy, "version", version)  # noqa: E731
    rollouts = AsyncRollouts(collector, starts, batch=BATCH, max_staleness=max_staleness, publish=publish)
    count, began, dropped = 0, 0.0, 0
    try:
        for update in range(updates):
            found = rollouts.take(BATCH)
            count += sum(len(one.steps) for one in found.trajectories) if update else 0
            slept(profile.update)
            rollouts.updated()
            dropped += rollouts.metrics()["dropped_episodes"]
            began = began or time.perf_counter()
        spent = time.perf_counter() - began
    finally:
        rollouts.close()
        collector.close()
    timeline = SimpleNamespace(**rollouts.activity.timeline())
    options = {"num_envs": collector.num_envs, "max_batch": min(collector.max_batch, collector.num_envs)}
    options |= {"simulator_batch": collector.simulator_batch, "max_staleness": max_staleness}
    options["max_wait"] = collector.max_wait_ms / 1000
    planned = simulate(measured_loop(timeline, **options)[0]).throughput
    return [count / spent], {"dropped": dropped / (dropped + BATCH * updates), "planned": planned}


def slept(seconds: float) -> float:
    """Sleep as an update on another device; how long it was."""
    began = time.perf_counter()
    time.sleep(seconds)
    return time.perf_counter() - began

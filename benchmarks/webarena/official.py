"""Runs the official tasks of WebArena-Lite against real HTTP addresses, from login to evaluator.

python -m benchmarks.webarena.official [--tasks webarena-lite] [--first N] [--count N] [--sites-at environment]

Without `--sites-at` the embedded sites are served on ports of this machine and named by WA_SHOPPING and so on, as the
official sites would be. Their data is not the benchmark's, so that nearly every score is 0: what is shown is that every
task runs from start to evaluator. With `--sites-at environment` the sites that the environment names are used.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from contextlib import ExitStack
from typing import NamedTuple

from agentrl.core.errors import AgentRLError
from agentrl.envs.webarena.env import WebArenaLiteEnv
from benchmarks.webarena.ports import SitesOnPorts

# Elements are what the page happens to have; an id that is not there is an answer, too.
ACTIONS = (
    'do(action="Click", element="3")',
    'do(action="Scroll Down")',
    'do(action="Go Backward")',
    'exit(message="N/A")',
)


class Run(NamedTuple):
    """One task."""

    task: str
    sites: tuple[str, ...]
    seconds: float
    score: float | None  # None: no verdict
    problem: str  # why it did not come to a verdict


def play(env: WebArenaLiteEnv, task: str) -> Run:
    """Reset (with login), act, exit, evaluate."""
    begun, sites = time.perf_counter(), ()
    try:
        env.reset(options={"task": task})
        sites = env._current.task.sites
        for action in ACTIONS:
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                break
        score = info["reward_terms"].get("outcome")
        problem = info["feedback"] if score is None else ""
    except AgentRLError as error:
        score, problem = None, f"{type(error).__name__}: {error}"
    return Run(task, sites, time.perf_counter() - begun, score, problem)


def main() -> int:
    """Every task whose sites have addresses; 1 if one did not come to a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="webarena-lite", help="webarena-lite, webarena, or a path")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--sites-at", choices=("embedded", "environment"), default="embedded")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        if arguments.sites_at == "embedded":
            sites = stack.enter_context(SitesOnPorts())
            os.environ |= {f"WA_{name.upper()}": address for name, address in sites.addresses.items()}
        env = WebArenaLiteEnv(task_file=arguments.tasks, sites_at="environment", backend="browser")
        stack.callback(env.close)
        end = None if arguments.count is None else arguments.first + arguments.count
        tasks = env.tasks()[arguments.first : end]
        runs = []
        for task in tasks:
            run = play(env, task)
            runs.append(run)
            result = run.problem if run.score is None else f"{run.score:.0f}"
            print(f"{task} ({', '.join(run.sites)}): {result}", flush=True)
    report(runs)
    return 1 if any(run.problem for run in runs) else 0


def report(runs: list[Run]) -> None:
    """How many ran, and what came of it."""
    for sites, count in sorted(Counter("+".join(sorted(run.sites)) for run in runs).items()):
        same = [run for run in runs if "+".join(sorted(run.sites)) == sites]
        scored, solved = sum(run.score is not None for run in same), sum(run.score == 1 for run in same)
        mean = sum(run.seconds for run in same) / count
        print(f"{sites or '(not started)':<24} ran {scored}/{count}, scored 1: {solved}, {mean:.2f} s a task")
    scored, solved = sum(run.score is not None for run in runs), sum(run.score == 1 for run in runs)
    print(f"{'all':<24} ran {scored}/{len(runs)}, scored 1: {solved}, {sum(run.seconds for run in runs):.0f} s")


if __name__ == "__main__":
    sys.exit(main())

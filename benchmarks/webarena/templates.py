"""Plays instances of every template with the oracle and prints what came of it.

python -m benchmarks.webarena.templates [PREFIX] [--instances N] [--backend browser]
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.tasks.generated import find_generated, generated_ids, novelty, templates

LONG = 8  # actions


class Played(NamedTuple):
    """One episode."""

    task: str
    success: bool
    turns: int
    problem: str


def play(env: WebArenaLiteEnv, task: str) -> Played:
    """Follow the oracle to the end."""
    _, info = env.reset(options={"task": task})
    done: list[str] = []
    terminated = truncated = False
    while not (terminated or truncated):
        action = env.oracle()
        if action is None:
            return Played(task, False, len(done), f"no action at {info['url']} after {done}")
        _, _, terminated, truncated, info = env.step(action)
        done.append(action)
        if not info["valid"]:
            return Played(task, False, len(done), f"{action}: {info['feedback']}")
    problem = "" if info["success"] else f"missing {info['state']['missing']} at {info['url']} after {done}"
    return Played(task, info["success"], len(done), problem)


def tasks_of(name: str, split: str, count: int) -> list[str]:
    """Some instances of a template."""
    tasks = [task for task in generated_ids(split) if task.rpartition(".")[0] == name]
    return tasks[:: max(1, len(tasks) // count)][:count]


def main() -> int:
    """Every template whose name begins with the prefix; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefix", nargs="?", default="")
    parser.add_argument("--instances", type=int, default=3, help="of each template and split")
    parser.add_argument("--backend", default="dom", help="dom or browser")
    parser.add_argument("--splits", nargs="+", default=["train", "dev", "test"])
    arguments = parser.parse_args()
    envs = {split: WebArenaLiteEnv(split=split, backend=arguments.backend) for split in arguments.splits}
    failures = 0
    shortest: list[int] = []  # turns of each template
    for name, template in templates().items():
        if not name.startswith(arguments.prefix):
            continue
        played = [play(env, task) for split, env in envs.items() for task in tasks_of(name, split, arguments.instances)]
        sizes = "/".join(str(len(tasks_of(name, split, 10**9))) for split in envs)
        solved, turns = sum(one.success for one in played), [one.turns for one in played]
        print(
            f"{name:<40} {template.skill:<16} {novelty(template):<9} {sizes:>11} "
            f"solved {solved}/{len(played)} in {min(turns, default=0)} to {max(turns, default=0)} turns",
            flush=True,
        )
        shortest += [min(turns)] if turns else []
        for one in played:
            if not one.success:
                failures += 1
                found = find_generated(one.task)
                print(f"    {one.task}: {found.official()['intent'] if found else ''}\n        {one.problem}")
    long = sum(count >= LONG for count in shortest)
    print(
        f"{len(shortest)} templates; {long} ({long / max(1, len(shortest)):.0%}) take {LONG} actions or more in every "
        f"instance played, {sum(shortest) / max(1, len(shortest)):.1f} on average at least"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

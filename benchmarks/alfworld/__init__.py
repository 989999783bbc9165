"""ALFWorld's games measured: our engine alone and through `gym.make`, TextWorld on the same games in the same run. All
rates are by processor time.

agentrl bench alfworld           needs TextWorld in .venv-textworld: scripts/setup.sh library:textworld
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

import agentrl
from agentrl.core.measure import compare, machine, measure_peers, result
from agentrl.envs.alfworld import homes
from agentrl.envs.alfworld.engine import World
from agentrl.envs.alfworld.games import FAMILIES, Wording
from agentrl.envs.alfworld.pddl import write_problem
from agentrl.envs.alfworld.real import INTERPRETER

PEER = "textworld"
ENGINE, THROUGH_GYM, RESET = "engine, steps", "gym.make, steps", "engine, resets"
REQUIRED = {ENGINE: 5_000.0, THROUGH_GYM: 300.0}
RESETS_REQUIRED = 1_000.0  # a second: each below a millisecond
Rows = list[dict[str, Any]]


def run(quick: bool = False) -> dict[str, Any]:
    """Random admissible commands in one home of each family, every answer with its list of admissible commands."""
    tasks = [next(task for task in homes.task_ids("train") if homes.family_of(task) == family) for family in FAMILIES]
    seconds, repeats = (0.2, 2) if quick else (2.0, 5)
    rows = our_rows(tasks, seconds, repeats)
    theirs = their_rows(tasks[:1] if quick else tasks, steps=3 if quick else 15)
    rows += theirs["results"]
    ratios = [compare(rows, case, PEER, required) for case, required in REQUIRED.items() if theirs["results"]]
    ratios.append(resets_ratio(rows))
    return {
        "schema": 1,
        "name": "alfworld",
        "machine": machine(),
        "threads": 1,
        "load": list(os.getloadavg()),
        "results": rows,
        "peers": theirs["peers"],
        "ratios": ratios,
        "pass": len(ratios) == len(REQUIRED) + 1 and all(ratio["pass"] for ratio in ratios),
    }


def our_rows(tasks: list[str], seconds: float, repeats: int) -> Rows:
    """Our engine alone, new games and all, and the environment as anybody makes it."""
    games = [homes.build(task, Wording()) for task in tasks]
    env = gym.make("agentrl/ALFWorld-Text-v0", max_turns=100_000)
    measured: dict[str, tuple[Callable[[], int], str]] = {
        ENGINE: (engine_steps([World(game) for game in games]), "steps/s"),
        THROUGH_GYM: (gym_steps(env, tasks), "steps/s"),
        RESET: (lambda: len([World(game).reset() for game in games]), "resets/s"),
    }
    return [
        result(case, "agentrl", agentrl.__version__, [rate(work, seconds) for _ in range(repeats)], unit)
        for case, (work, unit) in measured.items()
    ]


def rate(work: Callable[[], int], seconds: float) -> float:
    """Things done a second of processor time: both sides use one thread, and other programs do not count."""
    work()
    done, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += work()
    return done / spent


def engine_steps(worlds: list[World], each: int = 50) -> Callable[[], int]:
    """Commands in all worlds, in turn; a world that is won begins again."""
    rng = random.Random(0)

    def work() -> int:
        for world in worlds:
            commands = world.commands()
            for _ in range(each):
                world.step(commands[int(rng.random() * len(commands))])
                commands = world.commands()
                if world.won():
                    world.reset()
        return each * len(worlds)

    return work


def gym_steps(env: gym.Env, tasks: list[str], each: int = 20) -> Callable[[], int]:
    """The same through the whole environment, observations and `info` included; resets are not counted as steps."""
    rng = random.Random(0)

    def work() -> int:
        for task in tasks:
            info = env.reset(options={"task": task})[1]
            for _ in range(each):
                known = info["admissible_commands"]
                _, _, terminated, truncated, info = env.step(known[int(rng.random() * len(known))])
                if terminated or truncated:
                    info = env.reset(options={"task": task})[1]
        return each * len(tasks)

    return work


def their_rows(tasks: list[str], steps: int) -> dict[str, Any]:
    """TextWorld, engine and gym, on the same games."""
    games = [homes.build(task, Wording()) for task in tasks]
    with tempfile.TemporaryDirectory(prefix="agentrl-alfworld-") as folder:
        path = Path(folder) / "games.json"
        path.write_text(json.dumps([[write_problem(game), game.instruction] for game in games]))
        found = measure_peers("textworld_games.py", [str(path), str(steps)], [PEER], 3000, INTERPRETER.folder)
    if not found["results"] and "bench-peers" in str(found["peers"][PEER]["reason"]):
        found["peers"][PEER]["reason"] = f"no {INTERPRETER.folder}; run: scripts/setup.sh library:textworld"
    return found


def resets_ratio(rows: Rows) -> dict[str, Any]:
    """Our resets a second over what is required."""
    ours = next(row["value"] for row in rows if row["case"] == RESET and row["impl"] == "agentrl")
    ratio = ours / RESETS_REQUIRED
    return {
        "case": f"{RESET}, ours over limit", "ours": ours, "peer": RESETS_REQUIRED, "ratio": ratio, "required": 1.0,
        "pass": ratio >= 1.0,
    }  # fmt: skip

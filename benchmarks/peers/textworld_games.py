"""TextWorld on given games: steps and resets of its engine, and steps through its own gym.

    python textworld_games.py GAMES STEPS

GAMES is a JSON file of pairs, PDDL problem and sentence of the task. It runs in the virtual environment of TextWorld,
with domain and grammar of the alfworld that is installed there, as they are.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE, STEPS = sys.argv[1], int(sys.argv[2])

import alfworld  # noqa: E402  (the planner that TextWorld loads reads the command line)
import textworld  # noqa: E402
import textworld.gym  # noqa: E402
from textworld.envs import PddlEnv  # noqa: E402


def files(folder: Path) -> list[str]:
    """The games as files that TextWorld reads."""
    data = Path(alfworld.__file__).parent / "data"
    domain, grammar = ((data / name).read_text(encoding="utf-8") for name in ("alfred.pddl", "alfred.twl2"))
    found = []
    for number, (problem, sentence) in enumerate(json.loads(Path(FILE).read_text())):
        game = {"pddl_domain": domain, "grammar": grammar.replace("UNKNOWN GOAL", sentence), "pddl_problem": problem}
        path = folder / f"game-{number}.tw-pddl"
        path.write_text(json.dumps(game))
        found.append(str(path))
    return found


def row(case: str, unit: str, found: list[float]) -> dict[str, Any]:
    """One row of the report: things a second over all games, and each game's."""
    value = len(found) / sum(1 / rate for rate in found)
    shape = {"num_envs": 1, "obs": None, "px": None}
    return {
        "case": case, "impl": "textworld", "version": version("textworld"), **shape, "unit": unit, "value": value,
        "repeats": len(found), "values": found,
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    rng = random.Random(0)
    infos = textworld.EnvInfos(admissible_commands=True, won=True)
    steps, resets, through_gym = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for path in files(Path(folder)):
            env = PddlEnv(infos)
            env.load(path)
            start = time.process_time()
            state = env.reset()
            resets.append(1 / (time.process_time() - start))
            start = time.process_time()
            for _ in range(STEPS):
                state = env.step(rng.choice(state["admissible_commands"]))[0]
            steps.append(STEPS / (time.process_time() - start))
            whole = textworld.gym.make(textworld.gym.register_game(path, infos, max_episode_steps=100_000))
            _, told = whole.reset()
            start = time.process_time()
            for _ in range(STEPS):
                told = whole.step(rng.choice(told["admissible_commands"]))[3]
            through_gym.append(STEPS / (time.process_time() - start))
    rows = [row("engine, steps", "steps/s", steps), row("engine, resets", "resets/s", resets)]
    rows.append(row("gym.make, steps", "steps/s", through_gym))
    peers = {"textworld": {"installed": True, "version": version("textworld"), "reason": None}}
    print(json.dumps({"results": rows, "peers": peers}))


if __name__ == "__main__":
    main()

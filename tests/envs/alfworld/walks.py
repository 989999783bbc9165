"""Walks through our homes, played in TextWorld and here: `python -m tests.envs.alfworld.walks FIRST LAST` compares
them, `python -m tests.envs.alfworld.walks record` writes `transcripts.json` anew. Both need `.venv-textworld`."""

from __future__ import annotations

import hashlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentrl.core.worker import Worker
from agentrl.envs.alfworld import homes
from agentrl.envs.alfworld.engine import World
from agentrl.envs.alfworld.games import FAMILIES, WORDINGS
from agentrl.envs.alfworld.pddl import write_problem
from agentrl.envs.alfworld.planner import plan

TRANSCRIPTS = Path(__file__).with_name("transcripts.json")
STEPS = 6  # at most, of a walk
WALKS = 10  # through each home, before the next one is loaded
NONSENSE = ("dance", "take mug 1 from the moon", "Look", "open ", "go to cabinet 99", "use mug 1")


def game_of(number: int, wording: str = "0.4") -> Any:
    """Homes in turn, so that all families, kinds of rooms and splits come."""
    ids = [task for split in ("train", "dev", "test") for task in homes.task_ids(split)]
    family = FAMILIES[number % len(FAMILIES)]
    tasks = [task for task in ids if homes.family_of(task) == family]
    return homes.build(tasks[number * 7919 % len(tasks)], WORDINGS[wording])


def commands_of(world: World, seed: int) -> Iterator[str]:
    """A walk: every third one follows the plan to the end, the others wander, handle things and now and then err."""
    rng = random.Random(seed)
    planned, last = seed % 3 == 0, len(plan(world) or ()) + 2 if seed % 3 == 0 else STEPS
    for _ in range(last):
        if world.won():
            return
        known = world.commands()
        handling = [command for command in known if command.split()[0] not in ("go", "examine", "look", "help")]
        if planned and rng.random() < 0.9:
            yield (plan(world) or known)[0]
        elif rng.random() < 0.06:
            yield rng.choice(NONSENSE)
        else:
            yield rng.choice(handling if handling and rng.random() < 0.6 else known)


def digest(commands: list[str]) -> str:
    """A list of commands as a short text."""
    return hashlib.blake2b("\n".join(commands).encode(), digest_size=8).hexdigest()


def compare(worker: Worker, number: int, walks: int = WALKS, wording: str = "0.4") -> Counter[str]:
    """Several walks through one home on both sides: their number, steps and ends; AssertionError where they differ."""
    game, count = game_of(number, wording), Counter()
    worker.call("load", {"pddl_problem": write_problem(game), "instruction": game.instruction}, wording == "0.3")
    for walk in range(walks):
        world = World(game)
        ours = [world.reset(), world.commands(), world.won()]
        assert worker.call("reset") == ours, (game.name, "reset")
        done = []
        for command in commands_of(world, number * 1000 + walk):
            done.append(command)
            ours = [world.step(command), world.commands(), world.won()]
            theirs = worker.call("step", command)
            assert theirs == ours, (game.name, done, theirs, ours)
        count.update({"walks": 1, "steps": len(done), "won": world.won(), game.goal.family: 1})
    return count


def record(worker: Worker, per_family: int = 3) -> dict[str, Any]:
    """What TextWorld says on some walks."""
    found = []
    for number in range(per_family * len(FAMILIES)):
        wording = "0.3" if number >= (per_family - 1) * len(FAMILIES) else "0.4"
        game = game_of(number + 100, wording)
        worker.call("load", {"pddl_problem": write_problem(game), "instruction": game.instruction}, wording == "0.3")
        world = World(game)
        seen = [("", worker.call("reset"))]
        for command in commands_of(world, number):
            world.step(command)
            seen.append((command, worker.call("step", command)))
        steps = [[command, text, digest(known), won] for command, (text, known, won) in seen]
        found.append({"task": game.name, "wording": wording, "steps": steps})
    return {"engine": worker.call("versions"), "walks": found}


if __name__ == "__main__":
    from agentrl.envs.alfworld.real import RealGame

    real, total, start = RealGame()._worker, Counter(), time.perf_counter()
    if sys.argv[1] == "record":
        lines = record(real)
        walks = ",\n".join(json.dumps(walk) for walk in lines.pop("walks"))
        TRANSCRIPTS.write_text(f'{json.dumps(lines)[:-1]}, "walks": [\n{walks}\n]}}\n')
    else:
        for number in range(int(sys.argv[1]), int(sys.argv[2])):
            total += compare(real, number, wording="0.3" if number % 10 == 9 else "0.4")
            print(number, dict(total), f"{time.perf_counter() - start:.0f} s", flush=True)
    real.close()

"""Levels made from levels: solvable, of the training split, as hard as their kind says, the same in every process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from agentrl.core.task_generator import KINDS, Task
from agentrl.envs.grid.frozenlake import FrozenLakeEnv
from agentrl.envs.grid.lake_mutations import LakeMutations
from agentrl.envs.grid.level_mutations import GROWTH, LevelMutations
from agentrl.envs.grid.sokoban import SokobanEnv
from agentrl.envs.grid.world import GridWorld

GAMES: dict[str, tuple[type[GridWorld], dict[str, Any]]] = {
    "lakes": (FrozenLakeEnv, {}),
    "slippery lakes": (FrozenLakeEnv, {"slippery": True}),
    "rooms": (SokobanEnv, {"size": 6, "levels": 500}),
    "rooms with two boxes": (SokobanEnv, {"size": 7, "boxes": 2, "levels": 64, "max_turns": 5}),
}
HOSTILE = [
    Task("____/____/____/____"),
    Task("P__G/____/____/____", {"size": 10**9}),
    Task("P__G/____/____/____", {"size": "4"}),
    Task("P__G/____/____/____", {"render_mode": "human"}),
    Task("P__G/____/____/____", ["size"]),  # pyright: ignore[reportArgumentType]
    Task("PG", {"size": -1}),
    Task("/" * 10_000),
    Task(b"P__G"),  # pyright: ignore[reportArgumentType]
]


def made(name: str, count: int = 24) -> tuple[GridWorld, Any, list[Task], list[Task]]:
    """An environment, its generator, five seeds and what was proposed for them."""
    game, arguments = GAMES[name]
    env = game(**arguments)
    generator = env.task_generator()
    seeds = [Task(env.tasks()[place]) for place in (3, 7, 11, 20, 41)]
    return env, generator, seeds, generator.propose(seeds, count, np.random.default_rng(0))


@pytest.mark.parametrize("name", GAMES)
def test_new_levels_are_solved_by_the_oracle_within_the_limits(name: str) -> None:
    env, generator, seeds, found = made(name)
    assert len(found) == len(set(found)) == 24 and not set(found) & set(seeds)
    assert {task.kind for task in found} == set(KINDS)
    assert any(task.kwargs for task in found)
    for task in found:
        game = type(env)(**{**env.parameters, **task.kwargs})
        assert game.size <= env.size + GROWTH
        game.reset(seed=0, options={"task": task.id})
        assert game._task() == task.id
        moves = game.actions_needed()
        assert game.oracle() is not None
        assert getattr(env, "slippery", False) or (moves is not None and moves <= generator.longest)


@pytest.mark.parametrize("name", ["lakes", "rooms with two boxes"])
def test_the_kind_says_how_a_level_differs_from_its_seed(name: str) -> None:
    _, generator, seeds, _ = made(name, count=0)
    assert isinstance(generator, LevelMutations)
    rng, seed = np.random.default_rng(1), seeds[0]
    level = generator._read(seed)
    assert level is not None
    before = generator._difficulty(level)
    assert before is not None
    for kind in KINDS * 8:
        task = generator.mutate(kind, seed, seeds, rng)
        if task is None:  # some tries found none
            continue
        after = generator._difficulty(generator._read(task))
        assert after is not None
        assert kind != "easier" or after < before
        assert kind != "harder" or after > before
        assert kind != "nearby" or (abs(after[0] - before[0]) <= 1 and not task.kwargs)


def test_no_new_level_is_in_the_pools_of_other_splits() -> None:
    env = FrozenLakeEnv(size=3)
    generator = LakeMutations(env)
    found = generator.propose([Task(name) for name in env.tasks()[:5]], 40, np.random.default_rng(2))
    held_out = {split: set(FrozenLakeEnv(size=3, split=split).tasks()) for split in ("dev", "test")}
    assert not any(task.id in names for names in held_out.values() for task in found)
    some = Task(next(iter(held_out["test"])))
    assert not generator.knows(some) and not generator.feasible(some)
    assert all(task.kind == "new" for task in generator.propose([some], 5, np.random.default_rng(0)))


@pytest.mark.parametrize("name", ["lakes", "rooms"])
def test_seeds_that_are_no_levels_are_left_out(name: str) -> None:
    _, generator, seeds, _ = made(name, count=0)
    for task in [*HOSTILE, Task(seeds[0].id, {"max_turns": 1})]:
        assert not generator.knows(task) and not generator.feasible(task)
    assert len(generator.propose([*HOSTILE, seeds[0]], 3, np.random.default_rng(0))) == 3
    new = generator.propose(HOSTILE, 3, np.random.default_rng(0))
    assert {task.kind for task in new} == {"new"}


def test_levels_without_a_solution_are_not_feasible() -> None:
    lakes = LakeMutations(FrozenLakeEnv())
    walled = [f"PO__/OO__/____/{row}" for row in ("G___", "_G__", "__G_", "___G")]
    assert any(lakes.knows(Task(level)) for level in walled)
    assert not any(lakes.feasible(Task(level)) for level in walled)
    far, near = ("P__/_O_/__G", "P__/O__/__G"), FrozenLakeEnv(size=3, max_turns=1, min_solution=1)
    assert not any(near.task_generator().feasible(Task(level)) for level in far)  # four moves, three allowed


def test_proposals_are_the_same_in_another_process_and_replayed_there() -> None:
    script = """
import json, sys
import numpy as np
import gymnasium as gym
import agentrl
from agentrl.core.task_generator import Task

seeds, wanted = json.loads(sys.argv[1])
env = gym.make("agentrl/FrozenLake-Text-v0")
found = env.unwrapped.task_generator().propose([Task(seed) for seed in seeds], 12, np.random.default_rng(5))
assert [task.to_json() for task in found] == wanted, found
for task in map(Task.from_json, wanted):
    copy = gym.make("agentrl/FrozenLake-Text-v0", **task.kwargs)
    _, info = copy.reset(options={"task": task.id})
    assert info["task"] == task.id
    blob = agentrl.snapshot(copy)
    agentrl.restore(copy, blob)
    assert copy.unwrapped._task() == task.id
"""
    env = FrozenLakeEnv()
    seeds = [env.tasks()[place] for place in (5, 6)]
    found = env.task_generator().propose([Task(seed) for seed in seeds], 12, np.random.default_rng(5))
    words = json.dumps([seeds, [task.to_json() for task in found]])
    subprocess.run([sys.executable, "-c", script, words], check=True)

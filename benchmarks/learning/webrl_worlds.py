"""Where WebRL and its baselines learn: the task, the start, and how long; and the chain of a start and an algorithm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.budgets import COMMON, ONE_SEED, SEEDS
from benchmarks.learning.chains import LAKE, SMOLLM2, spoken

WEB = "agentrl/WebArenaLite-Text-v0"


@dataclass(frozen=True)
class World:
    """Where it is learned, how long, and what that world needs."""

    env: str
    phases: int
    tasks: int  # of a phase; as many training tasks are played before the first
    task: Mapping[str, Any]  # options of all runs
    imitation: Mapping[str, Any]  # of the start
    learning: Mapping[str, Any]  # of everything after it
    beta: float = 1.0
    seeds: tuple[int, ...] = SEEDS  # of all experiments but the baselines, which have three
    start: str = ""  # in words, where it is another than that of a world with the same model

    def __str__(self) -> str:
        model = self.task.get("model", "")
        return " ".join(filter(None, [spoken(self.env), f"with {model}" if model else "", self.start]))


# The critic learns faster than the actor: it has to know what is too hard before the second phase chooses its tasks.
TINY = {"lr": 5e-4, "critic_lr": 1e-3, "critic_head_lr": 1e-2, "actor_epochs": 2, "critic_epochs": 2}
LAKES = World(
    env=LAKE,
    phases=4,
    tasks=384,
    task={"prompt_style": "step", "history": 0, "max_new_tokens": 8, "eval_episodes": 400},
    imitation={
        "demonstrations": 4000,
        "mistake_rate": 0.5,
        "mistake_kind": "hasty",
        "iterations": 5,
        "steps_per_iteration": 100,
        "batch_size": 64,
        "optimiser": "muon",
        "lr": 0.02,
        "schedule": "linear",
        "warmup": 30,
    },
    learning={"batch_size": 64, **TINY},
    beta=0.3,  # the best of `webrl-beta-frozenlake`; on the map no beta stands out
)
# Find a place on the map and read a value off its page: what is copied is never the same, how to is.
READING = ("map-postcode", "map-phone", "map-cuisine", "map-address", "map-missing-phone", "map-open-page")
MAPS = World(
    env=WEB,
    phases=4,
    tasks=128,
    task={
        "env_kwargs": json.dumps(
            {
                "observation_mode": "compact",
                "action_format": "webarena",
                "max_turns": 5,
                "templates": READING,
            }
        ),
        "model": "tiny-web",
        "prompt_style": "step",
        "history": 0,  # the page says what has been done so far
        "max_new_tokens": 20,
        "num_envs": 64,
        "token_budget": 2048,  # rows differ a lot in length: small batches waste less on padding
        "eval_episodes": 205,  # all test tasks
    },
    imitation={
        "demonstrations": 616,  # all training tasks
        "word_substitution": 0.9,
        "iterations": 14,
        "steps_per_iteration": 50,
        "batch_size": 32,
        "optimiser": "muon",
        "lr": 0.02,
        "schedule": "linear",
        "warmup": 20,
    },
    learning={"batch_size": 32, **TINY},
)
# The same from demonstrations that often end too early: a habit that practice can break without learning to copy.
# Its beta is the best of `webrl-beta-hasty-web`.
HASTY = replace(
    MAPS,
    imitation={**MAPS.imitation, "mistake_rate": 0.3, "mistake_kind": "hasty"},
    beta=0.1,
    start="after hasty demonstrations",
)
# The real SmolLM2-135M on a GPU, with all tasks of the map: two to seven turns on pages of up to 800 tokens.
REAL = World(
    env=WEB,
    phases=4,
    tasks=128,
    task={
        "env_kwargs": json.dumps({"observation_mode": "compact", "sites": ["map"], "max_turns": 10}),
        **SMOLLM2,
        "prompt_style": "step",
        "history": 10,  # all past actions, and only the newest page
        "max_new_tokens": 48,
        "num_envs": 96,
        "generation_batch_size": 192,
        "token_budget": 16384,  # room for four runs on one GPU
        "eval_episodes": 300,
    },
    imitation={
        "demonstrations": 1200,
        "iterations": 2,  # twice as many leave little to learn (0.68)
        "steps_per_iteration": 50,
        "batch_size": 64,
        "lr": 2e-4,
        "schedule": "linear",
        "warmup": 20,
    },
    learning={
        "lr": 3e-5,
        "critic_lr": 3e-5,
        "critic_head_lr": 1e-3,
        "batch_size": 128,
        "actor_epochs": 2,
        "critic_epochs": 2,
    },
    seeds=ONE_SEED,
)
WORLDS = {"frozenlake": LAKES, "web": MAPS, "hasty-web": HASTY, "smollm2": REAL}


def chain(world: World, algorithm: str = "", options: Mapping[str, Any] | None = None) -> tuple[Stage, ...]:
    """Imitation, then the algorithm; imitation alone where none is named."""
    shared = {**COMMON, "env": [world.env], "save_trajectories": 0, "eval_every": 1000, **world.task}
    start = Stage("sft", {**shared, "eval_at_start": False, **world.imitation})
    if not algorithm:
        return (start,)
    learning = {"start_tasks": world.tasks, "tasks_per_phase": world.tasks, "iterations": world.phases}
    return start, Stage(algorithm, {**shared, **learning, **world.learning, **(options or {})})

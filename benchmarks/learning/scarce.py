"""Scarce tasks: 64 lakes to learn from, others to be tested on, and a start that has only seen shorter ones.

That tasks are few is the premise of WebRL's curriculum: where training tasks like those of the test are unlimited,
nothing is gained by making more. Here every condition is given the same 64 lakes, whose solutions have six moves and
more. Conditions without a curriculum play these again and again; a curriculum makes lakes like those that failed.

All play 256 episodes with the start policy and then eight times 256, offline methods all of them before they learn.
What each method needs of its own (rates, AWR's beta) is swept on the dev split with as many values for each
(`webrl-rates-scarce-frozenlake`); the best are in `tuned.json`, which `python -m benchmarks.learning.tuned` writes.
"""

from __future__ import annotations

from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.budgets import ONE_SEED
from benchmarks.learning.chains import LAKE
from benchmarks.learning.experiment import Claim, Experiment, Plan, over_seeds
from benchmarks.learning.tuned import tuned
from benchmarks.learning.webrl_worlds import TINY, World, chain

NAME, SWEEP = "webrl-scarce-frozenlake", "webrl-rates-scarce-frozenlake"
SEEDS, SWEEP_SEEDS = range(8), range(2)
SHORT = {"max_turns": 4, "min_solution": 1, "max_solution": 4}
LONG = {"max_turns": 4, "min_solution": 6, "max_solution": 9}  # moves; three a turn, and a turn to spare
SCARCE = World(
    env=LAKE,
    phases=8,
    tasks=256,
    task={
        "prompt_style": "step",
        "history": 0,
        "max_new_tokens": 8,
        "eval_episodes": 400,
        "eval_env_kwargs": {**LONG, "levels": None},
    },
    imitation={
        "env_kwargs": SHORT,
        "demonstrations": 4000,
        "iterations": 4,
        "steps_per_iteration": 100,
        "batch_size": 64,
        "optimiser": "muon",
        "lr": 0.02,
        "schedule": "linear",
        "warmup": 30,
    },
    # Lakes of a curriculum may be larger, and their rows longer: small batches waste less on padding.
    learning={"env_kwargs": {**LONG, "levels": 64}, "device": "cpu", "token_budget": 2048, "batch_size": 64, **TINY},
)
RATES = tuple(TINY["lr"] * share for share in (3, 1, 1 / 3, 1 / 10))
OWN = "training"  # the first phase plays the 64 lakes, too
NO_CURRICULUM = {"curriculum": False, "first_tasks": OWN}
# The critic chooses tasks and actions: it learns from all labelled episodes, which are many in the last phases.
CURRICULUM = {"critic_on_all": True, "critic_epochs": 1, "repeat_tasks": False}
GOOD_ACTIONS = {**CURRICULUM, "loss": "good_actions"}
REGRESSION = {
    **CURRICULUM,
    "gamma": 1.0,
    "negative_weight": 0.3,
    "replay_window": "quantiles",
    "fresh_optimiser": True,
    "critic_heads": 2,
    "window_heads": "any",
}
OFFLINE = {**NO_CURRICULUM, "tasks_per_phase": SCARCE.phases * SCARCE.tasks}
AWR = {**OFFLINE, "iterations": 2}  # it imitates all actions: twice as many optimiser steps as filtered BC even so
# By method: its algorithm, its options, and the four values that are swept of one of them.
METHODS: dict[str, tuple[str, dict[str, Any], str, tuple[float, ...]]] = {
    "filtered BC": ("filtered_bc", OFFLINE, "lr", RATES),
    "AWR": ("awr", AWR, "beta", (0.05, 0.1, 0.3, 1.0)),
    "DigiRL": ("digirl", NO_CURRICULUM, "lr", RATES),
    "WebRL, good actions": ("webrl", GOOD_ACTIONS, "lr", RATES),
    "WebRL, regression": ("webrl", REGRESSION, "lr", RATES),
    "WebRL, no KL": ("webrl", {**CURRICULUM, "loss": "reinforce"}, "lr", RATES),
}
CEILING_STEPS = 400  # optimiser steps, as many as the conditions that take the most


def condition(method: str, **options: Any) -> tuple[Stage, ...]:
    """The start, then a method with what was chosen for it."""
    algorithm, own, _, _ = METHODS[method]
    return chain(SCARCE, algorithm, {"eval_at_start": False, **own, **tuned(method), **options})


def ceiling() -> tuple[Stage, ...]:
    """The start, then imitation of solutions of such lakes: as many episodes and optimiser steps, without their 64."""
    (start,) = chain(SCARCE)
    own = {"env_kwargs": LONG, "demonstrations": (SCARCE.phases + 1) * SCARCE.tasks, "optimiser": "adamw"}
    steps = {"iterations": CEILING_STEPS // 100, "lr": TINY["lr"], "schedule": "constant", "warmup": 0}
    return start, Stage("sft", {**start.options, **own, **steps})


def scarce() -> Experiment:
    """Is a curriculum worth something where tasks are few?"""
    curriculum, digirl, filtered = "curriculum, good actions", "DigiRL", "filtered BC"
    conditions = {
        curriculum: condition("WebRL, good actions"),
        "no curriculum, good actions": condition("WebRL, good actions", **NO_CURRICULUM),
        "curriculum, open window": condition("WebRL, good actions", value_low=0.0, value_high=1.0),
        "curriculum, regression": condition("WebRL, regression"),
        digirl: condition("DigiRL"),
        "DigiRL, curriculum": condition("DigiRL", curriculum=True, first_tasks="generated", repeat_tasks=False),
        filtered: condition("filtered BC"),
        "AWR": condition("AWR"),
    }
    once = over_seeds({"SFT": chain(SCARCE), "ceiling": ceiling()}, ONE_SEED)
    claims = tuple(Claim(curriculum, lower, "WebRL") for lower in conditions if lower != curriculum)
    claims += (Claim("DigiRL, curriculum", digirl, "WebRL"),)
    # Eight seeds, by the variances that earlier results have.
    plan = Plan((Claim(curriculum, digirl, "WebRL"), Claim(curriculum, filtered, "WebRL")), detects=0.046, matters=0.06)
    question = "WebRL's curriculum, its rivals and their ceiling where 64 lakes are all there is to learn from"
    return Experiment(NAME, question, once + over_seeds(conditions, SEEDS), claims, plan=plan)


def sweep() -> Experiment:
    """Four values of each method's own parameter, on the dev split."""
    conditions = {
        f"{method}, {name} {value:.2g}": chain(
            SCARCE, algorithm, {**own, name: value, "eval_split": "dev", "eval_modes": ["sampled"]}
        )
        for method, (algorithm, own, name, values) in METHODS.items()
        for value in values
    }
    question = "Rates, and AWR's beta, for scarce tasks: four values for each method on the dev split"
    return Experiment(SWEEP, question, over_seeds(conditions, SWEEP_SEEDS))

"""How long every kind of cell trains, and the options all cells share: all constants of the experiments in one place.

Sized so that a cell with its imitation start takes six to eight minutes on one core of a recent x86 processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEEDS = (0, 1, 2)
ONE_SEED = (0,)  # of the large tables, one factor at a time


@dataclass(frozen=True)
class Budget:
    """What a cell may spend."""

    imitation_steps: int  # optimiser steps on 32 demonstrations
    mistakes: float  # share of the demonstrated turns that are random: imitation alone must leave room above it
    iterations: int
    episodes: int  # of an iteration
    evaluations: int = 4  # besides the one before the first iteration
    eval_episodes: int = 300  # each sampled and greedy
    imitation_lr: float = 1e-3
    lr: float = 2e-4


# Replies that reason cost three to five times the tokens: fewer episodes, and fewer and smaller evaluations.
BUDGETS = {
    "frozenlake": Budget(imitation_steps=240, mistakes=0.5, iterations=32, episodes=192),
    "sokoban": Budget(imitation_steps=300, mistakes=0.4, iterations=28, episodes=128),
    "frozenlake-reasoning": Budget(160, mistakes=0.5, iterations=16, episodes=128, evaluations=2, eval_episodes=256),
    "sokoban-reasoning": Budget(160, mistakes=0.4, iterations=20, episodes=128, evaluations=2, eval_episodes=256),
    "frozenlake-visual": Budget(imitation_steps=300, mistakes=0.4, iterations=24, episodes=128),
    "sokoban-visual": Budget(imitation_steps=300, mistakes=0.3, iterations=20, episodes=128),
}

# The longest truthful reply has so many tokens (with some to spare); one that is cut cannot keep to its form.
REPLY_TOKENS = {"": 16, "no_think": 16, "free_think": 24, "grounding": 56, "worldmodeling": 56}
REPLY_TOKENS_BOTH = {"natural": 80, "symbolic": 116, "structured": 96}  # grounding_worldmodeling

COMMON: dict[str, Any] = {
    "device": "cpu",
    "threads": 1,
    "num_envs": 128,
    "token_budget": 8192,
    "save_every": 4,
    "keep": 1,
    "report": False,
}
IMITATION: dict[str, Any] = {
    "steps_per_iteration": 20,
    "batch_size": 32,
    "demonstrations": 3000,
    "schedule": "cosine",
    "save_trajectories": 0,
}
REINFORCEMENT: dict[str, Any] = {
    "reward_scale": 0.1,
    "kl_coef": 0.0,
    "critic": "shared",
    "critic_lr": 1e-3,
    "critic_coef": 0.5,
    "minibatches": 4,
    "save_trajectories": 4,
}


def imitation_options(budget: Budget) -> dict[str, Any]:
    """Of the start that cells share."""
    steps = IMITATION["steps_per_iteration"]
    return {
        **COMMON,
        **IMITATION,
        "iterations": max(1, budget.imitation_steps // steps),
        "mistakes": budget.mistakes,
        "lr": budget.imitation_lr,
    }


def reinforcement_options(budget: Budget) -> dict[str, Any]:
    """Of the run that is measured."""
    return {
        **COMMON,
        **REINFORCEMENT,
        "iterations": budget.iterations,
        "episodes": budget.episodes,
        "lr": budget.lr,
        "eval_every": max(1, budget.iterations // budget.evaluations),
        "eval_episodes": budget.eval_episodes,
    }


def reply_tokens(strategy: str, representation: str) -> int:
    """The longest reply a strategy needs."""
    return REPLY_TOKENS[strategy] if strategy in REPLY_TOKENS else REPLY_TOKENS_BOTH[representation]

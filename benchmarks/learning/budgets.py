"""How long every kind of cell trains, and the options all cells share: all constants of the experiments in one place.

Sized so that a cell takes three to five minutes on one core of a recent x86 processor, and its imitation start as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEEDS = (0, 1, 2)
ONE_SEED = (0,)  # of the large tables, one factor at a time


@dataclass(frozen=True)
class Budget:
    """What a cell may spend."""

    imitation_steps: int  # optimiser steps on 128 rows
    mistake_rate: float  # share of the demonstrated turns that are hasty: imitation alone must leave room above it
    iterations: int
    episodes: int  # of an iteration
    evaluations: int = 4  # besides the one before the first iteration
    eval_episodes: int = 500  # each sampled and greedy
    imitation_lr: float = 0.02
    lr: float = 3e-4


# Replies that reason cost three to five times the tokens: fewer episodes, and fewer evaluations.
BUDGETS = {
    "frozenlake": Budget(imitation_steps=500, mistake_rate=0.5, iterations=40, episodes=384),
    "sokoban": Budget(imitation_steps=600, mistake_rate=0.4, iterations=40, episodes=384),
    "frozenlake-reasoning": Budget(500, mistake_rate=0.5, iterations=30, episodes=256, evaluations=2),
    "sokoban-reasoning": Budget(600, mistake_rate=0.4, iterations=30, episodes=256, evaluations=2),
    "frozenlake-visual": Budget(imitation_steps=600, mistake_rate=0.4, iterations=40, episodes=256),
    "sokoban-visual": Budget(imitation_steps=600, mistake_rate=0.4, iterations=40, episodes=256),
    # Boards of more tiles and episodes of up to ten turns: twice the time of the others.
    "frozenlake-long": Budget(1200, mistake_rate=0.3, iterations=40, episodes=256, evaluations=2, eval_episodes=300),
    "sokoban-long": Budget(1000, mistake_rate=0.3, iterations=40, episodes=256, evaluations=2, eval_episodes=300),
    # For SmolLM2 on a GPU. A page of the shop has 500 tokens, an episode four to five turns.
    "webshop": Budget(200, 0.5, iterations=12, episodes=192, evaluations=1, imitation_lr=2e-4, lr=2e-5),
    "smollm2": Budget(300, 0.5, iterations=24, episodes=1024, evaluations=3, imitation_lr=2e-4, lr=2e-5),
    # One move a turn with full reasoning: six turns of sixty tokens. A run takes about seven minutes; the start is
    # measured once, by imitation, and not again by each run.
    "one-move": Budget(1000, mistake_rate=0.25, iterations=20, episodes=64, evaluations=1, eval_episodes=200, lr=1e-3),
    # A tiny vision-language model that reasons about small rooms: sixty tokens a reply. Imitation wants a GPU.
    "sokoban-seen": Budget(600, 0.4, iterations=15, episodes=96, evaluations=1, eval_episodes=200, lr=5e-4),
    # Errands and questions in words: up to twelve turns of 300 tokens, or five of 250, some minutes a run on a GPU. To
    # read names off a page and write them down takes a small model thousands of steps. A real model plays longer tasks.
    "homes": Budget(3000, 0.3, iterations=30, episodes=128, evaluations=2, eval_episodes=200, lr=5e-4),
    "questions": Budget(6000, 0.1, iterations=30, episodes=256, evaluations=2, eval_episodes=250, lr=5e-4),
    "homes-smollm2": Budget(
        100, 0.3, iterations=40, episodes=256, evaluations=2, eval_episodes=300, imitation_lr=2e-4, lr=2e-5
    ),
    "questions-smollm2": Budget(
        150, 0.1, iterations=40, episodes=256, evaluations=2, eval_episodes=300, imitation_lr=2e-4, lr=2e-5
    ),
    # So little imitation that nearly no episode succeeds: what pays then is the form of the reply.
    "farming": Budget(imitation_steps=60, mistake_rate=0.5, iterations=60, episodes=256, evaluations=4),
}

# The tokens of the longest truthful reply (with some to spare); one that is cut cannot keep to its form.
REPLY_TOKENS = {"": 8, "no_think": 16, "free_think": 24, "grounding": 56, "worldmodeling": 56}
REPLY_TOKENS_BOTH = {"natural": 80, "symbolic": 116, "structured": 96}  # grounding_worldmodeling

COMMON: dict[str, Any] = {
    "device": "auto",
    "dtype": "float32",
    "threads": 1,
    "num_envs": 256,
    "token_budget": 16384,
    "save_every": 10,
    "save_total_limit": 1,
    "report": False,
}
IMITATION: dict[str, Any] = {
    "steps_per_iteration": 100,
    "batch_size": 128,
    "demonstrations": 12000,
    "optimiser": "muon",
    "mistake_kind": "hasty",
    "schedule": "linear",
    "warmup": 30,
    "eval_every": 1000,  # at the beginning and at the end
    "eval_episodes": 500,
    "save_trajectories": 0,
}
REINFORCEMENT: dict[str, Any] = {
    "reward_scale": 0.1,
    "kl_coef": 0.0,
    "critic": "shared",
    "critic_lr": 1e-3,
    "critic_coef": 0.1,
    "minibatches": 2,
    "save_trajectories": 4,
}


def imitation_options(budget: Budget) -> dict[str, Any]:
    """Of the start that cells share."""
    steps = IMITATION["steps_per_iteration"]
    return {
        **COMMON,
        **IMITATION,
        "iterations": max(1, budget.imitation_steps // steps),
        "steps_per_iteration": min(steps, budget.imitation_steps),
        "mistake_rate": budget.mistake_rate,
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

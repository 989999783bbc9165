"""The chains of runs that the experiments are made of: imitation, then reinforcement learning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.budgets import BUDGETS, imitation_options, reinforcement_options, reply_tokens

LAKE, SOKOBAN, SHOP = "agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Text-v0", "agentrl/WebShop-Text-v0"
VAGEN, STEPPO = "VAGEN", "StepPO"  # papers that claims are taken from

MASKED = {"variant": "masked"}
BILEVEL = {"variant": "bilevel", "form": "paper"}
# What a hundred million weights need otherwise than a tiny model; nothing is kept on the way, it is large.
SMOLLM2 = {"model": "smollm2", "dtype": "auto", "optimiser": "adamw", "save_every": 1000}
NO_CRITIC = {"critic": None, "critic_lr": None, "critic_coef": None}


def stages(
    env: str,
    algorithm: str,
    options: dict[str, Any],
    *,
    budget: str,
    strategy: str = "",
    representation: str = "natural",
    judge: str = "",
    prompt_style: str = "conversation",
    imitation: Mapping[str, Any] | None = None,
    **more: Any,
) -> tuple[Stage, Stage]:
    """Imitation in the same environment and form of reply (without a judge: imitation has no rewards), then RL.

    `imitation` holds options of the first run alone, `more` options of both.
    """
    task = {
        "env": [env],
        "strategy": strategy,
        "representation": representation,
        "prompt_style": prompt_style,
        "max_new_tokens": reply_tokens(strategy, representation),
        **more,
    }
    sized = BUDGETS[budget]
    return (
        Stage("sft", {**imitation_options(sized), **task, **(imitation or {})}),
        Stage(algorithm, {**reinforcement_options(sized), **task, "judge": judge, **options}),
    )


def without_nothing(chain: tuple[Stage, Stage]) -> tuple[Stage, ...]:
    """Options set to None are options that the algorithm does not have."""
    return tuple(
        Stage(stage.algorithm, {name: value for name, value in stage.options.items() if value is not None})
        for stage in chain
    )


def spoken(env: str) -> str:
    """`FrozenLake-Text` of an id."""
    return env.removeprefix("agentrl/").removesuffix("-v0")

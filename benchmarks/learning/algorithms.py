"""Every algorithm on the same task, with the same model, start and budget; four on longer tasks, three on a real model.

All with prompts that are rebuilt at each step, bare moves as replies, and the learning rate of the other experiments:
no algorithm was tuned. What an algorithm brings along of its own (clips, means, groups) is its paper's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.budgets import ONE_SEED, SEEDS
from benchmarks.learning.chains import (
    BILEVEL,
    LAKE,
    MASKED,
    NO_CRITIC,
    SMOLLM2,
    STEPPO,
    VAGEN,
    spoken,
    stages,
    without_nothing,
)
from benchmarks.learning.experiment import Claim, Experiment, over_seeds

GROUP = {"group_size": 8, **NO_CRITIC}
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "PPO, masked": ("ppo", MASKED),
    "PPO, bi-level": ("ppo", BILEVEL),
    "turn PPO": ("ppo", {"variant": "turn"}),
    "StepPO": ("steppo", {}),
    "GRPO": ("grpo", {**GROUP, "loss_mean": "sequence"}),
    "Dr. GRPO": ("grpo", {**GROUP, "baseline": "dr_grpo", "loss_mean": "constant"}),
    "DAPO": ("grpo", {**GROUP, "clip_high": 0.28, "dynamic_sampling_rounds": 2, "overlong": "filter"}),
    "RLOO": ("rloo", GROUP),
    "Reinforce++": ("reinforce_pp", NO_CRITIC),
    "Reinforce++ baseline": ("reinforce_pp", {**GROUP, "baseline": True}),
    "GSPO": ("gspo", GROUP),
    "GiGPO": ("gigpo", GROUP),
}
LONG = ("PPO, masked", "StepPO", "GRPO", "GiGPO")
# The longest tasks of the grids: a lake of four times the area, two boxes; two moves a turn, so that turns are many.
LONG_TASKS = {
    "lake": {"size": 8, "max_turns": 10, "max_actions_per_turn": 2},
    "boxes": {"boxes": 2, "max_turns": 10, "max_actions_per_turn": 2},
}
# The papers' limits, and batches of a GPU's size.
REAL: dict[str, Any] = {
    **SMOLLM2,
    "env_kwargs": json.dumps({"max_turns": 3, "max_actions_per_turn": 3}),
    "max_new_tokens": 12,
    "num_envs": 1024,
    "generation_batch_size": 1024,
    "token_budget": 65_536,
}


def chain(
    env: str, label: str, budget: str, options: Mapping[str, Any] | None = None, **more: Any
) -> tuple[Stage, ...]:
    """Imitation, then the algorithm of this label, with `options` of its own where given."""
    algorithm, own = ALGORITHMS[label]
    task: dict[str, Any] = {"budget": budget, "prompt_style": "step", "history": 0, **more}
    return without_nothing(stages(env, algorithm, {**own, **(options or {})}, **task))


def algorithms(name: str, env: str, budget: str) -> Experiment:
    """Which algorithm gets how far?"""
    conditions = {label: chain(env, label, budget) for label in ALGORITHMS}
    claims = (
        Claim("PPO, bi-level", "PPO, masked", VAGEN),
        Claim("StepPO", "PPO, masked", STEPPO),
        Claim("StepPO", "GRPO", STEPPO),
        Claim("StepPO", "GiGPO", STEPPO),
        Claim("DAPO", "GRPO", "DAPO"),
        Claim("GiGPO", "GRPO", "GiGPO"),
    )
    question = (
        f"Every algorithm on {spoken(env)} with the same start and budget; DAPO plays further tasks in place of groups "
        "that earned the same, so it sees more episodes"
    )
    return Experiment(name, question, over_seeds(conditions, SEEDS), claims)


def long_tasks(name: str, env: str, budget: str) -> Experiment:
    """Does credit for single steps pay where episodes are long?"""
    task = LONG_TASKS["lake" if env == LAKE else "boxes"]
    # Random mistakes blur single steps, which is what credit for steps should sharpen; 3,000 episodes from a hasty
    # start moved no algorithm.
    more: dict[str, Any] = {"env_kwargs": json.dumps(task), "imitation": {"mistake_kind": "random"}}
    conditions = {label: chain(env, label, budget, **more) for label in LONG}
    claims = tuple(
        Claim(higher, lower, source)
        for higher, source in (("StepPO", STEPPO), ("GiGPO", "GiGPO"))
        for lower in ("GRPO", "PPO, masked")
    )
    board = "an 8 x 8 lake" if env == LAKE else "Sokoban with two boxes"
    question = f"Credit for steps (StepPO, GiGPO) against GRPO and PPO on {board}, two moves a turn and ten turns"
    return Experiment(name, question, over_seeds(conditions, SEEDS), claims)


def deviation(name: str, env: str, budget: str) -> Experiment:
    """Is it the division by the deviation that holds GiGPO back where every move costs a little?"""
    conditions = {
        "GiGPO, mean and deviation": chain(env, "GiGPO", budget),
        "GiGPO, mean": chain(env, "GiGPO", budget, {"normalise": "mean"}),
        "GRPO": chain(env, "GRPO", budget),
    }
    question = f"GiGPO's leads divided by their deviation, and not, on {spoken(env)}, where every move costs a little"
    return Experiment(name, question, over_seeds(conditions, SEEDS))


def states(name: str, env: str, budget: str) -> Experiment:
    """The question of `deviation` again, with steps compared that began in the same state."""
    by_state = {"anchors": "state", "zero_variance_by": "outcome"}
    conditions = {
        "GiGPO by state, mean and deviation": chain(env, "GiGPO", budget, by_state),
        "GiGPO by state, mean": chain(env, "GiGPO", budget, {**by_state, "normalise": "mean"}),
        "GiGPO by observation, mean and deviation": chain(env, "GiGPO", budget),
        "GRPO": chain(env, "GRPO", budget),
    }
    question = f"GiGPO with steps compared by state and by observation on {spoken(env)}, with the deviation and without"
    return Experiment(name, question, over_seeds(conditions, SEEDS))


def real_model() -> Experiment:
    """Do the orderings of tiny models hold for one that has read a language?"""
    labels = ("StepPO", "PPO, bi-level", "GRPO")
    conditions = {label: chain(LAKE, label, "smollm2", **REAL) for label in labels}
    claims = tuple(Claim("StepPO", lower, STEPPO) for lower in labels[1:])
    question = f"The real SmolLM2-135M on {spoken(LAKE)} (on a GPU): StepPO, bi-level PPO and GRPO from the same start"
    return Experiment("smollm2-algorithms", question, over_seeds(conditions, ONE_SEED), claims)

"""StepPO's own tasks of words: errands in homes and questions of several hops, as its appendix has them.

Prompts are rebuilt at every step, from the actions so far and what is seen now. A tiny model that has words for these
worlds learns on a GPU in minutes, SmolLM2 in hours. Imitation must leave something to practise, and must not know the
tasks of reinforcement by heart. So the errands of the tiny model are demonstrated by a player that searches where the
oracle would know, and its questions in other encyclopaedias, with other names. Evaluations keep how many steps each
task takes at least (`golden_steps`), as the paper's analysis of difficulty has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.learning.budgets import BUDGETS, SEEDS
from benchmarks.learning.chains import NO_CRITIC, SMOLLM2, STEPPO, spoken, stages, without_nothing
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.separating import CRITIC
from benchmarks.learning.tuned import tuned

# What a policy may spend on a task: tiny models play short errands, and read one page of one search a turn.
SHORT = ["pick_and_place_simple", "look_at_obj_in_light"]  # three to six commands
HOMES = ("agentrl/ALFWorld-Text-v0", {"max_turns": 12, "families": SHORT})
TWO_PAGES = {"pages": 20_000, "world_seed": 0, "hops": [2], "hits": 1, "max_actions_per_turn": 1}
QUESTIONS = ("agentrl/MultiHopQA-Text-v0", TWO_PAGES)
IMITATED_WORLDS = range(1, 9)  # seeds of encyclopaedias, a thousand questions of two pages in each
# As in the paper: all six families and 20 commands; the pages of each turn stay in sight.
ALL_HOMES = ("agentrl/ALFWorld-Text-v0", {"max_turns": 20})
ALL_QUESTIONS = ("agentrl/MultiHopQA-Text-v0", {"keep_passages": True})
TINY: dict[str, Any] = {"model": "tiny-words", "token_budget": 32_768}
REAL: dict[str, Any] = {**SMOLLM2, "num_envs": 256, "generation_batch_size": 256, "token_budget": 32_768}
IMITATION: dict[str, Any] = {"mistake_kind": "random", "batch_size": 32, "eval_at_start": False}
SEARCHING: dict[str, Any] = {"player": "alfworld-search", "demonstrations": 3000, "batch_size": 64}
READING: dict[str, Any] = {"demonstrations": 8000, "batch_size": 64}
LEARNING: dict[str, Any] = {
    "schedule": "linear",
    "minibatches": 4,
    "reward_scale": 1.0,
    "eval_at_start": False,
    "old_logprobs": "auto",
    "correction": "auto",
    "save_every": 5,
}
GAMMA = 0.99
GROUP = {"group_size": 8, "zero_variance_by": "outcome", "loss_mean": "token", **NO_CRITIC}
# Clips and lambda of the first two are the best of `one-move-clips`, on the lake.
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "StepPO": ("steppo", {**CRITIC, "gamma": GAMMA, **tuned("StepPO")}),
    "token PPO": ("ppo", {**CRITIC, "variant": "masked", "reward_at": "turn", "gamma": GAMMA, **tuned("token PPO")}),
    "GRPO": ("grpo", GROUP),
    "GiGPO": ("gigpo", {**GROUP, "anchors": "observation", "gamma": 0.95, "loss_mean": None}),
}


def of_words(
    name: str,
    task: tuple[str, dict[str, Any]],
    budget: str,
    seeds: Sequence[int],
    *,
    tokens: int,
    imitation: Mapping[str, Any],
) -> Experiment:
    """The paper's algorithm and three that it is compared with, in one of these worlds."""
    env, arguments = task
    shared: dict[str, Any] = {
        **(REAL if "smollm2" in budget else TINY),
        "env_kwargs": json.dumps(arguments),
        "prompt_style": "step",
        "history": arguments.get("max_turns", 5),
        "max_new_tokens": tokens,
        "imitation": {**IMITATION, "eval_episodes": BUDGETS[budget].eval_episodes, **imitation},
    }
    conditions = {
        label: without_nothing(stages(env, algorithm, {**LEARNING, **own}, budget=budget, **shared))
        for label, (algorithm, own) in ALGORITHMS.items()
    }
    claims = tuple(Claim("StepPO", lower, STEPPO) for lower in ALGORITHMS if lower != "StepPO")
    model = shared["model"]
    question = f"StepPO, token PPO, GRPO and GiGPO from the same imitation on {spoken(env)} with {model}"
    return Experiment(name, question, over_seeds(conditions, seeds), claims, golden=True)


def in_other_worlds(task: tuple[str, dict[str, Any]], worlds: Sequence[int]) -> dict[str, Any]:
    """Options of an imitation in other encyclopaedias than that of the task, in which it is measured."""
    env, arguments = task
    first, *others = worlds
    return {
        "env": [env, *({"id": env, "kwargs": {"world_seed": world}} for world in others)],
        "env_kwargs": json.dumps({**arguments, "world_seed": first}),
        "eval_env_kwargs": {"world_seed": arguments["world_seed"]},
    }


def texts() -> tuple[Experiment, ...]:
    """Two worlds, a tiny model and a real one."""
    elsewhere = {**READING, **in_other_worlds(QUESTIONS, IMITATED_WORLDS)}
    few = {"demonstrations": 1500}
    return (
        of_words("alfworld", HOMES, "homes", SEEDS, tokens=10, imitation=SEARCHING),
        of_words("multihop", QUESTIONS, "questions", SEEDS, tokens=48, imitation=elsewhere),
        of_words("smollm2-alfworld", ALL_HOMES, "homes-smollm2", SEEDS[:2], tokens=24, imitation=few),
        of_words("smollm2-multihop", ALL_QUESTIONS, "questions-smollm2", SEEDS[:2], tokens=96, imitation=few),
    )

"""The experiments: what differs between the cells of each, and what the papers say about it."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.learning.algorithms import algorithms, deviation, long_tasks, real_model, states
from benchmarks.learning.budgets import ONE_SEED, SEEDS
from benchmarks.learning.chains import (
    BILEVEL,
    LAKE,
    MASKED,
    NO_CRITIC,
    SHOP,
    SMOLLM2,
    SOKOBAN,
    STEPPO,
    VAGEN,
    spoken,
    stages,
    without_nothing,
)
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.scarce import METHODS, SWEEP, scarce, sweep
from benchmarks.learning.scarce_web import scarce_web, starts
from benchmarks.learning.separating import CRITIC, ESTIMATORS, LEARNING, separating
from benchmarks.learning.texts import texts
from benchmarks.learning.webrl import webrl

LAKE_SEEN, SOKOBAN_SEEN = "agentrl/FrozenLake-Visual-v0", "agentrl/Sokoban-Visual-v0"
BOTH = "grounding_worldmodeling"
TOKEN_PPO = {"variant": "masked", "reward_at": "turn"}
SHOPPING: dict[str, Any] = {
    # Tiny models learn the 10,587 goals by heart and buy nothing that fits on others; this one can read and copy.
    **SMOLLM2,
    # Goals grow with the catalogue: 1,000 products have 78 to train on and 21 to test on, these 10,587 and 500.
    "env_kwargs": json.dumps({"catalogue_size": 100_000}),
    "prompt_style": "step",
    "history": 3,  # a page does not say which options are chosen
    "max_new_tokens": 32,
    "num_envs": 192,
    "imitation": {"demonstrations": 3000, "batch_size": 64, "eval_at_start": False, "eval_episodes": 100},
}
STRATEGIES = ("no_think", "free_think", "grounding", "worldmodeling", BOTH)


def masked_vanilla() -> Experiment:
    """Does it matter that observation tokens are left out of the loss?"""
    task: dict[str, Any] = {"budget": "frozenlake"}
    conditions = {
        "masked": stages(LAKE, "ppo", MASKED, **task),
        "vanilla": stages(LAKE, "ppo", {"variant": "vanilla"}, **task),
    }
    question = "PPO on FrozenLake with the observation tokens masked, and with them treated as actions (vanilla)"
    return Experiment("masked-vanilla", question, over_seeds(conditions, SEEDS), (Claim("masked", "vanilla", VAGEN),))


def bilevel() -> Experiment:
    """Which estimator makes the most of a reward for true reasoning?"""
    variants = {
        "bilevel (paper)": BILEVEL,
        "bilevel (released)": {"variant": "bilevel", "form": "released"},
        "masked token GAE": MASKED,
        "turn PPO": {"variant": "turn"},
    }
    task: dict[str, Any] = {"budget": "sokoban-reasoning", "strategy": BOTH, "judge": "rule"}
    conditions = {label: stages(SOKOBAN, "ppo", options, **task) for label, options in variants.items()}
    rest = ("masked token GAE", "turn PPO")
    claims = tuple(Claim(form, other, VAGEN) for form in ("bilevel (paper)", "bilevel (released)") for other in rest)
    question = "Four ways to give credit on Sokoban, with the rule judge's reward for true observations and predictions"
    return Experiment("bilevel", question, over_seeds(conditions, SEEDS), claims)


def steppo(name: str, env: str, budget: str) -> Experiment:
    """Steps or tokens as the unit of credit, at two discounts; and StepPO without its parts."""
    settings: dict[str, tuple[str, dict[str, Any]]] = {
        "StepPO, gamma 0.99": ("steppo", {"gamma": 0.99}),
        "token PPO, gamma 0.99": ("ppo", {**TOKEN_PPO, "gamma": 0.99}),
        "StepPO, gamma 0.95": ("steppo", {"gamma": 0.95}),
        "token PPO, gamma 0.95": ("ppo", {**TOKEN_PPO, "gamma": 0.95}),
        "without step GAE": ("steppo", {"gamma": 0.99, "step_gae": False}),
        "without step ratio": ("steppo", {"gamma": 0.99, "step_ratio": False}),
        "without both": ("steppo", {"gamma": 0.99, "step_gae": False, "step_ratio": False}),
    }
    task: dict[str, Any] = {"budget": budget, "strategy": "free_think", "prompt_style": "step", "history": 0}
    conditions = {label: stages(env, algorithm, given, **task) for label, (algorithm, given) in settings.items()}
    full = "StepPO, gamma 0.99"
    claims = [Claim(f"StepPO, gamma {g}", f"token PPO, gamma {g}", STEPPO) for g in ("0.99", "0.95")]
    claims += [Claim(full, f"without {part}", STEPPO) for part in ("step GAE", "step ratio", "both")]
    question = f"StepPO against token PPO on {spoken(env)} at two discounts, and StepPO's ablations"
    return Experiment(name, question, over_seeds(conditions, SEEDS), tuple(claims))


def steppo_webshop() -> Experiment:
    """The paper's own task: shopping, with steps or tokens as the unit of credit."""
    settings: dict[str, tuple[str, dict[str, Any]]] = {
        f"{label}, gamma {gamma}": (algorithm, {**options, "gamma": gamma})
        for gamma in (0.99, 0.95)
        for label, algorithm, options in (("StepPO", "steppo", {}), ("token PPO", "ppo", TOKEN_PPO))
    }
    conditions = {
        label: stages(SHOP, algorithm, {**given, "reward_scale": 1.0, "minibatches": 4}, budget="webshop", **SHOPPING)
        for label, (algorithm, given) in settings.items()
    }
    claims = [Claim(f"StepPO, gamma {g}", f"token PPO, gamma {g}", STEPPO) for g in (0.99, 0.95)]
    question = "StepPO against token PPO on WebShop-Text (100,000 generated products, unseen goals) at two discounts"
    return Experiment("steppo-webshop", question, over_seeds(conditions, SEEDS[:2]), tuple(claims), graded=True)


def strategies(name: str, env: str, budget: str) -> Experiment:
    """What to write before acting, and how; one factor at a time around both kinds of reasoning in plain sentences."""
    forms = [(strategy, "natural") for strategy in STRATEGIES] + [(BOTH, "symbolic"), (BOTH, "structured")]
    conditions = {
        form_label(*form): stages(env, "ppo", MASKED, budget=budget, strategy=form[0], representation=form[1])
        for form in forms
    }
    middle = form_label(BOTH, "natural")
    claims = tuple(Claim(middle, label, VAGEN) for label in conditions if label != middle)
    question = f"Five reasoning strategies and three ways to write states on {spoken(env)}; task and format reward"
    return Experiment(name, question, over_seeds(conditions, ONE_SEED), claims)


def base_full(name: str, env: str, budget: str) -> Experiment:
    """What the reasoning reward and bi-level credit add together."""
    task: dict[str, Any] = {"budget": budget, "strategy": BOTH}
    conditions = {
        "base": stages(env, "ppo", MASKED, **task),
        "full": stages(env, "ppo", BILEVEL, judge="rule", **task),
    }
    question = f"Base (task and format reward, token GAE) against full (reasoning reward, bi-level) on {spoken(env)}"
    return Experiment(name, question, over_seeds(conditions, SEEDS), (Claim("full", "base", VAGEN),))


def vlm() -> Experiment:
    """Can a tiny vision-language model learn from pictures alone?"""
    conditions = {
        spoken(env): stages(
            env,
            "ppo",
            MASKED,
            budget=budget,
            prompt_style="step",
            history=0,
            model="tiny-vlm",
            env_kwargs=json.dumps({"image_size": pixels}),
        )
        # One picture token of this model covers 32 x 32 pixels: here exactly one cell of the board.
        for env, budget, pixels in ((LAKE_SEEN, "frozenlake-visual", 128), (SOKOBAN_SEEN, "sokoban-visual", 192))
    }
    question = "A tiny vision-language model that sees pictures only: imitation, then RL"
    return Experiment("vlm", question, over_seeds(conditions, SEEDS))


def reasoning_visual() -> Experiment:
    """Does a reward for true descriptions help a model that has to see what it describes?

    `benchmarks.learning.seeing` says how true they are, beside descriptions of other pictures.
    """
    task: dict[str, Any] = {
        "budget": "sokoban-seen",
        "strategy": BOTH,
        "prompt_style": "step",
        "history": 0,
        "format_rule": "effective",
        "model": "tiny-vlm",
        # One picture token of this model covers 32 x 32 pixels: one cell of a room of 5 x 5.
        "env_kwargs": json.dumps({"size": 5, "image_size": 160}),
        "imitation": {"demonstrations": 8000, "eval_at_start": False, "eval_episodes": 200},
    }
    learning = {**LEARNING, **CRITIC, **ESTIMATORS["turn PPO"], "device": "auto"}  # pictures are slow on processors
    conditions = {
        label: stages(SOKOBAN_SEEN, "ppo", learning, judge=judge, **task)
        for label, judge in (("task and format", ""), ("with reasoning reward", "rule"))
    }
    question = "The reward for true observations and predictions on Sokoban in pictures, tiny vision-language model"
    claims = (Claim("with reasoning reward", "task and format", VAGEN),)
    return Experiment("reasoning-visual", question, over_seeds(conditions, range(8)), claims)


def farming() -> Experiment:
    """What does a policy learn that nearly never succeeds, and is paid for its form?"""
    task: dict[str, Any] = {"budget": "farming", "strategy": "no_think", "prompt_style": "step", "history": 0}
    group = {"group_size": 8, **NO_CRITIC}
    conditions = {
        "from almost nothing": without_nothing(stages(LAKE, "grpo", group, **task)),
        "from imitation": without_nothing(stages(LAKE, "grpo", group, **{**task, "budget": "frozenlake"})),
    }
    question = "GRPO with a reward for the form of replies, from a start that nearly never succeeds and a better one"
    return Experiment("farming", question, over_seeds(conditions, ONE_SEED))


def form_label(strategy: str, representation: str) -> str:
    """`grounding_worldmodeling, symbolic`."""
    return f"{strategy}, {representation}" if strategy == BOTH else strategy


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        masked_vanilla(),
        bilevel(),
        steppo("steppo", LAKE, "frozenlake"),
        steppo("steppo-sokoban", SOKOBAN, "sokoban"),
        steppo_webshop(),
        strategies("strategies-frozenlake", LAKE, "frozenlake-reasoning"),
        strategies("strategies-sokoban", SOKOBAN, "sokoban-reasoning"),
        base_full("base-full-frozenlake", LAKE, "frozenlake-reasoning"),
        base_full("base-full-sokoban", SOKOBAN, "sokoban-reasoning"),
        vlm(),
        reasoning_visual(),
        farming(),
        algorithms("algorithms-frozenlake", LAKE, "frozenlake"),
        algorithms("algorithms-sokoban", SOKOBAN, "sokoban"),
        long_tasks("long-tasks-frozenlake", LAKE, "frozenlake-long"),
        long_tasks("long-tasks-sokoban", SOKOBAN, "sokoban-long"),
        deviation("gigpo-deviation", SOKOBAN, "sokoban"),
        states("gigpo-states", SOKOBAN, "sokoban"),
        real_model(),
        *separating(),
        *webrl(),
        sweep(),
        scarce(),
        starts(),
        scarce_web(),
        *texts(),
    )
}
SWEEPS = {  # which options of which method are chosen by the results of an experiment
    SWEEP: {method: (name,) for method, (_, _, name, _) in METHODS.items()},
    "one-move-clips": dict.fromkeys(("StepPO", "token PPO"), ("clip_low", "clip_high", "lam")),
}

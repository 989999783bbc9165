"""Comparisons on a task that can tell: many turns, long replies, rewards on the way, and a lambda below 1.

One move a turn and full reasoning on the usual lake: about six turns of sixty tokens. With the defaults of the papers
(lambda 1, token discount 1) and short replies, estimators agree to 0.99 and nothing can be told (`separation`); here
they do not, and each experiment checks that on its own start before it is run.

All cells of an experiment share the start, the budget and every option that is not asked about. Clips and lambda of
StepPO and of token PPO beside it are the best of `one-move-clips` (`tuned.json`); elsewhere GAE's lambda is 0.95. The
start imitates demonstrations in which one of four moves is random.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.chains import LAKE, NO_CRITIC, STEPPO, VAGEN, stages, without_nothing
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.tuned import tuned

BOTH = "grounding_worldmodeling"
SEEDS = (0, 1, 2, 3, 4)
LAMBDA = 0.95
GENTLE = 5e-4  # learning rate; with 1e-3 no condition kept its greedy play
# Low and high end of the clip, and lambda.
STEP_CLIPS = ((0.2, 0.2, LAMBDA), (0.03, 0.04, LAMBDA), (0.01, 0.013, LAMBDA), (0.03, 0.04, 1.0))
TOKEN_CLIPS = ((0.2, 0.2, LAMBDA), (0.1, 0.1, LAMBDA), (0.05, 0.05, LAMBDA), (0.2, 0.2, 1.0))
TASK: dict[str, Any] = {
    "env_kwargs": json.dumps({"max_turns": 10, "max_actions_per_turn": 1}),
    "strategy": BOTH,
    "prompt_style": "step",
    "history": 0,
    "format_rule": "effective",
}
IMITATION: dict[str, Any] = {"mistake_kind": "random", "demonstrations": 4000, "batch_size": 64, "eval_episodes": 200}
IMITATION |= {"eval_at_start": False}
# Options that records of earlier experiments do not name are read as they were meant then, so all are named here.
LEARNING: dict[str, Any] = {
    "device": "cpu",
    "schedule": "linear",
    "minibatches": 4,
    "eval_at_start": False,
    "old_logprobs": "auto",
    "correction": "auto",
    "save_every": 5,
}
CRITIC: dict[str, Any] = {
    "critic": "shared",
    "critic_init": "mean",
    "critic_head_lr": 1e-2,
    "critic_epochs": 1,
}
GROUP: dict[str, Any] = {
    "lr": GENTLE,
    "group_size": 8,
    "zero_variance_by": "outcome",
    "loss_mean": "token",
    **NO_CRITIC,
}
ESTIMATORS: dict[str, dict[str, Any]] = {
    "token PPO": {"variant": "masked", "reward_at": "turn", "gamma": 1.0, "lam": LAMBDA},
    "turn PPO": {"variant": "turn", "form": "paper", "turn_lam": LAMBDA},
    "bi-level PPO": {"variant": "bilevel", "form": "paper", "gamma": 1.0, "lam": LAMBDA, "turn_lam": LAMBDA},
}


def chain(
    algorithm: str, options: Mapping[str, Any], *, judge: str = "rule", imitation: Mapping[str, Any] | None = None
) -> tuple[Stage, ...]:
    """Imitation, then RL with the rule judge's reward for true descriptions unless another `judge` is named."""
    start = {**IMITATION, **(imitation or {})}
    return without_nothing(
        stages(LAKE, algorithm, {**LEARNING, **options}, budget="one-move", judge=judge, imitation=start, **TASK)
    )


def estimators() -> Experiment:
    """Tokens, turns, or both as the unit of credit; and steps, each with a ratio of its own."""
    conditions = {label: chain("ppo", {**CRITIC, "lr": GENTLE, **options}) for label, options in ESTIMATORS.items()}
    conditions["StepPO"] = of_steps("steppo", tuned("StepPO"))
    claims = tuple(Claim("bi-level PPO", lower, VAGEN) for lower in ("token PPO", "turn PPO"))
    claims += tuple(Claim("StepPO", lower, STEPPO) for lower in ("token PPO", "turn PPO"))
    question = "Credit by token, by turn, by both and by step where replies are long and turns are many"
    return Experiment("one-move-estimators", question, over_seeds(conditions, SEEDS), claims)


def of_steps(algorithm: str, options: Mapping[str, Any]) -> tuple[Stage, ...]:
    """StepPO, or what it is compared with."""
    return chain(algorithm, {**CRITIC, "gamma": 0.99, "lr": GENTLE, **options})


def steppo() -> Experiment:
    """Steps or tokens, and StepPO without its parts; without both it would be token PPO, to the bit.

    A ratio has the clip of its unit and lambda that of the unit of credit, as chosen on the dev split.
    """
    step, token = tuned("StepPO"), tuned("token PPO")
    settings: dict[str, tuple[str, dict[str, Any]]] = {
        "StepPO": ("steppo", step),
        "token PPO": ("ppo", {"variant": "masked", "reward_at": "turn", **token}),
        "without step GAE": ("steppo", {**step, "lam": token["lam"], "step_gae": False}),
        "without step ratio": ("steppo", {**token, "lam": step["lam"], "step_ratio": False}),
    }
    conditions = {label: of_steps(algorithm, own) for label, (algorithm, own) in settings.items()}
    claims = tuple(Claim("StepPO", lower, STEPPO) for lower in settings if lower != "StepPO")
    question = "StepPO, its ablations and token PPO at discount 0.99 where replies are long and turns are many"
    return Experiment("one-move-steppo", question, over_seeds(conditions, SEEDS), claims)


def clips() -> Experiment:
    """How far may a step's ratio move, and how far a token's? As many settings for each, on the dev split."""
    token = {"variant": "masked", "reward_at": "turn"}
    ways = {"StepPO": ("steppo", {}, STEP_CLIPS), "token PPO": ("ppo", token, TOKEN_CLIPS)}
    on_dev = {"eval_split": "dev", "eval_modes": ["sampled"], "eval_at_start": True}
    conditions = {
        f"{label}, clip {low:g} and {high:g}, lambda {lam:g}": of_steps(
            algorithm, {**own, "clip_low": low, "clip_high": high, "lam": lam, **on_dev}
        )
        for label, (algorithm, own, settings) in ways.items()
        for low, high, lam in settings
    }
    question = "The clip and lambda of StepPO and of token PPO on the dev split, four settings each"
    return Experiment("one-move-clips", question, over_seeds(conditions, SEEDS[:3]))


def gigpo() -> Experiment:
    """Does comparing single steps add to comparing trajectories?"""
    by_state = {"anchors": "state", "gamma": 0.95, "loss_mean": None}
    settings: dict[str, tuple[str, dict[str, Any]]] = {
        "GRPO": ("grpo", {}),
        "GiGPO": ("gigpo", by_state),
        "GiGPO, mean": ("gigpo", {**by_state, "normalise": "mean"}),
    }
    conditions = {label: chain(algorithm, {**GROUP, **own}) for label, (algorithm, own) in settings.items()}
    claims = tuple(Claim(higher, "GRPO", "GiGPO") for higher in ("GiGPO", "GiGPO, mean"))
    question = "GiGPO with steps compared by state, with the deviation and without, against GRPO, over many turns"
    return Experiment("one-move-gigpo", question, over_seeds(conditions, SEEDS[:3]), claims)


def full() -> Experiment:
    """Does a reward for true descriptions help a policy that describes wrongly?"""
    wrong = {"description_noise": 0.5}
    token, both = ({**CRITIC, "lr": GENTLE, **ESTIMATORS[label]} for label in ("token PPO", "bi-level PPO"))
    at_end = {**token, "reward_at": "end"}  # VAGEN-Base pays the whole reward at the end
    conditions = {
        "base": chain("ppo", at_end, judge="", imitation=wrong),
        "full": chain("ppo", both, imitation=wrong),
        "reasoning reward alone": chain("ppo", at_end, imitation=wrong),
        "bi-level alone": chain("ppo", both, judge="", imitation=wrong),
    }
    claims = tuple(Claim("full", lower, VAGEN) for lower in conditions if lower != "full")
    claims += (Claim("reasoning reward alone", "base", VAGEN), Claim("bi-level alone", "base", VAGEN))
    question = (
        "Full (reasoning reward, bi-level credit) against base (task and format reward, token credit) from a start "
        "whose descriptions were wrong in half of the demonstrated turns"
    )
    return Experiment("one-move-full", question, over_seeds(conditions, SEEDS[:3]), claims)


def separating() -> tuple[Experiment, ...]:
    """In the order in which they are to be run."""
    return (clips(), estimators(), steppo(), gigpo(), full())

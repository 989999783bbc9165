"""Scarce tasks on the sites: 48 tasks in two parts to practise on, others to be tested on, a start that knows parts.

SmolLM2-135M imitates single tasks: reading a page of the map, and two lasting changes on the code host. Then it sees a
few tasks in two parts, a change first and reading second, as else it would end every task after its first part. What is
left to learn is to do both: 48 such tasks are given, and 200 of the test split ask about other people and places. The
curriculum makes tasks out of those that failed: other tasks in two parts, and single ones ("easier").

How long the start imitates is chosen on the dev split (`webrl-starts-scarce-web`): it is to succeed at 0.05 to 0.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.budgets import ONE_SEED, SEEDS
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.scarce import GOOD_ACTIONS, NO_CURRICULUM
from benchmarks.learning.webrl_worlds import REAL, WEB, World, chain

NAME, STARTS = "webrl-scarce-web", "webrl-starts-scarce-web"
READING = ("map-postcode", "map-phone", "map-cuisine", "map-address", "map-open-page")
CHANGING = ("code-follow-user", "code-set-status")  # of the lasting changes those with the shortest pages
SITES = {
    "observation_mode": "compact",
    "action_format": "webarena",  # a reply has 5 to 20 tokens
    "templates": [*READING, *CHANGING],
    "max_turns": 14,  # the solutions of tasks in two parts have eight or nine
}
PRACTISED, TESTED, DEMONSTRATED = 48, 200, 12  # tasks in two parts; the demonstrated ones are among the practised
SCARCE_WEB = World(
    env=WEB,
    phases=3,
    tasks=96,
    task={
        **REAL.task,
        "env_kwargs": SITES,
        "history": 14,  # all past actions: they say which part is done
        "max_new_tokens": 32,
        "eval_episodes": TESTED,
        "eval_env_kwargs": {"joined": TESTED},
    },
    imitation={**REAL.imitation, "demonstrations": 640, "eval_modes": ["sampled"]},
    # Rows are long and the critic reads all episodes so far: one pass, and no more replay than play.
    learning={
        **REAL.learning,
        "env_kwargs": {**SITES, "joined": PRACTISED},
        "eval_at_start": False,
        "critic_epochs": 1,
        "replay_limit": 1.0,
        "token_budget": 8192,
    },
)
IN_TWO_PARTS = {"iterations": 1, "steps_per_iteration": 6, "lr": 1e-4, "warmup": 3}  # of imitation


def start(demonstrated: int = DEMONSTRATED, **options: Any) -> tuple[Stage, Stage]:
    """Imitation of single tasks, then of a few tasks in two parts."""
    (single,) = chain(SCARCE_WEB)
    measured = {name: SCARCE_WEB.task[name] for name in ("eval_episodes", "eval_env_kwargs")}
    given = {"env_kwargs": {**SITES, "joined": demonstrated}, "demonstrations": 2 * demonstrated, **IN_TWO_PARTS}
    own = {**measured, "eval_modes": ["sampled", "greedy"], **given, **options}
    return single, Stage("sft", {**single.options, **own})


def condition(algorithm: str, options: Mapping[str, Any]) -> tuple[Stage, ...]:
    """The start, then an algorithm."""
    return (*start(), chain(SCARCE_WEB, algorithm, options)[-1])


def scarce_web() -> Experiment:
    """Is a curriculum worth something where tasks in two parts are few?"""
    curriculum, digirl = "curriculum, good actions", "DigiRL"
    conditions = {
        curriculum: condition("webrl", GOOD_ACTIONS),
        digirl: condition("digirl", NO_CURRICULUM),
    }
    cells = over_seeds({"SFT": start()}, ONE_SEED) + over_seeds(conditions, SEEDS)
    question = f"WebRL's curriculum against DigiRL with SmolLM2 where there are {PRACTISED} web tasks in two parts"
    claims = tuple(Claim(curriculum, lower, "WebRL") for lower in (digirl, "SFT"))
    return Experiment(NAME, question, cells, claims)


def starts() -> Experiment:
    """How many tasks in two parts must be demonstrated, and how long imitated? On the dev split."""
    conditions = {
        f"{size} demonstrated, {count} steps": start(
            size, steps_per_iteration=count, eval_split="dev", eval_modes=["sampled"]
        )
        for size in (12, 24, 48)
        for count in (6, 12, 24)
    }
    question = "How often SmolLM2 does web tasks in two parts after a few demonstrations of them, on the dev split"
    return Experiment(STARTS, question, over_seeds(conditions, ONE_SEED))

"""WebRL, the baselines of its paper, and WebRL without its parts: from one imitation start, with equal interaction.

Every condition plays the same number of episodes after imitation (but SFT, which is that start): WebRL and DigiRL in
phases, filtered BC and AWR all at once before they learn. Labels are the environment's own: what an outcome reward
model adds or takes is another question. Passes and the start on FrozenLake were chosen in a few runs, mostly of WebRL.
Rates (`webrl-rates`) and beta (`webrl-beta`), for which the paper gives no value, are measured on the dev split.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.budgets import COMMON, ONE_SEED, SEEDS
from benchmarks.learning.chains import LAKE, SMOLLM2, spoken
from benchmarks.learning.experiment import Claim, Experiment, over_seeds

WEB = "agentrl/WebArenaLite-Text-v0"
PAPER = "WebRL"
RELEASED = {"loss": "released", "critic_heads": 2}  # what the published code trains with
UNBIASED = {"gamma": 1.0, "critic_on_replay": False}  # advantages: the critic predicts what they are measured by
BETAS = (0.1, 0.3, 1.0, 3.0)
RATES = (3.0, 1.0, 1 / 3, 0.1)  # times the rate of the other experiments


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
        "mistakes": 0.5,
        "mistake": "hasty",
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
        "renamed": 0.9,
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
    imitation={**MAPS.imitation, "mistakes": 0.3, "mistake": "hasty"},
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
        "generation_batch": 192,
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


def forms_of_webrl(world: World, forms: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Stage, ...]]:
    """WebRL with other options, by label."""
    return {label: chain(world, "webrl", {"beta": world.beta, **options}) for label, options in forms.items()}


def offline(world: World) -> dict[str, Any]:
    """All episodes in one phase of training tasks, then as many passes as the others have phases."""
    return {"tasks_per_phase": world.phases * world.tasks, "first_tasks": "training", "curriculum": False}


def baselines(where: str) -> Experiment:
    """Does WebRL bring more than other ways to learn from as many episodes?"""
    world = WORLDS[where]
    conditions = {
        "filtered BC": chain(world, "filtered_bc", offline(world)),
        "AWR": chain(world, "awr", {**offline(world), "beta": 1.0}),
        "DigiRL": chain(world, "digirl", {"first_tasks": "training"}),
    }
    forms = forms_of_webrl(world, {"WebRL": {}, "WebRL, released loss": RELEASED})
    start = over_seeds({"SFT": chain(world)}, ONE_SEED)  # the same for all seeds: one measurement, not three
    claims = tuple(Claim(form, label, PAPER) for form in forms for label in ("SFT", *conditions))
    question = f"WebRL and the baselines of its paper on {world}, from one start with as many episodes"
    return Experiment(f"webrl-baselines-{where}", question, start + over_seeds(conditions | forms, SEEDS), claims)


def ablations(where: str) -> Experiment:
    """Which of WebRL's parts does it need?"""
    world = WORLDS[where]
    parts: dict[str, dict[str, Any]] = {
        "WebRL": {},
        "without curriculum": {"curriculum": False, "first_tasks": "training"},
        "without replay": {"replay": False},
        "without KL": {"loss": "reinforce"},
        "critic without replay": {"critic_on_replay": False},
    }
    conditions = forms_of_webrl(world, parts)
    claims = tuple(Claim("WebRL", label, PAPER) for label in conditions if label != "WebRL")
    question = f"WebRL without its curriculum, its replay buffer and its KL term on {world}"
    return Experiment(f"webrl-ablations-{where}", question, over_seeds(conditions, world.seeds), claims)


def first_phase(where: str) -> Experiment:
    """The paper's own setting: what the baselines have is the first phase of WebRL, the same tasks or even episodes.

    So WebRL plays more than filtered BC and AWR, and other tasks than DigiRL. DigiRL is given the curriculum, too.
    """
    world = WORLDS[where]
    conditions = {
        "filtered BC, first phase": chain(world, "filtered_bc"),
        "AWR, first phase": chain(world, "awr", {"beta": 1.0}),
        "DigiRL, first phase": chain(world, "digirl"),
        "DigiRL with curriculum": chain(world, "digirl", {"curriculum": True}),
        **forms_of_webrl(world, {"WebRL": {}, "WebRL, first phase": {"curriculum": False}}),
    }
    claims = tuple(Claim("WebRL", label, PAPER) for label in conditions if "first phase" in label)
    question = f"WebRL against baselines that learn from its first phase, as in its paper, on {world}"
    return Experiment(f"webrl-first-phase-{where}", question, over_seeds(conditions, world.seeds), claims)


def replays(where: str) -> Experiment:
    """What should be replayed? By the actor's perplexity, as in the paper's table, and failures as well."""
    world = WORLDS[where]
    forms: dict[str, dict[str, Any]] = {
        "WebRL": {},
        "perplexity up to 1/0.95": {"perplexity_low": 1.0, "perplexity_high": 1 / 0.95},
        "perplexity from 1/0.5 on": {"perplexity_low": 1 / 0.5, "perplexity_high": 1e9},
        "all perplexities": {"perplexity_low": 1.0, "perplexity_high": 1e9},
        "failures in replay": {"replay_failures": True},
        "without replay and KL": {"replay": False, "loss": "reinforce"},
    }
    conditions = forms_of_webrl(world, forms)
    claims = tuple(Claim("WebRL", label, PAPER) for label in conditions if label not in ("WebRL", "failures in replay"))
    question = f"What WebRL replays, by perplexity and outcome, on {world}"
    return Experiment(f"webrl-replay-{where}", question, over_seeds(conditions, world.seeds), claims)


def variants(where: str) -> Experiment:
    """What keeps WebRL from teaching: its discount, its critic, or that it pushes actions down?

    The critic learns undiscounted outcomes, so with a discount even the actions of a certain success come out below it.
    """
    world = WORLDS[where]
    forms: dict[str, dict[str, Any]] = {
        "WebRL": {},
        "no discount": {"gamma": 1.0},
        "no discount, critic without replay": UNBIASED,
        "no discount, more critic epochs": {"gamma": 1.0, "critic_epochs": 4},
        "good actions only": {"hard_filter": True},
        "released loss": RELEASED,
        "KL target": {"loss": "kl_target"},
    }
    conditions = forms_of_webrl(world, forms)
    question = f"Other forms of WebRL's advantage and loss on {world}"
    return Experiment(f"webrl-variants-{where}", question, over_seeds(conditions, world.seeds))


def steps(where: str) -> Experiment:
    """Do smaller steps make WebRL's regression teach? And the released loss, which no step can overshoot?"""
    world = WORLDS[where]
    lr = world.learning["lr"]
    forms: dict[str, dict[str, Any]] = {
        "WebRL, lr / 3": {"lr": lr / 3},
        "WebRL, lr / 10": {"lr": lr / 10},
        "WebRL, lr / 10, no discount, critic without replay": {"lr": lr / 10, **UNBIASED},
        "released loss": RELEASED,
        "released loss, no curriculum": {**RELEASED, "curriculum": False, "first_tasks": "training"},
    }
    conditions = forms_of_webrl(world, forms)
    question = f"WebRL with smaller steps, and its released loss with and without a curriculum, on {world}"
    return Experiment(f"webrl-steps-{where}", question, over_seeds(conditions, world.seeds))


def epochs(where: str) -> Experiment:
    """Do many small steps teach what a few large ones overshoot? With the paper's advantages, or unbiased ones."""
    world = WORLDS[where]
    many = {"lr": world.learning["lr"] / 10, "actor_epochs": 10}
    forms: dict[str, dict[str, Any]] = {
        "WebRL": {},
        "lr / 10, ten epochs": many,
        "lr / 10, ten epochs, no discount, critic without replay": {**many, **UNBIASED},
        "released loss": RELEASED,
    }
    conditions = forms_of_webrl(world, forms)
    question = f"WebRL with a tenth of the rate and ten epochs on {world}"
    return Experiment(f"webrl-epochs-{where}", question, over_seeds(conditions, world.seeds))


def rates(where: str) -> Experiment:
    """How fast may the actor learn? WebRL's regression has a goal that steps can overshoot; imitation has none.

    Rates are chosen here, on the dev split; the other experiments measure the test split.
    """
    world = WORLDS[where]
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "filtered BC": ("filtered_bc", offline(world)),
        "DigiRL": ("digirl", {"first_tasks": "training"}),
        "WebRL": ("webrl", {"beta": world.beta}),
    }
    conditions = {
        f"{label}, lr {rate:.1e}": chain(world, algorithm, {**options, "lr": rate, "eval_split": "dev"})
        for rate in (world.learning["lr"] * share for share in RATES)
        for label, (algorithm, options) in ways.items()
    }
    question = f"Learning rates of WebRL, filtered BC and DigiRL on the dev split of {world}"
    return Experiment(f"webrl-rates-{where}", question, over_seeds(conditions, ONE_SEED))


def betas(where: str) -> Experiment:
    """How far may an advantage move a policy? Chosen on the dev split, as rates are."""
    world = WORLDS[where]
    conditions = {f"beta {beta}": chain(world, "webrl", {"beta": beta, "eval_split": "dev"}) for beta in BETAS}
    question = f"WebRL's beta on the dev split of {world}"
    return Experiment(f"webrl-beta-{where}", question, over_seeds(conditions, ONE_SEED))


MAKERS = (baselines, first_phase, ablations, replays, variants, steps, epochs, rates, betas)


def webrl() -> list[Experiment]:
    """All of them."""
    return [make(where) for where in WORLDS for make in MAKERS]

"""WebRL, the baselines of its paper, and WebRL without its parts: from one imitation start, with equal interaction.

Every condition plays the same number of episodes after imitation, WebRL and DigiRL in phases, filtered BC and AWR all
at once before they learn; but for SFT, which is that start, and `webrl-first-phase`, the paper's own setting. Labels
are the environment's own: what an outcome reward model adds or takes is another question. Passes and the start on
FrozenLake were chosen in a few runs, mostly of WebRL. Rates (`webrl-rates`) and beta (`webrl-beta`), for which the
paper gives no value, are measured on the dev split.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrl.algorithms import Stage
from benchmarks.learning.budgets import ONE_SEED, SEEDS
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.webrl_worlds import WORLDS, World, chain

PAPER = "WebRL"
GOOD_ACTIONS = {"loss": "good_actions", "critic_heads": 2}  # recorded when this was called the released loss
UNBIASED = {"gamma": 1.0, "critic_on_replay": False}  # advantages: the critic predicts what they are measured by
BETAS = (0.1, 0.3, 1.0, 3.0)
RATES = (3.0, 1.0, 1 / 3, 0.1)  # times the rate of the other experiments


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
    forms = forms_of_webrl(world, {"WebRL": {}, "WebRL, imitation of good actions": GOOD_ACTIONS})
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
        "imitation of good actions": GOOD_ACTIONS,
        "KL target": {"loss": "kl_target"},
    }
    conditions = forms_of_webrl(world, forms)
    question = f"Other forms of WebRL's advantage and loss on {world}"
    return Experiment(f"webrl-variants-{where}", question, over_seeds(conditions, world.seeds))


def steps(where: str) -> Experiment:
    """Do smaller steps make WebRL's regression teach? And imitation of good actions, which no step can overshoot?"""
    world = WORLDS[where]
    lr = world.learning["lr"]
    forms: dict[str, dict[str, Any]] = {
        "WebRL, lr / 3": {"lr": lr / 3},
        "WebRL, lr / 10": {"lr": lr / 10},
        "WebRL, lr / 10, no discount, critic without replay": {"lr": lr / 10, **UNBIASED},
        "imitation of good actions": GOOD_ACTIONS,
        "imitation of good actions, no curriculum": {**GOOD_ACTIONS, "curriculum": False, "first_tasks": "training"},
    }
    conditions = forms_of_webrl(world, forms)
    question = f"WebRL with smaller steps, and imitation of good actions with and without a curriculum, on {world}"
    return Experiment(f"webrl-steps-{where}", question, over_seeds(conditions, world.seeds))


def epochs(where: str) -> Experiment:
    """Do many small steps teach what a few large ones overshoot? With the paper's advantages, or unbiased ones."""
    world = WORLDS[where]
    many = {"lr": world.learning["lr"] / 10, "actor_epochs": 10}
    forms: dict[str, dict[str, Any]] = {
        "WebRL": {},
        "lr / 10, ten epochs": many,
        "lr / 10, ten epochs, no discount, critic without replay": {**many, **UNBIASED},
        "imitation of good actions": GOOD_ACTIONS,
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

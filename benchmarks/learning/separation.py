"""Can an experiment tell its conditions apart? How much their advantages agree, before a run is spent on them.

Two estimators that give nearly the same advantages train nearly the same policy, and no number of seeds will show which
is better. So the start policy plays some episodes once, every condition computes its advantages of the same tokens, and
Pearson's correlation over action tokens says how much two conditions agree. Above `LIMIT` they cannot be told apart.

An untrained critic is constant, and with a constant critic estimators look more alike than they are while training. So
each condition's own critic first learns from other episodes of the start policy, as many passes for all, with the
targets of its own estimator. How much of its returns it explains on the episodes compared is part of the result.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from agentrl.algorithms import arguments_class
from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.seeding import episode_seed, run_seed
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, Start, grouped
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments.policy import CriticArguments, PolicyArguments
from agentrl.trainers.update.advantages import Estimate
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.learner import Learner, make_learner
from agentrl.trainers.update.policy import BatchScores, score, start_critic, update_policy
from benchmarks.learning.cell import final_policy
from benchmarks.learning.conditions import run_options
from benchmarks.learning.experiment import Experiment
from benchmarks.learning.separation_table import (
    CAN,
    CANNOT,
    EPISODES,
    LIMIT,
    MINIBATCHES,
    MORE,
    PASSES,
    RATE,
    ROUNDS,
    first_run,
    read_separation,
    separation_path,
)

THREADS = 4  # tiny models wait for more
# Options that decide advantages and nothing else, and those that have no effect on which policy is trained.
ESTIMATOR = {"variant", "form", "reward_at", "gamma", "lam", "turn_gamma", "turn_lam", "step_gae", "baseline"}
ESTIMATOR |= {"normalise", "anchors", "step_weight", "invalid_penalty", "whiten_advantages", "bootstrap_truncated"}
CRITIC = {field.name for field in fields(CriticArguments)} - {field.name for field in fields(PolicyArguments)}
PLAY = ("model", "env", "env_kwargs", "strategy", "representation", "format_rule", "judge", "wrap", "prompt_style")
PLAY += ("history", "temperature", "top_p", "max_new_tokens", "group_size")


@dataclass(frozen=True)
class Condition:
    """A label with the arguments of its run."""

    label: str
    algorithm: str
    arguments: Any

    @property
    def play(self) -> str:
        """What decides its episodes: conditions with the same are compared on the same ones."""
        return json.dumps([getattr(self.arguments, name) for name in PLAY])

    @property
    def unit(self) -> str:
        """What has a probability ratio of its own in the loss."""
        if self.algorithm == "gspo":
            return "sequence"
        return "step" if getattr(self.arguments, "step_ratio", False) else "token"


def measure_separation(folder: Path, experiment: Experiment, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """The table of an experiment whose starts are finished in `folder`; measured once and kept there."""
    if (known := read_separation(folder, experiment)) is not None:
        return known
    say(f"{experiment.name}: comparing the conditions' advantages on episodes of the start policy")
    threads = torch.get_num_threads()
    torch.set_num_threads(min(threads, THREADS))
    found = separation(conditions(folder, experiment, say), say)
    torch.set_num_threads(threads)
    write_atomically(separation_path(folder, experiment), json.dumps(found, indent=1).encode())
    return found


def conditions(folder: Path, experiment: Experiment, say: Callable[[str], Any] = print) -> list[Condition]:
    """Every label that learns from its own episodes; one that cannot be run at all is for the runner to report."""
    found = []
    for label in experiment.labels:
        run = first_run(experiment, label)
        options = run_options(run.algorithm, run.options)
        if run.start is not None:
            options["model"] = final_policy(folder / run.start)
        kind = arguments_class(run.algorithm)
        if not issubclass(kind, PolicyArguments):  # imitation, and learning from old episodes, have no such estimates
            continue
        try:
            arguments = kind.from_json(json.loads(json.dumps(options)))
        except ConfigError as error:
            say(f"{label}: left out of the comparison: {error}")
            continue
        found.append(Condition(label, run.algorithm, arguments))
    return found


# ---------------------------------------------------------------------- pairs


def separation(chosen: Sequence[Condition], say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Every pair of conditions that plays the same episodes and differs in its estimator."""
    pairs = [pair for pair in itertools.combinations(chosen, 2) if differ_in_estimator(*pair)]
    needed = {one.label: one for pair in pairs for one in pair}
    advantages, critics = {}, {}
    for play in dict.fromkeys(one.play for one in needed.values()):
        alike = [one for one in needed.values() if one.play == play]
        episodes = rollouts(alike[0].arguments)
        for one in alike:
            advantages[one.label], explained = advantages_of(one, *episodes)
            critics |= {} if explained is None else {one.label: round(explained, 4)}
            say(
                f"{one.label}: advantages computed"
                + ("" if explained is None else f", critic explains {explained:.3f}")
            )
    rows = [row(*pair, correlation(*(advantages[one.label] for one in pair))) for pair in pairs]
    return {"limit": LIMIT, "episodes": EPISODES, "pairs": rows, "critics": critics}


def row(first: Condition, second: Condition, agreement: float) -> dict[str, Any]:
    """What is kept of a pair."""
    besides = differences(first, second)
    verdict = MORE if besides else CANNOT if agreement > LIMIT else CAN
    found = {"first": first.label, "second": second.label, "correlation": round(agreement, 4)}
    return {**found, "verdict": verdict, "besides": besides}


def differ_in_estimator(first: Condition, second: Condition) -> bool:
    """Do they compute advantages of the same episodes in two ways?"""
    other = first.algorithm != second.algorithm
    mine, yours = (vars(one.arguments) for one in (first, second))
    return first.play == second.play and (other or any(mine.get(name) != yours.get(name) for name in ESTIMATOR))


def differences(first: Condition, second: Condition) -> list[str]:
    """Options besides the estimator's that make the two train differently."""
    mine, yours = (with_defaults(one, other) for one, other in ((first, second), (second, first)))
    ignored = ESTIMATOR | CRITIC | {"output", "resume", "seed"}
    if not (first.arguments.kl_coef or second.arguments.kl_coef):
        ignored |= {"kl_in", "kl_estimator"}
    found = [name for name in mine if name not in ignored and mine[name] != yours.get(name, mine[name])]
    return found + (["unit of the ratio"] if first.unit != second.unit else [])


def with_defaults(one: Condition, other: Condition) -> dict[str, Any]:
    """Options of one; those that only the other algorithm has are at that algorithm's defaults."""
    defaults = {field.name: field.default for field in fields(type(other.arguments))}
    found = {**defaults, **vars(one.arguments)}
    return {name: value for name, value in found.items() if name not in ("step_ratio",)}


def correlation(first: Tensor, second: Tensor) -> float:
    """Pearson's over tokens. Constant advantages teach nothing: alike where both are constant, else unlike."""
    x, y = (one.double() - one.double().mean() for one in (first, second))
    spread = x.norm() * y.norm()
    if spread <= 1e-12:
        return float(x.norm() <= 1e-9 and y.norm() <= 1e-9)
    return float((x * y).sum() / spread)


# ---------------------------------------------------------------------- episodes and advantages


def rollouts(arguments: PolicyArguments) -> tuple[list[Trajectory], list[Trajectory]]:
    """Episodes of the start policy: for the critics to learn from, and to compare advantages on."""
    learner = Learner(arguments)
    policy = HFPolicy(
        learner.engine,
        temperature=arguments.temperature,
        top_p=arguments.top_p,
        max_new_tokens=arguments.max_new_tokens,
        batch_size=arguments.generation_batch_size,
    )
    style = {"prompt_style": arguments.prompt_style, "history": arguments.history}
    judge = arguments.deferred_judge()
    collector = Collector(arguments.specs(), policy, split="train", num_envs=arguments.num_envs, judge=judge, **style)
    size = arguments.group_size
    envs = len(arguments.specs())
    tasks = [Start(episode_seed(0, n), n % envs, id=f"{n}") for n in range(2 * EPISODES // size)]
    try:
        played = collector.collect(grouped(tasks, size) if size > 1 else tasks).trajectories
    finally:
        collector.close()
    known, first = [one for one in played if one.reward is not None], {task.seed for task in tasks[: len(tasks) // 2]}
    return [one for one in known if one.seed in first], [one for one in known if one.seed not in first]


def advantages_of(
    one: Condition, practice: Sequence[Trajectory], compared: Sequence[Trajectory]
) -> tuple[Tensor, float | None]:
    """Of every action token of `compared`, and how much of its returns the condition's critic explains there."""
    module = import_module(f"agentrl.trainers.algorithms.{one.algorithm}")
    with_critic = isinstance(one.arguments, CriticArguments)
    arguments = fitting(one.arguments) if with_critic else one.arguments
    observations = getattr(arguments, "variant", "") == "vanilla"
    learner, batch = make_learner(arguments), Batch(compared, observations=observations)
    if with_critic:
        fit_critic(arguments, learner, Batch(practice, observations=observations), module)
    scores = score(arguments, learner, batch)
    estimate = module.advantages(arguments, batch, scores)
    return estimate.advantages[batch.action_mask], explained(estimate, scores) if with_critic else None


def fitting(arguments: Any) -> Any:
    """The condition's own arguments with the passes and rates that all critics get here."""
    rates = {"critic_head_lr": RATE, "critic_warmup": 1, "epochs": PASSES, "critic_epochs": 0}
    if arguments.critic != "own":  # the head is all there is to fit: the policy's body is left as it is
        rates["critic_lr"] = RATE
    return replace(arguments, **rates, minibatches=MINIBATCHES, critic_coef=1.0, schedule="constant", warmup=0)


def fit_critic(arguments: Any, learner: Learner, batch: Batch, module: Any) -> None:
    """Only the critic learns, from targets that its own estimates improve.

    The learner's iteration, 0, lies within the warm-up of `fitting`.
    """
    scores = start_critic(arguments, learner, batch, score(arguments, learner, batch), module.advantages)
    for number in range(1, ROUNDS + 1):  # other mini-batches each time
        estimate: Estimate = module.advantages(arguments, batch, scores)
        rng = torch.Generator().manual_seed(run_seed(0, number, "minibatches"))
        update_policy(arguments, learner, batch, scores, estimate, module.policy_loss, rng)
        scores = score(arguments, learner, batch)


def explained(estimate: Estimate, scores: BatchScores) -> float:
    """1 - var(Y - V) / var(Y) where the critic is taught; 0 where all returns are equal."""
    returns, values = (part[estimate.critic_mask].double() for part in (estimate.returns, scores.values))
    spread = returns.var(correction=0)
    return float(1 - (returns - values).var(correction=0) / spread) if spread > 1e-12 else 0.0

"""How much of the returns the critic foresees, beside how much any critic could.

What follows a state is partly chance: the policy samples. A critic that sees only the state cannot know that part, so
an explained variance of 1 is out of reach, and 0.2 may be nearly all there is. `measure_ceiling` plays the policy on
from visited states, several times from each. The variance of the returns *between* states, as a share of all of it, is
the most that a critic can explain there; `variance_components` estimates it without bias.

Returns are the critic's own targets at the first token of a turn, by the algorithm's own estimator on whole episodes:
the same discounts, reward scale, penalties and lambda. The critic is asked before it has learned from these episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from agentrl.core.policy import Generation
from agentrl.rollout.starts import Start
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.arguments.policy import CriticArguments
from agentrl.trainers.parallel.rollout import collect_distributed
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.advantages import turn_begins
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.policy import Advantages, score

ROUNDING = 1e-10  # a variance below this share of the mean square is rounding


# ---------------------------------------------------------------------- the estimator


class Components(NamedTuple):
    """The parts of a variance."""

    between: float  # of what is expected in a state; below 0 by chance where there is next to none
    within: float  # around what is expected


class Ceiling(NamedTuple):
    """Explained variances with their standard errors; `ceiling` is that of the best critic."""

    explained: float
    explained_error: float
    ceiling: float
    ceiling_error: float


def variance_components(numbers: np.ndarray, states: np.ndarray) -> Components:
    """The variance of `numbers` between and within `states` (labels), by analysis of variance; both without bias.

    The mean of k numbers of a state varies by `between + within / k`: the share that is chance is taken off.
    """
    _, labels, counts = np.unique(states, return_inverse=True, return_counts=True)
    if len(counts) < 2 or len(counts) == len(numbers):
        raise ValueError(f"there must be two states, and two numbers of one; got {counts.tolist()} of each")
    means = np.bincount(labels, numbers) / counts
    within = np.square(numbers - means[labels]).sum() / (len(numbers) - len(counts))
    spread = (counts * np.square(means - numbers.mean())).sum() / (len(counts) - 1)
    size = (len(numbers) - np.square(counts).sum() / len(numbers)) / (len(counts) - 1)
    return Components(float((spread - within) / size), float(within))


def explained_and_ceiling(returns: np.ndarray, values: np.ndarray, states: np.ndarray) -> tuple[float, float]:
    """`1 - var(Y - V) / var(Y)`, and the same of a critic that says what is expected; 0 where all returns are equal."""
    whole, missed = variance_components(returns, states), variance_components(returns - values, states)
    if sum(whole) <= ROUNDING * float(np.square(returns).mean()):
        return 0.0, 0.0
    return 1 - sum(missed) / sum(whole), whole.between / sum(whole)


def explained_variance_ceiling(
    returns: np.ndarray, values: np.ndarray, states: np.ndarray, episodes: np.ndarray
) -> Ceiling:
    """Of returns that followed `states` and the critic's `values` there, one for each return.

    The standard errors are a jackknife's, which leaves out the states of one of the `episodes` at a time: states of the
    same episode are alike.
    """
    explained, ceiling = explained_and_ceiling(returns, values, states)
    kept = [episodes != left_out for left_out in np.unique(episodes)]
    without = np.array([explained_and_ceiling(returns[k], values[k], states[k]) for k in kept if _enough(states[k])])
    errors = np.sqrt(max(0, len(without) - 1) * without.var(0)) if len(without) else np.full(2, np.nan)
    return Ceiling(explained, float(errors[0]), ceiling, float(errors[1]))


def _enough(states: np.ndarray) -> bool:
    return 1 < len(np.unique(states)) < len(states)


# ---------------------------------------------------------------------- visited states, played on from


@dataclass(frozen=True)
class VisitedState:
    """The beginning of a turn of a trajectory."""

    trajectory: Trajectory
    turn: int

    @property
    def episode(self) -> str:
        """What it has in common with other states: its trajectory, or the task of its group."""
        return self.trajectory.group_id or self.trajectory.id

    def starts(self, start: Start, name: str, times: int) -> list[Start]:
        """Play on from here: the trajectory's own start, with its turns so far as the opening."""
        opening = tuple(map(said_again, self.trajectory.steps[: self.turn]))
        return [replace(start, group_id=name, id=f"{name}.{copy}", opening=opening) for copy in range(times)]

    def reached_by(self, replay: Trajectory) -> bool:
        """Did the same actions lead to the same place?"""
        seen, again = ([(step.observation, step.images) for step in one.steps] for one in (self.trajectory, replay))
        return len(again) > self.turn and again[: self.turn + 1] == seen[: self.turn + 1]


def said_again(step: Step) -> Generation:
    """The answer of a recorded step."""
    return Generation(
        text=step.response if step.response is not None else step.action,
        action=step.action,
        token_ids=step.response_ids,
        logprobs=step.logprobs,
        finish_reason=step.finish_reason,
        version=step.version,
        prompt_ids=step.prompt_ids,
        sampling=step.sampling,
    )


def visited_states(batch: Batch, count: int, rng: torch.Generator) -> list[VisitedState]:
    """Some turns of a batch, each as likely as any other."""
    begins = turn_begins(batch.action_mask, batch.turn_ends).nonzero()
    chosen = begins[torch.randperm(len(begins), generator=rng)[:count]]
    return [VisitedState(batch.trajectories[row], int(batch.steps[row, place])) for row, place in chosen.tolist()]


def measure_ceiling(args: CriticArguments, run: Run, batch: Batch, advantages: Advantages) -> dict[str, float]:
    """The metrics of an iteration in which the ceiling is due; else nothing."""
    every, number = args.mc_rollout_every, run.iteration + 1
    if not every or (number % every and number != args.iterations):
        return {}
    with run.time("mc_rollouts"):
        states = visited_states(batch, args.mc_rollout_states, run.rng("mc_rollouts"))
        replays = play_on(args, run, states)
        if problem := why_not(states, replays):
            run.report(f"warning: the ceiling of the explained variance was not measured: {problem}")
            run.log("warning", {"warning": "mc_rollouts", "detail": problem})
            return {}
        found = explained_variance_ceiling(*returns_and_values(args, run, batch, advantages, states, replays))
    return {
        "explained_variance_at_turns": found.explained,
        "explained_variance_at_turns_error": found.explained_error,
        "explained_variance_ceiling": found.ceiling,
        "explained_variance_ceiling_error": found.ceiling_error,
    }


def play_on(args: CriticArguments, run: Run, states: Sequence[VisitedState]) -> list[tuple[int, Trajectory]]:
    """Whole episodes through the states, each with the number of its state; environments of their own play them.

    They are neither trained on nor counted. Those that a fault cut short are left out.
    """
    began = {start.id: start for start in run.starts(args.episodes, args.group_size)}
    names = {f"{run.iteration + 1}-ceiling{number}": number for number in range(len(states))}
    pairs = zip(states, names, strict=True)
    nested = [state.starts(began[state.trajectory.id], name, args.mc_rollouts_per_state) for state, name in pairs]
    starts = [start for one in nested for start in one]
    collector = run.make_collector(run.policy, "train")
    try:
        with run.progress("Monte Carlo rollouts from visited states", len(starts) // run.processes.size) as advance:
            played = collect_distributed(run.processes, collector, starts, advance).trajectories
    finally:
        collector.close()
    return [(names[one.group_id or ""], one) for one in played if one.reward is not None]


def why_not(states: Sequence[VisitedState], replays: Sequence[tuple[int, Trajectory]]) -> str:
    """Why nothing can be said about a ceiling; empty where it can."""
    for number, replay in replays:
        if not states[number].reached_by(replay):
            return f"{replay.env_id} does not lead to the same state again with the same seed and the same actions"
    if not _enough(np.array([number for number, _ in replays])):
        return f"{len(replays)} episodes through {len(states)} states are too few"
    return ""


def returns_and_values(
    args: CriticArguments,
    run: Run,
    batch: Batch,
    advantages: Advantages,
    states: Sequence[VisitedState],
    replays: Sequence[tuple[int, Trajectory]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The critic's targets at the states, what it says there, the states' numbers, the episodes they belong to."""
    numbers = {trajectory.id: number for number, trajectory in replays}
    again = Batch([trajectory for _, trajectory in replays], observations=batch.observations)
    scores = score(args, run.learner, again)
    estimate = advantages(args, again, scores)
    of_row = torch.tensor([numbers[trajectory.id] for trajectory in again.trajectories])
    turns = torch.tensor([state.turn for state in states])[of_row]
    places = turn_begins(again.action_mask, again.turn_ends) & (again.steps == turns[:, None])
    labels = of_row[places.nonzero()[:, 0]].numpy()
    episodes = np.array([states[number].episode for number in labels])
    return estimate.returns[places].double().numpy(), scores.values[places].double().numpy(), labels, episodes

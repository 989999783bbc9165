"""One phase of off-policy learning: an experience in, a better critic and then a better actor out.

    learner = make_off_policy_learner(args)          policy and critic, which begins as the policy with a random head
    train_critic(args, run, learner, experience)     V = sigmoid(head), read before each action's first token
    train_actor(args, run, learner, experience)      by the loss that `args.loss` names
    learner.publish()                                the rollout engine generates with the new weights

The reference is the actor as it is when `train_actor` begins: its log-probabilities are computed once, and no second
model is kept. The mathematics is in `outcome_math`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.models.chat import Prompt
from agentrl.models.packed_attention import upload
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.batch import Row, padded, rows_of
from agentrl.trainers.experience import ActionTable, Experience
from agentrl.trainers.losses import log_ratios, masked_sum, policy_drift, unit_sums
from agentrl.trainers.off_policy_arguments import OffPolicyArguments
from agentrl.trainers.outcome_math import (
    ACTOR_LOSSES,
    Actions,
    Counts,
    LossOptions,
    digirl_advantages,
    outcome_advantages,
    outcome_loss,
    perplexity,
    released_advantages,
)
from agentrl.trainers.progress import Seen
from agentrl.trainers.update import Learner, RunningRun

OVERSHOT = 1.1  # times the loss of an actor that does not move; mini-batches and rounding alone differ by less


class ReportingRun(RunningRun, Protocol):
    """What learning from an experience asks of its run (`agentrl.trainers.run.Run`)."""

    report: Callable[[str], Any]


def make_off_policy_learner(args: OffPolicyArguments, *, critic: bool = True) -> Learner:
    """The actor, and a critic with a body of its own: the same model, with random value heads."""
    return Learner(
        args,
        critic="own" if critic else "none",
        critic_lr=args.critic_lr,
        critic_head_lr=args.critic_head_lr,
        random_heads=args.critic_heads,
        temperature=args.temperature,
    )


# ---------------------------------------------------------------------- the critic


def train_critic(
    args: OffPolicyArguments, run: ReportingRun, learner: Learner, experience: Experience
) -> dict[str, float]:
    """Teach the critic the outcomes, at every kept state; the mean metrics of its steps.

    An experience without a kept action teaches nothing: that is reported, and no weight changes.
    """
    table = ActionTable(experience)
    kept, outcomes = table.to_states(table.kept), table.to_states(table.outcomes[:, None].expand_as(table.mask))
    if not _anything(run, "critic", table.kept):
        return {"critic_actions": 0.0}
    found = []
    for part, seen in _mini_batches(args, run, learner, "critic", args.critic_epochs, [int(one.sum()) for one in kept]):
        rows = [table.states[index] for index in part]
        mask, goals = padded([kept[index] for index in part]), padded([outcomes[index] for index in part])
        found.append(critic_step(learner, rows, goals, mask, seen))
    return _means(found) | {"critic_actions": float(table.kept.sum())}


def critic_step(learner: Learner, rows: Sequence[Row], outcomes: Tensor, mask: Tensor, seen: Seen) -> dict[str, float]:
    """One optimiser step on states; `outcomes` and `mask` are `[rows, targets]`."""
    count = int(mask.sum())

    def loss_of(indices: list[int]) -> tuple[Tensor, dict[str, Tensor]]:
        seen(len(indices))
        chosen = [rows[index] for index in indices]
        width = max(len(row.targets) for row in chosen)
        goals, here = (upload(tensor[indices, :width], learner.device) for tensor in (outcomes, mask))
        return outcome_loss(learner.critic_outputs(chosen), goals, here, count)

    metrics = learner.step(rows, loss_of)
    del metrics["grad_norm"]  # of the policy, which does not move here
    return {"critic": metrics.pop("loss"), **metrics}


def values(learner: Learner, table: ActionTable) -> Tensor:
    """V before each action that is kept or follows one that is; 0 elsewhere. `[trajectories, actions]`."""
    after_kept = torch.nn.functional.pad(table.kept[:, :-1], (1, 0))
    needed = [bool(one.any()) for one in table.to_states(table.kept | after_kept)]
    places = [place for place, wanted in enumerate(needed) if wanted]
    logits = [torch.zeros(len(row.targets)) for row in table.states]
    for place, found in zip(places, learner.values([table.states[place] for place in places])[0], strict=True):
        logits[place] = found
    return table.from_states(logits).sigmoid()


def values_at_starts(learner: Learner, prompts: Sequence[Prompt]) -> Tensor:
    """V of the states after some prompts, `[prompts]`: the predicted success of tasks that nobody has begun yet."""
    if learner.critic is None:
        raise ConfigError("values need a critic; this run has none")
    return learner.last_values(prompts).flatten().sigmoid()


# ---------------------------------------------------------------------- the actor


class ActorPart(NamedTuple):
    """What the actor's loss compares the policy with, for some rows; `[rows, targets]` each."""

    reference: Tensor  # log-probabilities of tokens before the update
    advantages: Tensor
    mask: Tensor  # tokens of the actions that are learned from
    turn_ends: Tensor


def train_actor(
    args: OffPolicyArguments, run: ReportingRun, learner: Learner, experience: Experience
) -> dict[str, float]:
    """Teach the actor by `args.loss`, from every kept action; the mean metrics of its steps.

    An experience without an action to learn from changes no weight, and that is reported.
    """
    table = ActionTable(experience)
    if args.loss == "kl_target":
        table.kept &= table.versions == run.iteration  # it is about actions of the reference, which is this actor
    if not _anything(run, "actor", table.kept):
        return {"actions": 0.0}
    advantages, metrics = action_advantages(args, learner, table)
    chosen = table.kept & (advantages > args.min_advantage) if args.hard_filter else table.kept
    if not _anything(run, "actor", chosen):
        return {"actions": 0.0, **metrics}
    rows, tensors, sizes = _learned(learner, table, chosen, advantages)
    found = []
    for part, seen in _mini_batches(args, run, learner, "actor", args.actor_epochs, sizes):
        minibatch = ActorPart(*(padded([tensor[index] for index in part]) for tensor in tensors))
        found.append(actor_step(args, learner, [rows[index] for index in part], minibatch, seen))
    learned = _means(found)
    if args.loss == "webrl":
        metrics["policy_unmoved"] = float(advantages[chosen].square().mean())
        _warn_of_overshoot(run, learned["policy"], metrics["policy_unmoved"])
    return learned | {"actions": float(chosen.sum()), **metrics}


def _warn_of_overshoot(run: ReportingRun, loss: float, unmoved: float) -> None:
    """Steps of Adam are as large for small advantages as for large ones: they can go far past the regression's goal."""
    if loss > OVERSHOT * unmoved:
        run.report(
            f"iteration {run.iteration + 1}: the actor's loss is {loss:.3g}; without any update it would be "
            f"{unmoved:.3g}. Its steps overshoot: use a smaller lr"
        )


def _learned(
    learner: Learner, table: ActionTable, chosen: Tensor, advantages: Tensor
) -> tuple[list[Row], list[list[Tensor]], list[int]]:
    """The rows with an action that is learned from, the columns of their `ActorPart`, and how many actions each has."""
    counts = [int(one.sum()) for one in table.to_states(chosen)]
    places = [place for place, count in enumerate(counts) if count]
    rows, credit, by_row = [table.rows[place] for place in places], table.to_tokens(advantages), table.to_tokens(chosen)
    tensors = [
        learner.logprobs(rows),
        [credit[place] for place in places],
        [by_row[place] for place in places],
        [torch.tensor(row.turn_ends) for row in rows],
    ]
    return rows, tensors, [counts[place] for place in places]


def action_advantages(
    args: OffPolicyArguments, learner: Learner, table: ActionTable
) -> tuple[Tensor, dict[str, float]]:
    """Of all kept actions, `[trajectories, actions]`; 0 where nothing reads them. And what they look like."""
    if not args.needs_critic or not bool(table.kept.any()):
        return torch.zeros(table.mask.shape), {}
    if learner.critic is None:
        raise ConfigError(f"loss={args.loss} needs a critic; this run has none")
    given = (table.outcomes, values(learner, table), table.mask)
    if args.loss == "released":
        found = released_advantages(*given, gamma=args.gamma)
    elif args.advantage == "digirl":
        found = digirl_advantages(*given, lam=args.lam)
    else:
        found = outcome_advantages(*given, lam=args.lam, gamma=args.gamma)
    kept = found[table.kept]
    return found, {"advantage_mean": float(kept.mean()), "advantage_positive": float((kept > 0).float().mean())}


def actor_step(
    args: OffPolicyArguments, learner: Learner, rows: Sequence[Row], minibatch: ActorPart, seen: Seen
) -> dict[str, float]:
    """One optimiser step on the actions of `minibatch.mask`."""
    ends = minibatch.turn_ends & minibatch.mask
    good = minibatch.mask & (minibatch.advantages >= 0)
    counts, tokens = Counts(float(ends.sum()), float(good.sum())), float(minibatch.mask.sum())
    options, loss = LossOptions(args.beta, args.max_weight), ACTOR_LOSSES[args.loss]

    def loss_of(indices: list[int]) -> tuple[Tensor, dict[str, Tensor]]:
        seen(len(indices))
        chosen = [rows[index] for index in indices]
        width = max(len(row.targets) for row in chosen)
        part = ActorPart(*(upload(tensor[indices, :width], learner.device) for tensor in minibatch))
        out = learner.outputs(chosen, values=False, entropy="watched")
        assert out.entropy is not None
        found, metrics = loss(whole_actions(out.logprobs, part), counts, options)
        share = part.mask.sum() / tokens
        drift = policy_drift(log_ratios(out.logprobs, part.reference, part.mask), part.mask)
        metrics |= {name: share * value for name, value in drift.items()}
        return found, metrics | {"entropy": masked_sum(out.entropy, part.mask).detach() / tokens}

    metrics = learner.step(rows, loss_of)
    return {"policy": metrics.pop("loss"), **metrics}


def whole_actions(logprobs: Tensor, part: ActorPart) -> Actions:
    """Tokens added up to actions; each action is at its last token."""

    def add(x: Tensor) -> Tensor:
        return unit_sums(torch.where(part.mask, x, 0.0), "step", part.turn_ends)

    ratios = log_ratios(logprobs, part.reference, part.mask)
    return Actions(
        logprobs=add(logprobs),
        log_ratio=add(ratios),
        reference=add(part.reference),
        tokens=add(torch.ones_like(logprobs)),
        advantages=torch.where(part.mask, part.advantages, 0.0),
        mask=part.turn_ends & part.mask,
    )


def perplexities(learner: Learner, trajectories: Sequence[Trajectory]) -> list[list[float]]:
    """Of every step of every trajectory, under the actor as it is now; infinite for a reply without a token."""
    rows = [row for number, one in enumerate(trajectories) for row in rows_of(one, number)]
    found = [[perplexity([])] * len(one.steps) for one in trajectories]
    for row, logprobs in zip(rows, learner.logprobs(rows) if rows else [], strict=True):
        by_step: dict[int, list[float]] = {}
        for step, logprob in zip(row.steps, logprobs.tolist(), strict=True):
            by_step.setdefault(step, []).append(logprob)
        for step, own in by_step.items():
            found[row.trajectory][step] = perplexity(own)
    return found


# ---------------------------------------------------------------------- mini-batches


def parts_of(sizes: Sequence[int], batch_size: int, rng: torch.Generator) -> list[list[int]]:
    """Rows in random order, in mini-batches of about `batch_size` actions each, all of nearly the same size.

    `sizes[i]` is how many actions of row i are learned from; rows without any are left out.
    """
    order = [place for place in torch.randperm(len(sizes), generator=rng).tolist() if sizes[place]]
    whole = sum(sizes)
    count = -(-whole // batch_size)
    parts: list[list[int]] = [[] for _ in range(count)]
    done = 0
    for place in order:
        parts[min(count - 1, done * count // whole)].append(place)
        done += sizes[place]
    return [sorted(part) for part in parts if part]


def _mini_batches(
    args: OffPolicyArguments, run: ReportingRun, learner: Learner, who: str, epochs: int, sizes: Sequence[int]
) -> Iterator[tuple[list[int], Seen]]:
    """The rows of each optimiser step, and whom to tell about progress."""
    rng, used = run.rng(who), sum(size > 0 for size in sizes)
    with run.progress(f"{who} learning sequences", epochs * used // learner.processes.size) as progress:
        for _ in range(epochs):
            for part in parts_of(sizes, args.batch_size, rng):
                yield part, progress.add


def _anything(run: ReportingRun, who: str, kept: Tensor) -> bool:
    """Is there an action to learn from? If not, that is said."""
    if bool(kept.any()):
        return True
    run.report(f"the {who} has nothing to learn from in iteration {run.iteration + 1}: no action is left")
    return False


def _means(found: Sequence[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in found for name in one)
    return {name: sum(one.get(name, 0.0) for one in found) / len(found) for name in names}

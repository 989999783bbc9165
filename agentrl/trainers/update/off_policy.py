"""Off-policy learning from whole episodes: an experience in, a better critic and then a better actor out.

    learner = make_off_policy_learner(args)          policy and critic, which begins as the policy with a random head
    train_critic(args, run, learner, experience)     V = sigmoid(head), read before each action's first token
    train_actor(args, run, learner, experience)      by the loss that `args.loss` names
    learner.publish()                                the rollout engine generates with the new weights

The reference is the actor as it is when `train_actor` begins: its log-probabilities are computed once, and no second
model is kept. The mathematics is in `outcomes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.models.chat import Prompt
from agentrl.models.scoring import upload
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments.phases import OffPolicyArguments
from agentrl.trainers.update.batch import Batch, Row, masked_sum, padded, rows_of, turn_numbers, unit_sums
from agentrl.trainers.update.learner import Learner
from agentrl.trainers.update.losses import log_ratios, policy_drift
from agentrl.trainers.update.outcomes import (
    ACTOR_LOSSES,
    Actions,
    Counts,
    LossOptions,
    digirl_advantages,
    outcome_advantages,
    outcome_loss,
    perplexity,
    regression_weights,
    released_advantages,
)
from agentrl.trainers.update.steps import Steps

if TYPE_CHECKING:
    from agentrl.trainers.run.run import Run

OVERSHOT = 1.1  # times the loss of an actor that does not move; mini-batches and rounding alone differ by less


# ---------------------------------------------------------------------- experience


@dataclass
class Experience:
    """Trajectories with their outcomes.

    `outcomes[i]` is 1 for a success and 0 for a failure (or a probability), by the true evaluator or a reward model.
    `kept[i][t]`: is step t of trajectory i learned from, as an action by the actor and as a state by the critic? The
    steps around it still say what it led to. Replay keeps some steps of a trajectory; what was just played, all.
    """

    trajectories: list[Trajectory]
    outcomes: list[float]
    kept: list[list[bool]]

    def __post_init__(self) -> None:
        sizes = (len(self.trajectories), len(self.outcomes), len(self.kept))
        if len(set(sizes)) > 1:
            raise ConfigError("trajectories, outcomes and kept must go together; got {} {} {}".format(*sizes))
        for trajectory, outcome, kept in zip(self.trajectories, self.outcomes, self.kept, strict=True):
            if not isinstance(outcome, int | float) or not 0.0 <= outcome <= 1.0:  # NaN is not
                raise ConfigError(f"outcomes must lie between 0 and 1; got {outcome!r} for {trajectory.id or 'one'}")
            if len(kept) != len(trajectory.steps):
                raise ConfigError(
                    f"kept must have a flag for every step; got {len(kept)} for {len(trajectory.steps)} steps"
                )

    @classmethod
    def of(cls, trajectories: Sequence[Trajectory], outcomes: Sequence[float]) -> Experience:
        """All steps of some trajectories."""
        return cls(list(trajectories), list(outcomes), [[True] * len(one.steps) for one in trajectories])

    def __add__(self, other: Experience) -> Experience:
        """Both, one after the other."""
        return Experience(
            self.trajectories + other.trajectories, self.outcomes + other.outcomes, self.kept + other.kept
        )

    def __len__(self) -> int:
        return len(self.trajectories)

    @property
    def actions(self) -> int:
        """How many actions are learned from; a reply without a token is none."""
        return sum(
            keep and bool(step.response_ids)
            for trajectory, kept in zip(self.trajectories, self.kept, strict=True)
            for step, keep in zip(trajectory.steps, kept, strict=True)
        )

    def only(self, chosen: Sequence[bool]) -> Experience:
        """The trajectories that are chosen."""
        places = [place for place, wanted in enumerate(chosen) if wanted]
        return Experience(
            [self.trajectories[place] for place in places],
            [self.outcomes[place] for place in places],
            [self.kept[place] for place in places],
        )


class ActionTable:
    """An experience in rows of tokens and in a table of actions.

    The table is `[trajectories, actions]`: `mask` says where there is an action, `kept` which are learned from. Replies
    without a token are no actions, and trajectories without any are left out. `rows` are the token sequences of the
    actor; `states` are the same ones as the critic reads them: at the first token of each action, where the prompt is
    complete and nothing is written yet, and no further.
    """

    def __init__(self, experience: Experience) -> None:
        batch = Batch(experience.trajectories)
        spoken = [any(step.response_ids for step in one.steps) for one in experience.trajectories]
        places = [place for place, any_token in enumerate(spoken) if any_token]  # the batch leaves out the others
        pairs = zip(batch.trajectories, places, strict=True)
        steps = [list(zip(one.steps, experience.kept[place], strict=True)) for one, place in pairs]
        actions = [[(step.version, keep) for step, keep in each if step.response_ids] for each in steps]
        counts = torch.tensor([len(each) for each in actions], dtype=torch.long)
        self.rows = batch.rows
        self.states = []
        for row in batch.rows:
            begins = [0, *(place + 1 for place, ends in enumerate(row.turn_ends[:-1]) if ends)]
            first, steps = ([one[place] for place in begins] for one in (row.targets, row.steps))
            self.states.append(Row(row.trajectory, row.ids[: first[-1] + 1], first, steps=steps, images=row.images))
        self.outcomes = torch.tensor([experience.outcomes[place] for place in places], dtype=torch.float32)
        self.mask = torch.arange(int(counts.max()) if len(counts) else 0) < counts[:, None]
        self.kept = torch.zeros_like(self.mask)
        self.kept[self.mask] = torch.tensor([keep for each in actions for _, keep in each], dtype=torch.bool)
        self.versions = torch.full(self.mask.shape, -1)  # of the policy that acted
        self.versions[self.mask] = torch.tensor([version for each in actions for version, _ in each], dtype=torch.long)

    def from_states(self, by_row: Sequence[Tensor]) -> Tensor:
        """The table of numbers that were read at the `states`, one flat tensor per row."""
        found = torch.zeros(self.mask.shape)
        found[self.mask] = torch.cat(list(by_row)) if by_row else torch.zeros(0)
        return found

    def to_states(self, table: Tensor) -> list[Tensor]:
        """Inverse of `from_states`: rows of a trajectory follow each other, and so do their actions."""
        return list(table[self.mask].split([len(row.targets) for row in self.states]))

    def to_tokens(self, table: Tensor) -> list[Tensor]:
        """One flat tensor per row of `rows`, in which all tokens of an action have its number."""
        numbers = [turn_numbers(torch.tensor([row.turn_ends]))[0] for row in self.rows]
        return [own[place] for own, place in zip(self.to_states(table), numbers, strict=True)]


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


def train_critic(args: OffPolicyArguments, run: Run, learner: Learner, experience: Experience) -> dict[str, float]:
    """Teach the critic the outcomes, at every kept state; the mean metrics of its steps.

    An experience without a kept action teaches nothing: that is reported, and no weight changes.
    """
    table = ActionTable(experience)
    kept, outcomes = table.to_states(table.kept), table.to_states(table.outcomes[:, None].expand_as(table.mask))
    if not _anything(run, "critic", table.kept):
        return {"critic_actions": 0.0}
    if args.fresh_optimiser:
        learner.optimiser.state.clear()
    steps = Steps(learner)
    for part in _mini_batches(args, run, learner, "critic", args.critic_epochs, [int(one.sum()) for one in kept]):
        rows = [table.states[index] for index in part]
        mask, goals = padded([kept[index] for index in part]), padded([outcomes[index] for index in part])
        steps.take(critic_step, learner, rows, goals, mask)
    return steps.means() | {"critic_actions": float(table.kept.sum())}


def critic_step(learner: Learner, rows: Sequence[Row], outcomes: Tensor, mask: Tensor) -> dict[str, float]:
    """One optimiser step on states; `outcomes` and `mask` are `[rows, targets]`."""
    count = int(mask.sum())

    def loss_of(indices: list[int]) -> tuple[Tensor, dict[str, Tensor]]:
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
    """What each of the critic's heads says of the states after some prompts, `[prompts, heads]`: the predicted success
    of tasks that nobody has begun yet."""
    if learner.critic is None:
        raise ConfigError("values need a critic; this run has none")
    return learner.last_values(prompts).sigmoid()


# ---------------------------------------------------------------------- the actor


class ActorPart(NamedTuple):
    """What the actor's loss compares the policy with, for some rows; `[rows, targets]` each."""

    reference: Tensor  # log-probabilities of tokens before the update
    advantages: Tensor
    mask: Tensor  # tokens of the actions that are learned from
    turn_ends: Tensor


def train_actor(args: OffPolicyArguments, run: Run, learner: Learner, experience: Experience) -> dict[str, float]:
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
    counts = [int(one.sum()) for one in table.to_states(chosen)]  # actions of each row that are learned from
    places = [place for place, count in enumerate(counts) if count]
    rows, credit, by_row = [table.rows[place] for place in places], table.to_tokens(advantages), table.to_tokens(chosen)
    tensors = [
        learner.logprobs(rows),
        [credit[place] for place in places],
        [by_row[place] for place in places],
        [torch.tensor(row.turn_ends) for row in rows],
    ]
    if args.fresh_optimiser:
        learner.optimiser.state.clear()
    steps, sizes = Steps(learner), [counts[place] for place in places]
    for part in _mini_batches(args, run, learner, "actor", args.actor_epochs, sizes):
        minibatch = ActorPart(*(padded([tensor[index] for index in part]) for tensor in tensors))
        steps.take(actor_step, args, learner, [rows[index] for index in part], minibatch)
    learned = steps.means()
    if args.loss == "webrl":
        aims = advantages[chosen]
        unmoved = float((regression_weights(aims, loss_options(args)) * aims.square()).mean())
        metrics["policy_at_reference"] = unmoved
        # Steps of Adam are as large for small advantages as for large ones: they can go far past the goal.
        if learned["policy"] > OVERSHOT * unmoved:
            run.report(
                f"iteration {run.iteration + 1}: the actor's loss is {learned['policy']:.3g}; without any update it "
                f"would be {unmoved:.3g}. Its steps overshoot: use a smaller lr"
            )
    return learned | {"actions": float(chosen.sum()), **metrics}


def action_advantages(
    args: OffPolicyArguments, learner: Learner, table: ActionTable
) -> tuple[Tensor, dict[str, float]]:
    """Of all kept actions, `[trajectories, actions]`; 0 where nothing reads them. And what they look like."""
    if not args.needs_critic or not bool(table.kept.any()):
        return torch.zeros(table.mask.shape), {}
    if learner.critic is None:
        raise ConfigError(f"loss={args.loss} needs a critic; this run has none")
    given = (table.outcomes, values(learner, table), table.mask)
    if args.loss in ("released", "good_actions"):
        found = released_advantages(*given, gamma=args.gamma, every_step=args.loss == "released")
    elif args.advantage == "digirl":
        found = digirl_advantages(*given, lam=args.lam)
    else:
        found = outcome_advantages(*given, lam=args.lam, gamma=args.gamma)
    kept = found[table.kept]
    return found, {"advantage_mean": float(kept.mean()), "advantage_positive": float((kept > 0).float().mean())}


def actor_step(
    args: OffPolicyArguments, learner: Learner, rows: Sequence[Row], minibatch: ActorPart
) -> dict[str, float]:
    """One optimiser step on the actions of `minibatch.mask`."""
    ends = minibatch.turn_ends & minibatch.mask
    good = minibatch.mask & (minibatch.advantages >= 0)
    counts, tokens = Counts(float(ends.sum()), float(good.sum())), float(minibatch.mask.sum())
    options, loss = loss_options(args), ACTOR_LOSSES[args.loss]

    def loss_of(indices: list[int]) -> tuple[Tensor, dict[str, Tensor]]:
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


def loss_options(args: OffPolicyArguments) -> LossOptions:
    """The numbers that the actor's losses read."""
    return LossOptions(args.beta, args.max_weight, args.negative_weight, args.per_token)


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
    args: OffPolicyArguments, run: Run, learner: Learner, who: str, epochs: int, sizes: Sequence[int]
) -> Iterator[list[int]]:
    """The rows of each optimiser step."""
    rng, used = run.rng(who), sum(size > 0 for size in sizes)
    with run.progress(f"{who} learning sequences", epochs * used // learner.processes.size) as learner.progress:
        for _ in range(epochs):
            yield from parts_of(sizes, args.batch_size, rng)


def _anything(run: Run, who: str, kept: Tensor) -> bool:
    """Is there an action to learn from? If not, that is said."""
    if bool(kept.any()):
        return True
    run.report(f"the {who} has nothing to learn from in iteration {run.iteration + 1}: no action is left")
    return False

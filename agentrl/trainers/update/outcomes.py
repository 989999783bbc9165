"""Learning from outcomes: advantages and losses of the trainers that learn off-policy from whole episodes.

An *action* is a turn: its log-probability is the sum over its tokens, and it has one advantage. Functions on episodes
take `[trajectories, actions]` with a boolean mask, `outcomes` (`[trajectories]`, from 0 to 1) and the critic's `values`
before each action; nothing outside of the mask is read, so it may hold anything, NaN included.

Functions about actions (the losses) take tensors of any one shape with a `mask` of the places that hold an action, and
give the *sum* over them divided by `count`, the actions of the whole mini-batch: parts of micro-batches add up. Only
`logprobs`, `log_ratio` and `logits` receive gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from agentrl.core.errors import ConfigError
from agentrl.trainers.update.batch import masked_sum
from agentrl.trainers.update.losses import LOG_RATIO_LIMIT, Loss

MARGIN = 0.05  # released form: what an action must gain for each step it takes
GOOD = 1.0  # what an advantage of 0 or more is rounded to there; others become -0.6, and do not train
SURE = 0.8  # ... and the mean probability of a token from which the reference counts as sure


# ------------------------------------------------------------------ advantages


@torch.no_grad()
def final_returns(outcomes: Tensor, mask: Tensor, *, gamma: float = 0.9) -> Tensor:
    """`gamma^(T-t) * outcome`: what each action has to show for itself, T being its trajectory's last action."""
    check_outcomes(outcomes)
    left = _actions_left(mask)
    return torch.where(mask, outcomes[:, None] * gamma**left, 0.0)


@torch.no_grad()
def outcome_advantages(
    outcomes: Tensor, values: Tensor, mask: Tensor, *, lam: float = 0.5, gamma: float = 0.9
) -> Tensor:
    """WebRL's mixture of the next step and the end (paper, equations 8 and 15); 0 outside the mask.

    `A_t = lam * (r_t + gamma*V_{t+1} - V_t) + (1-lam) * (gamma^(T-t)*r_T - V_t)`. The outcome is the only reward, paid
    by the last action; after it `V = 0`. With `gamma=1` it is equation 8.
    """
    values = torch.where(mask, values, 0.0)
    next_step = _paid(outcomes, mask) + gamma * _next(values) - values
    to_the_end = final_returns(outcomes, mask, gamma=gamma) - values
    return torch.where(mask, lam * next_step + (1 - lam) * to_the_end, 0.0)


@torch.no_grad()
def digirl_advantages(outcomes: Tensor, values: Tensor, mask: Tensor, *, lam: float = 0.5) -> Tensor:
    """DigiRL's step-level advantage; 0 outside the mask.

    `A_t = lam^(T-t) * r_T + (1 - lam^(T-t)) * (r_t + V_{t+1} - V_t)`: close to the end the outcome itself, which is
    certain there; far from it the critic's word, which does not vary with everything that happened since. For the last
    action it is the outcome.
    """
    check_outcomes(outcomes)
    values, near = torch.where(mask, values, 0.0), lam ** _actions_left(mask)
    next_step = _paid(outcomes, mask) + _next(values) - values
    return torch.where(mask, near * outcomes[:, None] + (1 - near) * next_step, 0.0)


@torch.no_grad()
def released_advantages(
    outcomes: Tensor, values: Tensor, mask: Tensor, *, gamma: float = 0.9, every_step: bool = True
) -> Tensor:
    """The advantage of WebRL's published code, before it is rounded to good or bad; 0 outside the mask.

    `r_t + V_{t+1} - V_t - 0.05` plus the return, clipped to [-1, 1]. The published data pay the outcome on every step,
    so the return is `outcome * (1 + gamma + ... + gamma^(T-t))`, and every action of a success is good. Without
    `every_step` the last action alone is paid, and the return is the discounted outcome: an action of a success is bad
    where the value falls by more than that return.
    """
    values, paid = torch.where(mask, values, 0.0), _paid(outcomes, mask)
    returns = final_returns(outcomes, mask, gamma=gamma)
    if every_step:
        paid = torch.where(mask, outcomes[:, None], 0.0)
        sums = (gamma ** torch.arange(mask.shape[1], device=mask.device)).cumsum(0)
        returns = paid * sums[_actions_left(mask)]
    return torch.where(mask, released_advantage(paid, _next(values), values, returns), 0.0)


def released_advantage(rewards: Tensor, next_values: Tensor, values: Tensor, returns: Tensor) -> Tensor:
    """The same from its parts, of any shape."""
    return (rewards + next_values - values - MARGIN + returns).clamp(-1.0, 1.0)


def _actions_left(mask: Tensor) -> Tensor:
    """How many actions of the row come after each."""
    return (mask.flip(1).cumsum(1).flip(1) - 1).clamp(min=0)


def _paid(outcomes: Tensor, mask: Tensor) -> Tensor:
    """The reward of each action: the outcome for the last, 0 for the others."""
    check_outcomes(outcomes)
    return torch.where(mask & (_actions_left(mask) == 0), outcomes[:, None], 0.0)


def _next(values: Tensor) -> Tensor:
    """The value one action later; 0 after the last. Actions of a row follow each other from its first place."""
    return functional.pad(values[:, 1:], (0, 1))


def check_outcomes(outcomes: Tensor) -> None:
    """`ConfigError` for one that is not a probability."""
    wrong = ~((outcomes >= 0) & (outcomes <= 1))  # NaN is neither
    if bool(wrong.any()):
        raise ConfigError(f"outcomes must lie between 0 and 1; got {float(outcomes[wrong][0])}")


# ------------------------------------------------------------------ which trajectories and actions are learned from


def percentile_filter(scores: Sequence[float], percentile: float = 70.0) -> list[bool]:
    """Filtered BC: which trajectories lie at or above a percentile of the scores, and above the lowest score.

    Where most trajectories fail, the percentile is a failure's score itself: without the second condition all failures
    would be imitated. Where all scores are equal there is nothing to prefer, and all are kept.
    """
    if not scores:
        return []
    given = torch.tensor(scores, dtype=torch.double)
    if not bool(given.isfinite().all()):
        raise ConfigError("scores must be finite; leave out trajectories whose outcome is not known")
    if bool((given == given[0]).all()):
        return [True] * len(scores)
    limit = torch.quantile(given, percentile / 100)
    return ((given >= limit) & (given > given.min())).tolist()


def instruction_filter(outcomes: Sequence[float], values: Sequence[float], share: float = 0.5) -> list[bool]:
    """DigiRL's instruction-level filter: the trajectories that did most better than was expected of their instruction.

    `values[i]` is the predicted success of the instruction of trajectory i (V of its first state). Kept are those with
    `outcome - value > 0`, at most `share` of all trajectories, the largest differences first: a success where one was
    rare says more than one more success of an easy task.
    """
    gains = [outcome - value for outcome, value in zip(outcomes, values, strict=True)]
    order = sorted(range(len(gains)), key=lambda index: (-gains[index], index))
    best = set(order[: math.ceil(share * len(gains))])
    return [index in best and gain > 0 for index, gain in enumerate(gains)]


def perplexity(logprobs: Sequence[float]) -> float:
    """`exp(-mean log-probability)` of an action's tokens; infinite for an action without any."""
    if not logprobs:
        return math.inf
    return math.exp(min(-math.fsum(logprobs) / len(logprobs), 700.0))  # exp(710) is no float any more


# ------------------------------------------------------------------ losses of the actor


class Actions(NamedTuple):
    """What an actor's loss knows of some actions; all tensors have one shape."""

    logprobs: Tensor  # of whole actions, by the policy that learns
    log_ratio: Tensor  # log(pi / pi_ref) of whole actions
    reference: Tensor  # log(pi_ref) of whole actions
    tokens: Tensor  # of each action
    advantages: Tensor
    mask: Tensor  # where there is an action to learn from


class Counts(NamedTuple):
    """Of the whole mini-batch."""

    actions: float
    positive_tokens: float  # of actions with a good advantage; only their imitation asks


class LossOptions(NamedTuple):
    """The numbers that the losses share."""

    beta: float = 1.0
    max_weight: float = 20.0
    negative_weight: float = 1.0
    per_token: bool = False


ActorLoss = Callable[[Actions, Counts, LossOptions], Loss]


def webrl_loss(actions: Actions, counts: Counts, options: LossOptions) -> Loss:
    """The mean of `(beta * log(pi/pi_ref) - A)^2` (WebRL paper, equations 5 and 12).

    Its minimum is `pi = pi_ref * exp(A/beta)`: a larger beta stays closer to the reference. The gradient at the
    reference, `-2*beta*A * grad log pi`, is also larger by beta. With `per_token` the log-ratio is the mean over the
    action's tokens; actions with `A < 0` count `negative_weight` times.
    """
    ratio = actions.log_ratio / actions.tokens.clamp(min=1) if options.per_token else actions.log_ratio
    missed = (options.beta * ratio - actions.advantages).square()
    return Loss(masked_sum(regression_weights(actions.advantages, options) * missed, actions.mask) / counts.actions, {})


def regression_weights(advantages: Tensor, options: LossOptions) -> Tensor:
    """How much each action counts in the regression."""
    return torch.where(advantages < 0, options.negative_weight, 1.0)


def released_loss(actions: Actions, counts: Counts, options: LossOptions) -> Loss:
    """The loss of WebRL's published code, which differs from the paper; `beta` of the options is not read.

    Advantages (see `released_advantages`) become +1 where they are 0 or more, and -0.6 below; only the good ones train.
    `x` is the mean of `log(pi/pi_ref)` over the tokens of the action. `b` is 5 where the reference is sure already (0.8
    or more per token, geometric mean) and 1 elsewhere, and at most `|A/x|`, so that `|b*x|` never exceeds A: an action
    whose tokens have become likelier by `1/b` is left alone. The loss is the mean, over good and bad actions, of
    `SmoothL1(b*x, A) / b`. (The published configuration has one action a mini-batch; this is the mean over several.)
    """
    good = _good(actions)
    x = torch.where(good, actions.log_ratio, 0.0) / torch.where(good, actions.tokens, 1.0)
    sure = torch.exp(actions.reference / actions.tokens.clamp(min=1)) >= SURE
    wanted = torch.where(sure, 5.0, 1.0)
    beta = torch.minimum(wanted, (GOOD / x.detach()).abs())  # infinite where x is 0
    losses = functional.smooth_l1_loss(beta * x, torch.full_like(x, GOOD), reduction="none") / beta
    metrics = {"good_actions": _share(good, counts), "capped_actions": _share(good & (beta < wanted), counts)}
    return Loss(masked_sum(losses, good) / counts.actions, metrics)


def good_actions_loss(actions: Actions, counts: Counts, options: LossOptions) -> Loss:
    """Imitation of good actions: the mean of `-log pi` over the tokens of actions whose advantage is 0 or more."""
    good = _good(actions)
    loss = -masked_sum(actions.logprobs, good) / max(counts.positive_tokens, 1.0)
    return Loss(loss, {"good_actions": _share(good, counts)})


def _good(actions: Actions) -> Tensor:
    return actions.mask & (actions.advantages >= 0)


def _share(chosen: Tensor, counts: Counts) -> Tensor:
    return chosen.sum() / counts.actions


def kl_target_loss(actions: Actions, counts: Counts, options: LossOptions) -> Loss:
    """The mean of `-exp(A/beta) * log pi` (WebRL paper, equation 13): the KL of the best policy from this one.

    It holds for actions that the reference itself would take: give it none of a replay buffer. It lowers no action by
    itself, and has no cap; an exponent is limited to 20 so that a loss stays finite.
    """
    return _weighted(actions, counts, math.inf, options.beta)


def awr_loss(actions: Actions, counts: Counts, options: LossOptions) -> Loss:
    """Advantage-weighted regression: the mean of `-min(exp(A/beta), max_weight) * log pi`."""
    return _weighted(actions, counts, options.max_weight, options.beta)


def reinforce_loss(actions: Actions, counts: Counts, options: LossOptions) -> Loss:
    """REINFORCE with the critic's value as its baseline: the mean of `-A * log pi`. Nothing holds it to a reference."""
    return Loss(-masked_sum(actions.advantages * actions.logprobs, actions.mask) / counts.actions, {})


def imitation_loss(actions: Actions, counts: Counts, options: LossOptions) -> Loss:
    """Behaviour cloning: the mean of `-log pi`, whatever the advantage."""
    return Loss(-masked_sum(actions.logprobs, actions.mask) / counts.actions, {})


def _weighted(actions: Actions, counts: Counts, largest: float, beta: float) -> Loss:
    weights = (actions.advantages / beta).clamp(max=LOG_RATIO_LIMIT).exp().clamp(max=largest)
    with torch.no_grad():
        metrics = {"action_weight": masked_sum(weights, actions.mask) / counts.actions}
    return Loss(-masked_sum(weights * actions.logprobs, actions.mask) / counts.actions, metrics)


ACTOR_LOSSES: dict[str, ActorLoss] = {
    "webrl": webrl_loss,
    "released": released_loss,
    "good_actions": good_actions_loss,
    "kl_target": kl_target_loss,
    "reinforce": reinforce_loss,
    "awr": awr_loss,
    "bc": imitation_loss,
}


# ------------------------------------------------------------------ the critic


def outcome_loss(logits: Tensor, outcomes: Tensor, mask: Tensor, count: float) -> Loss:
    """The mean cross-entropy of `V = sigmoid(logit)` with the outcome, at each state of `mask` (equation 7).

    `logits` have one more dimension: the critic's heads, whose mean loss counts. `V` is the lowest of theirs. (A head
    with two logits and a softmax, as in WebRL's published code, says the same as one with a logit and a sigmoid.)
    """
    logits, outcomes = torch.where(mask[..., None], logits, 0.0), torch.where(mask, outcomes, 0.0)
    goals = outcomes[..., None].expand_as(logits)
    losses = functional.binary_cross_entropy_with_logits(logits, goals, reduction="none").mean(-1)
    with torch.no_grad():
        lowest = logits.amin(-1)
        right = ((lowest > 0) == (outcomes > 0.5)).float()
        metrics = {
            "value_mean": masked_sum(lowest.sigmoid(), mask) / count,
            "value_accuracy": masked_sum(right, mask) / count,
        }
    return Loss(masked_sum(losses, mask) / count, metrics)

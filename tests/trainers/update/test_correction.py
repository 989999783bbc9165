"""Data of older policies: weights, what is left out, how old it is; and that training on it still improves."""

from __future__ import annotations

import math
from collections import deque
from functools import partial
from typing import Any

import pytest
import torch

from agentrl.trainers.algorithms import gigpo, grpo, gspo, ppo, steppo
from agentrl.trainers.arguments.policy import PolicyArguments
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.batch import Batch, Unit
from agentrl.trainers.update.groups import without_critic
from agentrl.trainers.update.learner import make_learner
from agentrl.trainers.update.losses import Correction
from agentrl.trainers.update.losses import correction as correction_of
from agentrl.trainers.update.policy import BatchScores, score, update_policy
from tests.longer import only
from tests.trainers import slow_reference as slow
from tests.trainers import toys
from tests.trainers.algorithms.test_ppo import chance, last_policy
from tests.trainers.episodes import conversation, episode, played
from tests.trainers.policy_losses import ppo_loss
from tests.trainers.runs import lines, training_state

TRAINERS: dict[str, Any] = {"ppo": ppo, "steppo": steppo, "grpo": grpo, "gspo": gspo, "gigpo": gigpo}
CORRECTIONS = ("decoupled", "truncated")
# algorithm, its options, the unit that has a ratio
LOSSES: dict[str, tuple[Any, dict[str, Any], Unit]] = {
    "tokens": (grpo, {}, "token"),
    "steps": (steppo, {}, "step"),
    "sequences": (gspo, {}, "sequence"),
    "tokens by row": (grpo, {"loss_mean": "sequence"}, "token"),
    "tokens by length": (grpo, {"loss_mean": "constant", "loss_length": 3}, "token"),
}

NOW = [-1, -0.5, -2, -0.2, -0.2]
BEHAVIOUR = [-1.2, -0.4, -1, -2.1, -3.0]
PROXIMAL = [-1.1, -0.45, -1.5, -2.0, -2.0]
CREDIT = [1.0, -1, -2, -1, -1]


def correct(args: PolicyArguments, batch: Batch, scores: BatchScores, unit: Unit) -> Correction:
    return correction_of(args, batch, scores.old, unit)


def one_reply(tokens: int) -> tuple[Batch, BatchScores]:
    reply = episode([([1, 2], list(range(4, 4 + tokens)))])
    reply.steps[0].logprobs = BEHAVIOUR[:tokens]
    batch = Batch([reply])
    nothing = torch.zeros(1, tokens)
    return batch, BatchScores(torch.tensor([PROXIMAL[:tokens]]), None, nothing, nothing, torch.zeros(1))


@pytest.mark.parametrize(("tokens", "golden"), [(3, 0.217961), (4, 0.992349), (5, 0.992349)])
def test_golden_numbers_of_the_decoupled_loss_through_the_trainers_way(tokens, golden) -> None:
    batch, scores = one_reply(tokens)
    found = correct(PolicyArguments(correction="decoupled"), batch, scores, "token")
    weighted = torch.tensor([CREDIT[:tokens]]) * found.weights
    loss = ppo_loss(torch.tensor([NOW[:tokens]]), scores.old, weighted, found.kept, dual_clip=3.0).loss
    assert loss.item() == pytest.approx(golden, abs=1e-5)
    assert found.metrics["over_max_weight"] == pytest.approx(0.2 if tokens == 5 else 0.0)


def test_truncated_weights_are_cut_and_nothing_leaves() -> None:
    batch, scores = one_reply(5)
    found = correct(PolicyArguments(correction="truncated"), batch, scores, "token")
    assert torch.equal(found.kept, batch.token_mask) and float(found.weights.max()) == 2.0
    own = torch.tensor([CREDIT]) * found.weights
    loss = ppo_loss(torch.tensor([NOW]), scores.old, own, found.kept, dual_clip=3.0).loss
    terms = [
        min(2.0, math.exp(prox - did)) * slow.clipped(math.exp(now - prox), credit, 0.2, 0.2, 3.0)
        for now, did, prox, credit in zip(NOW, BEHAVIOUR, PROXIMAL, CREDIT, strict=True)
    ]
    assert loss.item() == pytest.approx(slow.mean(terms), abs=1e-6)


def test_with_every_token_dropped_the_loss_and_its_gradients_are_zero() -> None:
    batch, scores = one_reply(5)
    found = correct(PolicyArguments(correction="decoupled", max_weight=1e-3), batch, scores, "token")
    assert not found.kept.any()
    now = torch.tensor([NOW], requires_grad=True)
    loss = ppo_loss(now, scores.old, torch.tensor([CREDIT]) * found.weights, found.kept).loss
    loss.backward()
    assert loss.item() == 0 and now.grad is not None and not now.grad.any()


def test_without_a_correction_every_weight_is_one() -> None:
    batch, scores = one_reply(5)
    found = correct(PolicyArguments(), batch, scores, "token")
    assert bool((found.weights == 1).all()) and torch.equal(found.kept, batch.token_mask) and not found.metrics


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_steps_and_sequences_share_the_geometric_mean_of_their_weights(style) -> None:
    replies = [[4, 5], [6]]
    one = episode([([1, 2], [4, 5]), ([1, 3], [6])]) if style == "step" else conversation(replies)
    batch = Batch([one])
    nothing = torch.zeros_like(batch.logprobs)
    log_weights = torch.tensor([[0.2, 0.6, 0.1]])
    scores = BatchScores(batch.logprobs + log_weights, None, nothing, nothing, torch.zeros(1))
    args = PolicyArguments(correction="decoupled", max_weight=1.3)  # exp(0.4) is above it, exp(0.1) and exp(0.3) not
    by_step = correct(args, batch, scores, "step")
    assert by_step.kept.tolist() == [[False, False, True]]  # a step leaves as a whole
    assert by_step.metrics["over_max_weight"] == pytest.approx(2 / 3)
    by_row = correct(PolicyArguments(correction="truncated", max_weight=9.0), batch, scores, "sequence").weights.log()
    wanted = [[0.4, 0.4, 0.1]] if style == "step" else [[0.3, 0.3, 0.3]]
    assert by_row.tolist()[0] == pytest.approx(wanted[0], abs=1e-6)


def test_observation_tokens_have_no_weight_of_their_own() -> None:
    """Vanilla PPO trains them, and nobody knows how likely they were."""
    batch = Batch([conversation([[4, 5], [6]])], observations=True)
    nothing = torch.zeros_like(batch.logprobs)
    scores = BatchScores(batch.logprobs - 9.0, None, nothing, nothing, torch.zeros(1))
    found = correct(PolicyArguments(correction="truncated"), batch, scores, "token").weights
    assert bool((found[~batch.action_mask] == 1).all()) and bool((found[batch.action_mask] < 0.01).all())


def test_every_token_knows_the_policy_that_wrote_it() -> None:
    two = conversation([[4, 5], [6]])
    two.steps[0].version, two.steps[1].version = 3, 5
    batch = Batch([two, conversation([[9]])], observations=True)
    assert batch.versions[0].tolist() == [3, 3, 5, 5, 5] and batch.rows[0].versions == [3, 3, 5, 5, 5]


@pytest.mark.parametrize("mean", ["token", "sequence", "constant"])
def test_the_divergence_in_the_loss_is_averaged_as_the_loss_is(undecided, tmp_path, mean) -> None:
    options = {"loss_mean": mean, "loss_length": 3, "kl_coef": 2.0, "kl_estimator": "k2", "iterations": 1}
    args = toys.grpo(undecided, tmp_path, **options)
    learner = make_learner(args)
    batch = Batch([conversation([[4, 5], [6]]), conversation([[9]]), conversation([[4, 5, 6, 7]])])
    scores = score(args, learner, batch)
    assert scores.reference is not None
    distance = torch.where(batch.action_mask, torch.arange(1.0, len(batch) + 1)[:, None] / 10, 0.0)
    scores = scores._replace(old=scores.reference, reference=scores.reference - distance)
    with Run(args, "grpo", learner) as run:
        weigh = partial(grpo.loss_weights, args)
        nothing = without_critic(torch.zeros_like(distance))
        found = update_policy(
            args, learner, batch, scores, nothing, grpo.policy_loss, run.rng("minibatches"), weigh=weigh
        )
    each = distance.square() / 2
    lengths = batch.action_mask.sum(1)
    wanted = {
        "token": each.sum() / lengths.sum(),
        "sequence": (each.sum(1) / lengths).mean(),
        "constant": each.sum() / (3 * len(batch)),
    }[mean]
    assert found["loss"] == pytest.approx(2.0 * float(wanted), rel=1e-3)


def steppo_loss(args: Any, logprobs: torch.Tensor, part: Any) -> Any:
    """With its default arguments: those of the run are another algorithm's."""
    return steppo.policy_loss(steppo.StepPO(), logprobs, part)


@pytest.mark.parametrize("budget", [pytest.param(16_384, marks=pytest.mark.long), 30])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_of_an_update_is_the_weighted_mean_however_it_is_cut(undecided, tmp_path, loss, budget) -> None:
    """At the first step the ratio is 1: the loss is the mean of -w*A over what was kept. Some pieces keep nothing."""
    trainer, options, unit = LOSSES[loss]
    more = {"correction": "decoupled", "max_weight": 1.2, "token_budget": budget, "iterations": 1}
    args = toys.grpo(undecided, tmp_path, **more, **options)
    learner = make_learner(args)
    episodes = played(learner.engine, args.specs(), 8, style="step")
    for number, one in enumerate(episodes):
        for step in one.steps:
            assert step.logprobs is not None
            shift = (0.1, -0.1, -0.5)[number % 3]  # the third kind has become too likely
            step.logprobs = [value + shift for value in step.logprobs]
    batch = Batch(episodes)
    scores = score(args, learner, batch)
    credit = torch.where(batch.action_mask, torch.arange(1.0, len(batch) + 1)[:, None], 0.0)
    with Run(args, "grpo", learner) as run:
        weigh = partial(grpo.loss_weights, args) if trainer is grpo else None
        policy_loss = steppo_loss if trainer is steppo else trainer.policy_loss
        rng = run.rng("minibatches")
        found = update_policy(args, learner, batch, scores, without_critic(credit), policy_loss, rng, unit, weigh=weigh)
    # played() samples at another temperature than args trains with, so the weights are computed, not known.
    fixed = correct(args, batch, scores, unit)
    assert 0 < found["over_max_weight"] < 1 and not bool(fixed.kept.any(1).all())
    each = torch.where(fixed.kept, -credit * fixed.weights, 0.0)
    lengths = fixed.kept.sum(1).clamp(min=1)
    rows = fixed.kept.any(1).sum()  # of one step each
    whole = (each.sum(1) / lengths).sum() / rows
    if loss in ("tokens", "tokens by length"):
        whole = each.sum() / (fixed.kept.sum() if loss == "tokens" else 3 * rows)
    assert found["policy"] == pytest.approx(float(whole), rel=1e-4)


@pytest.mark.parametrize("name", only(("ppo",), TRAINERS))
def test_fresh_data_is_trained_on_as_without_a_correction(undecided, tmp_path, name) -> None:
    """What was played by the very policy that is trained has weights of 1."""
    found = {}
    for correction in ("none", *CORRECTIONS):
        options = {"correction": correction, "old_logprobs": "recomputed", "epochs": 2, "iterations": 1}
        folder = TRAINERS[name].train(getattr(toys, name)(undecided, tmp_path / correction, **options))
        found[correction] = training_state(folder, 1), lines(folder, "train")[0]["loss"]
    plain = found["none"][0]
    for correction in CORRECTIONS:
        state, loss = found[correction]
        assert loss["importance_weight_mean"] == pytest.approx(1.0, abs=1e-5) and loss["over_max_weight"] == 0.0
        for key, value in plain.items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                assert torch.allclose(state[key], value, atol=2e-4), key


class Late:
    """Makes a run learn from what was played two updates ago; the first updates have nothing older than the start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, delay: int = 2) -> None:
        self.queue: deque[list[Any]] = deque(maxlen=delay + 1)
        original = Run.collect

        def late(run: Run, episodes: int, group_size: int = 1, extra: int = 0) -> list[Any]:
            self.queue.append(original(run, episodes, group_size, extra))
            return self.queue[0]

        monkeypatch.setattr(Run, "collect", late)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("name", only(("grpo",), TRAINERS))
def test_data_two_updates_old_still_improves_the_policy(undecided, tmp_path, monkeypatch, name, correction) -> None:
    Late(monkeypatch)
    options = {"iterations": 6, "episodes": 32, "num_envs": 32, "lr": 5e-3, "correction": correction}
    if name == "gspo":
        options |= {"clip_low": 0.2, "clip_high": 0.2}
    folder = TRAINERS[name].train(getattr(toys, name)(undecided, tmp_path / "run", **options))
    assert chance(last_policy(folder)) > chance(undecided) + 0.1
    figures = [line["loss"] for line in lines(folder, "train")]
    assert [loss["staleness_max"] for loss in figures] == [0, 1, 2, 2, 2, 2]
    assert any(abs(loss["importance_weight_mean"] - 1) > 0.01 for loss in figures[1:])

"""Losses: published numbers, an independent slow version, and where gradients may go."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments.policy import PolicyArguments
from agentrl.trainers.update import batch as batch_maths
from agentrl.trainers.update import losses
from tests.trainers import slow_reference as slow
from tests.trainers.batches import random_batch
from tests.trainers.policy_losses import grpo_loss, gspo_loss, part, ppo_loss, step_loss

NAN = float("nan")


def close(found: Tensor, wanted: Any, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(found, torch.as_tensor(wanted, dtype=found.dtype), atol=tolerance, rtol=tolerance)


# ------------------------------------------------------------------ golden numbers

OLD = torch.tensor([[-1.0, -2, -0.5], [-0.3, -0.2, -0.1]])
NEW = torch.tensor([[-0.5, -1.5, -0.5], [-0.9, -0.2, -0.4]])
A = torch.tensor([[1.0], [-1.0]]).expand(2, 3)
ALL = torch.ones(2, 3, dtype=torch.bool)


def test_golden_ppo_loss_and_clip_fraction() -> None:
    loss, metrics = ppo_loss(NEW, OLD, A, ALL)
    close(loss, -0.133333)
    close(metrics["clip_fraction"], 0.666667)


def test_golden_gspo_loss() -> None:
    close(gspo_loss(NEW, OLD, A, ALL, clip_low=3e-4, clip_high=4e-4).loss, -0.000350, 1e-6)
    # One row is one step here, so StepPO with that clip range is the same.
    close(step_loss(NEW, OLD, A, ALL, clip_low=3e-4, clip_high=4e-4).loss, -0.000350, 1e-6)


def test_golden_k3() -> None:
    golden = [[0.106531, 0.106531, 0], [0.222119, 0, 0.049859]]
    close(losses.kl_estimate(NEW, OLD, ALL, "k3"), golden, 1e-6)


# ------------------------------------------------------------------ against the slow version


class Case:
    """Log-probabilities and advantages for a random batch; NaN wherever nothing may be read."""

    def __init__(self, seed: int) -> None:
        self.batch = random_batch(seed)
        self.mask, self.ends = self.batch.mask, self.batch.ends
        gen = torch.Generator().manual_seed(1000 + seed)
        noise = torch.randn(5, *self.mask.shape, generator=gen)
        hidden = torch.where(self.mask, 0.0, NAN)
        self.old = -noise[0].abs() + hidden
        self.new = self.old + 0.4 * noise[1]
        self.prox = self.old + 0.5 * noise[2]
        self.advantages = noise[3] + hidden
        self.values = noise[4] + hidden
        self.spans = [slow.turns(m, e) for m, e in zip(self.mask.tolist(), self.ends.tolist(), strict=True)]

    def lists(self) -> tuple[Any, ...]:
        return self.new.tolist(), self.old.tolist(), self.advantages.tolist(), self.mask.tolist()


SEEDS = range(8)
CLIPS = [(0.2, 0.2, 0.0), (0.2, 0.28, 0.0), (0.1, 0.3, 1.5)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["token", "sequence"])
@pytest.mark.parametrize(("low", "high", "dual"), CLIPS)
def test_token_ratios_equal_the_slow_version(low: float, high: float, dual: float, mode: Any, seed: int) -> None:
    c = Case(seed)
    clip = {"clip_low": low, "clip_high": high, "dual_clip": dual}
    found = grpo_loss(c.new, c.old, c.advantages, c.mask, loss_mean=mode, **clip)
    wanted = slow.ppo(*c.lists(), low, high, dual or None, mode, c.spans)
    close(found.loss, wanted)
    if mode == "token":
        close(ppo_loss(c.new, c.old, c.advantages, c.mask, **clip).loss, wanted)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("low", "high", "dual"), CLIPS)
def test_step_and_sequence_ratios_equal_the_slow_version(low: float, high: float, dual: float, seed: int) -> None:
    c = Case(seed)
    clip = {"clip_low": low, "clip_high": high, "dual_clip": dual}
    step = step_loss(c.new, c.old, c.advantages, c.mask, turn_ends=c.ends, **clip)
    close(step.loss, slow.ppo(*c.lists(), low, high, dual or None, "step", c.spans, ratio="step"))
    row = gspo_loss(c.new, c.old, c.advantages, c.mask, **clip)
    close(row.loss, slow.ppo(*c.lists(), low, high, dual or None, "sequence", c.spans, ratio="sequence"))
    close(step_loss(c.new, c.old, c.advantages, c.mask, **clip).loss, row.loss.item())


def test_steps_with_one_advantage_each_give_the_formula_of_the_paper() -> None:
    c = Case(4)
    terms = []
    for b, spans in enumerate(c.spans):
        for span in spans:
            c.advantages[b, span] = float(len(terms) % 3 - 1)
            w = math.exp(slow.mean([float(c.new[b, i] - c.old[b, i]) for i in span]))
            terms.append(slow.clipped(w, float(c.advantages[b, span[0]]), 0.03, 0.04, None))  # the defaults
    close(step_loss(c.new, c.old, c.advantages, c.mask, turn_ends=c.ends).loss, slow.mean(terms))


@pytest.mark.parametrize("seed", SEEDS)
def test_critic_loss_equals_the_slow_version(seed: int) -> None:
    c = Case(seed)
    returns, old_values = c.advantages, c.values + 0.5 * c.batch.after
    plain, clipped = [], []
    for v, y, o in zip(*(x[c.mask].tolist() for x in (c.values, returns, old_values)), strict=True):
        plain.append((v - y) ** 2)
        clipped.append(max((v - y) ** 2, (min(max(v, o - 0.2), o + 0.2) - y) ** 2))
    close(losses.critic_loss(c.values, returns, c.mask).loss, slow.mean(plain))
    close(losses.critic_loss(c.values, returns, c.mask, old_values=old_values, clip=0.2).loss, slow.mean(clipped))


def test_critic_metrics_are_means_over_the_places_where_it_is_taught() -> None:
    c = Case(2)
    metrics = losses.critic_loss(c.values, c.advantages, c.mask).metrics
    close(metrics["value_mean"], c.values[c.mask].mean())
    close(metrics["return_mean"], c.advantages[c.mask].mean())
    assert metrics["value_clip_fraction"] == 0


# ------------------------------------------------------------------ clips, one by one


def one(new: float, advantage: float, **options: Any) -> tuple[float, float, dict[str, Tensor]]:
    """Loss and gradient of a single token whose old log-probability is 0."""
    logprob = torch.tensor([[new]], requires_grad=True)
    mask = torch.tensor([[True]])
    loss, metrics = ppo_loss(logprob, torch.zeros(1, 1), torch.tensor([[advantage]]), mask, **options)
    loss.backward()
    assert logprob.grad is not None
    return loss.item(), logprob.grad.item(), metrics


def test_clip_stops_the_gradient_only_on_the_side_that_has_gone_far_enough() -> None:
    assert one(0.5, 1.0)[1] == 0 and one(-0.5, -1.0)[1] == 0
    assert one(-0.5, 1.0)[1] == pytest.approx(-math.exp(-0.5)) and one(0.5, -1.0)[1] == pytest.approx(math.exp(0.5))
    assert one(0.0, 2.0)[1] == pytest.approx(-2.0)  # on the old policy: plain policy gradient


def test_clip_higher_widens_the_upper_side_only() -> None:
    assert one(0.22, 1.0)[1] == 0 and one(0.22, 1.0, clip_high=0.28)[1] == pytest.approx(-math.exp(0.22))
    assert one(-0.25, -1.0)[1] == 0 and one(-0.25, -1.0, clip_high=0.28)[1] == 0


def test_dual_clip_caps_the_loss_of_bad_tokens_only() -> None:
    loss, gradient, metrics = one(2.0, -1.0, dual_clip=3.0)
    assert (loss, gradient, metrics["dual_clip_fraction"].item()) == (3.0, 0.0, 1.0)
    assert one(1.0, -1.0, dual_clip=3.0)[0] == pytest.approx(math.e)
    assert one(-2.0, 1.0, dual_clip=3.0)[0] == pytest.approx(-math.exp(-2.0))


def test_absurd_ratios_stay_finite_and_nan_is_not_hidden() -> None:
    for new, advantage in itertools.product((-1e4, 1e4), (-1.0, 1.0)):
        assert math.isfinite(one(new, advantage)[0])
    assert math.isnan(one(NAN, 1.0)[0])


def test_drift_metrics() -> None:
    metrics = ppo_loss(NEW, OLD, A, ALL).metrics | losses.policy_drift(losses.log_ratios(NEW, OLD, ALL), ALL)
    log_ratio = (NEW - OLD).double()
    close(metrics["approx_kl"], (log_ratio.exp() - 1 - log_ratio).mean())
    close(metrics["approx_kl_k1"], -log_ratio.mean())
    close(metrics["ratio_max"], math.exp(0.5))
    assert not any(value.requires_grad for value in metrics.values())
    still = ppo_loss(OLD, OLD, A, ALL).metrics | losses.policy_drift(losses.log_ratios(OLD, OLD, ALL), ALL)
    assert still["approx_kl"] == 0 and still["clip_fraction"] == 0 and still["ratio_max"] == 1


# ------------------------------------------------------------------ where gradients go


def kl_mean(new: Tensor, old: Tensor, mask: Tensor, kind: Any) -> Tensor:
    return batch_maths.masked_mean(losses.kl_estimate(new, old, mask, kind), mask)


POLICY_LOSSES: dict[str, Callable[[Case, Tensor], Tensor]] = {
    "ppo": lambda c, x: ppo_loss(x, c.old, c.advantages, c.mask).loss,
    "ppo by sequence": lambda c, x: grpo_loss(x, c.old, c.advantages, c.mask, loss_mean="sequence").loss,
    "ppo by length": lambda c, x: grpo_loss(x, c.old, c.advantages, c.mask, loss_mean="constant").loss,
    "step": lambda c, x: step_loss(x, c.old, c.advantages, c.mask, turn_ends=c.ends).loss,
    "gspo": lambda c, x: gspo_loss(x, c.old, c.advantages, c.mask, clip_low=0.2, clip_high=0.2).loss,
    "k1": lambda c, x: kl_mean(x, c.old, c.mask, "k1"),
    "k2": lambda c, x: kl_mean(x, c.old, c.mask, "k2"),
    "k3": lambda c, x: kl_mean(x, c.old, c.mask, "k3"),
    "critic": lambda c, x: losses.critic_loss(x, c.advantages, c.mask, old_values=c.old, clip=0.5).loss,
}
every_loss = pytest.mark.parametrize("name", POLICY_LOSSES)


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_gradients_flow_through_action_tokens_only(name: str, seed: int) -> None:
    c = Case(seed)
    x = c.new.clone().requires_grad_(True)
    POLICY_LOSSES[name](c, x).backward()
    assert x.grad is not None and bool(x.grad.isfinite().all())
    assert not x.grad[~c.mask].any() and bool(x.grad[c.mask].any())


@every_loss
def test_gradients_are_those_of_the_loss(name: str) -> None:
    c = Case(7)
    for field in ("new", "old", "prox", "advantages"):
        setattr(c, field, getattr(c, field).double())
    finite = torch.where(c.mask, c.new, 0.0).requires_grad_(True)
    (gradient,) = torch.autograd.grad(POLICY_LOSSES[name](c, finite), finite)
    step = 1e-6
    for b, t in c.mask.nonzero().tolist()[:10]:
        moved = [finite.detach().clone() for _ in range(2)]
        moved[0][b, t] += step
        moved[1][b, t] -= step
        slope = (POLICY_LOSSES[name](c, moved[0]) - POLICY_LOSSES[name](c, moved[1])) / (2 * step)
        close(gradient[b, t], slope, 1e-4)


def test_nothing_but_the_policy_receives_gradients() -> None:
    new, old, a = (t.clone().requires_grad_(True) for t in (NEW, OLD, A))
    (ppo_loss(new, old, a, ALL).loss + kl_mean(new, old, ALL, "k3")).backward()
    assert new.grad is not None and old.grad is None and a.grad is None


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_padding_and_order_change_nothing(name: str, seed: int) -> None:
    c = Case(seed)
    before = POLICY_LOSSES[name](c, c.new)
    order = torch.randperm(len(c.mask), generator=torch.Generator().manual_seed(seed))
    for field in ("new", "old", "prox", "advantages", "values", "mask", "ends"):
        tensor = getattr(c, field)
        padded = torch.nn.functional.pad(tensor, (2, 3), value=0 if tensor.dtype == torch.bool else NAN)
        empty = torch.full_like(padded[:1], 0 if tensor.dtype == torch.bool else NAN)
        setattr(c, field, torch.cat([padded[order], empty]))  # a row of nothing but padding, too
    close(POLICY_LOSSES[name](c, c.new), before.item())


# ------------------------------------------------------------------ means


def test_the_weights_of_the_three_means_by_hand() -> None:
    x = torch.tensor([[1.0, 2, NAN, 6], [10, NAN, NAN, NAN]])
    mask = ~x.isnan()
    ends = torch.tensor([[False, True, False, True], [True, False, False, False]])

    def mean(unit: Any) -> Tensor:
        return batch_maths.masked_sum(batch_maths.token_weights(unit, mask, ends) * x, mask)

    close(mean("token"), 19 / 4)
    close(mean("sequence"), (3 + 10) / 2)
    close(mean("step"), (1.5 + 6 + 10) / 3)
    for unit in ("token", "sequence", "step"):
        weights = batch_maths.token_weights(unit, mask, ends)
        close(weights.sum(), 1.0)
        assert not weights[~mask].any()
    assert not batch_maths.token_weights("step", mask & False, ends).any()


def test_unit_means_are_shared_by_the_tokens_of_a_unit() -> None:
    x = torch.tensor([[1.0, 2, NAN, 6], [10, NAN, NAN, NAN]])
    mask = ~x.isnan()
    ends = torch.tensor([[False, True, False, True], [True, False, False, False]])
    close(batch_maths.unit_means(x, mask, "token", ends), [[1, 2, 0, 6], [10, 0, 0, 0]])
    close(batch_maths.unit_means(x, mask, "step", ends), [[1.5, 1.5, 0, 6], [10, 0, 0, 0]])
    close(batch_maths.unit_means(x, mask, "sequence", ends), [[3, 3, 0, 3], [10, 0, 0, 0]])


@pytest.mark.parametrize("unit", ["token", "sequence", "step"])
def test_micro_batches_with_the_weights_of_the_whole_add_up_to_the_whole(unit: Any) -> None:
    from agentrl.trainers.algorithms import steppo

    c = Case(3)
    whole = part(c.old, c.advantages, c.mask, batch_maths.token_weights(unit, c.mask, c.ends), c.ends)

    def gradient(pieces: list[slice]) -> Tensor:
        x = c.new.clone().requires_grad_(True)
        for piece in pieces:
            micro_batch = type(whole)(*(tensor[piece] for tensor in whole))
            steppo.policy_loss(steppo.StepPO(), x[piece], micro_batch).loss.backward()
        assert x.grad is not None
        return x.grad

    close(gradient([slice(0, 1), slice(1, 3), slice(3, 5)]), gradient([slice(0, 5)]))


# ------------------------------------------------------------------ KL

LOGITS = torch.tensor([0.3, -1.0, 0.8, 0.1], dtype=torch.float64)
REF = torch.tensor([0.5, 0.2, -0.4, 0.0], dtype=torch.float64).log_softmax(-1)


def exact_kl(logits: Tensor) -> Tensor:
    log_p = logits.log_softmax(-1)
    return (log_p.exp() * (log_p - REF)).sum()


def expected(kind: Any) -> tuple[Tensor, Tensor]:
    """Value and gradient of an estimate, averaged over the policy's own tokens without any sampling."""
    logits = LOGITS.clone().requires_grad_(True)
    p = logits.detach().softmax(-1)
    values, gradients = torch.zeros((), dtype=torch.float64), torch.zeros_like(LOGITS)
    for token in range(4):
        logprob = logits.log_softmax(-1)[token].reshape(1, 1)
        loss = kl_mean(logprob, REF[token].reshape(1, 1), torch.tensor([[True]]), kind)
        values += p[token] * loss.detach()
        gradients += p[token] * torch.autograd.grad(loss, logits)[0]
    return values, gradients


def test_k1_and_k3_are_unbiased_and_k2_is_close() -> None:
    exact = exact_kl(LOGITS)
    close(expected("k1")[0], exact, 1e-9)
    close(expected("k3")[0], exact, 1e-9)
    assert expected("k2")[0] != pytest.approx(exact.item(), rel=1e-3)
    assert expected("k2")[0] == pytest.approx(exact.item(), rel=0.5)


def test_the_documented_gradients_of_the_estimates() -> None:
    logits = LOGITS.clone().requires_grad_(True)
    (of_kl,) = torch.autograd.grad(exact_kl(logits), logits)
    (of_the_other,) = torch.autograd.grad((REF.exp() * (REF - logits.log_softmax(-1))).sum(), logits)
    close(expected("k1")[1], torch.zeros(4), 1e-9)
    close(expected("k2")[1], of_kl, 1e-9)
    close(expected("k3")[1], of_the_other, 1e-9)


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ppo_loss(NEW, OLD, A, ALL, clip_low=-0.1), "clip_low must not be negative"),
        (lambda: ppo_loss(NEW, OLD, A, ALL, clip_high=NAN), "clip_high must be"),
        (lambda: ppo_loss(NEW, OLD, A, ALL, dual_clip=1.0), "dual_clip must be above 1"),
        (lambda: PolicyArguments(max_weight=0.0), "max_weight must be above 0"),
        (lambda: losses.kl_estimate(NEW, OLD, ALL, kind="k4"), "k4"),  # pyright: ignore[reportArgumentType]
        (lambda: losses.critic_loss(NEW, OLD, ALL, clip=0.2), "old_values"),
    ],
)
def test_input_that_cannot_be_right_is_refused_with_its_name(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        call()

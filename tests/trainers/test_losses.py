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
from agentrl.trainers import losses
from tests.trainers import slow_reference as slow
from tests.trainers.batches import random_batch

NAN = float("nan")


def close(found: Tensor, wanted: Any, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(found, torch.as_tensor(wanted, dtype=found.dtype), atol=tolerance, rtol=tolerance)


# ------------------------------------------------------------------ golden numbers

OLD = torch.tensor([[-1.0, -2, -0.5], [-0.3, -0.2, -0.1]])
NEW = torch.tensor([[-0.5, -1.5, -0.5], [-0.9, -0.2, -0.4]])
A = torch.tensor([[1.0], [-1.0]]).expand(2, 3)
ALL = torch.ones(2, 3, dtype=torch.bool)


def test_golden_ppo_loss_and_clip_fraction() -> None:
    loss, metrics = losses.ppo_loss(NEW, OLD, A, ALL)
    close(loss, -0.133333)
    close(metrics["clip_fraction"], 0.666667)


def test_golden_gspo_loss() -> None:
    close(losses.gspo_loss(NEW, OLD, A, ALL).loss, -0.000350, 1e-6)
    # One row is one step here, so StepPO with that clip range is the same.
    close(losses.step_ppo_loss(NEW, OLD, A, ALL, clip_low=3e-4, clip_high=4e-4).loss, -0.000350, 1e-6)


def test_golden_k3() -> None:
    golden = [[0.106531, 0.106531, 0], [0.222119, 0, 0.049859]]
    close(losses.kl_estimate(NEW, OLD, ALL, "k3"), golden, 1e-6)
    close(losses.kl_loss(NEW, OLD, ALL), sum(map(sum, golden)) / 6)


@pytest.mark.parametrize(("tokens", "golden"), [(3, 0.217961), (4, 0.992349), (5, 0.992349)])
def test_golden_decoupled_loss(tokens: int, golden: float) -> None:
    now = torch.tensor([[-1, -0.5, -2, -0.2, -0.2]])[:, :tokens]
    behaviour = torch.tensor([[-1.2, -0.4, -1, -2.1, -3.0]])[:, :tokens]
    proximal = torch.tensor([[-1.1, -0.45, -1.5, -2.0, -2.0]])[:, :tokens]
    advantages = torch.tensor([[1.0, -1, -2, -1, -1]])[:, :tokens]
    mask = torch.ones(1, tokens, dtype=torch.bool)
    loss, metrics = losses.decoupled_ppo_loss(now, behaviour, proximal, advantages, mask)
    close(loss, golden)
    close(metrics["heavy_fraction"], 0.2 if tokens == 5 else 0.0)
    close(metrics["dual_clip_fraction"], {3: 0.0, 4: 0.25, 5: 0.25}[tokens])


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
CLIPS = [(0.2, 0.2, None), (0.2, 0.28, None), (0.1, 0.3, 1.5)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["token", "sequence", "step"])
@pytest.mark.parametrize(("low", "high", "dual"), CLIPS)
def test_ppo_equals_the_slow_version(low: float, high: float, dual: float | None, mode: Any, seed: int) -> None:
    c = Case(seed)
    found = losses.ppo_loss(
        c.new, c.old, c.advantages, c.mask,
        clip_low=low, clip_high=high, dual_clip=dual, aggregation=mode, turn_ends=c.ends,
    )  # fmt: skip
    close(found.loss, slow.ppo(*c.lists(), low, high, dual, mode, c.spans))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("low", "high", "dual"), CLIPS)
def test_step_and_sequence_ratios_equal_the_slow_version(
    low: float, high: float, dual: float | None, seed: int
) -> None:
    c = Case(seed)
    clip = {"clip_low": low, "clip_high": high, "dual_clip": dual}
    step = losses.step_ppo_loss(c.new, c.old, c.advantages, c.mask, turn_ends=c.ends, **clip)
    close(step.loss, slow.ppo(*c.lists(), low, high, dual, "step", c.spans, ratio="step"))
    row = losses.gspo_loss(c.new, c.old, c.advantages, c.mask, **clip)
    close(row.loss, slow.ppo(*c.lists(), low, high, dual, "sequence", c.spans, ratio="sequence"))
    close(losses.step_ppo_loss(c.new, c.old, c.advantages, c.mask, **clip).loss, row.loss.item())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("above", ["drop", "truncate"])
def test_decoupled_equals_the_slow_version(above: Any, seed: int) -> None:
    c = Case(seed)
    found = losses.decoupled_ppo_loss(c.new, c.old, c.prox, c.advantages, c.mask, max_weight=1.3, above=above).loss
    terms = []
    for n, b, p, a in zip(*(x[c.mask].tolist() for x in (c.new, c.old, c.prox, c.advantages)), strict=True):
        w = math.exp(p - b)
        if w <= 1.3 or above == "truncate":
            terms.append(min(w, 1.3) * slow.clipped(math.exp(n - p), a, 0.2, 0.2, 3.0))
    close(found, slow.mean(terms))


def test_decoupled_is_plain_ppo_when_the_policy_that_acted_is_the_recent_one() -> None:
    c = Case(1)
    plain = losses.ppo_loss(c.new, c.old, c.advantages, c.mask, dual_clip=3.0).loss
    close(losses.decoupled_ppo_loss(c.new, c.old, c.old, c.advantages, c.mask).loss, plain.item())


def test_decoupled_with_every_token_dropped_is_zero_with_zero_gradients() -> None:
    new = NEW.clone().requires_grad_(True)
    loss = losses.decoupled_ppo_loss(new, OLD - 5, OLD, A, ALL).loss
    loss.backward()
    assert loss.item() == 0 and new.grad is not None and not new.grad.any()


def test_steps_with_one_advantage_each_give_the_formula_of_the_paper() -> None:
    c = Case(4)
    terms = []
    for b, spans in enumerate(c.spans):
        for span in spans:
            c.advantages[b, span] = float(len(terms) % 3 - 1)
            w = math.exp(slow.mean([float(c.new[b, i] - c.old[b, i]) for i in span]))
            terms.append(slow.clipped(w, float(c.advantages[b, span[0]]), 0.2, 0.2, None))
    close(losses.step_ppo_loss(c.new, c.old, c.advantages, c.mask, turn_ends=c.ends).loss, slow.mean(terms))


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


def test_critic_metrics_tell_a_perfect_critic_from_a_constant_one() -> None:
    c = Case(2)
    metrics = losses.critic_loss(c.advantages, c.advantages, c.mask).metrics
    close(metrics["explained_variance"], 1.0)
    close(metrics["value_mean"], metrics["return_mean"].item())
    close(losses.critic_loss(torch.ones_like(c.values), c.advantages, c.mask).metrics["explained_variance"], 0.0)
    close(losses.critic_loss(c.values, torch.ones_like(c.values), c.mask).metrics["explained_variance"], 0.0)


# ------------------------------------------------------------------ clips, one by one


def one(new: float, advantage: float, **options: Any) -> tuple[float, float, dict[str, Tensor]]:
    """Loss and gradient of a single token whose old log-probability is 0."""
    logprob = torch.tensor([[new]], requires_grad=True)
    mask = torch.tensor([[True]])
    loss, metrics = losses.ppo_loss(logprob, torch.zeros(1, 1), torch.tensor([[advantage]]), mask, **options)
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
    metrics = losses.ppo_loss(NEW, OLD, A, ALL).metrics
    log_ratio = (NEW - OLD).double()
    close(metrics["approx_kl"], (log_ratio.exp() - 1 - log_ratio).mean())
    close(metrics["approx_kl_k1"], -log_ratio.mean())
    close(metrics["ratio_max"], math.exp(0.5))
    assert not any(value.requires_grad for value in metrics.values())
    still = losses.ppo_loss(OLD, OLD, A, ALL).metrics
    assert still["approx_kl"] == 0 and still["clip_fraction"] == 0 and still["ratio_max"] == 1


# ------------------------------------------------------------------ where gradients go

POLICY_LOSSES: dict[str, Callable[[Case, Tensor], Tensor]] = {
    "ppo": lambda c, x: losses.ppo_loss(x, c.old, c.advantages, c.mask).loss,
    "ppo by sequence": lambda c, x: losses.ppo_loss(x, c.old, c.advantages, c.mask, aggregation="sequence").loss,
    "step": lambda c, x: losses.step_ppo_loss(x, c.old, c.advantages, c.mask, turn_ends=c.ends).loss,
    "gspo": lambda c, x: losses.gspo_loss(x, c.old, c.advantages, c.mask, clip_low=0.2, clip_high=0.2).loss,
    "decoupled": lambda c, x: losses.decoupled_ppo_loss(x, c.old, c.prox, c.advantages, c.mask).loss,
    "k1": lambda c, x: losses.kl_loss(x, c.old, c.mask, kind="k1"),
    "k2": lambda c, x: losses.kl_loss(x, c.old, c.mask, kind="k2"),
    "k3": lambda c, x: losses.kl_loss(x, c.old, c.mask, kind="k3"),
    "k3, k2's gradient": lambda c, x: losses.kl_loss(x, c.old, c.mask, kind="k3", gradient="k2"),
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
    # That one has another estimate's gradient, by intention.
    wanted = "k2" if name == "k3, k2's gradient" else name
    (gradient,) = torch.autograd.grad(POLICY_LOSSES[name](c, finite), finite)
    step = 1e-6
    for b, t in c.mask.nonzero().tolist()[:10]:
        moved = [finite.detach().clone() for _ in range(2)]
        moved[0][b, t] += step
        moved[1][b, t] -= step
        slope = (POLICY_LOSSES[wanted](c, moved[0]) - POLICY_LOSSES[wanted](c, moved[1])) / (2 * step)
        close(gradient[b, t], slope, 1e-4)


def test_nothing_but_the_policy_receives_gradients() -> None:
    new, old, prox, a = (t.clone().requires_grad_(True) for t in (NEW, OLD, OLD - 0.1, A))
    (
        losses.ppo_loss(new, old, a, ALL).loss
        + losses.decoupled_ppo_loss(new, old, prox, a, ALL).loss
        + losses.kl_loss(new, old, ALL)
    ).backward()
    assert new.grad is not None and old.grad is None and prox.grad is None and a.grad is None


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


@every_loss
def test_low_precision_is_summed_in_float32(name: str) -> None:
    c = Case(0)
    low = c.new.bfloat16()
    found = POLICY_LOSSES[name](c, low)
    assert found.dtype == torch.float32
    close(found, POLICY_LOSSES[name](c, low.float()).item())


# ------------------------------------------------------------------ means


def test_the_three_means_by_hand() -> None:
    x = torch.tensor([[1.0, 2, NAN, 6], [10, NAN, NAN, NAN]])
    mask = ~x.isnan()
    ends = torch.tensor([[False, True, False, True], [True, False, False, False]])
    close(losses.aggregate(x, mask), 19 / 4)
    close(losses.aggregate(x, mask, "sequence"), (3 + 10) / 2)
    close(losses.aggregate(x, mask, "step"), (3 + 10) / 2)
    close(losses.aggregate(x, mask, "step", turn_ends=ends), (1.5 + 6 + 10) / 3)
    close(losses.aggregate(x, mask, denominator=100.0), 0.19)
    assert [int(losses.unit_count(mask, mode, ends)) for mode in ("token", "sequence", "step")] == [4, 2, 3]


@pytest.mark.parametrize("mode", ["token", "sequence", "step"])
def test_pieces_with_the_whole_denominator_add_up_to_the_whole(mode: Any) -> None:
    c = Case(3)

    def gradient(pieces: list[slice]) -> Tensor:
        x = c.new.clone().requires_grad_(True)
        whole = losses.unit_count(c.mask, mode, c.ends)
        for p in pieces:
            losses.ppo_loss(
                x[p], c.old[p], c.advantages[p], c.mask[p], aggregation=mode, turn_ends=c.ends[p], denominator=whole
            ).loss.backward()
        assert x.grad is not None
        return x.grad

    close(gradient([slice(0, 1), slice(1, 3), slice(3, 5)]), gradient([slice(0, 5)]))


# ------------------------------------------------------------------ KL and entropy

LOGITS = torch.tensor([0.3, -1.0, 0.8, 0.1], dtype=torch.float64)
REF = torch.tensor([0.5, 0.2, -0.4, 0.0], dtype=torch.float64).log_softmax(-1)


def exact_kl(logits: Tensor) -> Tensor:
    log_p = logits.log_softmax(-1)
    return (log_p.exp() * (log_p - REF)).sum()


def expected(kind: Any, **options: Any) -> tuple[Tensor, Tensor]:
    """Value and gradient of an estimate, averaged over the policy's own tokens without any sampling."""
    logits = LOGITS.clone().requires_grad_(True)
    p = logits.detach().softmax(-1)
    values, gradients = torch.zeros((), dtype=torch.float64), torch.zeros_like(LOGITS)
    for token in range(4):
        logprob = logits.log_softmax(-1)[token].reshape(1, 1)
        loss = losses.kl_loss(logprob, REF[token].reshape(1, 1), torch.tensor([[True]]), kind=kind, **options)
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
    for kind in ("k1", "k3"):
        value, gradient = expected(kind, gradient="k2")
        close(value, exact_kl(LOGITS), 1e-9)
        close(gradient, of_kl, 1e-9)


def test_entropy_of_known_distributions() -> None:
    close(losses.token_entropy(torch.zeros(2, 8)), [math.log(8)] * 2)
    close(losses.token_entropy(torch.tensor([0.0, 0.0, -math.inf])), math.log(2))
    close(losses.token_entropy(torch.tensor([1e4, 0.0])), 0.0)
    logits = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    close(losses.token_entropy(logits), torch.distributions.Categorical(logits=logits).entropy())


def test_mean_entropy_reads_action_tokens_only_and_its_gradient_is_finite() -> None:
    logits = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    logits[0, 0, 1] = -math.inf
    logits[1, 2] = NAN
    logits.requires_grad_(True)
    mask = torch.tensor([[True, False, True], [True, True, False]])
    found = losses.entropy_mean(logits, mask)
    close(found, losses.token_entropy(logits.detach()[mask]).mean())
    found.backward()
    assert logits.grad is not None and bool(logits.grad.isfinite().all()) and not logits.grad[~mask].any()


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: losses.ppo_loss(NEW[:, 1:], OLD, A, ALL), "logprobs has shape"),
        (lambda: losses.ppo_loss(NEW, OLD[:1], A, ALL), "other logprobs has shape"),
        (lambda: losses.ppo_loss(NEW, OLD, A[:, :1], ALL), "advantages has shape"),
        (lambda: losses.ppo_loss(NEW, OLD, A.long(), ALL), "advantages must be a tensor of floats"),
        (lambda: losses.ppo_loss(NEW, OLD, A, ALL.float()), "booleans, not float32"),
        (lambda: losses.ppo_loss(NEW, OLD, A, ALL & False), "selects nothing"),
        (lambda: losses.ppo_loss(NEW, OLD, A, ALL, clip_low=-0.1), "clip_low must be"),
        (lambda: losses.ppo_loss(NEW, OLD, A, ALL, clip_high=NAN), "clip_high must be"),
        (lambda: losses.ppo_loss(NEW, OLD, A, ALL, dual_clip=1.0), "dual_clip must be greater"),
        (lambda: losses.ppo_loss(NEW, OLD, A, ALL, aggregation="mean"), "a mean is taken over"),
        (lambda: losses.step_ppo_loss(NEW, OLD, A, ALL, turn_ends=ALL[:1]), "turn_ends must have shape"),
        (lambda: losses.step_ppo_loss(NEW, OLD, A, ALL, turn_ends=ALL & False), "turn_ends selects nothing"),
        (lambda: losses.gspo_loss(NEW, OLD, A, ALL[0]), "two dimensions"),
        (lambda: losses.decoupled_ppo_loss(NEW, OLD, OLD, A, ALL, max_weight=0), "max_weight must be greater"),
        (lambda: losses.decoupled_ppo_loss(NEW, OLD, OLD, A, ALL, above="cut"), "above must be"),
        (lambda: losses.kl_loss(NEW, OLD, ALL, kind="k4"), "k4"),
        (lambda: losses.kl_loss(NEW, OLD, ALL, gradient="k1"), "gradient must be"),
        (lambda: losses.critic_loss(NEW, OLD, ALL, clip=0.2), "old_values"),
        (lambda: losses.critic_loss(NEW, OLD, ALL, old_values=OLD, clip=0.0), "clip must be greater"),
        (lambda: losses.critic_loss(NEW, OLD[:, :2], ALL), "returns has shape"),
        (lambda: losses.entropy_mean(torch.zeros(2, 4, 5), ALL), "logits has shape"),
        (lambda: losses.aggregate(NEW.long(), ALL), "x must be a tensor of floats"),
    ],
)
def test_input_that_cannot_be_right_is_refused_with_its_name(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        call()

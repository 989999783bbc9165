"""Advantages and losses from outcomes: golden numbers, an independent slow version, what must hold for any input."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.update import outcomes as om

NAN = float("nan")


def close(found: Tensor, wanted: Any, tolerance: float = 1e-6) -> None:
    torch.testing.assert_close(found, torch.as_tensor(wanted, dtype=found.dtype), atol=tolerance, rtol=tolerance)


def table(*lengths: int) -> Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def actions(logprobs: Any, reference: Any, advantages: Any, tokens: Any = None, mask: Any = None) -> om.Actions:
    new, old, credit = (torch.as_tensor(x, dtype=torch.float32) for x in (logprobs, reference, advantages))
    sizes = torch.ones_like(old) if tokens is None else torch.as_tensor(tokens, dtype=torch.float32)
    there = torch.ones_like(old, dtype=torch.bool) if mask is None else torch.as_tensor(mask)
    return om.Actions(new, new - old, old, sizes, credit, there)


# ---------------------------------------------------------------------- advantages


def test_outcome_advantages_by_hand() -> None:
    values = torch.tensor([[0.5, 0.6, 0.8], [0.4, 0.2, NAN]])
    found = om.outcome_advantages(torch.tensor([1.0, 0.0]), values, table(3, 2))
    success = [
        0.5 * (0.9 * 0.6 - 0.5) + 0.5 * (0.81 - 0.5),
        0.5 * (0.9 * 0.8 - 0.6) + 0.5 * (0.9 - 0.6),
        0.5 * (1.0 - 0.8) + 0.5 * (1.0 - 0.8),
    ]
    failure = [0.5 * (0.9 * 0.2 - 0.4) + 0.5 * (0 - 0.4), -0.2, 0.0]
    close(found, [success, failure])
    close(found, [[0.175, 0.21, 0.2], [-0.31, -0.2, 0.0]])


def slow_advantage(outcome: float, values: list[float], lam: float, gamma: float) -> list[float]:
    """Equation 15, term by term."""
    last = len(values) - 1
    found = []
    for t, value in enumerate(values):
        reward = outcome if t == last else 0.0
        following = 0.0 if t == last else values[t + 1]
        found.append(lam * (reward + gamma * following - value) + (1 - lam) * (gamma ** (last - t) * outcome - value))
    return found


shares = st.floats(0, 1, width=32)
episodes = st.lists(st.tuples(shares, st.lists(shares, min_size=1, max_size=6)), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(episodes, shares, shares)
def test_outcome_advantages_are_equation_15(played: list[tuple[float, list[float]]], lam: float, gamma: float) -> None:
    mask = table(*(len(values) for _, values in played))
    values = torch.full(mask.shape, NAN)
    for number, (_, own) in enumerate(played):
        values[number, : len(own)] = torch.tensor(own)
    found = om.outcome_advantages(torch.tensor([outcome for outcome, _ in played]), values, mask, lam=lam, gamma=gamma)
    for number, (outcome, own) in enumerate(played):
        close(found[number][: len(own)], slow_advantage(outcome, own, lam, gamma), 1e-5)
    assert not found[~mask].any()
    assert float(found.abs().max()) <= 1 + 1e-6


def test_final_returns_are_discounted_by_what_is_still_to_come() -> None:
    close(om.final_returns(torch.tensor([1.0, 0.5]), table(3, 1)), [[0.81, 0.9, 1.0], [0.5, 0.0, 0.0]])
    close(om.final_returns(torch.tensor([1.0]), table(2), gamma=0.0), [[0.0, 1.0]])


def test_digirl_trusts_the_outcome_near_the_end() -> None:
    values = torch.tensor([[0.5, 0.6, 0.8]])
    found = om.digirl_advantages(torch.tensor([1.0]), values, table(3))
    close(found, [[0.25 + 0.75 * 0.1, 0.5 + 0.5 * 0.2, 1.0]])
    close(om.digirl_advantages(torch.tensor([0.0]), values, table(3), lam=0.0), [[0.1, 0.2, 0.0]])


@pytest.mark.parametrize("outcome", [NAN, -0.1, 1.5, math.inf])
def test_outcomes_that_are_no_probabilities_are_refused(outcome: float) -> None:
    with pytest.raises(ConfigError, match="outcomes must lie between 0 and 1"):
        om.outcome_advantages(torch.tensor([1.0, outcome]), torch.zeros(2, 1), table(1, 1))


# ---------------------------------------------------------------------- WebRL's losses


def test_published_form_gives_the_golden_number() -> None:
    credit = om.released_advantage(*map(torch.tensor, ([1.0, 0.0], [0.7, 0.2], [0.5, 0.6], [1.9, 0.0])))
    close(credit, [1.0, -0.45])
    given_actions = actions([-10.0, -3.0], [-12.0, -2.0], credit, [20, 10])
    found = om.released_loss(given_actions, om.Counts(2, 20), om.LossOptions())
    assert float(found.loss) == pytest.approx(0.2025, abs=1e-7)
    assert float(found.metrics["good_actions"]) == 0.5 and float(found.metrics["capped_actions"]) == 0


def test_published_form_looks_at_each_action_by_itself() -> None:
    """x = 0.1 of 20 tokens beside x = 2 of 1 token, which is capped at b = 1/2 and has nothing to learn any more."""
    two = actions([-10.0, -1.0], [-12.0, -3.0], [1.0, 1.0], [20, 1])
    found = om.released_loss(two, om.Counts(2, 21), om.LossOptions())
    assert float(found.loss) == pytest.approx(0.9**2 / 2 / 2)
    assert float(found.metrics["capped_actions"]) == 0.5


def random_actions(count: int = 12) -> om.Actions:
    """Some of 1 to 30 tokens, good and bad ones, of which many have moved past the cap."""
    draw = torch.Generator().manual_seed(7)
    tokens = torch.randint(1, 31, (count,), generator=draw).float()
    reference = -tokens * (0.05 + torch.rand(count, generator=draw))
    ahead = tokens * (3 * torch.rand(count, generator=draw) - 0.5)
    credit = 2 * torch.rand(count, generator=draw) - 0.6
    return actions(reference + ahead, reference, credit, tokens)


def test_published_form_of_many_actions_is_the_mean_of_one_at_a_time() -> None:
    many = random_actions()
    whole = om.released_loss(many, om.Counts(12, float(many.tokens.sum())), om.LossOptions())
    single = [
        om.released_loss(om.Actions(*(tensor[place : place + 1] for tensor in many)), om.Counts(1, 1), om.LossOptions())
        for place in range(12)
    ]
    close(torch.stack([one.loss for one in single]).mean(), whole.loss)
    for name, share in whole.metrics.items():
        close(torch.stack([one.metrics[name] for one in single]).mean(), share)
        assert 0.2 < float(share) < 0.9


def test_published_form_is_sharper_where_the_reference_is_sure() -> None:
    """x = 0.1, b = 5: (0.5 - 1)^2 / 2 / 5."""
    found = om.released_loss(actions([0.0], [-0.1], [0.3], [1]), om.Counts(1, 1), om.LossOptions())
    assert float(found.loss) == pytest.approx(0.025)


def test_published_form_never_pushes_past_the_advantage() -> None:
    """x = 2 per token: b is capped at 1/2, so that b*x is 1 and the loss 0."""
    logprobs = torch.tensor([-1.0], requires_grad=True)
    given_actions = actions([-1.0], [-3.0], [1.0])._replace(logprobs=logprobs, log_ratio=logprobs + 3)
    found = om.released_loss(given_actions, om.Counts(1, 1), om.LossOptions())
    found.loss.backward()
    assert found.loss.item() == 0.0 and logprobs.grad is not None and logprobs.grad.item() == 0.0


def test_published_form_without_a_good_action_is_zero() -> None:
    found = om.released_loss(actions([-1.0], [-1.0], [-0.2]), om.Counts(1, 0), om.LossOptions())
    assert float(found.loss) == 0.0


def test_good_actions_are_imitated_whatever_their_ratio() -> None:
    """The mean over the 21 tokens of the two good ones; the bad one is in nothing but the share."""
    three = actions([-10.0, -1.0, -7.0], [-12.0, -3.0, -7.0], [1.0, 0.0, -0.1], [20, 1, 5])
    found = om.good_actions_loss(three, om.Counts(3, 21), om.LossOptions())
    assert float(found.loss) == pytest.approx(11 / 21) and float(found.metrics["good_actions"]) == pytest.approx(2 / 3)
    assert float(om.good_actions_loss(actions([-1.0], [-1.0], [-0.2]), om.Counts(1, 0), om.LossOptions()).loss) == 0.0


def test_published_data_pay_the_outcome_on_every_step() -> None:
    """The golden number's first action: reward 1, V 0.5, next V 0.7, returns 1 + 0.9."""
    values, won = torch.tensor([[0.5, 0.7], [0.6, 0.2]]), torch.tensor([1.0, 0.0])
    found = om.released_advantages(won, values, table(2, 2))
    close(found, [[1.0, 1.0], [-0.45, -0.25]])
    half = om.released_advantages(torch.tensor([0.1]), torch.tensor([[0.9, 0.2, 0.1]]), table(3), gamma=0.5)
    returns = [0.175, 0.15, 0.1]
    close(half, [[0.1 + change - 0.05 + more for change, more in zip((-0.7, -0.1, -0.1), returns, strict=True)]])


@settings(max_examples=40, deadline=None)
@given(st.lists(shares, min_size=1, max_size=6), shares)
def test_every_action_of_a_success_is_good_in_the_published_form(values: list[float], gamma: float) -> None:
    given_values, mask = torch.tensor([values]), table(len(values))
    assert bool((om.released_advantages(torch.ones(1), given_values, mask, gamma=gamma) > 0).all())


def test_paid_at_the_end_a_fall_in_value_makes_an_action_bad() -> None:
    """What `good_actions` imitates."""
    values = torch.tensor([[0.5, 0.6], [0.5, 0.6]])
    found = om.released_advantages(torch.tensor([1.0, 0.0]), values, table(2, 2), every_step=False)
    close(found, [[0.1 - 0.05 + 0.9, 1.0], [0.1 - 0.05, -0.65]])
    fallen = om.released_advantages(torch.ones(1), torch.tensor([[1.0, 0.1]]), table(2), gamma=0.5, every_step=False)
    assert float(fallen[0, 0]) == pytest.approx(-0.9 - 0.05 + 0.5)


def test_regression_by_hand() -> None:
    given_actions = actions([-1.0, -3.0], [-2.0, -2.5], [0.5, -1.0], [2, 4])
    good, bad = (0.4 * 1 - 0.5) ** 2, (0.4 * -0.5 + 1) ** 2
    found = om.webrl_loss(given_actions, om.Counts(2, 0), om.LossOptions(beta=0.4))
    assert float(found.loss) == pytest.approx((good + bad) / 2)
    lighter = om.webrl_loss(given_actions, om.Counts(2, 0), om.LossOptions(beta=0.4, negative_weight=0.3))
    assert float(lighter.loss) == pytest.approx((good + 0.3 * bad) / 2)
    by_token = om.webrl_loss(given_actions, om.Counts(2, 0), om.LossOptions(beta=0.4, per_token=True))
    assert float(by_token.loss) == pytest.approx(((0.4 * 0.5 - 0.5) ** 2 + (0.4 * -0.125 + 1) ** 2) / 2)


def test_regression_per_token_asks_as_much_of_a_long_action_as_of_a_short_one() -> None:
    """The slope at the reference of an action of 30 tokens is a thirtieth for each of them; its goal is the same."""
    for tokens in (1, 30):
        logprobs = torch.tensor([-2.0], requires_grad=True)
        one = actions([0.0], [-2.0], [0.5], [tokens])._replace(logprobs=logprobs, log_ratio=logprobs + 2)
        om.webrl_loss(one, om.Counts(1, 0), om.LossOptions(beta=0.4, per_token=True)).loss.backward()
        assert logprobs.grad is not None and float(logprobs.grad) == pytest.approx(-2 * 0.4 * 0.5 / tokens)


def test_regression_is_least_at_the_best_policy_under_the_constraint() -> None:
    """pi = pi_ref * exp(A / beta), equation 10."""
    credit, beta = 0.3, 2.0
    at_best = actions([-1.0 + credit / beta], [-1.0], [credit])
    assert float(om.webrl_loss(at_best, om.Counts(1, 0), om.LossOptions(beta=beta)).loss) == pytest.approx(0, abs=1e-12)


def test_kl_target_and_awr_weigh_by_the_advantage() -> None:
    given_actions, counts = actions([-2.0, -4.0], [-2.0, -4.0], [1.0, -1.0]), om.Counts(2, 0)
    wanted = (math.exp(2) * 2 + math.exp(-2) * 4) / 2
    assert float(om.kl_target_loss(given_actions, counts, om.LossOptions(0.5)).loss) == pytest.approx(wanted)
    capped = (3 * 2 + math.exp(-2) * 4) / 2
    assert float(om.awr_loss(given_actions, counts, om.LossOptions(0.5, 3.0)).loss) == pytest.approx(capped)


def test_tiny_beta_overflows_nothing() -> None:
    for loss in om.ACTOR_LOSSES.values():
        found = loss(actions([-2.0], [-2.0], [1.0]), om.Counts(1, 1), om.LossOptions(beta=1e-9))
        assert math.isfinite(float(found.loss))


# ---------------------------------------------------------------------- gradients of all


def slope(name: str, advantage: float, ahead: float = 0.0) -> float:
    """What the loss says of raising an action's log-probability, `ahead` above the reference."""
    logprobs = torch.tensor([-2.0 + ahead], requires_grad=True)
    given_actions = om.Actions(
        logprobs, logprobs + 2, torch.tensor([-2.0]), torch.ones(1), torch.tensor([advantage]), torch.tensor([True])
    )
    om.ACTOR_LOSSES[name](given_actions, om.Counts(1, 1), om.LossOptions()).loss.backward()
    assert logprobs.grad is not None
    return float(logprobs.grad)


@pytest.mark.parametrize("name", om.ACTOR_LOSSES)
@settings(max_examples=20, deadline=None)
@given(st.floats(0.01, 1))
def test_good_actions_become_likelier(name: str, advantage: float) -> None:
    assert slope(name, advantage) < 0


@settings(max_examples=20, deadline=None)
@given(st.floats(0.01, 1))
def test_bad_actions_become_rarer_only_where_the_loss_can(advantage: float) -> None:
    assert slope("webrl", -advantage) > 0 and slope("reinforce", -advantage) > 0
    assert slope("awr", -advantage) < 0 and slope("kl_target", -advantage) < 0 and slope("bc", -advantage) < 0
    assert slope("released", -advantage) == 0 and slope("good_actions", -advantage) == 0


def test_regression_holds_back_what_has_gone_too_far() -> None:
    assert slope("webrl", 0.5, ahead=1.0) > 0 and slope("reinforce", 0.5, ahead=1.0) < 0


@pytest.mark.parametrize("name", om.ACTOR_LOSSES)
def test_parts_add_up_and_places_without_action_are_not_read(name: str) -> None:
    draw = torch.Generator().manual_seed(3)
    new, old = (-3 * torch.rand(4, 5, generator=draw) for _ in range(2))
    credit, mask = torch.rand(4, 5, generator=draw) - 0.4, torch.rand(4, 5, generator=draw) < 0.6
    sizes = torch.full((4, 5), 3.0)
    counts = om.Counts(float(mask.sum()), float(sizes[mask & (credit >= 0)].sum()))
    unread = [torch.where(mask, x, NAN) for x in (new, new - old, old, sizes, credit)]
    spoiled = om.Actions(*unread, mask=mask)
    whole = om.ACTOR_LOSSES[name](om.Actions(new, new - old, old, sizes, credit, mask), counts, om.LossOptions())
    parts = [om.Actions(*(tensor[some] for tensor in spoiled)) for some in ([0, 2], [1], [3])]
    found = [om.ACTOR_LOSSES[name](part, counts, om.LossOptions()) for part in parts]
    close(torch.stack([one.loss for one in found]).sum(), whole.loss, 1e-5)
    for metric, value in whole.metrics.items():
        close(torch.stack([one.metrics[metric] for one in found]).sum(), value, 1e-5)


# ---------------------------------------------------------------------- critic


def test_critic_loss_is_the_cross_entropy_of_the_lowest_value() -> None:
    logits = torch.tensor([[[0.0], [2.0], [NAN]]])
    found = om.outcome_loss(logits, torch.tensor([[1.0, 1.0, NAN]]), torch.tensor([[True, True, False]]), 2)
    wanted = (math.log(2) + math.log(1 + math.exp(-2))) / 2
    assert float(found.loss) == pytest.approx(wanted)
    assert float(found.metrics["value_accuracy"]) == 0.5
    two = om.outcome_loss(torch.tensor([[[0.0, 2.0]]]), torch.tensor([[1.0]]), torch.tensor([[True]]), 1)
    assert float(two.loss) == pytest.approx(wanted) and float(two.metrics["value_mean"]) == 0.5


# ---------------------------------------------------------------------- filters and perplexity


def test_percentile_keeps_the_best_and_no_failure_among_successes() -> None:
    assert om.percentile_filter([0, 0.2, 0.4, 0.6, 0.8, 1.0], 70) == [False, False, False, False, True, True]
    assert om.percentile_filter([0, 0, 0, 0, 1], 70) == [False, False, False, False, True]
    assert om.percentile_filter([0, 1, 1, 1, 1], 70) == [False, True, True, True, True]
    assert om.percentile_filter([0.0, 0.0]) == [True, True] and om.percentile_filter([]) == []
    with pytest.raises(ConfigError, match="finite"):
        om.percentile_filter([1.0, NAN])


def test_instruction_filter_prefers_surprising_successes() -> None:
    assert om.instruction_filter([1, 1, 0, 1], [0.9, 0.1, 0.0, 0.5], share=0.5) == [False, True, False, True]
    assert om.instruction_filter([0, 0], [0.2, 0.0]) == [False, False]
    assert om.instruction_filter([], []) == []


def test_perplexity() -> None:
    assert om.perplexity([math.log(0.5), math.log(0.5)]) == pytest.approx(2.0)
    assert om.perplexity([math.log(0.95)]) == pytest.approx(1 / 0.95)
    assert om.perplexity([]) == math.inf
    assert math.isfinite(om.perplexity([-1e6]))

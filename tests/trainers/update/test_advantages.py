"""Advantages: published numbers, an independent slow version, and what must hold for any input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.trainers.algorithms import gigpo as gigpo_file
from agentrl.trainers.algorithms import ppo as ppo_file
from agentrl.trainers.update import advantages as adv
from agentrl.trainers.update import groups as group_maths
from agentrl.trainers.update import losses as loss_maths
from tests.trainers import slow_reference as slow
from tests.trainers.batches import Batch, random_batch, spoil, without_observations

SEEDS = range(12)


def close(found: Tensor, wanted: Any, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(found, torch.as_tensor(wanted, dtype=found.dtype), atol=tolerance, rtol=tolerance)


# ------------------------------------------------------------------ golden numbers

R = torch.tensor([[0.0, 0, 1, 0, 0, 0, 2, 0]])
V = torch.tensor([[0.1, 0.2, 0.3, 0.9, 0.9, 0.6, 0.7, 0.9]])
MASK = torch.tensor([[1, 1, 1, 0, 0, 1, 1, 0]], dtype=torch.bool)
ENDS = torch.tensor([[0, 0, 1, 0, 0, 0, 1, 0]], dtype=torch.bool)
AFTER = torch.full((1, 8), float("nan")).masked_scatter(ENDS, torch.tensor([0.33, 0.77]))
TOKEN = {"gamma": 0.99, "lam": 0.95}
BOTH = {"turn_gamma": 0.9, "turn_lam": 0.95, "token_gamma": 0.99, "token_lam": 0.95}


def released(rewards: Tensor = R) -> adv.Estimate:
    return ppo_file.bilevel_gae(rewards, V, None, MASK, ENDS, form="released", **BOTH)


@pytest.mark.parametrize(
    ("find", "golden"),
    [
        (lambda: adv.masked_gae(R, V, MASK, **TOKEN).advantages, [2.428327, 2.477753, 2.531369, 1.315650, 1.300000]),
        (lambda: released().advantages, [2.348834, 2.393231, 2.441500, 1.315650, 1.300000]),
        (lambda: released().returns, [2.448834, 2.593231, 2.741500, 1.915650, 2.000000]),
        (lambda: adv.whiten(released().advantages, MASK), [0.652521, 0.726996, 0.807966, -1.080615, -1.106868]),
        (
            lambda: released(R.clone().index_fill_(1, torch.tensor(2), 0.0)).advantages,
            [1.464293, 1.452731, 1.441500, 1.315650, 1.300000],
        ),
        (
            lambda: ppo_file.bilevel_gae(R, V, AFTER, MASK, ENDS, **BOTH).advantages,
            [2.348701, 2.393090, 2.441350, 1.308408, 1.292300],
        ),
        (
            lambda: ppo_file.turn_gae(R, V, MASK, ENDS, turn_gamma=0.9, turn_lam=0.95).advantages,
            [2.637000, 2.637000, 2.637000, 1.4, 1.4],
        ),
        (
            lambda: ppo_file.turn_gae(R, V, MASK, ENDS, form="released", turn_gamma=0.9, turn_lam=0.95).advantages,
            [2.441500, 2.441500, 2.441500, 1.3, 1.3],
        ),
        (
            lambda: adv.masked_gae(R, V, torch.ones_like(MASK), **TOKEN).advantages,
            [2.348591, 2.392973, 2.441226, 1.357549, 1.344550],
        ),
    ],
    ids=[
        "masked",
        "released",
        "returns",
        "whitened",
        "released_no_reward",
        "paper",
        "turn_wise",
        "turn_wise_released",
        "vanilla",
    ],
)
def test_golden_numbers_of_the_token_and_turn_estimators(find: Callable[[], Tensor], golden: list[float]) -> None:
    close(find()[MASK], golden)


def test_golden_returns_of_step_ppo() -> None:
    step = adv.step_gae(R, V, MASK, ENDS, **TOKEN)
    assert step.critic_mask.nonzero()[:, 1].tolist() == [0, 5]  # the first token of each step
    close(step.returns[step.critic_mask], [2.910700, 2.0])
    close(step.advantages[MASK], [2.810700, 2.810700, 2.810700, 1.4, 1.4])


SCORES, GROUPS = torch.tensor([1.0, 0, 0, 5]), ["a", "a", "a", "b"]


def test_golden_numbers_of_the_group_estimators() -> None:
    close(group_maths.grpo(SCORES, GROUPS), [1.154698, -0.577349, -0.577349, 4.999995], 1e-6)
    close(group_maths.dr_grpo(SCORES, GROUPS), [0.666667, -0.333333, -0.333333, 5])
    close(group_maths.rloo(SCORES, GROUPS), [1, -0.5, -0.5, 0])
    mask = torch.ones(4, 3, dtype=torch.bool)
    tokens = adv.whiten(group_maths.to_tokens(group_maths.dr_grpo(SCORES, GROUPS), mask), mask)  # REINFORCE++-baseline
    close(tokens, torch.tensor([-0.253493, -0.688051, -0.688051, 1.629595])[:, None].expand(4, 3))


def test_golden_reinforce_plus_plus_carries_returns_across_an_observation() -> None:
    mask = torch.tensor([[True, False, True]])
    close(adv.discounted_returns(torch.tensor([[0.0, 0, 1]]), mask, gamma=0.5), [[0.5, 0, 1]])
    close(reinforce_pp(torch.tensor([[0.0, 0, 1]]), mask, 0.5), [[-(0.5**0.5), 0, 0.5**0.5]])


def reinforce_pp(rewards: Tensor, mask: Tensor, gamma: float) -> Tensor:
    return adv.whiten(adv.discounted_returns(rewards, mask, gamma=gamma), mask)


@pytest.mark.parametrize(
    ("normalise", "golden"),
    [
        ("mean", [9.75, 11.666667, -9.75, -8.333333, -8.333333]),
        ("mean_std", [1.414213, 1.861807, -1.414213, -1.284457, -1.284457]),
    ],
)
def test_golden_numbers_of_gigpo(normalise: Any, golden: list[float]) -> None:
    found = gigpo(
        torch.tensor([0.0, 10, 0, 0, 0]),
        ["g"] * 5,
        ["a", "a", "b", "b", "b"],
        torch.tensor([0, 1, 0, 1, 2]),
        ["s0", "s1", "s0", "s1", "s1"],
        normalise=normalise,
    )
    close(found, golden)


def gigpo(
    rewards: Tensor, groups: Any, whose: Any, index: Tensor, anchors: Any, penalties: Tensor | None = None, **more: Any
) -> Tensor:
    """`gigpo_file.gigpo` of steps in any order, which are laid out as trajectories x steps and taken back."""
    names = list(dict.fromkeys(whose))
    row, column = torch.tensor([names.index(name) for name in whose]), index
    mask = torch.zeros(len(names), int(index.max()) + 1, dtype=torch.bool)
    mask[row, column] = True

    def laid_out(x: Tensor) -> Tensor:
        return torch.zeros(mask.shape).index_put((row, column), x)

    step = {(int(m), int(t)): n for n, (m, t) in enumerate(zip(row, column, strict=True))}
    order = [step[m, t] for m, t in mask.nonzero().tolist()]
    by_trajectory = [groups[list(whose).index(name)] for name in names]
    fines = None if penalties is None else laid_out(penalties)
    found = gigpo_file.gigpo(
        laid_out(rewards), mask, by_trajectory, [anchors[n] for n in order], penalties=fines, **more
    )
    assert not found[~mask].any()
    return found[row, column]


# ------------------------------------------------------------------ against the slow version

G, L, g, lam = 0.9, 0.8, 0.97, 0.85
TURN_SETTINGS = {"turn_gamma": G, "turn_lam": L}
ALL_SETTINGS = {**TURN_SETTINGS, "token_gamma": g, "token_lam": lam}


def rows_of(batch: Batch) -> list[dict[str, Any]]:
    return [{name: tensor[b].tolist() for name, tensor in vars(batch).items()} for b in range(len(batch.mask))]


@pytest.mark.parametrize("seed", SEEDS)
def test_token_estimators_equal_the_slow_version(seed: int) -> None:
    batch = random_batch(seed)
    extra = {"gamma": g, "lam": lam, "bootstrap": batch.bootstrap, "kl": batch.kl}
    masked = adv.masked_gae(batch.rewards, spoil(batch).values, batch.mask, **extra)
    vanilla = adv.masked_gae(batch.rewards, batch.values, batch.tokens, **extra)
    for b, row in enumerate(rows_of(batch)):
        r = [x + y for x, y in zip(row["rewards"], row["kl"], strict=True)]
        close(masked.advantages[b], slow.token_gae(r, row["values"], row["mask"], g, lam, row["bootstrap"]))
        close(vanilla.advantages[b], slow.token_gae(r, row["values"], row["tokens"], g, lam, row["bootstrap"]))
    close(masked.returns, torch.where(batch.mask, masked.advantages + batch.values, 0.0))
    assert not torch.allclose(masked.advantages[batch.mask], vanilla.advantages[batch.mask])


@pytest.mark.parametrize("seed", SEEDS)
def test_turn_estimators_equal_the_slow_version(seed: int) -> None:
    batch = random_batch(seed)
    clean = spoil(batch)
    extra = {"bootstrap": batch.bootstrap, "kl": batch.kl}
    args = (batch.rewards, clean.values, clean.after, batch.mask, batch.ends)
    paper = ppo_file.bilevel_gae(*args, **ALL_SETTINGS, **extra)
    public = ppo_file.bilevel_gae(*args, form="released", **ALL_SETTINGS, **extra)
    turns = (batch.rewards, clean.values, batch.mask, batch.ends)
    wise = ppo_file.turn_gae(*turns, form="released", **TURN_SETTINGS, **extra)
    before = ppo_file.turn_gae(*turns, **TURN_SETTINGS, **extra)
    step = adv.step_gae(batch.rewards, clean.values, batch.mask, batch.ends, gamma=G, lam=L, **extra)
    assert all(torch.equal(a, b) for a, b in zip(before[:3], step[:3], strict=True))
    for b, row in enumerate(rows_of(batch)):
        r, v, mask, ends, kl, end = (row[n] for n in ("rewards", "values", "mask", "ends", "kl", "bootstrap"))
        close(paper.advantages[b], slow.bilevel(r, v, row["after"], mask, ends, kl, G, L, g, lam, end))
        close(public.advantages[b], slow.bilevel(r, v, None, mask, ends, kl, G, L, g, lam, end))
        close(wise.advantages[b], slow.turn_wise(r, v, mask, ends, kl, G, L, end))
        spans = slow.turns(mask, ends)
        earned = [sum(r[i] + kl[i] for i in span) for span in spans]
        credit = slow.turn_level(earned, [v[span[0]] for span in spans], G, L, end)
        for span, a in zip(spans, credit, strict=True):
            close(step.advantages[b][span], [a] * len(span))
            close(step.returns[b][span], [a + v[span[0]]] + [0.0] * (len(span) - 1))
            assert step.critic_mask[b][span].tolist() == [True] + [False] * (len(span) - 1)
        lasts = [i for i, e in enumerate(ends) if e]
        a_turn = slow.turn_level([r[i] for i in lasts], [row["after"][i] for i in lasts], G, L, end)
        assert paper.turn_returns is not None
        close(paper.turn_returns[b][lasts], [a + row["after"][i] for a, i in zip(a_turn, lasts, strict=True)])
    assert torch.equal(wise.critic_mask, batch.ends) and torch.equal(paper.critic_mask, batch.mask)
    close(wise.returns, torch.where(batch.ends, wise.advantages + batch.values, 0.0))


def random_steps(seed: int) -> dict[str, Any]:
    """Steps of several trajectories in several groups, shuffled."""
    gen = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 5, (7,), generator=gen).tolist()
    rows = [(m, t) for m, n in enumerate(lengths) for t in range(n)]
    rows = [rows[i] for i in torch.randperm(len(rows), generator=gen).tolist()]
    return {
        "whose": [f"episode {m}" for m, _ in rows],
        "groups": [("group", m % 3) for m, _ in rows],  # the first has three trajectories, the others two
        "index": torch.tensor([t for _, t in rows]),
        "anchors": [int(torch.randint(0, 3, (), generator=gen)) for _ in rows],
        "rewards": torch.randn(len(rows), generator=gen),
        "values": torch.randn(len(rows), generator=gen),
        "ends": torch.randn(len(rows), generator=gen),
        "penalties": torch.rand(len(rows), generator=gen),
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["grpo", "dr_grpo", "rloo"])
def test_group_estimators_equal_the_slow_version(kind: str, seed: int) -> None:
    s = random_steps(seed)
    found = getattr(group_maths, kind)(s["rewards"], s["groups"])
    rows = range(len(s["rewards"]))
    close(found, slow.against_group(s["rewards"].tolist(), s["groups"], rows, kind), 1e-4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("normalise", "kind"), [("mean", "dr_grpo"), ("mean_std", "grpo")])
def test_gigpo_equals_the_slow_version(normalise: Any, kind: str, seed: int) -> None:
    s = random_steps(seed)
    args = (s["groups"], s["whose"], s["index"], s["anchors"])
    found = gigpo(s["rewards"], *args, gamma=0.9, normalise=normalise, penalties=s["penalties"])
    r, p = s["rewards"].tolist(), s["penalties"].tolist()
    close(found, slow.gigpo(r, s["groups"], s["whose"], s["index"].tolist(), s["anchors"], 0.9, kind, p), 1e-4)


# ------------------------------------------------------------------ properties

ESTIMATORS: dict[str, Callable[[Batch], Tensor]] = {
    "masked": lambda b: (
        adv.masked_gae(b.rewards, b.values, b.mask, gamma=g, lam=lam, bootstrap=b.bootstrap, kl=b.kl).advantages
    ),
    "paper": lambda b: (
        ppo_file.bilevel_gae(
            b.rewards, b.values, b.after, b.mask, b.ends, **ALL_SETTINGS, bootstrap=b.bootstrap, kl=b.kl
        ).advantages
    ),
    "released": lambda b: (
        ppo_file.bilevel_gae(
            b.rewards, b.values, None, b.mask, b.ends, form="released", **ALL_SETTINGS, bootstrap=b.bootstrap, kl=b.kl
        ).advantages
    ),
    "turn": lambda b: (
        ppo_file.turn_gae(
            b.rewards, b.values, b.mask, b.ends, **TURN_SETTINGS, bootstrap=b.bootstrap, kl=b.kl
        ).advantages
    ),
    "step": lambda b: (
        adv.step_gae(b.rewards, b.values, b.mask, b.ends, gamma=G, lam=L, bootstrap=b.bootstrap, kl=b.kl).advantages
    ),
    "reinforce++": lambda b: reinforce_pp(b.rewards, b.mask, g),
    "whitened turns": lambda b: adv.whiten(
        ppo_file.turn_gae(b.rewards, b.values, b.mask, b.ends, **TURN_SETTINGS).advantages, b.mask, b.ends
    ),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
some_seeds = pytest.mark.parametrize("seed", range(6))


@some_seeds
def test_without_discounts_both_bilevel_forms_equal_masked_gae(seed: int) -> None:
    b = random_batch(seed)
    ones = dict.fromkeys(ALL_SETTINGS, 1.0)
    masked = adv.masked_gae(b.rewards, b.values, b.mask, bootstrap=b.bootstrap)
    for form, after in (("paper", b.after), ("released", None)):
        found = ppo_file.bilevel_gae(
            b.rewards, b.values, after, b.mask, b.ends, form=form, **ones, bootstrap=b.bootstrap
        )
        close(found.advantages, masked.advantages)
        close(found.returns, masked.returns)


@some_seeds
def test_released_bilevel_at_turn_ends_is_turn_wise(seed: int) -> None:
    b = random_batch(seed)
    public = ppo_file.bilevel_gae(b.rewards, b.values, None, b.mask, b.ends, form="released", **ALL_SETTINGS).advantages
    wise = ppo_file.turn_gae(b.rewards, b.values, b.mask, b.ends, form="released", **TURN_SETTINGS).advantages
    close(public[b.ends], wise[b.ends])
    assert not torch.allclose(public[b.mask], wise[b.mask])


@every_estimator
@some_seeds
@pytest.mark.parametrize("extra", [0, 1, 3])
def test_observations_come_and_go_and_no_action_token_notices(name: str, seed: int, extra: int) -> None:
    batch = random_batch(seed)
    moved = without_observations(batch, extra)
    # Row by row, boolean selection lists the action tokens in the same order in both layouts.
    close(ESTIMATORS[name](moved)[moved.mask], ESTIMATORS[name](batch)[batch.mask])


@some_seeds
def test_vanilla_gae_does_notice_observations(seed: int) -> None:
    batch = random_batch(seed)
    lone = without_observations(batch)
    with_them = adv.masked_gae(batch.rewards, batch.values, batch.tokens, gamma=g, lam=lam).advantages[batch.mask]
    without = adv.masked_gae(lone.rewards, lone.values, lone.mask, gamma=g, lam=lam).advantages[lone.mask]
    assert not torch.allclose(with_them, without)


@every_estimator
@some_seeds
def test_padding_on_either_side_changes_nothing_and_may_hold_anything(name: str, seed: int) -> None:
    batch = random_batch(seed)
    sides = {}
    for field, tensor in vars(batch).items():
        blank = float("nan") if field in ("values", "after") else 0
        sides[field] = tensor if tensor.ndim == 1 else torch.nn.functional.pad(tensor, (3, 5), value=blank)
    found = ESTIMATORS[name](Batch(**sides))
    close(found[:, 3:-5], ESTIMATORS[name](batch))
    assert not found[:, :3].any() and not found[:, -5:].any()


@every_estimator
@some_seeds
def test_the_order_of_rows_does_not_matter(name: str, seed: int) -> None:
    batch = random_batch(seed)
    order = torch.randperm(len(batch.mask), generator=torch.Generator().manual_seed(seed))
    close(ESTIMATORS[name](batch.select(order)), ESTIMATORS[name](batch)[order])


@pytest.mark.parametrize("name", ["masked", "paper", "released", "turn", "step"])
def test_rows_do_not_leak_into_each_other_before_whitening(name: str) -> None:
    batch = random_batch(3)
    for row in range(len(batch.mask)):
        alone = torch.tensor([row])
        close(ESTIMATORS[name](batch.select(alone)), ESTIMATORS[name](batch)[alone])


@some_seeds
@pytest.mark.parametrize("kind", ["grpo", "dr_grpo", "rloo"])
def test_the_order_of_trajectories_does_not_matter_to_groups(kind: str, seed: int) -> None:
    s = random_steps(seed)
    order = torch.randperm(len(s["rewards"]), generator=torch.Generator().manual_seed(seed))
    groups = [s["groups"][i] for i in order.tolist()]
    close(
        getattr(group_maths, kind)(s["rewards"][order], groups),
        getattr(group_maths, kind)(s["rewards"], s["groups"])[order],
    )


@some_seeds
def test_step_gae_of_turns_of_one_token_is_masked_gae(seed: int) -> None:
    b = random_batch(seed)
    settings = {"gamma": g, "lam": lam, "bootstrap": b.bootstrap, "kl": b.kl}
    masked, step = adv.masked_gae(b.rewards, b.values, b.mask, **settings), None
    step = adv.step_gae(b.rewards, b.values, b.mask, b.mask, **settings)
    close(step.advantages, masked.advantages)
    close(step.returns, masked.returns)


@pytest.mark.parametrize("form", ["paper", "released"])
def test_a_turn_without_reward_keeps_its_boundary(form: Any) -> None:
    silent = R.clone()
    silent[0, 2] = 0.0
    after = AFTER if form == "paper" else None
    kept = ppo_file.bilevel_gae(silent, V, after, MASK, ENDS, form=form, **BOTH).advantages
    merged = ENDS.clone()
    merged[0, 2] = False  # what a boundary read off the rewards would be
    lost = ppo_file.bilevel_gae(silent, V, after, MASK, merged, form=form, **BOTH).advantages
    assert not torch.allclose(kept[MASK], lost[MASK])
    close(kept[0, 5:], ppo_file.bilevel_gae(R, V, after, MASK, ENDS, form=form, **BOTH).advantages[0, 5:])


@some_seeds
def test_rloo_is_the_centred_score_times_n_over_n_minus_one(seed: int) -> None:
    gen = torch.Generator().manual_seed(seed)
    groups = torch.randint(0, 4, (40,), generator=gen)
    scores = torch.randn(40, generator=gen)
    n = torch.bincount(groups)[groups]
    assert bool((n > 1).all())
    close(group_maths.rloo(scores, groups), n / (n - 1) * group_maths.dr_grpo(scores, groups))


def test_equal_scores_give_no_advantage_at_all() -> None:
    for score in (0.1, 1 / 3, 1e6 + 0.1):
        for find in (group_maths.grpo, group_maths.dr_grpo, group_maths.rloo):
            assert find(torch.full((7,), score), [0] * 7).abs().max() < 1e-6


def test_labels_may_be_tensors_or_anything_hashable() -> None:
    for labels in (torch.tensor([9, 9, 9, -4]), [None, None, None, ("x", 1)], ("a", "a", "a", b"a")):
        assert torch.equal(group_maths.grpo(SCORES, labels), group_maths.grpo(SCORES, GROUPS))


def test_gigpo_step_alone_at_its_anchor_has_only_the_episode_part() -> None:
    args = (torch.tensor([1.0, 3.0]), ["g", "g"], ["a", "b"], torch.tensor([0, 0]))
    close(gigpo(*args, ["x", "y"], normalise="mean"), [-1, 1])
    close(gigpo(*args, ["x", "x"], normalise="mean"), [-2, 2])
    close(gigpo(*args, ["x", "x"], normalise="mean", step_weight=0.5), [-1.5, 1.5])


def test_gigpo_anchors_of_different_groups_are_different_places() -> None:
    args = (torch.tensor([1.0, 3.0, 10.0, 30.0]), [0, 0, 1, 1], [0, 1, 2, 3], torch.tensor([0, 0, 0, 0]))
    close(gigpo(*args, ["x"] * 4, normalise="mean"), [-2, 2, -20, 20])


def test_gigpo_penalty_touches_its_own_step_only() -> None:
    rewards, index = torch.tensor([0.0, 1, 0, 1]), torch.tensor([0, 1, 0, 1])
    args = (["g"] * 4, ["a", "a", "b", "b"], index, ["s", "t", "s", "t"])
    found = gigpo(rewards, *args, normalise="mean", penalties=torch.tensor([0.0, 0.5, 0, 0]))
    close(found, [0, -0.25, 0, 0.25])
    alone = (["g"] * 4, ["a", "a", "b", "b"], index, ["s", "lone", "s", "t"])
    found = gigpo(rewards, *alone, normalise="mean", penalties=torch.tensor([0.0, 0.5, 0, 0]))
    close(found, [0, -0.5, 0, 0])  # nothing to compare with, and no way around the penalty


# ------------------------------------------------------------------ ends of episodes


def test_every_estimator_uses_the_bootstrap_as_the_value_that_would_have_come_next() -> None:
    end = torch.tensor([0.4])
    token = 0.99 * 0.4
    turn = 0.9 * 0.4
    last = {
        "masked": (lambda e: adv.masked_gae(R, V, MASK, **TOKEN, bootstrap=e), token),
        "paper": (lambda e: ppo_file.bilevel_gae(R, V, AFTER, MASK, ENDS, **BOTH, bootstrap=e), turn),
        "released": (
            lambda e: ppo_file.bilevel_gae(R, V, None, MASK, ENDS, form="released", **BOTH, bootstrap=e),
            turn,
        ),
        "turn": (lambda e: ppo_file.turn_gae(R, V, MASK, ENDS, turn_gamma=0.9, turn_lam=0.95, bootstrap=e), turn),
        "step": (lambda e: adv.step_gae(R, V, MASK, ENDS, **TOKEN, bootstrap=e), token),
    }
    for find, more in last.values():
        close((find(end).advantages - find(None).advantages)[0, 6], more)


@pytest.mark.parametrize("estimator", ["masked", "paper", "turn", "step"])
def test_a_perfect_critic_does_not_take_off_what_the_action_earned(estimator: str) -> None:
    """A bandit of one turn: two tokens choose one of eight arms, and the critic knows what every prefix is worth."""
    worth = torch.arange(8.0)
    rewards = torch.stack([torch.zeros(8), worth], 1)
    ends, mask = torch.tensor([[False, True]]).expand(8, 2), torch.ones(8, 2, dtype=torch.bool)
    values = torch.stack([worth.mean().expand(8), worth], 1)  # after the first token the arm is known
    after = torch.stack([worth, worth], 1)
    found = {
        "masked": lambda: adv.masked_gae(rewards, values, mask),
        "paper": lambda: ppo_file.bilevel_gae(rewards, values, after, mask, ends),
        "turn": lambda: ppo_file.turn_gae(rewards, values, mask, ends),
        "step": lambda: adv.step_gae(rewards, values, mask, ends),
    }[estimator]()
    close(found.advantages[:, 0], worth - worth.mean())
    released = ppo_file.turn_gae(rewards, values, mask, ends, form="released")
    assert not released.advantages.any()


def learned_bandit(form: Any, critic_rate: float) -> float:
    """The mean reward after 60 updates of a turn of two tokens, the first of which chooses one of eight arms."""
    gen, worth = torch.Generator().manual_seed(0), torch.linspace(0, 1, 8)
    logits, start, chosen = torch.zeros(8), torch.zeros(()), torch.zeros(8)  # values before and after the choice
    ends, mask = torch.tensor([[False, True]]).expand(64, 2), torch.ones(64, 2, dtype=torch.bool)
    for _ in range(60):
        arms = torch.multinomial(logits.softmax(0), 64, replacement=True, generator=gen)
        rewards = torch.stack([torch.zeros(64), worth[arms]], 1)
        values = torch.stack([start.expand(64), chosen[arms]], 1)
        found = ppo_file.turn_gae(rewards, values, mask, ends, form=form)
        picked = torch.nn.functional.one_hot(arms, 8).float()
        logits = logits + 0.5 * (found.advantages[:, :1] * (picked - logits.softmax(0))).mean(0)
        missed = torch.where(found.critic_mask, found.returns - values, 0.0)
        start = start + critic_rate * missed[:, 0].mean()
        chosen = chosen + critic_rate * (picked * missed[:, 1:]).sum(0) / picked.sum(0).clamp(min=1)
    return float(logits.softmax(0) @ worth)


def test_a_quick_critic_does_not_hold_the_bandit_back_unless_it_sees_the_action() -> None:
    alone = learned_bandit("paper", 0.0)
    assert alone > 0.75 and learned_bandit("paper", 0.5) > alone - 0.02
    assert learned_bandit("released", 0.0) == alone and learned_bandit("released", 0.5) < alone - 0.1


def test_the_whole_reward_is_put_on_the_last_action() -> None:
    close(adv.rewards_at_last_action(torch.tensor([3.0]), MASK), [[0, 0, 0, 0, 0, 0, 3, 0]])


def test_a_row_without_actions_gets_nothing() -> None:
    mask, ends = (torch.cat([m, torch.zeros_like(m)]) for m in (MASK, ENDS))
    rewards = torch.cat([R, torch.zeros_like(R)])
    found = ppo_file.bilevel_gae(rewards, V.expand(2, 8), V.expand(2, 8), mask, ends, bootstrap=torch.ones(2))
    assert found.advantages[0].any() and not found.advantages[1].any() and not found.returns[1].any()


def test_kl_rewards_punish_action_tokens_only() -> None:
    nan = float("nan")
    new, ref = torch.tensor([[-1.0, nan, -2.0]]), torch.tensor([[-1.5, -1.0, -1.0]])
    mask = torch.tensor([[True, False, True]])
    close(loss_maths.kl_rewards(new, ref, mask, beta=0.1), [[-0.05, 0, 0.1]])
    close(loss_maths.kl_rewards(new, ref, mask, beta=0.1, kind="k2"), [[-0.0125, 0, -0.05]])


# ------------------------------------------------------------------ whitening and number types


def test_whitening_has_mean_zero_and_spread_one_over_its_statistics() -> None:
    batch = random_batch(5)
    white = adv.whiten(batch.values, batch.mask)
    close(white[batch.mask].mean(), 0.0)
    close(white[batch.mask].std(), 1.0)
    assert not white[~batch.mask].any()
    turn_white = adv.whiten(batch.values, batch.mask, batch.ends)
    close(turn_white[batch.ends].mean(), 0.0)
    close(turn_white[batch.ends].std(), 1.0)
    close(adv.whiten(torch.tensor([1.0, 2.0, 3.0]), torch.ones(3, dtype=torch.bool)), [-1, 0, 1])


def test_whitening_one_number_or_equal_numbers_gives_zero() -> None:
    close(adv.whiten(torch.tensor([7.0]), torch.tensor([True])), [0])
    close(adv.whiten(torch.full((9,), 7.0), torch.ones(9, dtype=torch.bool)), [0] * 9)


@every_estimator
def test_advantages_have_no_gradient(name: str) -> None:
    batch = random_batch(1)
    batch.values.requires_grad_(True)
    assert not ESTIMATORS[name](batch).requires_grad


def test_double_input_keeps_its_precision() -> None:
    assert adv.masked_gae(R.double(), V.double(), MASK, **TOKEN).advantages.dtype == torch.float64


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: adv.masked_gae(R + 1, V, MASK), "rewards must be finite, and 0"),
        (lambda: adv.masked_gae(torch.where(ENDS, torch.nan, R), V, MASK), "rewards must be finite"),
        (lambda: adv.masked_gae(R, V, MASK, kl=torch.ones_like(R)), "rewards must be finite, and 0"),
        (lambda: ppo_file.turn_gae(R.roll(-1, 1), V, MASK, ENDS), "rewards must be finite, and 0"),
        (lambda: ppo_file.bilevel_gae(R, V, None, MASK, ENDS), "values_after"),
        (lambda: group_maths.grpo(torch.tensor([1.0, torch.nan]), [0, 0]), "not known yet"),
        (lambda: loss_maths.kl_rewards(V, V, MASK, kind="k4"), "k1"),
    ],
)
def test_input_that_cannot_be_right_is_refused_with_its_name(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        call()


def test_without_torch_the_message_says_what_to_install() -> None:
    code = """
import sys
sys.modules["torch"] = None
import agentrl
from agentrl.core.errors import MissingExtra
try:
    import agentrl.trainers.update.advantages
except MissingExtra as error:
    print(error.package, error.extra)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["torch", "train"], done.stderr[-2000:]

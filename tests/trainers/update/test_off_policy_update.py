"""Learning from an experience: the step that is taken, where it leads, and what teaches nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.chat import Prompt
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.run.progress import Progress
from agentrl.trainers.update.batch import padded
from agentrl.trainers.update.learner import Learner
from agentrl.trainers.update.off_policy import (
    ActionTable,
    ActorPart,
    Experience,
    OffPolicyArguments,
    action_advantages,
    actor_step,
    make_off_policy_learner,
    parts_of,
    perplexities,
    train_actor,
    train_critic,
    values,
    values_at_starts,
)
from agentrl.trainers.update.outcomes import ACTOR_LOSSES
from tests.trainers.episodes import conversation, episode
from tests.trainers.update.test_learner import same, weights

# Said once by processors without bf16; the numbers are right all the same.
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")

TALKS = [
    conversation([[30, 31, 2], [32, 33, 34, 2]], first=range(10, 30)),
    conversation([[40, 2]], first=[*range(10, 25), 50]),
    conversation([[30, 2], [31, 2], [32, 2]], first=range(10, 30)),
]
STEPS = [
    episode([([*range(10, 20), 50], [30, 2]), ([*range(10, 22)], [31, 33, 2])], prompt_style="step"),
    episode([([*range(10, 18)], [41, 42, 2]), ([10], []), ([*range(10, 19)], [43, 2])], prompt_style="step"),
]
OUTCOMES = [1.0, 0.0, 1.0]


class ShortRun:
    """What an update asks of a run."""

    def __init__(self, learner: Learner, iteration: int = 0) -> None:
        self.learner, self.iteration, self.said = learner, iteration, list[str]()

    def rng(self, purpose: str) -> torch.Generator:
        return torch.Generator().manual_seed(self.iteration)

    def progress(self, what: str, total: int) -> Progress:
        return Progress(self.report, what, total)

    def report(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def args(nano) -> OffPolicyArguments:
    fixed: dict[str, Any] = {"device": "cpu", "dtype": "float32", "max_grad_norm": 1e9}
    return OffPolicyArguments(model=str(nano), lr=1e-3, critic_lr=1e-2, batch_size=100, **fixed)


def experience() -> Experience:
    return Experience.of([*TALKS, *STEPS], [*OUTCOMES, 0.0, 1.0])


def gradients(args: OffPolicyArguments, train: Any, monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """Those of one step; nothing is moved."""
    learner, kept = make_off_policy_learner(args), list[torch.Tensor]()

    def note() -> float:
        every = [p for group in learner.optimiser.param_groups for p in group["params"]]
        kept.extend(torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in every)
        return 0.0

    monkeypatch.setattr(learner.optimiser, "step", note)
    train(args, ShortRun(learner), learner, experience())
    return kept


def agree(first: Sequence[torch.Tensor], second: Sequence[torch.Tensor]) -> bool:
    assert any(float(one.abs().max()) > 1e-4 for one in first)
    return all(torch.allclose(a, b, atol=1e-5, rtol=1e-3) for a, b in zip(first, second, strict=True))


# ---------------------------------------------------------------------- the step


@pytest.mark.parametrize("loss", ACTOR_LOSSES)
def test_small_micro_batches_give_the_actor_the_same_step(args, loss: Any, monkeypatch) -> None:
    whole = gradients(replace(args, loss=loss), train_actor, monkeypatch)
    assert agree(whole, gradients(replace(args, loss=loss, token_budget=30), train_actor, monkeypatch))


def test_small_micro_batches_and_packing_give_the_critic_the_same_step(args, monkeypatch) -> None:
    whole = gradients(args, train_critic, monkeypatch)
    for other in ({"token_budget": 30}, {"packing": "on"}, {"packing": "on", "token_budget": 30}):
        assert agree(whole, gradients(replace(args, **other), train_critic, monkeypatch))


def test_packed_rows_give_the_actor_the_same_step(args, monkeypatch) -> None:
    whole = gradients(args, train_actor, monkeypatch)
    assert agree(whole, gradients(replace(args, packing="on", token_budget=40), train_actor, monkeypatch))


def actor_gradient(
    args: OffPolicyArguments, chosen: Sequence[int], monkeypatch: pytest.MonkeyPatch, ahead: Sequence[float]
) -> torch.Tensor:
    """Of a step on some of four good actions of one to five tokens, each `ahead` of its reference at every token."""
    replies = [[30, 2], [31, 32, 33, 34, 2], [35, 2], [36, 37, 38, 2]]
    learner, rows = make_off_policy_learner(args), ActionTable(Experience.of(map_talks(replies), [1.0] * 4)).rows
    before = [found - far for found, far in zip(learner.logprobs(rows), ahead, strict=True)]
    some, ones = [rows[place] for place in chosen], [torch.ones(len(rows[place].targets)) for place in chosen]
    part = ActorPart(
        padded([before[place] for place in chosen]),
        padded(ones),
        padded([one > 0 for one in ones]),
        padded([torch.tensor(row.turn_ends) for row in some]),
    )
    kept: list[torch.Tensor] = []
    policy = learner.optimiser.param_groups[0]["params"]
    note = lambda: kept.extend(torch.zeros(p.shape) if p.grad is None else p.grad.clone() for p in policy)  # noqa: E731
    monkeypatch.setattr(learner.optimiser, "step", note)
    actor_step(args, learner, some, part)
    return torch.cat([one.flatten() for one in kept])


def map_talks(replies: Sequence[list[int]]) -> list[Trajectory]:
    return [conversation([reply], first=[*range(10, 25), reply[0] + 20]) for reply in replies]


def test_the_published_form_differs_from_imitation_where_its_cap_acts(args, monkeypatch) -> None:
    """Two of four actions have moved by more than their share: it leaves them alone, and imitation does not."""
    ahead = [0.0, 3.0, 2.0, 0.5]

    def towards(loss: Any) -> torch.Tensor:
        return actor_gradient(replace(args, loss=loss), range(4), monkeypatch, ahead)

    def cosine(loss: Any) -> float:
        return float(torch.cosine_similarity(towards(loss), towards("bc"), dim=0))

    assert cosine("good_actions") > 0.9999
    assert cosine("released") < 0.8


def test_one_step_of_the_published_form_on_many_actions_is_the_mean_of_steps_on_one(args, monkeypatch) -> None:
    ahead, given = [0.0, 3.0, -0.4, 0.5], replace(args, loss="released")
    whole = actor_gradient(given, range(4), monkeypatch, ahead)
    single = [actor_gradient(given, [place], monkeypatch, ahead) for place in range(4)]
    assert torch.allclose(whole, torch.stack(single).mean(0), atol=1e-6) and float(whole.abs().max()) > 1e-4
    assert not single[1].any() and single[0].any()  # the second is beyond its cap


def test_a_fresh_optimiser_forgets_what_went_before(args) -> None:
    """The second step with an old one has momentum of the first; with a new one it is a first step again."""
    counts = {}
    for fresh in (False, True):
        given = replace(args, fresh_optimiser=fresh)
        learner = make_off_policy_learner(given)
        for train in (train_critic, train_actor, train_critic, train_actor):
            train(given, ShortRun(learner), learner, experience())
        counts[fresh] = {float(one["step"]) for one in learner.optimiser.state.values()}
    assert counts == {False: {2.0}, True: {1.0}}


def test_the_regression_starts_at_the_reference(args) -> None:
    """Log-ratios are 0 in the first step: the loss is the mean squared advantage."""
    learner = make_off_policy_learner(args)
    credit, _ = action_advantages(args, learner, table := ActionTable(experience()))
    found = train_actor(args, ShortRun(learner), learner, experience())
    assert found["policy"] == pytest.approx(float(credit[table.kept].square().mean()), rel=1e-4)
    assert found["approx_kl"] == pytest.approx(0, abs=1e-6) and found["actions"] == 10
    assert found["policy_at_reference"] == pytest.approx(found["policy"], rel=1e-4)
    lighter = replace(args, negative_weight=0.3)
    again = train_actor(lighter, ShortRun(learner := make_off_policy_learner(lighter)), learner, experience())
    assert (
        again["policy_at_reference"] == pytest.approx(again["policy"], rel=1e-4) and again["policy"] < found["policy"]
    )


def test_each_trains_its_own_weights(args) -> None:
    learner = make_off_policy_learner(args)
    assert learner.critic is not None
    policy, critic = weights(learner.policy), weights(learner.critic)
    train_critic(args, ShortRun(learner), learner, experience())
    assert same(policy, weights(learner.policy)) and not same(critic, weights(learner.critic))
    critic = weights(learner.critic)
    train_actor(args, ShortRun(learner), learner, experience())
    assert not same(policy, weights(learner.policy)) and same(critic, weights(learner.critic))


def test_steps_that_are_not_kept_change_nothing(args, monkeypatch) -> None:
    """Another reply in a step that is not kept, whose state does not follow a kept one either."""
    learned = []
    for reply in ([30, 2], [44, 45, 46, 2]):
        turns = [([*range(10, 20)], [31, 2]), ([*range(10, 19)], [32, 2]), ([*range(10, 21)], reply)]
        some = Experience([episode(turns, prompt_style="step")], [1.0], [[True, False, False]])
        learner = make_off_policy_learner(args)
        train_critic(args, ShortRun(learner), learner, some)
        train_actor(args, ShortRun(learner), learner, some)
        learned.append(weights(learner.policy))
    assert same(*learned)


def test_bfloat16_with_master_weights_learns(args) -> None:
    narrow = replace(args, dtype="bfloat16", master_weights="on", packing="on")
    learner = make_off_policy_learner(narrow)
    run = ShortRun(learner)
    first = train_critic(narrow, run, learner, experience())["critic"]
    for _ in range(3):
        last = train_critic(narrow, run, learner, experience())["critic"]
    assert last < first
    assert math.isfinite(train_actor(narrow, run, learner, experience())["policy"])


# ---------------------------------------------------------------------- the critic


def test_the_critic_begins_undecided_and_learns_the_outcomes(args) -> None:
    learner, table = make_off_policy_learner(args), ActionTable(experience())
    before = values(learner, table)[table.mask]
    assert float(before.std()) > 0 and float((before - 0.5).abs().max()) < 0.3  # random, and not sure of anything
    found = train_critic(replace(args, critic_epochs=30), ShortRun(learner), learner, experience())
    after = values(learner, table)
    wanted = table.outcomes[:, None].expand_as(after)
    assert float((after - wanted)[table.mask].abs().mean()) < 0.3 and found["value_accuracy"] > 0.7


def test_every_run_of_a_seed_begins_with_the_same_critic(args) -> None:
    heads = [make_off_policy_learner(replace(args, seed=seed)).critic for seed in (1, 1, 2)]
    first, second, third = (one.head.weight for one in heads if one is not None)
    assert torch.equal(first, second) and not torch.equal(first, third)


def test_of_two_heads_the_lower_value_counts(args) -> None:
    learner = make_off_policy_learner(two := replace(args, critic_heads=2))
    table = ActionTable(experience())
    said = learner.critic_outputs(table.states[:1])
    assert said.shape == (1, 2, 2)
    assert torch.allclose(values(learner, table)[0, :2], said.amin(-1).sigmoid()[0])
    prompts = [Prompt(list(TALKS[0].steps[0].prompt_ids or ()))]
    assert torch.allclose(values_at_starts(learner, prompts), said[:, 0].sigmoid(), atol=1e-5)
    train_critic(two, ShortRun(learner), learner, experience())


def test_values_at_starts_are_those_before_the_first_action(args) -> None:
    learner, table = make_off_policy_learner(args), ActionTable(experience())
    prompts = [Prompt(list(one.steps[0].prompt_ids or ())) for one in [*TALKS, *STEPS]]
    assert torch.allclose(values_at_starts(learner, prompts)[:, 0], values(learner, table)[:, 0], atol=1e-5)
    assert values_at_starts(learner, []).shape == (0, 1)
    with pytest.raises(ConfigError, match="need a critic"):
        values_at_starts(make_off_policy_learner(args, critic=False), prompts)


# ---------------------------------------------------------------------- where it leads

LEFT, RIGHT, END = 30, 31, 2
ASKED = list(range(10, 20))


def bandit() -> Experience:
    """One state, two words, one of which is right."""
    return Experience.of([episode([(ASKED, [word, END])]) for word in (LEFT, RIGHT)], [0.0, 1.0])


def chances(learner: Learner) -> tuple[float, float]:
    """Log-probabilities of both words."""
    rows = ActionTable(bandit()).rows
    left, right = learner.logprobs(rows)
    return float(left.sum()), float(right.sum())


@pytest.mark.parametrize("loss", ["webrl", "reinforce"])
def test_the_rewarded_word_wins(args, loss: Any) -> None:
    args = replace(args, loss=loss, actor_epochs=25, critic_epochs=0, beta=0.2)
    learner = make_off_policy_learner(args)
    before = chances(learner)
    train_actor(args, ShortRun(learner), learner, bandit())
    after = chances(learner)
    assert after[1] > before[1] + 1.0 and after[0] < before[0]


def test_a_large_beta_keeps_the_policy_near_its_reference(args) -> None:
    moved = {}
    for beta in (0.1, 10.0):
        given = replace(args, beta=beta, actor_epochs=60, lr=3e-4)
        learner = make_off_policy_learner(given)
        before = chances(learner)
        train_actor(given, ShortRun(learner), learner, bandit())
        moved[beta] = max(abs(a - b) for a, b in zip(chances(learner), before, strict=True))
    assert moved[10.0] < 0.2 < 1.0 < moved[0.1]


@pytest.mark.parametrize(("lr", "overshoots"), [(1e-4, False), (0.1, True)])
def test_steps_that_overshoot_the_regression_are_reported(args, lr: float, overshoots: bool) -> None:
    given = replace(args, lr=lr, actor_epochs=8, beta=1.0)
    learner = make_off_policy_learner(given)
    run = ShortRun(learner)
    metrics = train_actor(given, run, learner, experience())
    assert (metrics["policy"] > metrics["policy_at_reference"]) == overshoots
    assert ["overshoot" in text for text in run.said if "loss" in text] == [True] * overshoots


def test_awr_never_lowers_by_itself(args) -> None:
    """A bad action alone becomes likelier."""
    given = replace(args, loss="awr", beta=0.3)
    learner = make_off_policy_learner(given)
    before = chances(learner)
    found = train_actor(given, ShortRun(learner), learner, bandit().only([True, False]))
    assert found["advantage_mean"] < 0 and chances(learner)[0] > before[0]


def test_a_hard_filter_imitates_the_good_actions_alone(args) -> None:
    given = replace(args, loss="bc", hard_filter=True, advantage="digirl", min_advantage=0.5)
    learner = make_off_policy_learner(given)
    found = train_actor(given, ShortRun(learner), learner, bandit())
    assert found["actions"] == 1 and found["policy"] == pytest.approx(-chances(make_off_policy_learner(args))[1])


def test_the_kl_target_is_about_actions_of_the_reference_itself(args) -> None:
    given = replace(args, loss="kl_target")
    learner = make_off_policy_learner(given)
    run = ShortRun(learner, iteration=1)
    old, new = bandit(), bandit()
    for trajectory in new.trajectories:
        trajectory.steps[0].version = 1
    assert train_actor(given, run, learner, old + new)["actions"] == 2
    assert train_actor(given, run, learner, old) == {"actions": 0.0}


# ---------------------------------------------------------------------- nothing to learn from


@pytest.mark.parametrize("trajectories", [[], [conversation([[]])]])
def test_without_an_action_nothing_changes_and_that_is_said(args, trajectories: list[Trajectory]) -> None:
    learner = make_off_policy_learner(args)
    assert learner.critic is not None
    run, nothing = ShortRun(learner, iteration=4), Experience.of(trajectories, [1.0] * len(trajectories))
    before = weights(learner.policy) | weights(learner.critic)
    assert train_critic(args, run, learner, nothing) == {"critic_actions": 0.0}
    assert train_actor(args, run, learner, nothing) == {"actions": 0.0}
    assert same(before, weights(learner.policy) | weights(learner.critic)) and learner.steps == 0
    assert [text.split(" in ")[0] for text in run.said] == [
        "the critic has nothing to learn from",
        "the actor has nothing to learn from",
    ]
    assert "iteration 5" in run.said[0]


def test_trajectories_without_tokens_are_named(args) -> None:
    learner = make_off_policy_learner(args)
    text_only = conversation([[30, 2]], id="plain")
    text_only.steps[0].response_ids = None
    with pytest.raises(ConfigError, match="must hold token ids to be trained on; got plain"):
        train_actor(args, ShortRun(learner), learner, Experience.of([text_only], [1.0]))


# ---------------------------------------------------------------------- perplexities, mini-batches, options


def test_perplexities_are_those_of_each_reply(args) -> None:
    learner = make_off_policy_learner(args, critic=False)
    found = perplexities(learner, [*TALKS, *STEPS])
    assert [len(one) for one in found] == [2, 1, 3, 2, 3]
    assert found[4][1] == math.inf  # a reply without a token
    [logprobs] = learner.logprobs(ActionTable(Experience.of(TALKS[1:2], [0.0])).rows)
    assert found[1][0] == pytest.approx(math.exp(-float(logprobs.mean())), rel=1e-4)
    assert perplexities(learner, []) == []


@pytest.mark.parametrize(("sizes", "batch_size", "count"), [([1] * 10, 4, 3), ([3, 0, 2, 5], 100, 1), ([4] * 6, 5, 5)])
def test_mini_batches_hold_every_action_once(sizes: list[int], batch_size: int, count: int) -> None:
    parts = parts_of(sizes, batch_size, torch.Generator().manual_seed(0))
    assert len(parts) == count and all(parts)
    assert sorted(place for part in parts for place in part) == [place for place, size in enumerate(sizes) if size]


def test_epochs_and_batches_make_the_steps(args) -> None:
    args = replace(args, batch_size=5, actor_epochs=3, critic_epochs=2)
    learner = make_off_policy_learner(args)
    train_critic(args, ShortRun(learner), learner, experience())
    assert learner.steps == 4
    train_actor(args, ShortRun(learner), learner, experience())
    assert learner.steps == 4 + 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beta": 0.0}, "beta must be above 0"),
        ({"beta": math.nan}, "beta"),
        ({"lam": 1.5}, "lam must lie between"),
        ({"negative_weight": -0.1}, "negative_weight must not be negative"),
        ({"loss": "ppo"}, "loss must be one of"),
        ({"batch_size": 0}, "batch_size"),
        ({"schedule": "cosine"}, "schedule must be constant"),
        ({"critic_heads": 0}, "critic_heads"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        OffPolicyArguments(**options)


def test_a_loss_by_advantages_needs_a_critic(args) -> None:
    learner = make_off_policy_learner(args, critic=False)
    with pytest.raises(ConfigError, match="loss=webrl needs a critic"):
        train_actor(args, ShortRun(learner), learner, experience())
    assert train_actor(replace(args, loss="bc"), ShortRun(learner), learner, experience())["actions"] == 10

"""GRPO and its descendants: credit by comparison with the group, means of the loss, replies that were cut."""

from __future__ import annotations

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.trainers.algorithms import grpo
from agentrl.trainers.update import groups as group_maths
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.policy import BatchScores
from tests.trainers import toys
from tests.trainers.algorithms.test_ppo import chance, last_policy
from tests.trainers.episodes import episode
from tests.trainers.runs import lines

PLAYED = [([1, 2], [4, 5]), ([1, 2], [6]), ([1, 2], [7]), ([1, 3], [8]), ([1, 3], [9])]
PAID, GROUPS = [1.0, 0.0, 0.0, 2.0, 2.0], ["a", "a", "a", "b", "b"]


def batch() -> Batch:
    found = [episode([turn], [paid], prompt_style="step") for turn, paid in zip(PLAYED, PAID, strict=True)]
    for trajectory, group in zip(found, GROUPS, strict=True):
        trajectory.group_id = group
    return Batch(found)


def no_scores(played: Batch) -> BatchScores:
    nothing = torch.zeros_like(played.logprobs)
    return BatchScores(played.logprobs, None, nothing, nothing, torch.zeros(len(played)))


@pytest.mark.parametrize("baseline", ["grpo", "dr_grpo"])
def test_credit_is_that_of_the_pure_function_on_every_token(baseline) -> None:
    played = batch()
    found = grpo.advantages(grpo.GRPO(baseline=baseline, kl_coef=0.0), played, no_scores(played))
    wanted = getattr(group_maths, baseline)(torch.tensor(PAID), GROUPS)
    assert torch.allclose(found.advantages, group_maths.to_tokens(wanted.float(), played.action_mask))
    assert not bool(found.critic_mask.any())
    assert not bool(found.advantages[3:].any())  # all of group b earned the same: no lead, and no NaN


def test_the_divergence_is_paid_out_of_what_a_trajectory_earned() -> None:
    args = grpo.GRPO(baseline="dr_grpo", kl_coef=0.5, kl_in="reward", kl_estimator="k1")
    played = batch()
    nothing = torch.zeros_like(played.logprobs)
    scores = BatchScores(played.logprobs, played.logprobs - 1.0, nothing, nothing, torch.zeros(len(played)))
    found = grpo.advantages(args, played, scores).advantages
    # One unit of k1 per token, so that the trajectory of two tokens pays 1 and all others 0.5.
    wanted = group_maths.dr_grpo(torch.tensor(PAID) - torch.tensor([1.0, 0.5, 0.5, 0.5, 0.5]), GROUPS)
    assert torch.allclose(found, group_maths.to_tokens(wanted, played.action_mask), atol=1e-6)


def test_replies_that_were_cut_can_be_punished_or_left_out() -> None:
    played = batch()
    played.trajectories[0].steps[0].finish_reason = "length"  # two tokens, the limit
    args = grpo.GRPO(overlong="punish", overlong_penalty=3.0, reward_scale=0.5, max_new_tokens=2)
    assert grpo.punishment(args, played).tolist() == [-1.5, 0, 0, 0, 0]  # pyright: ignore
    half = grpo.GRPO(overlong="punish", overlong_buffer=2, max_new_tokens=2)
    assert grpo.punishment(half, played).tolist() == [-1.0, -0.5, -0.5, -0.5, -0.5]  # pyright: ignore
    away = grpo.left_out(grpo.GRPO(overlong="filter"), played)
    assert away is not None and away.tolist() == [[True, True], *[[False, False]] * 4]
    assert grpo.left_out(grpo.GRPO(), played) is None and grpo.punishment(grpo.GRPO(), played) is None
    assert [grpo.is_overlong(one) for one in played.trajectories] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("group_size", 1),
        ("baseline", "rloo"),
        ("loss_mean", "batch"),
        ("loss_length", -1),
        ("overlong", "drop"),
        ("overlong_buffer", 100_000),
        ("overlong_penalty", -1.0),
        ("dynamic_sampling_rounds", -1),
        ("dynamic_sampling_rounds", 1.5),
        ("correction", "clipped"),
        ("max_weight", 0.0),
        ("max_weight", float("nan")),
    ],
)
def test_options_that_cannot_work_are_refused_by_name(option, value) -> None:
    with pytest.raises(ConfigError, match=option):
        grpo.GRPO(**{option: value})


CHANGES = [
    {},
    {"baseline": "dr_grpo", "loss_mean": "constant"},
    {"loss_mean": "sequence", "prompt_style": "step"},
    {"clip_high": 0.28, "dynamic_sampling_rounds": 2, "overlong": "filter"},
    {"overlong": "punish", "overlong_buffer": 2, "minibatches": 2},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: "-".join(map(str, change.values())))
def test_one_update_makes_the_better_word_likelier(undecided, tmp_path, change) -> None:
    options = {"iterations": 1, "episodes": 32, "num_envs": 32, "lr": 5e-3, "kl_coef": 0.01} | change
    folder = grpo.train(toys.grpo(undecided, tmp_path / "run", **options))
    assert chance(last_policy(folder)) > chance(undecided) + 0.005
    loss = lines(folder, "train")[0]["loss"]
    assert 0 <= loss["zero_variance_groups"] <= 1 and loss["singleton_groups"] == 0 and "critic" not in loss
    assert loss["staleness_mean"] == loss["staleness_max"] == 0


def test_a_policy_whose_replies_are_all_cut_learns_nothing_when_those_are_left_out(nano, tmp_path) -> None:
    """An untrained model hardly ever ends a reply of one token: with all of them away, the loss is 0 and no NaN."""
    options = {"overlong": "filter", "max_new_tokens": 1, "iterations": 1}
    loss = lines(grpo.train(toys.grpo(nano, tmp_path / "run", **options)), "train")[0]["loss"]
    assert loss["overlong"] > 0.9 and loss["policy"] == pytest.approx(0.0, abs=1e-6)

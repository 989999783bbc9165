"""StepPO and its ablations: step credit, step ratios, and that all of them learn."""

from __future__ import annotations

import pytest
import torch

from agentrl.trainers.algorithms import steppo
from agentrl.trainers.update import advantages as pure
from agentrl.trainers.update import losses as loss_maths
from agentrl.trainers.update.batch import Batch
from agentrl.trainers.update.policy import BatchScores
from tests.trainers import slow_reference as slow
from tests.trainers import toys
from tests.trainers.algorithms.test_ppo import chance, last_policy, scores
from tests.trainers.episodes import conversation, episode
from tests.trainers.runs import lines

STEPS = [
    [([1, 2], [4, 5]), ([1, 3], [6]), ([1, 7], [8, 9])],
    [([1, 2], [5])],
]
REWARDS = [[1.0, 0.0, 2.0], [-1.0]]
ABLATIONS = [(True, True), (True, False), (False, True), (False, False)]


def batch(style: str) -> Batch:
    if style == "step":
        found = [episode(turns, paid, prompt_style="step") for turns, paid in zip(STEPS, REWARDS, strict=True)]
    else:
        found = [conversation([reply for _, reply in turns], paid) for turns, paid in zip(STEPS, REWARDS, strict=True)]
    return Batch(found)


@pytest.mark.parametrize("kl_in", ["reward", "loss"])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("style", ["step", "conversation"])
def test_step_credit_is_gae_over_the_steps_of_a_trajectory(style, whiten, kl_in) -> None:
    args = steppo.StepPO(
        gamma=0.9, lam=0.7, kl_coef=0.5, kl_in=kl_in, kl_estimator="k1", whiten_advantages=whiten, reward_scale=2.0
    )
    played = batch(style)
    given = scores(played.token_mask)
    found = steppo.advantages(args, played, given)
    # By hand: tokens 0-1, 2, 3-4 of the first trajectory are its steps, token 0 of the second is its only one.
    paid = torch.tensor([2.0, 0.0, 4.0, -2.0])
    if kl_in == "reward":
        assert given.reference is not None
        kl = loss_maths.kl_rewards(given.old, given.reference, played.action_mask, beta=0.5, kind="k1")
        paid = paid + torch.stack([kl[0, :2].sum(), kl[0, 2], kl[0, 3:].sum(), kl[1, 0]])
    values = torch.stack([given.values[0, 0], given.values[0, 2], given.values[0, 3], given.values[1, 0]])
    first = slow.turn_level(paid[:3].tolist(), values[:3].tolist(), 0.9, 0.7, 0.7)  # 0.7 is its bootstrap, too
    second = slow.turn_level(paid[3:].tolist(), values[3:].tolist(), 0.9, 0.7, 0.0)
    wanted = torch.tensor(first + second)
    credit = pure.whiten(wanted, torch.ones(4, dtype=torch.bool)) if whiten else wanted
    a, b, c, d = credit
    zero = torch.zeros(())
    rows = [torch.stack([a, a, b, c, c]), torch.stack([d, zero, zero, zero, zero])]
    assert torch.allclose(found.advantages, torch.stack(rows), atol=1e-6)
    begins = torch.tensor([[True, False, True, True, False], [True, False, False, False, False]])
    assert torch.equal(found.critic_mask, begins)
    assert torch.allclose(found.returns[begins], wanted + values, atol=1e-6)
    assert not bool(found.returns[~begins].any())


def test_the_divergence_stands_in_the_loss_unless_it_is_asked_for_in_the_rewards() -> None:
    args = steppo.StepPO()
    assert (args.kl_coef, args.kl_in, args.kl_estimator) == (0.001, "loss", "k3")
    played = batch("step")
    given = scores(played.token_mask)
    free = steppo.advantages(steppo.StepPO(kl_coef=0.0), played, given).advantages
    assert torch.equal(steppo.advantages(args, played, given).advantages, free)
    assert not torch.equal(steppo.advantages(steppo.StepPO(kl_in="reward"), played, given).advantages, free)


def test_without_step_credit_it_is_token_gae_with_rewards_at_turn_ends() -> None:
    args = steppo.StepPO(step_gae=False, gamma=0.9, lam=0.7, kl_coef=0.0, whiten_advantages=False)
    played = batch("step")
    given: BatchScores = scores(played.token_mask)
    rewards = torch.tensor([[0.0, 1.0, 0.0, 0.0, 2.0], [-1.0, 0.0, 0.0, 0.0, 0.0]])
    wanted = pure.masked_gae(
        rewards, given.values, played.action_mask, gamma=0.9, lam=0.7, bootstrap=torch.tensor([0.7, 0.0])
    )
    assert torch.equal(steppo.advantages(args, played, given).advantages, wanted.advantages)


@pytest.mark.parametrize(("step_gae", "step_ratio"), ABLATIONS)
def test_one_update_makes_the_better_word_likelier(undecided, tmp_path, step_gae, step_ratio) -> None:
    options = {"step_gae": step_gae, "step_ratio": step_ratio, "iterations": 1, "episodes": 32, "num_envs": 32}
    folder = steppo.train(toys.steppo(undecided, tmp_path / "run", lr=5e-3, kl_coef=0.01, **options))
    assert chance(last_policy(folder)) > chance(undecided) + 0.005


@pytest.mark.parametrize("style", ["step", pytest.param("conversation", marks=pytest.mark.long)])
def test_the_toy_is_learned(undecided, tmp_path, style) -> None:
    options = {"iterations": 30, "episodes": 32, "num_envs": 32, "schedule": "linear", "prompt_style": style}
    measured = {"eval_every": 30, "eval_episodes": 100, "eval_modes": ("sampled",), "env_kwargs": {"turns": 2}}
    folder = steppo.train(toys.steppo(undecided, tmp_path / "run", **options, **measured))
    first, last = lines(folder, "eval")
    assert first["success"] < 0.6 and last["success"] > 0.9


@pytest.mark.parametrize(
    ("given", "clip"),
    [
        ({}, (0.03, 0.04)),
        ({"step_gae": False}, (0.03, 0.04)),
        ({"step_ratio": False}, (0.2, 0.2)),
        ({"clip_low": 0.1}, (0.1, 0.04)),
        ({"step_ratio": False, "clip_high": 0.3}, (0.2, 0.3)),
    ],
)
def test_a_ratio_is_clipped_as_its_unit_needs(given, clip) -> None:
    args = steppo.StepPO(**given)
    assert (args.clip_low, args.clip_high) == clip
    assert steppo.StepPO.from_json(args.to_json()) == args


def test_the_ratio_of_a_step_is_the_geometric_mean_of_its_tokens(undecided, tmp_path) -> None:
    """With several epochs the ratios leave 1, and the two ways of clipping give different metrics."""
    found = []
    for step_ratio in (True, False):
        options = {"step_ratio": step_ratio, "iterations": 1, "epochs": 4, "clip_low": 0.01, "clip_high": 0.01}
        folder = steppo.train(toys.steppo(undecided, tmp_path / str(step_ratio), lr=5e-3, **options))
        found.append(lines(folder, "train")[0]["loss"])
    assert found[0]["clip_fraction"] > 0 and found[1]["clip_fraction"] > 0
    assert found[0]["policy"] != found[1]["policy"]

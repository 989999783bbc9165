"""The critic-free trainers: their credit is that of the pure functions, and each learns a choice between two words."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from agentrl.trainers.algorithms import gigpo, grpo, gspo, reinforce_pp, rloo
from agentrl.trainers.update import advantages as pure
from agentrl.trainers.update import groups as group_maths
from agentrl.trainers.update.batch import Batch, token_weights
from agentrl.trainers.update.policy import Part
from tests.longer import only
from tests.trainers import toys
from tests.trainers.algorithms.test_grpo import batch, no_scores
from tests.trainers.algorithms.test_ppo import chance, last_policy
from tests.trainers.episodes import conversation, episode
from tests.trainers.runs import lines

TRAINERS: dict[str, Any] = {
    "grpo": grpo,
    "rloo": rloo,
    "reinforce_pp": reinforce_pp,
    "gspo": gspo,
    "gigpo": gigpo,
}
OWN: dict[str, dict[str, Any]] = {"gspo": {"clip_low": 0.2, "clip_high": 0.2}}  # the toy's steps are large
STYLES = ("conversation", "step")


@pytest.mark.parametrize("style", only(("step",), STYLES))
@pytest.mark.parametrize("name", only(("grpo",), TRAINERS))
def test_the_toy_is_learned_with_both_prompt_styles(undecided, tmp_path, name, style) -> None:
    options = {"iterations": 20, "episodes": 64, "num_envs": 64, "lr": 4e-3, "schedule": "linear"}
    measured = {"eval_every": 20, "eval_episodes": 100, "eval_modes": ("sampled",), "env_kwargs": {"turns": 2}}
    args = getattr(toys, name)(
        undecided, tmp_path / "run", **options, **measured, prompt_style=style, **OWN.get(name, {})
    )
    first, last = lines(TRAINERS[name].train(args), "eval")
    assert first["success"] < 0.5 and last["success"] > 0.85


def test_reinforce_with_a_baseline_learns_too(undecided, tmp_path) -> None:
    args = toys.reinforce_pp(undecided, tmp_path / "run", baseline=True, iterations=1, episodes=32, lr=5e-3)
    folder = reinforce_pp.train(args)
    assert chance(last_policy(folder)) > chance(undecided) + 0.005
    assert lines(folder, "train")[0]["loss"]["singleton_groups"] == 0


# ---------------------------------------------------------------------- credit


def test_rloo_compares_with_the_others() -> None:
    played = batch()
    found = rloo.advantages(rloo.RLOO(kl_coef=0.0), played, no_scores(played)).advantages
    assert found.tolist() == [[1, 1], [-0.5, 0], [-0.5, 0], [0, 0], [0, 0]]


def test_gspo_has_the_credit_of_grpo() -> None:
    played = batch()
    found = gspo.advantages(gspo.GSPO(kl_coef=0.0), played, no_scores(played)).advantages
    assert torch.equal(found, grpo.advantages(grpo.GRPO(kl_coef=0.0), played, no_scores(played)).advantages)
    assert (gspo.GSPO().clip_low, gspo.GSPO().clip_high) == (0.03, 0.04)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("at", ["turn", "end"])
def test_returns_of_tokens_go_on_behind_observations(style, at) -> None:
    turns = [([1, 2], [4, 5]), ([1, 3], [6])]
    one = episode(turns, [2.0, 4.0]) if style == "step" else conversation([[4, 5], [6]], [2.0, 4.0])
    played = Batch([one])
    found = reinforce_pp.advantages(
        reinforce_pp.ReinforcePP(kl_coef=0.0, gamma=0.5, reward_at=at), played, no_scores(played)
    )
    returns = torch.tensor([[2.0, 4.0, 4.0]] if at == "turn" else [[1.5, 3.0, 6.0]])
    assert torch.allclose(found.advantages, pure.whiten(returns, played.action_mask), atol=1e-6)


def test_reinforce_with_a_baseline_is_the_pure_function() -> None:
    played = batch()
    args = reinforce_pp.ReinforcePP(kl_coef=0.0, baseline=True, group_size=8)
    wanted = group_maths.to_tokens(group_maths.dr_grpo(played.scores(), ["a", "a", "a", "b", "b"]), played.action_mask)
    wanted = pure.whiten(wanted, played.action_mask)
    assert torch.equal(reinforce_pp.advantages(args, played, no_scores(played)).advantages, wanted)


@pytest.mark.parametrize("name", only(("grpo",), TRAINERS))
def test_one_update_of_a_vision_language_model(tmp_path, name) -> None:
    """With pictures in the prompts, both kinds of rows; the figures are finite and the weights move."""
    options = {
        "env": ("agentrl/FrozenLake-Visual-v0",),
        "env_kwargs": {"max_turns": 2, "image_size": 64},
        "iterations": 1,
        "episodes": 4,
        "group_size": 4,
        "num_envs": 4,
        "dynamic_sampling_rounds": 0,
        "prompt_style": "step" if name in ("gigpo", "gspo") else "conversation",
        "kl_coef": 0.01,
    }
    if name == "reinforce_pp":
        del options["dynamic_sampling_rounds"]
    folder = TRAINERS[name].train(getattr(toys, name)("tiny-vlm", tmp_path / "run", **options))
    loss = lines(folder, "train")[0]["loss"]
    assert loss["policy"] is not None and loss["kl"] is not None and loss["entropy"] > 0


def test_gspo_tells_how_many_sequences_are_clipped_in_the_mini_batches() -> None:
    """Four sequences of unlike lengths: two are beyond the clip in the direction that their advantage pulls."""
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0]], dtype=torch.bool)
    ends = torch.zeros_like(mask)
    credit = torch.tensor([1.0, -1.0, -1.0, 0.0])[:, None].expand(4, 3)
    ratio = torch.tensor([1.01, 0.99, 1.01, 1.01])[:, None].expand(4, 3)
    zero = torch.zeros(4, 3)
    weights = token_weights("sequence", mask, ends)
    part = Part(zero, zero, credit, zero, zero, ends, zero, ends, mask, mask, weights)
    assert float(gspo.clipped_share(gspo.GSPO(clip_low=3e-4, clip_high=4e-4), ratio, part)) == pytest.approx(0.5)
    assert float(gspo.clipped_share(gspo.GSPO(clip_low=0.1, clip_high=0.1), ratio, part)) == 0.0


def test_gspo_s_first_mini_batch_is_never_clipped_and_the_last_one_may_be(undecided, tmp_path) -> None:
    args = toys.gspo(
        undecided, tmp_path / "run", iterations=1, episodes=32, num_envs=32, minibatches=4, lr=5e-3, clip_low=3e-4
    )
    (line,) = lines(gspo.train(args), "train")
    assert 0 < line["loss"]["clipped_sequences"] <= 0.75 and 0 <= line["loss"]["clipped_sequences_last"] <= 1

"""GRPO and its relatives: credit by comparison with the group, without a critic."""

from __future__ import annotations

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.trainers import advantages as pure
from agentrl.trainers import grpo
from agentrl.trainers.actor_critic import BatchScores
from agentrl.trainers.rows import Batch
from tests.trainers import toys
from tests.trainers.episodes import episode
from tests.trainers.runs import lines
from tests.trainers.test_ppo import chance, last_policy

PLAYED = [([1, 2], [4, 5]), ([1, 2], [6]), ([1, 2], [7]), ([1, 3], [8]), ([1, 3], [9])]
PAID, GROUPS = [1.0, 0.0, 0.0, 2.0, 2.0], ["a", "a", "a", "b", "b"]


def batch() -> Batch:
    found = [episode([turn], [paid], prompt_style="step") for turn, paid in zip(PLAYED, PAID, strict=True)]
    for trajectory, group in zip(found, GROUPS, strict=True):
        trajectory.group_id = group
    return Batch(found)


def run(model, output, **options) -> grpo.GRPO:
    given = toys._rl(model, output) | {"group_size": 8, "episodes": 32, "num_envs": 32} | options
    return grpo.GRPO(**{name: value for name, value in given.items() if name != "critic_lr"})


@pytest.mark.parametrize("baseline", ["grpo", "dr_grpo", "rloo"])
def test_credit_is_that_of_the_pure_function_on_every_token(baseline) -> None:
    played = batch()
    nothing = torch.zeros_like(played.logprobs)
    scores = BatchScores(played.logprobs, None, nothing, nothing, torch.zeros(len(played)))
    found = grpo.advantages(grpo.GRPO(baseline=baseline, kl_coef=0.0), played, scores)
    wanted = getattr(pure, baseline)(torch.tensor(PAID), GROUPS)
    assert torch.allclose(found.advantages, pure.to_tokens(wanted.float(), played.action_mask))
    assert not bool(found.critic_mask.any())
    assert not bool(found.advantages[3:].any())  # all of group b earned the same: no lead, and no NaN


def test_groups_without_a_difference_are_counted() -> None:
    assert grpo.even_groups(batch()) == 0.5


@pytest.mark.parametrize("options", [{"group_size": 1}, {"baseline": "median"}, {"episodes": 30, "group_size": 8}])
def test_what_cannot_be_compared_is_refused(options) -> None:
    with pytest.raises(ConfigError):
        grpo.GRPO(**options)


@pytest.mark.parametrize("baseline", ["grpo", "dr_grpo", "rloo"])
def test_one_update_makes_the_better_word_likelier(undecided, tmp_path, baseline) -> None:
    folder = grpo.train(run(undecided, tmp_path / "run", baseline=baseline, iterations=1, lr=5e-3, kl_coef=0.01))
    assert chance(last_policy(folder)) > chance(undecided) + 0.005
    line = lines(folder, "train")[0]
    assert 0 <= line["loss"]["even_groups"] <= 1 and "critic" not in line["loss"]

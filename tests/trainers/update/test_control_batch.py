"""The control batch: chunks as rows, rewards by chunk and by action beside a slow reference, pictures once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.policies.vla import VLAPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.prompts import for_policy
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.update.advantages import step_gae
from agentrl.trainers.update.control_batch import ControlBatch
from tests.vla import KINDS, TOY, nano_vla, write_nano_vla


@pytest.fixture(scope="module")
def nano_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nano_vla(tmp_path_factory.mktemp("vla") / "nano")


def episodes(loaded: Any, count: int = 3) -> list[Trajectory]:
    """Some of the puck, with rewards put into them: the puck is not reached in eight steps."""
    policy = VLAPolicy(loaded)
    spec = for_policy(EnvSpec(TOY, {"max_turns": 8, "image_size": 16}), policy)
    collector = Collector([spec], policy, num_envs=count, prompt_style="step")
    found = collector.collect([Start(seed) for seed in range(count)]).trajectories
    collector.close()
    for number, trajectory in enumerate(found):
        for place, step in enumerate(trajectory.steps):
            step.info["rewards"] = [0.1 * (number + 1) + place + 0.01 * a for a in range(step.info["ran"])]
            step.reward = sum(step.info["rewards"]) + 0.5  # 0.5 from a wrapper outside of the chunks
    return found


def make_batch(loaded: Any, found: list[Trajectory], **how: Any) -> ControlBatch:
    return ControlBatch(found, loaded.spec, {"toy/Puck-v0": [0, 1]}, loaded.first_action, **how)


def slow_credit(rewards: list[float], values: list[float], gamma: float, lam: float) -> list[float]:
    """GAE over turns, one after the other."""
    found, after, later = [0.0] * len(rewards), 0.0, 0.0
    for turn in reversed(range(len(rewards))):
        later = rewards[turn] + gamma * after - values[turn] + gamma * lam * later
        found[turn], after = later, values[turn]
    return found


@pytest.mark.parametrize("credit", ["chunk", "action"])
@pytest.mark.parametrize("kind", ["parallel", "flow_sde"])
def test_credit_of_chunks_and_of_actions_is_that_of_a_slow_reference(nano_folder: Path, kind: str, credit: Any) -> None:
    loaded = nano_vla(nano_folder, kind, image_size=16)
    found = episodes(loaded)
    batch = make_batch(loaded, found, credit=credit)
    each = 2 if kind == "parallel" else 1  # log-probabilities of an action
    assert batch.lengths == [8 * each] * 3, "three chunks of 3, 3 and 2 actions: what was not carried out is left out"
    assert len(batch.rows) == 9
    values = torch.rand(batch.token_mask.shape, generator=torch.Generator().manual_seed(0))
    rewards = batch.turn_rewards(2.0)
    estimate = step_gae(rewards, values, batch.action_mask, batch.turn_ends, gamma=0.99, lam=0.95)
    for number, trajectory in enumerate(found):
        ran = [step.info["ran"] for step in trajectory.steps]
        if credit == "chunk":
            earned, sizes = [2.0 * step.reward for step in trajectory.steps], [each * count for count in ran]
        else:
            by_action = [[*step.info["rewards"]] for step in trajectory.steps]
            for some in by_action:
                some[-1] += 0.5
            earned, sizes = [2.0 * one for some in by_action for one in some], [each] * sum(ran)
        begins = np.cumsum([0, *sizes])[:-1].tolist()
        wanted = slow_credit(earned, [float(values[number, place]) for place in begins], 0.99, 0.95)
        spread = [advantage for advantage, size in zip(wanted, sizes, strict=True) for _ in range(size)]
        assert estimate.advantages[number].tolist() == pytest.approx(spread, abs=1e-4)
        assert estimate.critic_mask[number].nonzero()[:, 0].tolist() == begins
        assert float(rewards[number].sum()) == pytest.approx(
            2.0 * sum(step.reward for step in trajectory.steps), abs=1e-4
        )


def test_pictures_lie_in_one_block_each_once(nano_folder: Path) -> None:
    loaded = nano_vla(nano_folder, "parallel", image_size=16)
    found = episodes(loaded)
    before = {name: picture.copy() for one in found for name, picture in one.pictures.items()}
    batch = make_batch(loaded, [*found, found[0]])
    pixels = batch.block.pixels
    assert len(pixels) == len(before) and pixels.nbytes == len(before) * 16 * 16 * 3
    for one in found:
        for name, picture in one.pictures.items():
            assert np.shares_memory(picture, pixels) and np.array_equal(picture, before[name])
    assert all(np.shares_memory(picture, pixels) for row in batch.rows for picture in row.pictures)
    with pytest.raises(ConfigError, match="more than picture_memory"):
        make_batch(loaded, found, picture_memory=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_holds_what_the_policy_saw_and_drew(nano_folder: Path, kind: str) -> None:
    loaded = nano_vla(nano_folder, kind, image_size=16)
    found = episodes(loaded, 1)
    row, step = make_batch(loaded, found).rows[1], found[0].steps[1]
    assert (
        row.ids == step.prompt_ids
        and row.logprobs == step.logprobs
        and row.numbers.tolist() == pytest.approx(step.proprio)
    )
    assert np.array_equal(row.pictures[0], found[0].pictures[step.images[0]])
    if kind in ("parallel", "autoregressive"):
        assert row.record.tolist() == [token - loaded.first_action for token in step.response_ids]
    else:
        assert row.random_step == step.sampling["flow"]["step"] and row.record.shape == (6, 3, 2)


def test_episodes_of_other_policies_are_refused(nano_folder: Path) -> None:
    loaded = nano_vla(nano_folder, "parallel", image_size=16)
    found = episodes(loaded, 1)
    found[0].steps[0].logprobs = None
    with pytest.raises(ConfigError, match="learns from episodes of its own"):
        make_batch(loaded, found)

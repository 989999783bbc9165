"""Random numbers by name."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.policies.dice import named_noise
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.starts import dice_names


def test_a_row_depends_on_the_seed_and_its_own_name_only() -> None:
    many = named_noise(7, ["a", "b", "c"], 5)
    assert many.dtype == np.float32 and many.shape == (3, 5)
    assert np.array_equal(named_noise(7, ["c"], 3)[0], many[2, :3])
    assert not np.isclose(many[0], many[1]).any() and not np.isclose(named_noise(8, ["a"], 5), many[:1]).any()
    assert named_noise(7, [], 5).shape == (0, 5)
    assert named_noise(7, ["\ud800"], 1).shape == (1, 1)  # a task may be called anything


def test_numbers_are_spread_evenly_and_neighbours_have_nothing_in_common() -> None:
    noise = named_noise(0, [f"{n}-1/1/0" for n in range(4000)], 25)
    assert noise.min() >= 0 and noise.max() < 1
    counts, _ = np.histogram(noise, 20, (0, 1))
    expected = noise.size / 20
    assert ((counts - expected) ** 2 / expected).sum() < 45  # chi-square with 19 degrees of freedom: 0.07 % above
    across, along = np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1], np.corrcoef(noise[:, 0], noise[:, 1])[0, 1]
    assert abs(across) < 0.06 and abs(along) < 0.06  # about four standard errors


def test_equal_starts_without_ids_have_dice_of_their_own() -> None:
    starts = [Start(3), Start(3), Start(3, task="x"), Start(4), Start(3, id="mine")]
    names = dice_names(starts)
    assert len(set(names)) == 5 and names[4] == "mine"
    assert dice_names(starts[2:])[:2] == names[2:4]  # whatever else is played


def test_episodes_do_not_depend_on_who_plays_beside_them() -> None:
    def played(seeds: list[int], num_envs: int) -> dict[int | None, list[str]]:
        policy = HFPolicy("tiny-text", max_new_tokens=4, device="cpu", dtype="float32", seed=5)
        spec = EnvSpec("agentrl/FrozenLake-Text-v0", {"max_turns": 2})
        collector = Collector([spec], policy, num_envs=num_envs)
        found = collector.collect([Start(seed) for seed in seeds]).trajectories
        collector.close()
        return {one.seed: [step.action for step in one.steps] for one in found}

    whole = played([1, 2, 3, 4, 5], 5)
    assert whole == played([1, 2, 3, 4, 5], 2) == played([1, 3, 5], 1) | played([4, 2], 2)
    assert len({str(actions) for actions in whole.values()}) == 5


def test_too_few_names_are_refused() -> None:
    policy = HFPolicy("tiny-text", max_new_tokens=2, device="cpu", dtype="float32")
    talk = [{"role": "user", "content": "hello"}]
    with pytest.raises(ConfigError, match="keys: 1 names for 2"):
        policy.act([talk, talk], keys=["one"])  # pyright: ignore[reportArgumentType]

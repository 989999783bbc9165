"""Seeds and random streams: pinned, spread evenly, and independent of what runs beside them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from gymnasium.utils.seeding import np_random

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import (
    coprime,
    episode_seed,
    generator_from_json,
    generator_to_json,
    mixed_seed,
    named_noise,
    reset_key,
    splitmix64,
    splitmix64_int,
    uniform,
)
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.starts import sampling_names


def test_pinned_values_so_that_no_update_changes_a_stream() -> None:
    assert splitmix64_int(0) == 0xE220A8397B1DCDAF  # SplitMix64's published first output for seed 0
    assert splitmix64(np.array([0, 1, 2], np.uint64)).tolist() == [splitmix64_int(n) for n in range(3)]
    assert named_noise(7, ["a", "b"], 2).tolist() == [
        [0.6176586747169495, 0.948799729347229],
        [0.5733240842819214, 0.209936261177063],
    ]
    assert mixed_seed(1, None, -3) == 3472058233
    assert episode_seed(3, 4) == 5759720738275277
    assert reset_key(5) == np_random(5)[0].integers(2**63) == 7424841456459477716


def test_uniform_numbers_depend_on_key_and_position_only() -> None:
    whole = uniform(5, 0, (100,))
    assert (uniform(5, 40, (60,)) == whole[40:]).all() and (uniform(6, 0, (100,)) != whole).any()
    assert whole.min() >= 0 and whole.max() < 1 and 0.4 < uniform(1, 0, (10_000,)).mean() < 0.6


def test_mixed_seeds_differ_where_their_parts_do() -> None:
    assert len({mixed_seed(a, b) for a in range(-3, 4) for b in (None, -1, 1, 2**70)}) == 28


def test_seeds_of_episodes_are_distinct_and_exact_in_json() -> None:
    seeds = {episode_seed(seed, index) for seed in range(20) for index in range(50)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**53 for seed in seeds)
    assert episode_seed(0, 0) == episode_seed(0, 0)


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


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_a_generator_comes_back_from_json_with_the_same_future(kind: type[np.random.BitGenerator]) -> None:
    generator = np.random.Generator(kind(7))
    generator.integers(10, size=3)
    copy = generator_from_json(generator_to_json(generator))
    assert copy.integers(2**62, size=5).tolist() == generator.integers(2**62, size=5).tolist()


def test_only_bit_generators_are_read_from_json() -> None:
    with pytest.raises(ValueError, match="got 'seed'"):
        generator_from_json('{"bit_generator": "seed"}')


@pytest.mark.parametrize("place", [-1, 10**6, 2**31 - 1, True, 1.5, None])
def test_a_place_outside_of_the_buffer_is_refused(place) -> None:
    twister = np.random.MT19937(1).state
    twister["state"]["pos"] = place
    philox = {**np.random.Philox(1).state, "buffer_pos": place}
    for state in (twister, philox):
        with pytest.raises(ValueError, match="must be a whole number"):
            generator_from_json(json.dumps(state, default=lambda value: value.tolist()))


def test_a_coprime_stride_visits_every_place() -> None:
    for count in range(1, 40):
        for draw in range(2 * count + 1):
            stride = coprime(draw, count)
            assert len({k * stride % count for k in range(count)}) == count


def test_equal_starts_without_ids_sample_differently() -> None:
    starts = [Start(3), Start(3), Start(3, task="x"), Start(4), Start(3, id="mine")]
    names = sampling_names(starts)
    assert len(set(names)) == 5 and names[4] == "mine"
    assert sampling_names(starts[2:])[:2] == names[2:4]  # whatever else is played


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
    with pytest.raises(ConfigError, match="keys must have one entry"):
        policy.act([talk, talk], keys=["one"])  # pyright: ignore[reportArgumentType]

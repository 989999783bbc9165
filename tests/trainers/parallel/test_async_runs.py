"""Asynchronous runs: equal to synchronous ones where that can be, within their bound elsewhere, and resumed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.parquet import iterate_parquet
from agentrl.trainers.algorithms import gigpo, grpo, gspo, ppo, reinforce_pp, rloo, steppo
from tests.longer import only
from tests.trainers import toys
from tests.trainers.runs import assert_equal_runs, lines

TRAINERS: dict[str, Any] = {
    "ppo": ppo,
    "steppo": steppo,
    "grpo": grpo,
    "rloo": rloo,
    "reinforce_pp": reinforce_pp,
    "gspo": gspo,
    "gigpo": gigpo,
}
# Batches and their rows are those of a synchronous run.
IN_STEP: dict[str, Any] = {"asynchronous": True, "max_staleness": 0, "max_wait_ms": -1}


def in_step(algorithm: str, *given: Any, **options: Any) -> Any:
    args = getattr(toys, algorithm)(*given, **options)
    return replace(args, max_batch=args.num_envs, **IN_STEP)


@pytest.mark.parametrize("algorithm", only(("ppo", "grpo"), TRAINERS))
def test_in_step_without_staleness_a_run_is_the_synchronous_one_to_the_bit(undecided, tmp_path, algorithm) -> None:
    options: dict[str, Any] = {"eval_every": 1, "eval_episodes": 4, "eval_modes": ("sampled",)}
    train, options = TRAINERS[algorithm].train, options | ({"critic_truth": True} if algorithm == "ppo" else {})
    sync = train(getattr(toys, algorithm)(undecided, tmp_path / "sync", **options))
    found = train(in_step(algorithm, undecided, tmp_path / "async", **options))
    assert_equal_runs(sync, found, 2)
    assert all(line["async"]["staleness"] == {"0": 16} for line in lines(found, "train"))


def test_in_step_episodes_that_share_slots_are_the_same_too(undecided, tmp_path) -> None:
    options = {"num_envs": 5, "env_kwargs": {"turns": 3}}
    sync = ppo.train(toys.ppo(undecided, tmp_path / "sync", **options))
    found = ppo.train(replace(in_step("ppo", undecided, tmp_path / "async", **options), simulators=1))
    assert_equal_runs(sync, found, 2)


@pytest.mark.parametrize("algorithm", TRAINERS)
def test_every_algorithm_trains_asynchronously_within_the_bound(undecided, tmp_path, algorithm) -> None:
    options = {"asynchronous": True, "iterations": 4, "max_staleness": 1, "num_envs": 8, "generators": 2}
    found = TRAINERS[algorithm].train(getattr(toys, algorithm)(undecided, tmp_path / "run", **options))
    told = lines(found, "train")
    assert len(told) == 4 and all(line["episodes"] == 16 for line in told)
    assert max(line["loss"]["staleness_max"] for line in told) <= 1
    for line in told:
        assert sum(line["async"]["staleness"].values()) == 16
        assert line["async"]["memory_bytes"]["generators"] > 0 and line["async"]["generators"] == 2


def stopped_in_update(args: Any, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train until an update breaks off in its middle."""
    update, seen = grpo.update_policy, []

    def broken(*given: Any, **named: Any) -> Any:
        seen.append(1)
        if len(seen) == number:
            raise KeyboardInterrupt
        return update(*given, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(grpo, "update_policy", broken)
        grpo.train(args)


def test_an_exact_run_that_broke_off_ends_with_the_same_bits(undecided, tmp_path, monkeypatch) -> None:
    whole = grpo.train(in_step("grpo", undecided, tmp_path / "whole", iterations=3))
    args = in_step("grpo", undecided, tmp_path / "cut", iterations=3, save_every=1)
    stopped_in_update(args, 3, monkeypatch)
    said: list[str] = []
    grpo.train(replace(args, resume=True), said.append)
    assert_equal_runs(whole, tmp_path / "cut", 3)
    assert any("2 groups of episodes that were under way begin again" in line for line in said)
    assert lines(tmp_path / "cut", "train")[-1]["async"]["begun_again"] == 2


def test_a_run_that_broke_off_trains_on_every_task_once(undecided, tmp_path, monkeypatch) -> None:
    options = {"asynchronous": True, "iterations": 4, "save_every": 1, "save_trajectories": -1, "max_staleness": 2}
    args = toys.grpo(undecided, tmp_path / "run", **options)
    stopped_in_update(args, 3, monkeypatch)
    found = grpo.train(replace(args, resume=True))
    names = [one.id for path in (found / "trajectories").glob("*.parquet") for one in iterate_parquet(path)]
    assert sorted(names) == sorted(f"{n}-{place}.{copy}" for n in (1, 2, 3, 4) for place in (0, 1) for copy in range(8))


def test_generators_take_new_weights_every_n_updates(undecided, tmp_path) -> None:
    options = {"asynchronous": True, "iterations": 4, "max_staleness": 2, "refresh_every": 2, "save_trajectories": -1}
    found = ppo.train(toys.ppo(undecided, tmp_path / "run", **options))
    versions = {
        step.version
        for path in (found / "trajectories").glob("*.parquet")
        for one in iterate_parquet(path)
        for step in one.steps
    }
    assert versions <= {0, 2, 4} and 2 in versions


def test_what_cannot_be_is_refused(nano, tmp_path) -> None:
    with pytest.raises(ConfigError, match="refresh_every - 1"):
        toys.ppo(nano, tmp_path, max_staleness=1, refresh_every=3)
    with pytest.raises(ConfigError, match="engine=transformers"):
        toys.ppo(nano, tmp_path, asynchronous=True, engine="vllm")
    with pytest.raises(ConfigError, match="max_wait_ms"):
        toys.ppo(nano, tmp_path, max_wait_ms=-2.0)

"""The asynchronous collector: the same records and faults, batches that form by themselves, tidy cancellation."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.policies import load_policy
from agentrl.rollout.async_collect import AsyncCollector, Rollout, _Listed
from agentrl.rollout.collect import Collection, Collector, EnvSpec, Start
from tests import toy_judges as toys
from tests.rollout.troubled_envs import TROUBLED, Failing, Playing, TroubledEnv, eventually

LAKE, ROOM = "agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Visual-v0"
OWING = (
    {"wrapper": "Reasoning", "strategy": "grounding_worldmodeling"},
    {"wrapper": "ReasoningReward", "judge": "tests.toy_judges:Exact", "deferred": True},
)


def collect(
    specs: list[EnvSpec], policy: Any, starts: list[Start], on_trajectory: Any = None, **options: Any
) -> Collection:
    collector = AsyncCollector(specs, policy, **options)
    try:
        return collector.collect(starts, on_trajectory)
    finally:
        collector.close()


def troubled(policy: Any, seeds: Any = range(3), kwargs: dict[str, Any] | None = None, **options: Any) -> Collection:
    return collect([EnvSpec(TROUBLED, kwargs or {})], policy, [Start(seed) for seed in seeds], **options)


@pytest.mark.parametrize("name", ["random", "oracle"])
def test_records_equal_those_of_the_other_collector(name: str) -> None:
    specs, starts = [EnvSpec(LAKE, {}, OWING), EnvSpec(ROOM)], [Start(seed, env=seed % 2) for seed in range(8)]
    collector = Collector(specs, load_policy(name, seed=1), judge=toys.Exact())
    expected = collector.collect(starts).trajectories
    collector.close()
    seen: list[Any] = []
    result = collect(specs, load_policy(name, seed=1), starts, seen.append, judge=toys.Exact(), num_envs=3)
    assert result.trajectories == expected
    assert sorted(t.id for t in seen) == sorted(t.id for t in expected)
    assert all(t.reward is not None for t in seen)


def test_requests_gather_into_full_batches_and_no_more_episodes_run_than_allowed() -> None:
    policy = Playing()
    troubled(policy, range(12), {"wait": 0.005}, num_envs=4, max_batch=4, max_wait_ms=60_000)
    assert {len(batch) for batch in policy.batches} == {4}
    policy = Playing()
    troubled(policy, range(8), num_envs=8, max_batch=2, max_wait_ms=60_000)
    assert {len(batch) for batch in policy.batches} == {2}


def test_slow_environments_do_not_hold_up_the_others() -> None:
    class Uneven(Playing):
        pass

    specs = [EnvSpec(TROUBLED, {"wait": 2.0}), EnvSpec(TROUBLED, {"wait": 0.0, "turns": 8})]
    ended: list[int] = []
    starts = [Start(0), Start(1, env=1)]
    result = collect(specs, Uneven(), starts, lambda one: ended.append(one.seed), num_envs=2, max_wait_ms=1)
    assert ended == [1, 0]  # in step the eight quick turns would end after the two slow ones
    assert [t.reward for t in result.trajectories] == [2.0, 8.0]


def test_faults_cost_their_own_episode_only() -> None:
    script = {1: ["fine", "raise"], 2: ["hang"], 3: ["exit"]}
    result = troubled(Playing(script), range(5), {"seconds": 10.0}, timeout=3.0, retries=0)
    assert [t.fault is None for t in result.trajectories] == [True, False, False, False, True]
    assert result.faults == 3 and result.trajectories[4].reward == 2.0
    assert "no answer within" in result.trajectories[2].fault["detail"]  # pyright: ignore


def test_a_dying_process_costs_its_own_episode_and_is_replaced(tmp_path) -> None:
    kwargs = {"once": str(tmp_path / "dead already")}
    result = troubled(Playing({0: ["die"]}), range(2), kwargs, hosts=2, num_envs=2)
    assert (result.faults, result.retries) == (0, 1)
    assert [t.reward for t in result.trajectories] == [2.0, 2.0]


def test_an_outage_of_the_judge_leaves_rewards_open() -> None:
    result = collect([EnvSpec(LAKE, {}, OWING)], load_policy("oracle"), [Start(0), Start(1)], judge=toys.Down())
    assert [t.reward for t in result.trajectories] == [None, None] and result.faults == 0


@pytest.mark.parametrize(("failures", "works"), [(1, True), (2, False)])
def test_a_policy_gets_a_second_try_and_then_comes_through(failures: int, works: bool) -> None:
    census = TroubledEnv.count_anew()
    if works:
        assert [t.reward for t in troubled(Failing(failures)).trajectories] == [2.0] * 3
    else:
        with pytest.raises(EngineFault, match="out of memory"):
            troubled(Failing(failures))
    assert eventually(lambda: census.made == census.closed)
    assert census.made == 3 or not works  # a failure may come before all were made


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_an_interrupted_collection_closes_everything_and_the_collector_can_go_on(timeout: float | None) -> None:
    census = TroubledEnv.count_anew()
    collector = AsyncCollector([EnvSpec(TROUBLED, {"wait": 0.2, "turns": 5})], Playing(), num_envs=3, timeout=timeout)
    threads = set(threading.enumerate())

    def interrupt(trajectory: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collector.collect([Start(seed) for seed in range(9)], interrupt)
    assert eventually(lambda: census.closed == census.made == 3)
    assert eventually(lambda: set(threading.enumerate()) <= threads)
    collector.pool._specs = (EnvSpec(TROUBLED),)  # a quick one
    assert collector.collect([Start(0)]).trajectories[0].reward == 2.0
    collector.close()


def test_a_rollout_that_is_closed_waits_for_the_generation_that_runs() -> None:
    class Slow(Playing):
        running = False

        def act(self, conversations: Any, envs: Any = None) -> Any:
            self.running = True
            time.sleep(0.4)
            self.running = False
            return super().act(conversations, envs)

    policy = Slow()
    collector = AsyncCollector([EnvSpec(TROUBLED)], policy)
    with Rollout(collector, _Listed(deque(collector.jobs([Start(0)])))):
        assert eventually(lambda: policy.running)
    assert not policy.running
    collector.close()


def test_an_environment_that_hangs_for_ever_is_left_behind_and_closed_when_it_comes_back(monkeypatch) -> None:
    monkeypatch.setattr("agentrl.rollout.async_collect.PATIENCE", 0.1)
    census = TroubledEnv.count_anew()
    collector = AsyncCollector([EnvSpec(TROUBLED, {"seconds": 1.0})], Playing({0: ["hang"]}))
    rollout = Rollout(collector, _Listed(deque(collector.jobs([Start(0)]))))
    assert eventually(lambda: any(rollout._held))
    time.sleep(0.2)
    rollout.close()
    collector.close()
    assert census.closed == 0
    assert eventually(lambda: census.closed == census.made == 1)


@pytest.mark.parametrize("options", [{"max_batch": 0}, {"max_wait_ms": -1}, {"max_wait_ms": None}, {"num_envs": 0}])
def test_bad_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        AsyncCollector([EnvSpec(TROUBLED)], Playing(), **options)

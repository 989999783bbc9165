"""The asynchronous collector: the same records and faults, batches that form by themselves, tidy cancellation."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError, EngineFault
from agentrl.policies import load_policy
from agentrl.rollout.async_collect import AsyncCollector, Batcher
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
        return asyncio.run(collector.collect(starts, on_trajectory))
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


def test_the_callback_may_be_a_coroutine() -> None:
    seen = []

    async def save(trajectory: Any) -> None:
        await asyncio.sleep(0)
        seen.append(trajectory.seed)

    collect([EnvSpec(TROUBLED)], Playing(), [Start(seed) for seed in range(4)], save)
    assert sorted(seen) == [0, 1, 2, 3]


def test_requests_gather_into_full_batches_and_no_more_episodes_run_than_allowed() -> None:
    policy = Playing()
    troubled(policy, range(12), {"wait": 0.005}, num_envs=4, max_wait_ms=60_000)
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
    assert eventually(lambda: census.made == census.closed == 3)


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_cancelling_closes_everything_and_the_collector_can_go_on(timeout: float | None) -> None:
    census = TroubledEnv.count_anew()
    collector = AsyncCollector([EnvSpec(TROUBLED, {"wait": 0.2, "turns": 50})], Playing(), num_envs=3, timeout=timeout)
    threads = set(threading.enumerate())

    async def cancelled() -> None:
        task = asyncio.create_task(collector.collect([Start(seed) for seed in range(9)]))
        while census.made < 3:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others

    asyncio.run(cancelled())
    assert eventually(lambda: census.closed == census.made == 3)
    assert eventually(lambda: set(threading.enumerate()) <= threads)
    collector.pool._specs = (EnvSpec(TROUBLED),)  # a quick one
    assert asyncio.run(collector.collect([Start(0)])).trajectories[0].reward == 2.0
    collector.close()


def test_a_cancelled_collection_waits_for_the_generation_that_runs() -> None:
    class Slow(Playing):
        running = False

        def act(self, conversations: Any, envs: Any = None) -> Any:
            self.running = True
            time.sleep(0.4)
            self.running = False
            return super().act(conversations, envs)

    policy = Slow()

    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await AsyncCollector([EnvSpec(TROUBLED)], policy).collect([Start(0)])
        assert not policy.running

    asyncio.run(cancelled())


@pytest.mark.parametrize("options", [{"max_batch": 0}, {"max_wait_ms": -1}, {"max_wait_ms": None}, {"num_envs": 0}])
def test_bad_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        AsyncCollector([EnvSpec(TROUBLED)], Playing(), **options)


# ---------------------------------------------------------------------- batches


def batches_of(waits: list[float], **options: Any) -> list[list[int]]:
    """What is asked together when request i comes after waits[i] seconds."""
    seen: list[list[int]] = []

    def answer(requests: Any) -> list[int]:
        seen.append(list(requests))
        return [10 * request for request in requests]

    async def run() -> None:
        batcher = Batcher(answer, **{"max_batch": 3, "max_wait": 1.2, "expected": lambda: 99, **options})

        async def one(number: int) -> None:
            await asyncio.sleep(waits[number])
            assert await batcher.ask(number) == 10 * number

        await asyncio.gather(*(one(number) for number in range(len(waits))))
        await batcher.close()

    asyncio.run(run())
    return seen


def test_a_batch_goes_when_it_is_full_or_its_oldest_has_waited_long_enough() -> None:
    assert batches_of([0, 0, 0, 0]) == [[0, 1, 2], [3]]
    assert batches_of([0, 0.05, 2.5]) == [[0, 1], [2]]
    started = time.perf_counter()
    assert batches_of([0, 0], max_wait=60, expected=lambda: 2) == [[0, 1]]
    assert time.perf_counter() - started < 30


def test_what_a_batch_raises_everybody_in_it_raises() -> None:
    async def run() -> None:
        batcher: Batcher[int, int] = Batcher(lambda requests: [1 // r for r in requests], 2, 1.0, lambda: 2)
        results = await asyncio.gather(batcher.ask(0), batcher.ask(1), return_exceptions=True)
        assert [type(result) for result in results] == [ZeroDivisionError] * 2
        assert await asyncio.gather(batcher.ask(1), batcher.ask(1)) == [1, 1]
        await batcher.close()

    asyncio.run(run())

"""What costs an episode and what does not: environments that raise, lie, hang and die, here and in other processes."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError, EngineFault, Fault, WorkerFault
from agentrl.core.policy import Generation
from agentrl.rollout.collect import Collection, Collector, EnvSpec, Start
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.hosts import Host
from agentrl.rollout.isolated import IsolatedEnv
from agentrl.rollout.starts import Stack
from tests.rollout.troubled_envs import TROUBLED, Failing, Playing, TroubledEnv, eventually

LAKE = "agentrl/FrozenLake-Text-v0"
REMEMBERING = ({"wrapper": "tests.rollout.troubled_envs:Remembering"},)


def collect(policy: Any, seeds: Any = range(3), kwargs: dict[str, Any] | None = None, **options: Any) -> Collection:
    collector = Collector([EnvSpec(TROUBLED, kwargs or {})], policy, **options)
    try:
        return collector.collect([Start(seed) for seed in seeds])
    finally:
        collector.close()


def others_are_fine(result: Collection, broken: int = 1) -> None:
    for index, trajectory in enumerate(result.trajectories):
        if index != broken:
            assert trajectory.fault is None and trajectory.reward == 2.0 and trajectory.success


# ---------------------------------------------------------------------- in this process


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("fault", "the backend is gone"),
        ("raise", "RuntimeError: a bug of the simulator"),
        ("exit", "SystemExit: 3"),
        ("nan", "the reward is nan"),
        ("short", "ValueError"),
    ],
)
@pytest.mark.parametrize("timeout", [None, 20.0])
def test_trouble_costs_its_own_episode_only(word: str, says: str, timeout: float | None) -> None:
    census = TroubledEnv.count_anew()
    result = collect(Playing({1: ["fine", word]}), timeout=timeout, retries=2)
    others_are_fine(result)
    broken = result.trajectories[1]
    assert broken.fault is not None and broken.fault["kind"] == "EnvFault" and says in broken.fault["detail"]
    assert broken.reward is None and broken.stop_reason == "fault" and [s.action for s in broken.steps] == ["fine"]
    assert (result.faults, result.retries) == (1, 2)
    assert census.made == census.closed == 3 + 2


def test_an_episode_is_begun_again_from_the_same_start_in_a_fresh_environment(tmp_path) -> None:
    once = str(tmp_path / "broken already")
    result = collect(Playing({1: ["fine", "raise"]}), kwargs={"once": once})
    assert (result.faults, result.retries) == (0, 1)
    assert result.trajectories[1].reward == 2.0
    assert [step.observation for step in result.trajectories[1].steps] == ["episode 1 turn 0", "episode 1 turn 1"]


@pytest.mark.parametrize("retries", [0, 1])
def test_a_reset_that_fails_is_a_fault_of_its_start(retries: int) -> None:
    result = collect(Playing(), seeds=[0, 667, 2, 3], num_envs=2, retries=retries)
    others_are_fine(result)
    assert result.trajectories[1].seed == 667 and result.trajectories[1].steps == []
    assert (result.faults, result.retries) == (1, retries)


def test_an_environment_that_cannot_be_made_is_a_fault_with_its_text() -> None:
    result = collect(Playing(), kwargs={"make_fails": True})
    assert result.faults == 3 and "no display" in result.trajectories[0].fault["detail"]  # pyright: ignore
    assert (result.trajectories[2].seed, result.trajectories[2].split) == (2, "train")


@pytest.mark.parametrize("script", [{1: ["fine", "hang"]}, {}])
def test_a_hanging_environment_is_left_behind_at_its_deadline(script: dict[int, list[str]]) -> None:
    seeds = [0, 1 if script else 666, 2]
    started = time.perf_counter()
    result = collect(Playing(script), seeds=seeds, kwargs={"seconds": 60.0}, timeout=3.0, retries=0)
    assert time.perf_counter() - started < 50
    others_are_fine(result)
    assert "no answer within 3 s" in result.trajectories[1].fault["detail"]  # pyright: ignore


def test_an_abandoned_environment_is_closed_when_it_comes_back() -> None:
    census = TroubledEnv.count_anew()
    before = set(threading.enumerate())
    collect(Playing({0: ["hang"]}), seeds=[0], kwargs={"seconds": 5.0}, timeout=1.0, retries=0)
    assert census.closed < census.made
    assert eventually(lambda: census.closed == census.made)
    assert eventually(lambda: set(threading.enumerate()) <= before)


def test_wrong_arguments_are_no_faults() -> None:
    collector = Collector([EnvSpec(TROUBLED)], Playing(), timeout=5.0)
    with pytest.raises(ConfigError, match="no such task"):
        collector.collect([Start(0, task="nonsense")])
    collector.close()


def test_what_was_in_play_when_something_else_broke_is_thrown_away() -> None:
    class Buggy(Playing):
        def answer(self, conversation: Any) -> Generation:
            raise ZeroDivisionError

    census = TroubledEnv.count_anew()
    collector = Collector([EnvSpec(TROUBLED)], Buggy())
    with pytest.raises(ZeroDivisionError):
        collector.collect([Start(0), Start(1)])
    assert census.made == census.closed == 2
    collector.policy = Playing()
    assert collector.collect([Start(0)]).trajectories[0].reward == 2.0
    collector.close()


# ---------------------------------------------------------------------- in processes of their own


def test_a_process_that_dies_or_hangs_costs_its_own_episode_only() -> None:
    script = {1: ["fine", "die"], 2: ["hang"], 3: ["raise"], 4: ["fault"]}
    started = time.perf_counter()
    result = collect(Playing(script), seeds=range(6), hosts=3, timeout=5.0, retries=0, num_envs=3)
    assert time.perf_counter() - started < 120
    reasons = [t.fault and (t.fault["kind"], t.fault.get("reason")) for t in result.trajectories]
    assert reasons == [None, ("WorkerFault", "died"), ("WorkerFault", "deadline"), ("WorkerFault", "raised"),
                       ("EnvFault", None), None]  # fmt: skip
    assert len(result.trajectories[1].steps) == 1 and result.trajectories[5].reward == 2.0
    assert "a bug of the simulator" in result.trajectories[3].fault["detail"]  # pyright: ignore


def test_the_process_of_a_late_environment_is_really_gone_and_no_other_is_left() -> None:
    host = Host(timeout=3.0)
    env = IsolatedEnv(Stack(TROUBLED), host)
    env.reset(seed=0)
    pid = env.pid
    assert pid is not None
    os.kill(pid, 0)
    with pytest.raises(WorkerFault, match="took too long"):
        env.step("hang")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(Fault, match="environment is gone"):  # a fresh process knows nothing of the episode
        env.step("good")
    host.close()


# ---------------------------------------------------------------------- the policy


def test_a_policy_gets_a_second_try() -> None:
    assert [t.reward for t in collect(Failing(1)).trajectories] == [2.0] * 3


def test_a_policy_that_fails_twice_stops_the_collection_and_leaves_nothing_open() -> None:
    census = TroubledEnv.count_anew()
    with pytest.raises(EngineFault, match="out of memory"):
        collect(Failing(2))
    assert census.made == census.closed == 3


def test_too_few_answers_are_a_fault_of_the_policy() -> None:
    class Short(Playing):
        def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
            return super().act(conversations, envs)[1:]

    with pytest.raises(EngineFault, match="3 conversations with 2 answers"):
        collect(Short())


def test_an_environment_that_dies_while_a_policy_looks_at_it_costs_its_own_episode() -> None:
    class Looking(Playing):
        def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
            for env in envs:
                if env.unwrapped.start == 1:
                    raise WorkerFault("the process ended", "died")
            return super().act(conversations, envs)

    result = collect(Looking(), retries=0)
    others_are_fine(result)
    assert result.trajectories[1].fault == {"kind": "WorkerFault", "detail": "the process ended", "reason": "died"}


def test_an_evaluation_counts_the_episodes_of_a_policy_that_failed() -> None:
    result = evaluate(TROUBLED, Failing(2), 6, num_envs=3)  # the first batch and its second try
    assert (result.faults, result.metrics["scored"], result.success) == (3, 3, 1.0)

"""Hosts: many environments in a few processes play as they do here, and what breaks costs no more than it must."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError, EnvFault, SnapshotError, WorkerFault
from agentrl.core.worker_process import WorkerProcess
from agentrl.policies import load_policy
from agentrl.rollout.async_collect import AsyncCollector, Rollout, _Listed
from agentrl.rollout.collect import Collection, Collector, EnvSpec, Start
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.hosts import Host, make_stack
from agentrl.rollout.isolated import IsolatedEnv, ask_all
from agentrl.rollout.starts import Stack
from tests.rollout.troubled_envs import TROUBLED, Playing, eventually

LAKE = "agentrl/FrozenLake-Text-v0"
PUCK = "tests.toy_control:toy/Puck-v0"
REMEMBERING = ({"wrapper": "tests.rollout.troubled_envs:Remembering"},)


def collect(policy: Any, seeds: Any = range(4), specs: Any = None, **options: Any) -> Collection:
    collector = Collector(specs or [EnvSpec(TROUBLED)], policy, **options)
    try:
        return collector.collect([Start(seed) for seed in seeds])
    finally:
        collector.close()


def kinds(result: Collection) -> list[Any]:
    return [found.fault and (found.fault["kind"], found.fault.get("reason")) for found in result.trajectories]


def as_lists(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.fixture
def host():
    one = Host(timeout=60.0)
    yield one
    one.close()


# ---------------------------------------------------------------------- what is played


def test_records_equal_those_made_here_with_one_message_a_round(monkeypatch) -> None:
    specs = [EnvSpec(LAKE, {"size": 5}, ({"wrapper": "Reasoning", "strategy": "grounding"},)), EnvSpec(PUCK)]
    starts = [Start(seed, env=seed % 2) for seed in range(6)]
    sent: list[list[str]] = []
    plain = Host.send

    def counted(self: Host, calls: Any, seconds: float | None = None) -> Any:
        sent.append([method for _, _, method, _ in calls])
        return plain(self, calls, seconds)

    monkeypatch.setattr(Host, "send", counted)
    found = []
    for hosts in (0, 2):
        collector = Collector(specs, load_policy("random", seed=2), num_envs=5, hosts=hosts, split="dev")
        found.append(collector.collect(starts).trajectories)
        collector.close()
    assert found[0] == found[1]
    steps = [methods for methods in sent if "step" in methods]
    assert max(map(len, steps)) == 3  # of five environments in two processes
    assert sum(map(len, steps)) == sum(len(one.steps) for one in found[0])
    assert len(steps) <= 2 * max(len(one.steps) for one in found[0]) + 2


def test_records_equal_those_made_here_whatever_is_shown_and_told() -> None:
    spec = EnvSpec(TROUBLED, {}, ({"wrapper": "tests.rollout.troubled_envs:Peculiar"},))
    here, there = (collect(Playing(), specs=[spec], hosts=hosts).trajectories for hosts in (0, 1))
    first, last = there[0].steps
    assert first.info["thing"] == "<object>" and first.pending == ["word"] and last.info["1"] == [2.5]
    assert last.proprio == [float(np.float32(0.1)), -2.0] and last.state is None and len(last.images) == 1
    assert there[0].pictures[last.images[0]].shape == (8, 5, 3)
    assert here == there


def test_asynchronous_collection_and_evaluation_play_in_hosts() -> None:
    here = evaluate(LAKE, "oracle", 4, num_envs=4)
    there = evaluate(LAKE, "oracle", 4, num_envs=4, hosts=1)
    assert (here.success, here.turns_mean, here.outcomes) == (there.success, there.turns_mean, there.outcomes)
    collector = AsyncCollector([EnvSpec(LAKE)], load_policy("oracle"), num_envs=4, hosts=1, max_batch=4)
    try:
        trajectories = collector.collect([Start(seed) for seed in range(4)]).trajectories
    finally:
        collector.close()
    assert trajectories == collect(load_policy("oracle"), specs=[EnvSpec(LAKE)]).trajectories


def test_wrappers_keep_their_memory_from_here_to_a_host_and_back() -> None:
    spec = EnvSpec(TROUBLED, {}, REMEMBERING)
    there, here = (Collector([spec], Playing(), hosts=hosts) for hosts in (1, 0))
    there.collect([Start(0)])
    here.load_state_dict(there.state_dict())
    assert here.collect([Start(0)]).trajectories[0].steps[0].info["episodes"] == 2
    there.load_state_dict(here.state_dict())
    assert there.collect([Start(0)]).trajectories[0].steps[0].info["episodes"] == 3
    there.close()
    here.close()


def test_slots_share_memory_keep_apart_and_take_snapshots_of_stacks_made_here(host: Host) -> None:
    stack = Stack(PUCK, {"image_size": 48})
    first, second, here = IsolatedEnv(stack, host), IsolatedEnv(stack, host), make_stack(stack)
    assert first.pid == second.pid != os.getpid()
    seen, _ = first.reset(seed=1)
    kept = {name: np.array(part) for name, part in seen.items()}
    second.reset(seed=2)
    first.step(np.array([1, 0], np.float32))
    assert all(np.array_equal(seen[name], kept[name]) for name in kept)  # what was given out stays as it was
    here.reset(seed=3)
    agentrl.restore(here, first.snapshot())
    second.restore(agentrl.snapshot(here))
    results = [env.step(np.array([0.5, 0.5], np.float32)) for env in (first, second, here)]
    for observation, *rest in results[1:]:
        assert all(np.array_equal(observation[name], results[0][0][name]) for name in observation)
        rest[3] = {**rest[3], "state": as_lists(rest[3]["state"])}  # between processes tuples become lists
        assert rest == list(results[0][1:])
    with pytest.raises(SnapshotError):
        second.restore(b"nonsense")
    maps = Path(f"/proc/{first.pid}/maps").read_text()
    assert "memfd:agentrl-host (deleted)" in maps and "/dev/shm" not in maps  # no name that could be left behind
    here.close()


def test_a_slot_is_used_again_and_its_memory_with_it(host: Host) -> None:
    keeper = IsolatedEnv(Stack(PUCK), host)
    starts = []
    for _ in range(3):
        env = IsolatedEnv(Stack(PUCK), host)
        env.reset(seed=0)
        starts.append(env._region.arrays["image"].ctypes.data)
        env.close()
        env.close()
    assert len(set(starts)) == 1 and starts[0] != keeper._region.arrays["image"].ctypes.data


# ---------------------------------------------------------------------- what breaks


def test_what_an_environment_raises_is_the_fault_of_its_slot() -> None:
    result = collect(Playing({1: ["fine", "raise"], 2: ["fault"]}), hosts=1, retries=0)
    assert kinds(result) == [None, ("WorkerFault", "raised"), ("EnvFault", None), None]
    assert "a bug of the simulator" in result.trajectories[1].fault["detail"]  # pyright: ignore
    assert [result.trajectories[place].reward for place in (0, 3)] == [2.0, 2.0]


@pytest.mark.parametrize(
    ("word", "reason", "timeout"),
    [("die", "died", 60.0), pytest.param("hang", "deadline", 5.0, marks=pytest.mark.long)],
)
def test_a_host_that_dies_or_hangs_costs_its_slots_one_fault_each_and_the_others_go_on(
    word: str, reason: str, timeout: float
) -> None:
    result = collect(Playing({1: ["fine", word]}), hosts=2, retries=0, timeout=timeout)
    assert kinds(result) == [None, ("WorkerFault", reason), None, ("WorkerFault", reason)]
    assert [result.trajectories[place].reward for place in (0, 2)] == [2.0, 2.0]


def test_a_late_call_among_many_is_ended_in_its_own_time_and_says_where_it_was() -> None:
    host = Host(timeout=3.0)
    envs = [IsolatedEnv(Stack(TROUBLED), host) for _ in range(8)]
    for env in envs:
        env.reset(seed=0)
    started = time.perf_counter()
    answers = ask_all([(env, env.asked("step", "hang" if env is envs[5] else "good")) for env in envs])
    assert time.perf_counter() - started < 20.0  # not the time limits of eight calls
    assert {(type(answer), answer.reason) for answer in answers} == {(WorkerFault, "deadline")}
    assert "took too long" in str(answers[0]) and "troubled_envs.py" in str(answers[0])
    host.close()


def test_closing_a_rollout_ends_the_call_that_runs_in_a_host() -> None:
    collector = AsyncCollector([EnvSpec(TROUBLED)], Playing({0: ["hang"]}), num_envs=2, hosts=1)
    rollout = Rollout(collector, _Listed(deque(collector.jobs([Start(0), Start(1)]))))
    (host,) = collector.pool._hosts
    while not (collector.pool._made[0] and host.busy):
        time.sleep(0.01)
    time.sleep(0.3)
    started = time.perf_counter()
    rollout.close()
    assert time.perf_counter() - started < 20.0  # without a timeout a call may take minutes
    assert not host.busy
    collector.close()


def test_a_simulator_tells_its_host_of_many_slots_in_one_message(monkeypatch) -> None:
    steps: list[int] = []
    send = Host.send

    def counted(host: Host, calls: Any, seconds: Any = None) -> Any:
        steps.append(sum(method == "step" for _, _, method, _ in calls))
        return send(host, calls, seconds)

    monkeypatch.setattr(Host, "send", counted)
    in_step: dict[str, Any] = {"max_batch": 8, "max_wait_ms": math.inf, "simulator_batch": 8}
    collector = AsyncCollector([EnvSpec(TROUBLED)], Playing(), num_envs=8, hosts=1, **in_step)
    found = collector.collect([Start(seed) for seed in range(8)])
    collector.close()
    assert [one.reward for one in found.trajectories] == [2.0] * 8
    assert [count for count in steps if count] == [8, 8]


def test_a_dead_host_is_replaced_and_its_episodes_are_played_again(tmp_path) -> None:
    spec = EnvSpec(TROUBLED, {"once": str(tmp_path / "dead already")})
    result = collect(Playing({1: ["fine", "die"]}), specs=[spec], hosts=1)
    assert (result.faults, result.retries) == (0, 4)
    assert [one.reward for one in result.trajectories] == [2.0] * 4


def test_a_host_that_died_between_episodes_costs_none() -> None:
    collector = Collector([EnvSpec(TROUBLED)], Playing(), hosts=1, retries=0)
    collector.collect([Start(0), Start(1)])
    (host,) = collector.pool._hosts
    life = host.life
    assert life.pid is not None
    os.kill(life.pid, signal.SIGKILL)
    assert eventually(lambda: not host.lives(life))
    assert collector.collect([Start(seed) for seed in range(4)]).faults == 0
    collector.close()


def test_environments_of_a_replaced_host_say_so_and_fresh_ones_work(host: Host) -> None:
    first, second = (IsolatedEnv(Stack(TROUBLED), host) for _ in range(2))
    first.reset(seed=0)
    with pytest.raises(WorkerFault, match="killed by signal 9"):
        first.step("die")
    assert first.lost and second.lost
    with pytest.raises(EnvFault, match="its environment is gone"):
        second.reset(seed=0)
    fresh = IsolatedEnv(Stack(TROUBLED), host)
    fresh.reset(seed=0)
    assert fresh.step("good")[1] == 1.0


@pytest.mark.long
def test_an_interrupted_message_leaves_no_answer_for_the_next_one(monkeypatch) -> None:
    hosts = [Host(), Host()]
    envs = [IsolatedEnv(Stack(TROUBLED), host) for host in hosts]
    for env in envs:
        env.reset(seed=0)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(WorkerProcess, "receive", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        ask_all([(env, env.asked("step", "good")) for env in envs])
    assert all(eventually(lambda env=env: env.lost) for env in envs)
    for host in hosts:
        fresh = IsolatedEnv(Stack(TROUBLED), host)
        assert fresh.reset(seed=3)[0] == {"text": "episode 3 turn 0"}
        host.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Collector([EnvSpec(LAKE)], Playing(), hosts=-1), "hosts must be a whole number"),
        (lambda: Host(timeout=0), "timeout must be above zero"),
    ],
)
def test_wrong_arguments_are_refused(make: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make()


# ---------------------------------------------------------------------- what is left behind: nothing

ORPHANING = """
import os, signal, sys
from agentrl.rollout.hosts import Host
from agentrl.rollout.isolated import IsolatedEnv
from agentrl.rollout.starts import Stack

hosts = [Host(), Host()]
envs = [IsolatedEnv(Stack(sys.argv[1]), host) for host in hosts for _ in range(2)]
for env in envs:
    env.reset(seed=0)
print(*sorted({env.pid for env in envs}), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def runs(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_no_process_outlives_a_program_that_was_killed() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHANING, PUCK], capture_output=True, text=True, timeout=120)
    pids = [int(word) for word in done.stdout.split()]
    assert done.returncode == -signal.SIGKILL and len(pids) == 2, done.stderr
    assert eventually(lambda: not any(map(runs, pids)))


def test_closing_ends_the_process_and_gives_its_memory_back() -> None:
    gc.collect()

    def shared() -> int:
        links = [path.readlink().name for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        return sum("agentrl-host" in name for name in links)

    before, host = shared(), Host()
    env = IsolatedEnv(Stack(PUCK), host)
    env.reset(seed=0)
    pid = env.pid
    assert pid is not None and runs(pid) and shared() > before
    host.close()
    host.close()
    env.close()
    assert not runs(pid) and shared() == before

"""Generators in processes of their own: the bits of a synchronous run, also where one is killed and one hangs."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.models.loading import load_model
from agentrl.trainers.algorithms import grpo
from agentrl.trainers.parallel.generator_processes import GeneratorProcess, SharedWeights
from tests.trainers import toys
from tests.trainers.runs import assert_equal_runs, lines


def test_a_run_whose_generator_is_killed_ends_with_the_bits_of_a_synchronous_one(
    undecided: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = toys.grpo(undecided, tmp_path / "sync", iterations=3, env_kwargs={"turns": 2})
    grpo.train(args)
    there: dict[str, Any] = {"asynchronous": True, "max_staleness": 0, "max_wait_ms": -1, "max_batch": args.num_envs}
    answers, pids = GeneratorProcess._answers, list[int | None]()

    def killed(self: GeneratorProcess, asked: bytes) -> Any:
        pids.append(self._worker.pid)
        if len(pids) == 4:  # the second batch of the second iteration: weights have moved since the start
            os.kill(pids[-1] or 0, signal.SIGKILL)
        return answers(self, asked)

    monkeypatch.setattr(GeneratorProcess, "_answers", killed)
    found = replace(args, output=str(tmp_path / "processes"), generator_processes=True, **there)
    grpo.train(found)
    assert_equal_runs(tmp_path / "sync", tmp_path / "processes", 3)
    told = [line["async"]["restarts"] for line in lines(tmp_path / "processes", "train")]
    assert told == [{"generators": n, "hung_generators": 0} for n in (0, 1, 1)]
    assert pids[0] is None and len(set(pids[1:4])) == 1 and os.getpid() not in pids
    assert not any(alive(pid) for pid in pids if pid)


def alive(pid: int) -> bool:
    """Is there such a process?"""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Troubled:
    """A policy that cannot answer, or never does."""

    def __init__(self, engine: Any) -> None: ...

    def act(self, conversations: Any, envs: Any = None, *, keys: list[str] | None = None) -> Any:
        if keys == ["hang"]:
            signal.pause()
        raise EngineFault("no memory left on the device")


@pytest.mark.long
def test_what_a_policy_raises_there_is_raised_here_and_one_that_hangs_is_replaced_once(nano: Path) -> None:
    engine = load_model(str(nano), "cpu")
    generator = GeneratorProcess(engine, Troubled, None, SharedWeights(engine.model, 0), 3.0)
    with pytest.raises(EngineFault, match=r"^no memory left on the device$"):
        generator.act([], keys=["raise"])
    assert generator.restarts == 0
    with pytest.raises(EngineFault, match="nor did the one in its place"):
        generator.act([], keys=["hang"])
    assert (generator.restarts, generator.hung) == (1, 1)


def test_processes_are_refused_where_generators_are_actors_or_there_are_none(nano: Path, tmp_path: Path) -> None:
    for options in ({}, {"asynchronous": True, "cluster": "ray", "hosts": 1}):
        with pytest.raises(ConfigError, match="generator_processes needs asynchronous, and cluster=local"):
            toys.grpo(nano, tmp_path, generator_processes=True, **options)

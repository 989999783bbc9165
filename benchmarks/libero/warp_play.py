"""The oracle plays the same starts in MuJoCo and in MuJoCo Warp, and what it did in MuJoCo is replayed in Warp.

All tasks that are asked for stand side by side on the device, two worlds for each start: in one the oracle plays, in
the other its actions from MuJoCo run without looking. The oracle is Python and thinks for milliseconds, so that it does
so in processes, one for each core; a task's states go to the same few of them, which keep its model.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

import numpy as np

from agentrl.envs.libero.oracle import RELEASE
from agentrl.envs.libero.protocols import DEFAULT
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import suites
from agentrl.rollout.statistics import wilson_interval
from benchmarks.libero.warp_worlds import STATE, begun, enter, make_env, oracle

Recording = list[list[float]]  # the actions of an episode
CHUNK = 4  # states that a process is asked about at once
AFTER = 20  # actions for which a replay may still come to rest
EVERY = 50  # actions between reports


class Oracles:
    """Processes of their own, started anew: a GPU does not survive a fork."""

    def __init__(self, count: int) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._workers = [ProcessPoolExecutor(1, mp_context=spawn) for _ in range(count)]

    def __enter__(self) -> Oracles:
        return self

    def __exit__(self, *problem: object) -> None:
        for worker in self._workers:
            worker.shutdown(cancel_futures=True)

    def ask(self, which: int, function: Any, *arguments: Any) -> Future:
        """Call a function in one of them; the same number is the same process."""
        return self._workers[which % len(self._workers)].submit(function, *arguments)

    def play(self, names: list[str]) -> list[tuple[bool, Recording]]:
        """Episodes in MuJoCo."""
        asked = [self.ask(number, play, name) for number, name in enumerate(names)]
        return [one.result() for one in asked]

    def act(self, env: Any, playing: np.ndarray) -> np.ndarray:
        """The next action in each world of a mask."""
        actions, asked = np.tile(RELEASE.astype(np.float32), (env.num_envs, 1)), []
        for number, task in enumerate(env.tasks):
            (own,) = np.nonzero(playing[number :: len(env.tasks)])
            if not len(own):
                continue
            rows = {part: task.batch.state[part][task.rows].cpu().numpy() for part in STATE}
            suite, _, start = task.names[0].partition("/")
            for first in range(0, len(own), CHUNK):
                some = own[first : first + CHUNK]
                given = (suite, int(start.partition(":")[0]), {part: rows[part][some] for part in STATE})
                worker = number + first // CHUNK * len(env.tasks)
                asked.append((number + some * len(env.tasks), self.ask(worker, ask_oracle, *given)))
        for worlds, one in asked:
            actions[worlds] = one.result()
        return actions


def play(name: str) -> tuple[bool, Recording]:
    """The oracle from a start, in MuJoCo: did it succeed, and what did it do?"""
    simulation, limit, actions = begun(name), DEFAULT.limits[name.split("/")[0]], []
    for _ in range(limit):
        actions.append(oracle(simulation.world).tolist())
        if simulation.step(np.array(actions[-1])):
            return True, actions
    return False, actions


def ask_oracle(suite: str, number: int | str, rows: dict[str, np.ndarray]) -> np.ndarray:
    """The next action in each of some states."""
    return np.array([oracle(enter(suite, number, rows, place)) for place in range(len(rows["qpos"]))])


def compare_play(options: argparse.Namespace) -> dict[str, Any]:
    """Suites, or some tasks of each, one after the other."""
    found = {}
    with Oracles(options.processes) as oracles:
        for suite in options.suites:
            numbers = range(options.first, min(options.first + options.tasks, len(suites()[suite])))
            whole = len(numbers) == len(suites()[suite])
            name = suite if whole else f"{suite}, tasks {numbers[0]} to {numbers[-1]}"
            found[name] = compare_suite(options, suite, numbers, oracles)
    return {"suites": found}


def compare_suite(options: argparse.Namespace, suite: str, numbers: range, oracles: Oracles) -> dict[str, Any]:
    """Every start of some tasks in both simulators, and replayed."""
    clock = [time.perf_counter()]
    names = [str(Chosen(suite, number, "test", start)) for start in range(options.starts) for number in numbers]
    there = oracles.play(names)
    clock.append(time.perf_counter())
    env = make_env(options, suite, None, 2 * len(names), tasks=tuple(numbers), obs_mode="state",
                   autoreset_mode="Disabled")  # fmt: skip
    clock.append(time.perf_counter())
    done = play_side_by_side(env, names, [actions for _, actions in there], oracles)
    clock.append(time.perf_counter())
    here, again = done[: len(names)], done[len(names) :]
    successes = np.array([success for success, _ in there])
    counts = [len(names), successes.sum(), here.sum(), (again & successes).sum()]
    seconds = dict(zip(("mujoco", "warp, start", "warp"), np.diff(clock).tolist(), strict=True))
    missed = [name for name, success in zip(names, here, strict=True) if not success]
    return {**told(*map(int, counts)), "seconds": seconds, "not solved in warp": missed}


def play_side_by_side(env: Any, names: list[str], recorded: list[Recording], oracles: Oracles) -> np.ndarray:
    """Which starts end with success, twice: played by the oracle, and by what was recorded."""
    count, lengths = len(names), np.array([len(one) + AFTER for one in recorded])
    env.reset(options={"task": [*names, *names]})
    done, playing = np.zeros(2 * count, bool), np.ones(2 * count, bool)
    for step in range(env.max_turns):
        playing[count:] &= step < lengths
        closed = playing & (np.arange(2 * count) < count)
        actions = oracles.act(env, closed)
        for place in np.nonzero(playing[count:])[0]:
            if step < len(recorded[place]):
                actions[count + place] = recorded[place][step]
        played = env.play_chunk(actions[:, None], playing)
        done |= played.terminated.cpu().numpy()
        playing &= ~(played.terminated | played.truncated).cpu().numpy()
        if step % EVERY == 0:
            print(f"action {step}: {playing[:count].sum()} of {count} starts still played", file=sys.stderr)
        if not playing.any():
            break
    return done


def told(episodes: int, there: int, here: int, again: int) -> dict[str, Any]:
    """Shares and intervals of episodes, successes in MuJoCo, in Warp, and of those in MuJoCo that replay in Warp."""
    first, second = (wilson_interval(count, episodes) for count in (there, here))
    assert first is not None and second is not None
    return {
        "episodes": episodes,
        "mujoco": {"successes": there, "interval": list(first)},
        "warp": {"successes": here, "interval": list(second)},
        "overlap": max(first[0], second[0]) <= min(first[1], second[1]),
        "replayed of mujoco's successes": again / there if there else None,
    }

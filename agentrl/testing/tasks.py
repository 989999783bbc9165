"""Checks of tasks: limits, gold turns, splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agentrl.core.env import SPLITS, AgentEnv
from agentrl.core.errors import ConfigError
from agentrl.testing.compare import digest, require_same
from agentrl.testing.report import CheckFailed, CheckSkipped, require
from agentrl.testing.subject import Result, Subject, base, episodes, start

TASKS_COMPARED = 400  # per split, half of them the first ones
TASKS_LISTED = 5  # of those without a script
SCRIPTED_EPISODES = 3  # of each split, for an oracle that may fail: one would say little
UNKNOWN_TASKS = ("", "no such task", "\0", 3.5, b"task", ["task"], {"task": 1})


# ---------------------------------------------------------------------- limits


def check_limits(subject: Subject) -> str:
    """The last turn truncates and says so; solving the task on it terminates instead."""
    with subject.opened() as wrapped:
        env = base(wrapped)  # a TimeLimit around it would be an external limit
        for result in episodes(env, subject.seed, subject.episodes):
            _check_end(env, result, f"after {result.action!r:.80}")
        # Turns that do nothing run into the limit, exactly at its turn, and it truncates.
        result, limit = start(env, seed=subject.seed), env.max_turns
        for turn in range(1, limit + 1):
            require(not result.over, f"a turn that does nothing ended the episode on turn {turn - 1} of {limit}")
            result = _waste_turn(env)
            require(result.info["turn"] == turn, f"turn {turn} is counted as {result.info['turn']}")
            _check_end(env, result, f"wasting turn {turn}")
        tries = min(subject.episodes, 5)
        solved = sum(_solves_on_last_turn(env, subject.seed + i) for i in range(tries))
    last = f"{solved} of {tries} tasks solved on the last turn" if has_oracle(env) else "no oracle to try the last turn"
    return f"truncates after {env.max_turns} turns; {last}"


def _check_end(env: AgentEnv, result: Result, where: str) -> None:
    info, turn = result.info, result.info["turn"]
    flags = f"terminated={result.terminated}, truncated={result.truncated}, limit={info['limit']!r} on turn {turn}"
    for flag in (result.terminated, result.truncated):
        require(isinstance(flag, bool), f"{where} a flag must be a bool; got {type(flag).__name__}: {flags}")
    require(not (result.terminated and result.truncated), f"{where} an episode ends one way only: {flags}")
    require(result.terminated or not info["success"], f"{where} a solved task terminates: {flags}")
    at_limit = turn >= env.max_turns and not result.terminated
    require(result.truncated == at_limit, f"{where} the limit is {env.max_turns} turns, but {flags}")
    require(info["limit"] == ("task" if at_limit else None), f"{where} the limit is misnamed: {flags}")


def _waste_turn(env: AgentEnv) -> Result:
    return Result(None, *env.step(None))  # never an action, and a turn all the same


def _solves_on_last_turn(env: AgentEnv, seed: int) -> bool:
    """Waste as many turns as the oracle can spare, then let it finish."""
    result = start(env, seed=seed)
    while not result.over and (turn := env.oracle()) is not None:
        result = Result(turn, *env.step(turn))
    if not result.info["success"]:
        return False
    spare = env.max_turns - result.info["turn"]
    start(env, seed=seed)
    for _ in range(spare):
        _waste_turn(env)
    result = None
    while (turn := env.oracle()) is not None and not (result and result.over):
        result = Result(turn, *env.step(turn))
        _check_end(env, result, f"wasting {spare} turns, then following the oracle")
    return bool(result and result.info["success"] and result.info["turn"] == env.max_turns)


# ---------------------------------------------------------------------- gold turns


def has_oracle(env: AgentEnv) -> bool:
    """Does the environment compute gold turns at all?"""
    return type(env).oracle is not AgentEnv.oracle


def check_oracle(subject: Subject) -> str:
    """Gold turns solve tasks of every split within the limits, and asking for one changes nothing.

    An oracle that returns None right after a reset has no script for that task: such tasks are counted and listed, and
    are no failure as long as one task of any split is solved. Giving up later in an episode is a failure.

    A script that drives a simulator (`oracle_may_fail`) must solve half of what it tries; the rest is listed, too.
    """
    counts, unscripted, failed = [], [], []
    for split in SPLITS:
        with subject.opened(split=split) as wrapped:
            env = base(wrapped)  # gold turns are meant for it, whatever formats or limits surround it
            if not has_oracle(env):
                raise CheckSkipped(f"{type(env).__name__} has no oracle()")
            count = max(subject.episodes, SCRIPTED_EPISODES) if env.oracle_may_fail else subject.episodes
            tasks = _some(env.tasks(), count, subject.seed)
            ends = [(task, _check_solution(env, task, f"{split} task {task!r:.120}")) for task in tasks]
            unscripted += [f"{split} {task!r:.80}" for task, end in ends if end is None]
            failed += [f"{split} {task!r:.80}" for task, end in ends if end is False]
            counts.append((sum(end is True for _, end in ends), split))
    solved = sum(count for count, _ in counts)
    require(solved or failed, f"the oracle returns None at the start of every task tried: {_listed(unscripted)}")
    require(solved >= len(failed), f"the oracle solves {solved} tasks and fails {len(failed)}: {_listed(failed)}")
    said = [f"solves {', '.join(f'{count} {split}' for count, split in counts)} tasks"]
    said += [f"no script for {len(unscripted)}: {_listed(unscripted)}"] if unscripted else []
    return "; ".join([*said, *([f"fails {len(failed)}: {_listed(failed)}"] if failed else [])])


def _listed(tasks: Sequence[str]) -> str:
    return ", ".join(tasks[:TASKS_LISTED]) + (", ..." if len(tasks) > TASKS_LISTED else "")


def _check_solution(env: AgentEnv, task: str, where: str) -> bool | None:
    """Follow the oracle to the end: success or not; None if it has no script for the task."""
    result = start(env, seed=0, options={"task": task})
    if env.oracle() is None:
        return None
    while not result.over:
        before = env.state().to_json()
        turn, again = env.oracle(), env.oracle()
        require(turn is not None, f"{where}: the oracle gives up on turn {result.info['turn']}")
        require_same(turn, again, f"{where}: asking the oracle twice")
        require_same(before, env.state().to_json(), f"{where}: asking the oracle changed the state")
        require(turn in env.action_space, f"{where}: the oracle's {turn!r:.80} is not in the action space")
        result = Result(turn, *env.step(turn))
        require(result.info["valid"], f"{where}: the oracle's {turn!r:.80} is invalid: {result.info['feedback']}")
    end = f"{where}: the oracle ran to the end on turn {result.info['turn']} without success"
    require(result.info["success"] or env.oracle_may_fail, end)
    return result.info["success"]


def _some(tasks: Sequence[str], count: int, seed: int) -> list[str]:
    """A sample of a sequence that may be lazy and huge."""
    require(len(tasks) > 0, "tasks() is empty")
    if len(tasks) <= count:
        return [tasks[i] for i in range(len(tasks))]
    chosen = np.random.default_rng(seed).integers(len(tasks), size=count)
    return list(dict.fromkeys(tasks[int(i)] for i in chosen))


# ---------------------------------------------------------------------- splits


def check_splits(subject: Subject) -> str:
    """No task belongs to two splits, and a task chosen by id is exactly that task."""
    owners: dict[str, str] = {}
    for split in SPLITS:
        with subject.opened(split=split) as env:
            half = TASKS_COMPARED // 2
            tasks = base(env).tasks()
            listed = [tasks[i] for i in range(min(half, len(tasks)))] + _some(tasks, half, subject.seed)
            # The tasks that seeds lead to need not be those that `tasks()` lists.
            listed += [start(env, seed=subject.seed + i).info["task"] for i in range(4 * subject.episodes)]
            for task in listed:
                require(
                    isinstance(task, str), f"the {split} task {task!r:.80} must be a str; got {type(task).__name__}"
                )
                owner = owners.setdefault(task, split)
                require(owner == split, f"task {task!r:.120} is in {owner} and in {split}")
            for task in _some(tasks, subject.episodes, subject.seed):
                where = f"{split} task {task!r:.120}"
                first, second = (start(env, seed=seed, options={"task": task}) for seed in (1, 2))
                for result in (first, second):
                    require(result.info["task"] == task, f"{where}: reset chose {result.info['task']!r:.120} instead")
                require_same(first.info["state"], second.info["state"], f"{where}: how it begins depends on the seed")
            start(env, seed=0)
            before = digest(base(env).state().to_json())
            for task in UNKNOWN_TASKS:
                try:
                    env.reset(options={"task": task})
                except ConfigError:
                    same = digest(base(env).state().to_json()) == before
                    require(same, f"refusing the unknown task {task!r} changed the environment")
                except Exception as error:
                    raised = f"the unknown task {task!r} raised {type(error).__name__}, not ConfigError"
                    raise CheckFailed(raised) from error
                else:
                    raise CheckFailed(f"the unknown task {task!r} was accepted")
    return f"{len(owners)} tasks, each in one split"

"""Episodes with known outcomes: what outcome reward models learn from, and what judges of outcomes are measured on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.core.judging import JudgeRequest
from agentrl.core.policy import Policy
from agentrl.core.seeding import mixed_seed
from agentrl.policies import load_policy
from agentrl.rollout.demonstrations import MISTAKES, Demonstrator
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.outcome_request import outcome_request
from agentrl.rollout.starts import EnvSpec
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers.outcome_record import own_words

PLAYERS = ("oracle", "random:0.3", "hasty:0.5", "random")
OUTCOME = "outcome"


@dataclass(frozen=True)
class Example:
    """One episode: the question about it, and the answer of the true evaluator."""

    request: JudgeRequest
    success: bool
    task: str
    player: str
    instructed: bool = False  # by words of its own, not only by the rules that all tasks share
    about: str = ""  # what kind of task it is, where the environment says so (`info["template"]`)


def load_player(name: str, seed: int = 0) -> Policy:
    """A policy by name, or the oracle with a share of mistakes: "random:0.3" (of the turns are random ones) and
    "hasty:0.5" (see `Demonstrator`)."""
    kind, colon, share = name.partition(":")
    if kind not in MISTAKES or not colon:
        return load_policy(name, seed=seed)
    try:
        return Demonstrator(mistakes=float(share), kind=kind, seed=seed)
    except ValueError as error:
        raise ConfigError(f"a player with mistakes is written {kind}:0.3; got {name!r}") from error


def play(
    specs: Sequence[EnvSpec],
    players: Sequence[str],
    episodes: int,
    *,
    split: str,
    seed: int = 0,
    num_envs: int | None = None,
    timeout: float | None = None,
    on_episode: Callable[[Any], Any] | None = None,
) -> list[Trajectory]:
    """`episodes` of each player, divided among the environments; all players get the same tasks, so that instructions
    are followed by successes and failures. A checkpoint (`hf:FOLDER`) is prompted as it was trained."""
    if not players:
        raise ConfigError("there must be at least one player")
    found: list[Trajectory] = []
    for name in players:
        for place, spec in enumerate(specs):
            count = len(range(place, episodes, len(specs)))
            if not count:
                continue
            played: list[Trajectory] = []
            evaluate(
                spec.id,
                load_player(name, mixed_seed(seed, place)),
                count,
                seed,
                split,
                spec.kwargs,
                wrappers=spec.wrappers or None,
                num_envs=num_envs,
                timeout=timeout,
                on_episode=on_episode,
                on_trajectory=lambda trajectory, played=played: played.append(trajectory),
            )
            # In the order of their tasks, whichever ended first; named by what was asked for.
            found += [dataclasses.replace(one, policy=name) for one in sorted(played, key=lambda one: one.seed or 0)]
    return found


def examples(trajectories: Iterable[Trajectory]) -> list[Example]:
    """Those whose outcome the environment itself knows, in order."""
    return [example(one) for one in trajectories if outcome_known(one)]


def example(trajectory: Trajectory) -> Example:
    """One episode with its true outcome."""
    info = trajectory.steps[-1].info
    return Example(
        outcome_request(trajectory),
        trajectory.success,
        trajectory.task or trajectory.id,
        trajectory.policy,
        instructed=bool(own_words(info, "instruction")),
        about=str(info.get("template") or ""),
    )


def outcome_known(trajectory: Trajectory) -> bool:
    """Did the environment decide the episode? Not if a fault cut it short, or if it leaves outcomes to others."""
    if trajectory.fault is not None or not trajectory.steps:
        return False
    last = trajectory.steps[-1]
    asked = any(request.get("term") == OUTCOME for request in last.info.get("judge_requests", ()))
    return "success" in last.info and (OUTCOME not in last.pending or asked)


def swapped(given: Sequence[Example], share: float, rng: np.random.Generator) -> list[Example]:
    """Failures made of successes: `share` as many, each with the instruction of another task of its kind.

    The page and the actions are right for some instruction, only not for this one: nothing but reading both tells. Two
    tasks with the same answer, or without instructions of their own, are left alone.
    """
    successes = [one for one in given if one.success]
    told = [one for one in successes if one.instructed]
    wanted = round(share * len(successes))
    kinds: dict[str, list[Example]] = {}
    for one in told:
        kinds.setdefault(one.about, []).append(one)
    made: list[Example] = []
    for index in rng.permutation(len(told)).tolist():
        if len(made) >= wanted:
            break
        one = told[index]
        others = [other for other in kinds[one.about] if _asks_for_something_else(one, other)]
        if others:
            other = others[int(rng.integers(len(others)))]
            made.append(_with_instruction(one, other))
    return made


def _asks_for_something_else(one: Example, other: Example) -> bool:
    if _instruction(other) == _instruction(one):
        return False
    return other.request.text != one.request.text or not one.request.text


def _with_instruction(one: Example, other: Example) -> Example:
    assert isinstance(one.request.state, dict)
    state = {**one.request.state, "instruction": _instruction(other)}
    request = dataclasses.replace(one.request, id=f"{one.request.id}.{other.task}", state=state)
    return dataclasses.replace(one, request=request, success=False, task=other.task, player="swapped")


def _instruction(one: Example) -> str:
    assert isinstance(one.request.state, dict)
    return one.request.state["instruction"]

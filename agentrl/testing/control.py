"""Checks of continuous control: pictures show the present state, and arrays travel through vectors and processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.env import BRIEF_INFO
from agentrl.core.errors import ConfigError, SnapshotUnsupported
from agentrl.core.snapshot import restore, snapshot
from agentrl.rollout.hosts import Host
from agentrl.rollout.isolated import IsolatedEnv
from agentrl.rollout.starts import Stack
from agentrl.testing.compare import digest, require_same
from agentrl.testing.report import CheckFailed, require
from agentrl.testing.subject import Result, Subject, base, spec_of, start

MOMENTS = 12  # of an episode that are looked at
DRAWN = "render()"
NOT_CONTROL = "actions are not arrays"


def is_control(env: gym.Env) -> bool:
    """Are actions arrays of numbers?"""
    return isinstance(env.action_space, spaces.Box)


# ---------------------------------------------------------------------- pictures


def check_pictures(subject: Subject) -> str:
    """A picture is of the present state: it stays while nothing moves, changes with the state, and equals the one that
    a new environment draws after a restore. Renderers that hand out old memory fail here."""
    with subject.opened(render_mode="rgb_array") as env, subject.opened(render_mode="rgb_array") as new:
        if not is_control(env):
            return NOT_CONTROL
        seen: dict[str, list[str]] = {}
        bright: set[str] = set()
        for result in _moving(env, subject.seed):
            pictures = _pictures(env, result)
            for name, picture in pictures.items():
                seen.setdefault(name, []).append(digest(picture))
                bright |= {name} if np.ptp(picture) else set()
            # A turn that moves nothing, then another look: a frame that was drawn too early, or kept, shows itself.
            anchor = base(env).state().anchor()
            still = Result(None, *env.step(None))
            require(still.info["anchor"] == anchor, "the state changed in a turn without an action")
            for name, picture in _pictures(env, still).items():
                same = np.array_equal(picture, pictures[name])
                require(same, f"{name} is not of the present state: it changed in a turn in which nothing moved")
            with suppress(SnapshotUnsupported):
                restore(new, snapshot(env))
                same = np.array_equal(np.asarray(new.render()), pictures[DRAWN])
                require(same, "another environment, restored to this state, draws another picture of it")
    for name, found in seen.items():
        require(name in bright, f"{name} is blank: all its pixels are equal at {len(found)} moments")
        require(len(set(found)) > 1, f"{name} is the same picture at {len(found)} moments, though the state changed")
    return f"{', '.join(seen)} at {len(next(iter(seen.values())))} moments"


def _moving(env: gym.Env, seed: int) -> Iterator[Result]:
    """Moments of episodes in which the state changes: the oracle plays, or else one action is repeated."""
    env.action_space.seed(seed)
    result, push = start(env, seed=seed), env.action_space.sample()
    yield result
    moments, anchors = 1, {result.info["anchor"]}
    for _ in range(4 * MOMENTS):
        gold = base(env).oracle()
        result = Result(push, *env.step(push if gold is None else gold))
        if result.over:
            result, push = start(env), env.action_space.sample()
        yield result
        moments, anchors = moments + 1, anchors | {result.info["anchor"]}
        if moments >= MOMENTS and len(anchors) > 1:
            return
    raise CheckFailed(f"the state is the same after {moments} actions: the robot does not move")


def _pictures(env: gym.Env, result: Result) -> dict[str, np.ndarray]:
    """What the observation shows, and what `render()` draws."""
    parts = result.observation.items() if isinstance(result.observation, dict) else ()
    shown = {name: value for name, value in parts if isinstance(value, np.ndarray) and value.dtype == np.uint8}
    drawn = np.asarray(env.render())
    return {**{name: value for name, value in shown.items() if value.ndim == 3}, DRAWN: drawn}


# ---------------------------------------------------------------------- vectors and processes


def check_vectors(subject: Subject) -> str:
    """Gymnasium's vector, and an environment in a process of its own, do what the environment itself does."""
    with subject.opened() as env:
        if not is_control(env):
            return NOT_CONTROL
        env.action_space.seed(subject.seed)
        script = [env.action_space.sample() for _ in range(min(MOMENTS, base(env).max_turns - 1))]
        expected = _played(env, subject.seed, script)
    envs = gym.vector.SyncVectorEnv([lambda: subject.make(full_info=False)] * 2)
    try:
        found = [envs.reset(seed=[subject.seed, subject.seed])]
        for action in script[: len(expected) - 1]:
            observation, *_, info = envs.step(np.stack([action, action]))
            found.append((observation, info))
    finally:
        envs.close()
    for number, (result, (observation, info)) in enumerate(zip(expected, found, strict=True)):
        for place in range(2):
            require_same(
                {name: _vector_form(observation[name][place]) for name in result.observation},
                {name: _vector_form(value) for name, value in result.observation.items()},
                f"call {number}: what environment {place} of a vector sees",
            )
            for name in BRIEF_INFO:
                require_same(bool(info[name][place]), result.info[name], f"call {number}: info[{name!r}] in a vector")
    return f"{len(script)} actions in a vector of 2" + _isolated(subject, script, expected)


def _played(env: gym.Env, seed: int, script: list[np.ndarray]) -> list[Result]:
    """A script until the episode ends."""
    results = [start(env, seed=seed)]
    for action in script:
        if results[-1].over:
            break
        results.append(Result(action, *env.step(action)))
    return results


def _vector_form(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray) else str(value)


def _isolated(subject: Subject, script: list[np.ndarray], expected: list[Result]) -> str:
    with subject.opened() as env:
        module = str(spec_of(env).entry_point).partition(":")[0]
    host = Host()
    name = subject.id if ":" in subject.id or subject.id.startswith("agentrl/") else f"{module}:{subject.id}"
    try:
        found = _played(IsolatedEnv(Stack(name, subject.kwargs), host), subject.seed, script)
    except ConfigError as error:
        return f"; not tried in another process ({error})"
    finally:
        host.close()
    for number, (here, there) in enumerate(zip(expected, found, strict=True)):
        require_same(_comparable(here), _comparable(there), f"call {number} in another process")
    return " and in another process"


def _comparable(result: Result) -> dict[str, Any]:
    """What must be equal in both processes; between them tuples become lists."""
    return {
        "observation": dict(result.observation),
        "reward": float(result.reward),
        "over": [bool(result.terminated), bool(result.truncated)],
        "info": {name: result.info[name] for name in ("anchor", "success", "valid", "effective", "actions", "turn")},
    }

"""The environment under test: how to make it, and how to play it the same way twice."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from agentrl.core.env import AgentEnv
from agentrl.registry import KitBudget
from agentrl.testing.report import CheckFailed

EPISODE_CAP = 40  # turns; where episodes are longer, the kit resets early rather than playing them out
MALFORMED = ("", "<answer>", "no such action", "</answer><answer>")


@dataclass(frozen=True)
class Subject:
    """An id with its keyword arguments, and how much to try."""

    id: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    budget: KitBudget = field(default_factory=KitBudget)
    seed: int = 0

    @property
    def episodes(self) -> int:
        """How many episodes a check plays."""
        return self.budget.episodes

    def make(self, **changes: Any) -> gym.Env:
        """A new environment, wrapped as `gym.make` wraps it."""
        # Gymnasium's passive checker would complain about hostile actions; the check "gymnasium" does its work.
        return gym.make(self.id, disable_env_checker=True, **{**self.kwargs, **changes})

    @contextmanager
    def opened(self, **changes: Any) -> Iterator[gym.Env]:
        """A new environment, closed afterwards."""
        env = self.make(**changes)
        try:
            yield env
        finally:
            env.close()


class Result(NamedTuple):
    """What one call of `reset` or `step` gave, with the action that led there."""

    action: Any  # RESET for a reset
    observation: Any
    reward: SupportsFloat  # as given: whether it is a float is a check's business
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def over(self) -> bool:
        """Has the episode ended?"""
        return bool(self.terminated or self.truncated)


class _Reset:
    """An instruction among actions: start the next episode."""

    def __repr__(self) -> str:
        return "reset()"

    def __deepcopy__(self, memo: Any) -> _Reset:
        return self


RESET = _Reset()


def base(env: gym.Env) -> AgentEnv:
    """The environment below all wrappers."""
    unwrapped = env.unwrapped
    assert isinstance(unwrapped, AgentEnv)
    return unwrapped


def spec_of(env: gym.Env) -> EnvSpec:
    """The spec, without which the environment cannot be made again."""
    if env.spec is None:
        raise CheckFailed("the environment has no spec")
    return env.spec


def takes_text(env: gym.Env) -> bool:
    """Is an action of this environment a string?"""
    return isinstance(env.action_space, spaces.Text)


def start(env: gym.Env, **arguments: Any) -> Result:
    """`reset`, as a `Result`."""
    observation, info = env.reset(**arguments)
    return Result(RESET, observation, 0.0, False, False, info)


def perform(env: gym.Env, action: Any) -> Result:
    """`reset()` or `step(action)`; the result is a copy that nothing can change any more."""
    result = start(env) if action is RESET else Result(action, *env.step(action))
    return copy.deepcopy(result)


def follow(env: gym.Env, script: list[Any]) -> list[Result]:
    """Perform a list of actions one after the other."""
    return [perform(env, action) for action in script]


class Player:
    """Chooses actions: mostly random ones, some correct ones (so that tasks get solved) and some malformed ones."""

    def __init__(self, env: gym.Env, seed: int) -> None:
        self.env = env
        self.random = np.random.default_rng(seed)
        env.action_space.seed(seed)

    def action(self) -> Any:
        """The next action."""
        luck = self.random.random()
        if luck < 0.4 and (turn := base(self.env).oracle()) is not None:
            return turn
        if luck > 0.9:
            return MALFORMED[self.random.integers(len(MALFORMED))] if takes_text(self.env) else None
        return self.env.action_space.sample()

    def play(self, turns: int, *, over: bool = False) -> list[Result]:
        """Play `turns` turns, resetting (without a seed) wherever an episode ends."""
        results: list[Result] = []
        for _ in range(turns):
            results.append(perform(self.env, RESET if over else self.action()))
            over = results[-1].over
        return results


def episodes(env: gym.Env, seed: int, count: int) -> Iterator[Result]:
    """Play `count` episodes from a seed; results are handed out as they are, not copied."""
    player = Player(env, seed)
    for episode in range(count):
        result = start(env, seed=seed) if episode == 0 else start(env)
        yield result
        for _ in range(EPISODE_CAP):
            result = Result(action := player.action(), *env.step(action))
            yield result
            if result.over:
                break


def trajectory(env: gym.Env, seed: int, count: int) -> list[Result]:
    """`count` episodes from a seed, copied."""
    return [copy.deepcopy(result) for result in episodes(env, seed, count)]


def retrace(env: gym.Env, results: list[Result], seed: int) -> Iterator[Result]:
    """Perform the actions of a trajectory again, from its seed; results are handed out as they are, not copied."""
    for moment, result in enumerate(results):
        if moment == 0:
            yield start(env, seed=seed)
        elif result.action is RESET:
            yield start(env)
        else:
            yield Result(result.action, *env.step(result.action))

"""Demonstrations of continuous control, and the arrays that a network learns from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import number_from_zero
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, require_envs
from agentrl.core.seeding import mixed_seed
from agentrl.policies.oracle import gold_action
from agentrl.rollout.trajectory import Trajectory

GOLD = "gold"  # in a step's `sampling`: what the oracle would have done, where noise was added to it


class ControlDemonstrator:
    """Plays the oracle's actions with noise of standard deviation `noise`, and notes what the oracle would have done.

    A network that only sees perfect play never learns to come back from its own small errors; with noise in what is
    done, and none in what is learned, it does. What an episode gets follows from this policy's seed, the episode's seed
    and the turn alone.
    """

    name = "demonstrator"

    def __init__(self, *, noise: float = 0.0, seed: int = 0) -> None:
        self.noise, self.seed = number_from_zero("noise", noise), seed
        self._streams: WeakKeyDictionary[gym.Env, tuple[Any, np.random.Generator]] = WeakKeyDictionary()

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One action for each environment."""
        return [self._action(env) for env in require_envs(self.name, conversations, envs)]

    def _action(self, env: gym.Env) -> Generation:
        space = env.action_space
        if not isinstance(space, spaces.Box):
            raise ConfigError(f"demonstrations of continuous control need arrays as actions; got {space}")
        gold = gold_action(env)
        if gold is None:  # nothing is known any more: wait for the end of the episode
            return Generation(text="", action=np.clip(np.zeros(space.shape), space.low, space.high).astype(space.dtype))
        noise = self._stream(env).normal(0.0, self.noise, gold.shape) if self.noise else 0.0
        action = np.clip(gold + noise, space.low, space.high).astype(space.dtype)
        return Generation(text="", action=action, sampling={GOLD: np.asarray(gold, float).tolist()})

    def _stream(self, env: gym.Env) -> np.random.Generator:
        base = env.unwrapped
        generator, stream = self._streams.get(base, (None, None))
        if stream is None or generator is not base.np_random:  # every seeded reset gives a new generator object
            stream = np.random.default_rng(mixed_seed(self.seed, base.np_random_seed))
            self._streams[base] = (base.np_random, stream)
        return stream


class ControlData(NamedTuple):
    """Moments of demonstrations: what was sensed, and the oracle's next actions from there."""

    numbers: np.ndarray  # float32 [moments, all vectors]
    pictures: dict[str, np.ndarray]  # uint8 [moments, height, width, 3]
    actions: np.ndarray  # float32 [moments, chunk, n]; behind the end of an episode its last action is repeated


def control_data(
    trajectories: Sequence[Trajectory],
    vectors: Sequence[str] = ("proprio", "state"),
    pictures: Sequence[str] = (),
    cameras: Sequence[str] = ("image",),
    chunk: int = 1,
) -> ControlData:
    """The moments of records (with their pictures in memory) that have a label; `ConfigError` if there is none.

    `cameras` are the names of the pictures in the order of the observation; `pictures` those to learn from.
    """
    numbers: list[list[float]] = []
    shown: dict[str, list[np.ndarray]] = {name: [] for name in pictures}
    actions: list[np.ndarray] = []
    for trajectory in trajectories:
        steps = [step for step in trajectory.steps if GOLD in step.sampling]
        labels = np.array([step.sampling[GOLD] for step in steps], np.float32)
        for place, step in enumerate(steps):
            parts = [getattr(step, name) for name in vectors]
            if any(part is None for part in parts):
                raise ConfigError(f"the demonstrations do not have all of {', '.join(vectors)}")
            numbers.append([number for part in parts for number in part])
            for name in pictures:
                shown[name].append(trajectory.pictures[step.images[list(cameras).index(name)]])
            following = np.minimum(np.arange(place, place + chunk), len(steps) - 1)
            actions.append(labels[following])
    if not actions:
        raise ConfigError("the demonstrations hold no action to learn from")
    return ControlData(
        np.array(numbers, np.float32), {name: np.stack(held) for name, held in shown.items()}, np.stack(actions)
    )

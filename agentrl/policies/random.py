"""The policy that samples the action space: the floor every other policy is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium as gym

from agentrl.core.policy import Conversation, Generation, as_generation, require_envs
from agentrl.core.seeding import mixed_seed


class RandomPolicy:
    """Samples actions. An episode's actions follow from this policy's seed and the episode's seed alone.

    So they are the same in whatever order or batch the episodes are played.
    """

    name = "random"

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed
        # Environment -> (its generator, a copy of its action space). Every seeded reset gives an environment a fresh
        # generator object: that is how a new episode is recognised without asking the environment for its turn.
        self._streams: WeakKeyDictionary[gym.Env, tuple[Any, gym.Space]] = WeakKeyDictionary()

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One sample for each environment."""
        return [as_generation(self.sample(env)) for env in require_envs(self.name, conversations, envs)]

    def sample(self, env: gym.Env) -> Any:
        """The next action of this environment's stream."""
        base = env.unwrapped
        generator, space = self._streams.get(base, (None, None))
        if space is None or generator is not base.np_random:
            space = deepcopy(env.action_space)
            space.seed(mixed_seed(self.seed, base.np_random_seed))
            self._streams[base] = (base.np_random, space)
        legal = legal_actions(env)
        return legal[int(space.np_random.integers(len(legal)))] if legal else space.sample()


def legal_actions(env: gym.Env) -> Sequence[Any]:
    """What the environment calls legal at this moment; nothing where a wrapper has changed what an action is."""
    base: Any = env.unwrapped
    unchanged = env.action_space == base.action_space
    return base.legal_actions() if unchanged and hasattr(base, "legal_actions") else ()

"""Demonstrations: the oracle's turns, some replaced by random ones, in the tokens of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, require_envs
from agentrl.core.seeding import mixed_seed
from agentrl.policies.random import RandomPolicy

MISTAKES = ("random", "hasty")


class Demonstrator:
    """Plays what is right, except in a share `mistakes` of the turns.

    There it plays at random (`kind="random"`), or is hasty: it sees the first right action and repeats it for the whole
    turn without looking further, or takes the shortcut that the environment names (`kind="hasty"`). Random mistakes
    blur what is learned; hasty ones teach a habit, which practice has to break.

    With the `Reasoning` wrapper it writes the whole reply, and writes the truth: also a foolish turn is described as
    what it is and does. Given a loaded model, answers carry the model's tokens, ready to be learned from. What an
    episode gets follows from this policy's seed, the episode's seed and the turn alone.
    """

    name = "demonstrator"
    needs_text = True

    def __init__(self, loaded: Any = None, *, mistakes: float = 0.0, kind: str = "random", seed: int = 0) -> None:
        if not 0 <= finite_number("mistakes", mistakes) <= 1:
            raise ConfigError(f"mistakes must be between 0 and 1; got {mistakes!r}")
        if kind not in MISTAKES:
            raise ConfigError(f"kind must be {' or '.join(MISTAKES)}; got {kind!r}")
        self.loaded, self.mistakes, self.kind, self.seed = loaded, mistakes, kind, seed
        self._random = RandomPolicy(seed=mixed_seed(seed, 1))
        self._streams: WeakKeyDictionary[gym.Env, tuple[Any, np.random.Generator]] = WeakKeyDictionary()
        if loaded is not None:
            from agentrl.models.loading import tokenizer_hash

            self.tokenizer_hash = tokenizer_hash(loaded.tokenizer)
            self.encode = loaded.encoder.encode  # collectors ask only policies that have it for prompts

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One reply for each environment."""
        chosen = require_envs(self.name, conversations, envs)
        return [self._reply(conversation, env) for conversation, env in zip(conversations, chosen, strict=True)]

    def _reply(self, conversation: Conversation, env: gym.Env) -> Generation:
        text = self._said(env, self._turn(env))
        if self.loaded is None:
            return Generation(text=text, action=text)
        end = self.loaded.tokenizer.eos_token_id
        if end is None:
            raise ConfigError("the model's tokenizer has no end-of-turn token; demonstrations need one")
        ids = [*self.loaded.encoder.text_ids(text), end]
        return Generation(text=text, action=text, token_ids=ids, prompt_ids=self.encode(conversation).ids)

    def _turn(self, env: gym.Env) -> str:
        base = env.unwrapped
        right = env.get_wrapper_attr("oracle")()
        if right is not None and self._rng(base).random() >= self.mistakes:
            return right
        return hasty(base, right) if right is not None and self.kind == "hasty" else self._random.sample(env)

    def _rng(self, base: Any) -> np.random.Generator:
        """The episode's rng; a seeded reset gives an environment a new generator, which tells a new episode."""
        source, rng = self._streams.get(base, (None, None))
        if rng is None or source is not base.np_random:
            rng = np.random.default_rng(mixed_seed(self.seed, 2, base.np_random_seed))
            self._streams[base] = (base.np_random, rng)
        return rng

    def _said(self, env: gym.Env, turn: str) -> str:
        return env.get_wrapper_attr("truthful")(turn) if env.has_wrapper_attr("truthful") else turn


def hasty(env: Any, turn: str) -> str:
    """The environment's own shortcut, or the first action of a turn, as often as a turn allows."""
    shortcut = env.hasty_action() if hasattr(env, "hasty_action") else None
    if shortcut is not None:
        return shortcut
    if env.max_actions_per_turn == 1:
        return turn  # there is nothing to repeat, and free text may contain the separator
    first = turn.split(env.action_separator.strip())[0].strip()
    return env.action_separator.join([first] * env.max_actions_per_turn)

"""Demonstrations: the oracle's turns, some replaced by random ones, in the tokens of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import gymnasium as gym
import numpy as np

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, require_envs
from agentrl.core.seeding import mixed_seed
from agentrl.policies.random import RandomPolicy

MISTAKES = ("random", "hasty")
DETOUR = 6  # random turns that lead to the place a wrong description tells of
WALKS = 4  # of which the description least like the truth is taken; at a dead end a walk may end where it began


class _Draws(NamedTuple):
    """Random numbers of an episode, apart for what is played and what is said: one does not change the other."""

    mistakes: np.random.Generator
    descriptions: np.random.Generator


class Demonstrator:
    """Plays what is right, except in a share `mistakes` of the turns.

    There it plays at random (`kind="random"`), or is hasty: it sees the first right action and repeats it for the whole
    turn without looking further, or takes the shortcut that the environment names (`kind="hasty"`). Random mistakes
    blur what is learned; hasty ones teach a habit, which practice has to break.

    With the `Reasoning` wrapper it writes the whole reply, and writes the truth: also a foolish turn is described as
    what it is and does. Only in a share `misdescribed` of the turns observation and prediction tell of a place some
    random turns away, so that practice has something to learn about seeing as well.

    Given a loaded model, answers carry the model's tokens, ready to be learned from. What an episode gets follows from
    this policy's seed, the episode's seed and the turn alone.
    """

    name = "demonstrator"
    needs_text = True

    def __init__(
        self,
        loaded: Any = None,
        *,
        mistakes: float = 0.0,
        kind: str = "random",
        misdescribed: float = 0.0,
        seed: int = 0,
    ) -> None:
        for name, share in (("mistakes", mistakes), ("misdescribed", misdescribed)):
            if not 0 <= finite_number(name, share) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1; got {share!r}")
        if kind not in MISTAKES:
            raise ConfigError(f"kind must be {' or '.join(MISTAKES)}; got {kind!r}")
        self.loaded, self.mistakes, self.kind, self.seed = loaded, mistakes, kind, seed
        self.misdescribed = misdescribed
        self._random, self._walker = (RandomPolicy(seed=mixed_seed(seed, stream)) for stream in (1, 3))
        self._streams: WeakKeyDictionary[gym.Env, tuple[Any, _Draws]] = WeakKeyDictionary()
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
        if right is not None and self._draws(base).mistakes.random() >= self.mistakes:
            return right
        return hasty(base, right) if right is not None and self.kind == "hasty" else self._random.sample(env)

    def _draws(self, base: Any) -> _Draws:
        """The episode's; a seeded reset gives an environment a new generator, which tells a new episode."""
        source, draws = self._streams.get(base, (None, None))
        if draws is None or source is not base.np_random:
            draws = _Draws(*(np.random.default_rng(mixed_seed(self.seed, n, base.np_random_seed)) for n in (2, 4)))
            self._streams[base] = (base.np_random, draws)
        return draws

    def _said(self, env: gym.Env, turn: str) -> str:
        if not env.has_wrapper_attr("truthful"):
            return turn
        tell = env.get_wrapper_attr("truthful")
        truth = tell(turn)
        if not self.misdescribed or self._draws(env.unwrapped).descriptions.random() >= self.misdescribed:
            return truth
        walks = [[self._walker.sample(env) for _ in range(DETOUR)] for _ in range(WALKS)]
        return min((tell(turn, walk) for walk in walks), key=lambda said: likeness(said, truth))


def likeness(said: str, truth: str) -> int:
    """Words that two replies have at the same place."""
    return sum(word == other for word, other in zip(said.split(), truth.split(), strict=False))


def hasty(env: Any, turn: str) -> str:
    """The environment's own shortcut, or the first action of a turn, as often as a turn allows."""
    shortcut = env.hasty_action() if hasattr(env, "hasty_action") else None
    if shortcut is not None:
        return shortcut
    if env.max_actions_per_turn == 1:
        return turn  # there is nothing to repeat, and free text may contain the separator
    first = turn.split(env.action_separator.strip())[0].strip()
    return env.action_separator.join([first] * env.max_actions_per_turn)

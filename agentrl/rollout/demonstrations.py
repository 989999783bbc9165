"""Demonstrations: turns of the oracle or of another player, some replaced by random ones, in the tokens of a model.

For continuous control: the oracle's actions with noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import finite_number, number_from_zero
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, Message, Policy, require_envs
from agentrl.core.seeding import mixed_seed
from agentrl.policies import load_policy
from agentrl.policies.oracle import gold_action
from agentrl.policies.random import RandomPolicy
from agentrl.rollout.prompts import user_message

MISTAKES = ("random", "hasty")
PLAYERS = ("oracle", "random:0.3", "hasty:0.5", "random")  # good and bad episodes: shares of mistakes
DETOUR = 6  # random turns that lead to the place a wrong description tells of
WALKS = 4  # of which the description least like the truth is taken; at a dead end a walk may end where it began
GOLD = "gold"  # in a step's `sampling`: what the oracle would have done, where noise was added to it


class _Episode(NamedTuple):
    """Random numbers, apart for what is played and what is said: one does not change the other. And the dialogue."""

    mistakes: np.random.Generator
    descriptions: np.random.Generator
    dialogue: list[Message]  # observations and bare turns, as a player without the truth reads them


class Demonstrator:
    """Plays what is right, except in a share `mistake_rate` of the turns.

    What is right the environment's oracle says; or, with `player`, a scripted policy, which may not know the truth and
    then teaches how to find it. It reads the whole dialogue, whatever the prompts show of it.

    A mistake is a random turn (`mistake_kind="random"`), or a hasty one: the first right action, repeated for the whole
    turn without looking further, or the shortcut that the environment names (`mistake_kind="hasty"`). Random mistakes
    blur what is learned; hasty ones teach a habit, which practice has to break.

    With the `Reasoning` wrapper it writes the whole reply, and writes the truth: also a foolish turn is described as
    what it is and does. Only in a share `description_noise` of the turns observation and prediction tell of a place
    some random turns away, so that practice has something to learn about seeing as well.

    Given a loaded model, answers carry the model's tokens, ready to be learned from. What an episode gets follows from
    this policy's seed, the episode's seed and the turn alone.
    """

    name = "demonstrator"
    needs_text = True

    def __init__(
        self,
        loaded: Any = None,
        *,
        player: str = "oracle",
        mistake_rate: float = 0.0,
        mistake_kind: str = "random",
        description_noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        for name, share in (("mistake_rate", mistake_rate), ("description_noise", description_noise)):
            if not 0 <= finite_number(name, share) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1; got {share!r}")
        if mistake_kind not in MISTAKES:
            raise ConfigError(f"mistake_kind must be {' or '.join(MISTAKES)}; got {mistake_kind!r}")
        self.loaded, self.mistake_rate, self.mistake_kind, self.seed = loaded, mistake_rate, mistake_kind, seed
        self.description_noise = description_noise
        self._random, self._walker = (RandomPolicy(seed=mixed_seed(seed, stream)) for stream in (1, 3))
        self._player: Policy | None = None if player == "oracle" else load_policy(player, seed=mixed_seed(seed, 5))
        self._episodes: WeakKeyDictionary[gym.Env, tuple[Any, _Episode]] = WeakKeyDictionary()
        if loaded is not None:
            from agentrl.models.loading import tokenizer_hash

            self.tokenizer_hash = tokenizer_hash(loaded.tokenizer)
            self.encode = loaded.encoder.encode  # collectors ask only policies that have it for prompts

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One reply for each environment."""
        chosen = require_envs(self.name, conversations, envs)
        return [self._reply(conversation, env) for conversation, env in zip(conversations, chosen, strict=True)]

    def _reply(self, conversation: Conversation, env: gym.Env) -> Generation:
        base = env.unwrapped
        episode = self._episode(base)
        if self._player is None:
            text = env.get_wrapper_attr("oracle")()
        else:
            seen = conversation[-1].get("observation", {"text": conversation[-1]["content"]})
            episode.dialogue.append(user_message(seen))
            text = self._player.act([episode.dialogue], [base])[0].text
        if text is None:
            text = self._random.sample(env)
        elif episode.mistakes.random() < self.mistake_rate:
            text = hasty(base, text) if self.mistake_kind == "hasty" else self._random.sample(env)
        episode.dialogue.append({"role": "assistant", "content": text})
        if env.has_wrapper_attr("truthful"):
            text = self._described(env, text)
        if self.loaded is None:
            return Generation(text=text, action=text)
        end = self.loaded.tokenizer.eos_token_id
        if end is None:
            raise ConfigError("the model's tokenizer has no end-of-turn token; demonstrations need one")
        ids = [*self.loaded.encoder.text_ids(text), end]
        return Generation(text=text, action=text, token_ids=ids, prompt_ids=self.encode(conversation).ids)

    def _episode(self, base: Any) -> _Episode:
        """The present one; a seeded reset gives an environment a new generator, which tells a new episode."""
        source, episode = self._episodes.get(base, (None, None))
        if episode is None or source is not base.np_random:
            mistakes, words = (np.random.default_rng(mixed_seed(self.seed, n, base.np_random_seed)) for n in (2, 4))
            episode = _Episode(mistakes, words, [])
            self._episodes[base] = (base.np_random, episode)
        return episode

    def _described(self, env: gym.Env, turn: str) -> str:
        """The turn with a description of what is seen: the truth or, in a share of the turns, of another place."""
        tell = env.get_wrapper_attr("truthful")
        truth = tell(turn)
        if not self.description_noise or self._episode(env.unwrapped).descriptions.random() >= self.description_noise:
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


# ---------------------------------------------------------------------- continuous control


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
        noise: Any = 0.0
        if self.noise:
            base = env.unwrapped
            generator, stream = self._streams.get(base, (None, None))
            if stream is None or generator is not base.np_random:  # every seeded reset gives a new generator object
                stream = np.random.default_rng(mixed_seed(self.seed, base.np_random_seed))
                self._streams[base] = (base.np_random, stream)
            noise = stream.normal(0.0, self.noise, gold.shape)
        action = np.clip(gold + noise, space.low, space.high).astype(space.dtype)
        return Generation(text="", action=action, sampling={GOLD: np.asarray(gold, float).tolist()})

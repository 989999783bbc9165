"""The space of all strings.

`gymnasium.spaces.Text` insists on a character set and a maximal length; a language model obeys neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.error import CustomSpaceError
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, unflatten
from gymnasium.vector.utils import create_shared_memory

from agentrl.core.errors import ConfigError

# Large enough that no tool pads or rejects; what would allocate by it is refused at the end of this file.
ANY_LENGTH = 2**30


def reads_text(env: gym.Env) -> bool:
    """Do observations hold text? (Those of Grid kinds do not.)"""
    space = env.observation_space
    return isinstance(space, spaces.Dict) and "text" in space.spaces


def writes_text(env: gym.Env) -> bool:
    """Are actions text?"""
    return isinstance(env.action_space, spaces.Text)


def require_text_env(env: gym.Env, env_id: str) -> None:
    """`ConfigError` for an environment that no language model could play."""
    if not reads_text(env) or not writes_text(env):
        raise ConfigError(
            f"a language model plays environments that read and write text; {env_id} has observations "
            f"{type(env.observation_space).__name__} and actions {type(env.action_space).__name__}: "
            "use a Text or Visual kind, without wrappers that take the text away"
        )


class AnyText(spaces.Text):
    """Every string is a member. Samples are `1..max_words` of `words`, so that random play makes sense."""

    def __init__(
        self,
        words: Sequence[str] = ("text",),
        *,
        max_words: int = 1,
        separator: str = ", ",
        seed: int | np.random.Generator | None = None,
    ) -> None:
        if isinstance(words, str) or not words or not all(isinstance(word, str) for word in words):
            raise ConfigError(f"words must be a sequence of at least one string; got {words!r}")
        if isinstance(max_words, bool) or not isinstance(max_words, int) or max_words < 1:
            raise ConfigError(f"max_words must be a whole number of at least 1; got {max_words!r}")
        super().__init__(ANY_LENGTH, min_length=0, charset="abcdefghijklmnopqrstuvwxyz", seed=seed)
        self.words, self.max_words, self.separator = tuple(words), max_words, separator

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A turn of random words; masks make no sense here and are refused."""
        if mask is not None or probability is not None:
            raise ValueError("AnyText.sample takes no mask or probability")
        count = int(self.np_random.integers(1, self.max_words + 1))
        return self.separator.join(self.words[i] for i in self.np_random.integers(len(self.words), size=count))

    def contains(self, x: Any) -> bool:
        """True for every `str`."""
        return isinstance(x, str)

    @property
    def is_np_flattenable(self) -> bool:
        """A string of any length has no fixed-size array."""
        return False

    def __repr__(self) -> str:
        shown = [word if len(word) <= 20 else word[:17] + "..." for word in self.words[:4]]
        return f"AnyText({', '.join(shown)}{', ...' if len(self.words) > 4 else ''})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, AnyText) and (self.words, self.max_words, self.separator) == (
            other.words,
            other.max_words,
            other.separator,
        )

    def __hash__(self) -> int:
        return hash((self.words, self.max_words, self.separator))


@create_shared_memory.register(AnyText)
def _no_shared_memory(space: AnyText, n: int = 1, ctx: Any = None) -> Any:
    # Gymnasium would share a buffer of ANY_LENGTH and read constant garbage back from it.
    raise CustomSpaceError("text of any length cannot live in shared memory; pass shared_memory=False")


def _no_array(space: AnyText, *_: Any) -> Any:
    # Gymnasium would fill gigabytes, one number for each of ANY_LENGTH characters.
    raise CustomSpaceError("text of any length cannot be flattened into an array; leave it out with FilterObservation")


for _function in (flatdim, flatten_space, flatten, unflatten):
    _function.register(AnyText, _no_array)

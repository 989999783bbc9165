"""Players that do little or nothing, to see that the task asks for more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import gymnasium as gym

from agentrl.core.errors import ConfigError
from agentrl.core.parsing import CLOSE, OPEN
from agentrl.core.policy import Conversation, Generation, as_generation, require_envs
from agentrl.envs.multihop.actions import MAX_ANSWER, plain
from agentrl.envs.multihop.answers import normalised
from agentrl.envs.multihop.collection import Collection


class Guesser(ABC):
    """Answers at once, or after one search of the question as it stands (`searches`)."""

    name, searches = "", False

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One turn for each environment."""
        turns = []
        for env in require_envs(self.name, conversations, envs):
            base: Any = env.unwrapped
            if not isinstance(getattr(base, "collection", None), Collection):
                raise ConfigError(f"{self.name} plays questions over a corpus; got {type(base).__name__}")
            if self.searches and not base.state().queries:
                turns.append(as_generation(f"search({plain(base.question.text.translate(NO_BRACKETS))[:400]})"))
            else:
                turns.append(as_generation(f"{OPEN}{self.guess(base)}{CLOSE}"))
        return turns

    @abstractmethod
    def guess(self, base: Any) -> str:
        """The answer."""


NO_BRACKETS = str.maketrans("()", "  ")


class Commonest(Guesser):
    """The commonest answer to questions for the same kind of thing in the training split; it is told the kind."""

    name = "multihop-commonest"

    def guess(self, base: Any) -> str:
        """By the kind of thing."""
        usual = commonest(base.collection)
        return usual.get(base.question.asked) or usual[""]


class Named(Guesser):
    """One of the entities that the question names."""

    name = "multihop-named"

    def guess(self, base: Any) -> str:
        """Any of them."""
        named = base.question.named or ("yes",)
        return named[(self.seed + len(base.question.text)) % len(named)]


class Lister(Guesser):
    """All that it can think of: the names in the question and the titles that one search brings up."""

    name, searches = "multihop-list", True

    def guess(self, base: Any) -> str:
        """As much as an answer may hold."""
        return ", ".join((*base.question.named, *base.state().pages))[:MAX_ANSWER]


class OneSearch(Guesser):
    """The first title found that the question does not name."""

    name, searches = "multihop-one-search", True

    def guess(self, base: Any) -> str:
        """It may be none."""
        asked = normalised(base.question.text)
        return next((title for title in base.state().pages if normalised(title) not in asked), "unknown")


@cache
def commonest(collection: Collection, split: str = "train") -> dict[str, str]:
    """Kind of thing -> the answer that is right most often in a split; under "" the commonest of all."""
    counts: dict[str, Counter[str]] = {"": Counter()}
    for question in collection.questions.get(split, ()):
        for kind in (question.asked, ""):
            counts.setdefault(kind, Counter())[question.answer] += 1
    return {kind: found.most_common(1)[0][0] if found else "yes" for kind, found in counts.items()}

"""Players that do little or nothing, to see that the task asks for more."""

from __future__ import annotations

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


class _Player:
    """Answers each environment in the way of a subclass."""

    name = ""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """One turn for each environment."""
        turns = []
        for env in require_envs(self.name, conversations, envs):
            base: Any = env.unwrapped
            if not isinstance(getattr(base, "collection", None), Collection):
                raise ConfigError(
                    f"the {self.name} policy needs an environment of this family; got {type(base).__name__}"
                )
            turns.append(as_generation(self._turn(base)))
        return turns

    def _turn(self, base: Any) -> str:
        raise NotImplementedError


class Commonest(_Player):
    """The commonest answer to questions of the same kind of thing in the training split; it is told the kind."""

    name = "multihop-commonest"

    def _turn(self, base: Any) -> str:
        usual = commonest(base.collection)
        return _answer(usual.get(base.question.asked) or usual[""])


@cache
def commonest(collection: Collection, split: str = "train") -> dict[str, str]:
    """Kind of thing -> the answer that is right most often in a split; under "" the commonest of all."""
    counts: dict[str, Counter[str]] = {}
    for question in collection.questions.get(split) or next(iter(collection.questions.values())):
        for kind in (question.asked, ""):
            counts.setdefault(kind, Counter())[question.answer] += 1
    return {kind: found.most_common(1)[0][0] for kind, found in counts.items()}


class Named(_Player):
    """One of the entities that the question names, which another player takes from the question's capital letters."""

    name = "multihop-named"

    def _turn(self, base: Any) -> str:
        named = base.question.named or ("yes",)
        return _answer(named[(self.seed + len(base.question.text)) % len(named)])


class Lister(_Player):
    """All that it can think of in one answer: the names in the question and the titles that one search brings up."""

    name = "multihop-list"

    def _turn(self, base: Any) -> str:
        if not base.state().queries:
            return _search(base.question.text)
        return _answer(", ".join((*base.question.named, *base.state().pages))[:MAX_ANSWER])


class OneSearch(_Player):
    """Searches the question as it stands and answers with the first title found that the question does not name."""

    name = "multihop-one-search"

    def _turn(self, base: Any) -> str:
        if not base.state().queries:
            return _search(base.question.text)
        asked = normalised(base.question.text)
        return _answer(next((title for title in base.state().pages if normalised(title) not in asked), "unknown"))


def _search(words: str) -> str:
    return f"search({plain(words.replace('(', ' ').replace(')', ' '))[:400]})"


def _answer(words: str) -> str:
    return f"{OPEN}{words}{CLOSE}"

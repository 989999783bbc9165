"""Players that do little or nothing, to see that the task asks for more."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, defaultdict
from functools import cache
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.parsing import CLOSE, OPEN
from agentrl.envs.common.players import ScriptedPlayer
from agentrl.envs.multihop.actions import MAX_ANSWER, plain
from agentrl.envs.multihop.collection import Collection
from agentrl.envs.multihop.questions import normalised

NO_BRACKETS = str.maketrans("()", "  ")


class Guesser(ScriptedPlayer):
    """Answers at once, or after one search of the question as it stands (`searches`)."""

    searches = False

    def turn(self, env: Any) -> str:
        """The search or the answer."""
        if not isinstance(getattr(env, "collection", None), Collection):
            raise ConfigError(f"{self.name} plays questions over a corpus; got {type(env).__name__}")
        if self.searches and not env.state().queries:
            return f"search({plain(env.question.text.translate(NO_BRACKETS))[:400]})"
        return f"{OPEN}{self._guess(env)}{CLOSE}"

    @abstractmethod
    def _guess(self, base: Any) -> str:
        """The answer."""


class Commonest(Guesser):
    """The commonest answer to questions for the same kind of thing in the training split; it is told the kind."""

    name = "multihop-commonest"

    def _guess(self, base: Any) -> str:
        usual = commonest(base.collection)
        return usual.get(base.question.asked) or usual[""]


class Named(Guesser):
    """One of the entities that the question names."""

    name = "multihop-named"

    def _guess(self, base: Any) -> str:
        named = base.question.named or ("yes",)
        return named[(self.seed + len(base.question.text)) % len(named)]


class Lister(Guesser):
    """All that it can think of: the names in the question and the titles that one search brings up."""

    name, searches = "multihop-list", True

    def _guess(self, base: Any) -> str:
        return ", ".join((*base.question.named, *base.state().pages))[:MAX_ANSWER]


class OneSearch(Guesser):
    """The first title found that the question does not name."""

    name, searches = "multihop-one-search", True

    def _guess(self, base: Any) -> str:
        asked = normalised(base.question.text)
        return next((title for title in base.state().pages if normalised(title) not in asked), "unknown")


@cache
def commonest(collection: Collection) -> dict[str, str]:
    """Kind of thing -> the answer that is right most often in training; under "" the commonest of all."""
    counts: dict[str, Counter[str]] = defaultdict(Counter, {"": Counter()})
    for question in collection.questions.get("train", ()):
        for kind in (question.asked, ""):
            counts[kind][question.answer] += 1
    return {kind: found.most_common(1)[0][0] if found else "yes" for kind, found in counts.items()}

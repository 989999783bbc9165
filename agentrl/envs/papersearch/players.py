"""Scripted players: they read the question and the list of papers, and know nothing of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from agentrl.core.errors import ConfigError
from agentrl.core.policy import Conversation, Generation, as_generation, require_envs
from agentrl.envs.papersearch.actions import EXPAND, FINISH, SEARCH, SEPARATOR, Call, one_line, plain

if TYPE_CHECKING:
    from agentrl.envs.papersearch.env import PaperSearchEnv

WINDOWS = (6, 4, 3)  # words of the question in a row
BEST = 1.0  # the score of an answer


class WordSearcher:
    """Searches for the question, then for its words a few at a time; expands nothing."""

    name = "papersearch-words"

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed  # every policy takes one; nothing is random here

    def act(self, conversations: Sequence[Conversation], envs: Sequence[gym.Env] | None = None) -> list[Generation]:
        """A turn full of calls for each environment."""
        turns = []
        for env in require_envs(self.name, conversations, envs):
            base: Any = env.unwrapped
            if not hasattr(base, "listed"):
                raise ConfigError(f"the {self.name} policy needs PaperSearch; got {type(base).__name__}")
            state = base.state()
            done = {done.casefold() for done in (*state.searches, *state.expanded)}
            fresh = (call for call in self.calls(base) if call.argument.casefold() not in done)
            calls = list(islice(dict.fromkeys(fresh), base.max_actions_per_turn)) or [Call(FINISH)]
            turn = SEPARATOR.join(map(str, calls))
            if env.has_wrapper_attr("truthful"):  # a wrapper that asks for a format tells the truth around any turn
                turn = env.get_wrapper_attr("truthful")(turn)
            turns.append(as_generation(turn))
        return turns

    def calls(self, env: PaperSearchEnv) -> Iterator[Call]:
        """What is worth doing, best first; what was done already is left out later."""
        words = one_line(plain(env.state().question)).strip("?. ").split()
        yield Call(SEARCH, " ".join(words))
        for size in WINDOWS:
            for start in range(len(words) - size + 1):
                yield Call(SEARCH, " ".join(words[start : start + size]))


class Expander(WordSearcher):
    """Searches for the question once, then expands everything that it sees, from the top of the list."""

    name = "papersearch-expand"

    def calls(self, env: PaperSearchEnv) -> Iterator[Call]:
        """The papers of the list; before there are any, the question."""
        listed = env.listed()
        if not listed:
            yield from islice(super().calls(env), 1)
        yield from (Call(EXPAND, each.id) for each in listed)


class Scout(WordSearcher):
    """Searches for the words of the question in one turn; then expands the papers with the best scores, searches for
    their titles, which say the same in other words, and expands what else it sees."""

    name = "papersearch-scout"

    def calls(self, env: PaperSearchEnv) -> Iterator[Call]:
        """What the best papers lead to, then the others."""
        listed = env.listed()
        if not listed:
            yield from super().calls(env)
        best = [each for each in listed if (each.score or 0) >= BEST]
        yield from (Call(EXPAND, each.id) for each in best)
        yield from (Call(SEARCH, one_line(plain(env.library.paper(each.number).title))) for each in best)
        yield from (Call(EXPAND, each.id) for each in listed)

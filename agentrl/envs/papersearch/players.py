"""Scripted players, which know nothing of the truth, and what somebody who knows it would do: the oracle's calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from agentrl.core.errors import ConfigError
from agentrl.envs.common.calls import Call
from agentrl.envs.common.players import ScriptedPlayer
from agentrl.envs.papersearch.actions import EXPAND, FINISH, SEARCH, SEPARATOR, plain, unbroken

if TYPE_CHECKING:
    from agentrl.envs.papersearch.env import PaperSearchEnv
    from agentrl.envs.papersearch.library import Library

WINDOWS = (6, 4, 3)  # words of the question in a row
BEST = 1.0  # the score of an answer


class WordSearcher(ScriptedPlayer):
    """Searches for the question, then for its words a few at a time; expands nothing."""

    name = "papersearch-words"

    def turn(self, env: PaperSearchEnv) -> str:
        """As many calls as fit that were not made before."""
        if not hasattr(env, "listed"):
            raise ConfigError(f"the {self.name} policy needs PaperSearch; got {type(env).__name__}")
        state = env.state()
        done = {done.casefold() for done in (*state.searches, *state.expanded)}
        fresh = (call for call in self.calls(env) if call.argument.casefold() not in done)
        return SEPARATOR.join(map(str, islice(dict.fromkeys(fresh), env.max_actions_per_turn))) or f"{FINISH}()"

    def calls(self, env: PaperSearchEnv) -> Iterator[Call]:
        """What is worth doing, best first; what was done already is left out later."""
        words = unbroken(plain(env.state().question)).strip("?. ").split()
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
        yield from (Call(SEARCH, unbroken(plain(env.library.paper(each.number).title))) for each in best)
        yield from (Call(EXPAND, each.id) for each in listed)


def right_calls(
    library: Library, missing: Sequence[int], pool: Iterable[int], done: Collection[str], most: int
) -> list[Call]:
    """Up to `most` calls, each the one that finds most of what the others leave missing: papers of the `pool` to
    expand, and searches for the title of a missing paper."""
    left = set(missing)
    gains = {
        Call(EXPAND, library.paper_id(number)): left.intersection(library.neighbours(number).tolist())
        for number in pool
    }
    for number in missing:
        title = unbroken(plain(library.paper(number).title))
        if title not in done:
            gains[Call(SEARCH, title)] = left.intersection(library.search(title))
    calls: list[Call] = []
    while left and len(calls) < most:
        best = max(gains, key=lambda call: len(gains[call] & left), default=None)
        if best is None or not gains[best] & left:
            break
        calls.append(best)
        left -= gains[best]
    return calls

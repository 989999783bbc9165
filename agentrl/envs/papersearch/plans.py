"""What somebody who knows the answer would do: the oracle's calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from agentrl.envs.common.calls import Call
from agentrl.envs.papersearch.actions import EXPAND, SEARCH, one_line, plain
from agentrl.envs.papersearch.library import Library


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
        title = one_line(plain(library.paper(number).title))
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

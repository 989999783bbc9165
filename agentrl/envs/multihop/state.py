"""The truth about a search: what is asked, what supports the answer, what has been found of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from agentrl.core.claims import Claims, Value
from agentrl.core.parsing import quote
from agentrl.core.state import State
from agentrl.envs.multihop.questions import Count

CLAIMS = Claims(values=(Value("searches"), Value("found", many=True), Value("missing"), Value("answered", weight=0.5)))


@dataclass(frozen=True)
class SearchState(State):
    """What the agent cannot see are `answers`, `support`, `kind` and, before they are found, the missing pages."""

    scored = CLAIMS

    question: str
    answers: tuple[str, ...]  # the answer, then its aliases
    kind: str
    support: tuple[str, ...]  # titles of the pages that support the answer, in the order of the reasoning
    found: tuple[str, ...]  # those of them that a search has brought up
    queries: tuple[str, ...]
    pages: tuple[str, ...]  # titles of all pages that were shown, in order
    given: str | None  # the agent's answer
    turn: int

    def natural(self) -> list[str]:
        """Searches, what they found of the evidence, the answer."""
        facts = [f"The question is {quote(self.question, 400)}.", f"{len(self.queries)} searches were made."]
        found = "; ".join(self.found)  # of corpora, too, no title holds anything that could pass for a tag
        facts.append(f"Supporting pages found: {found}." if found else "No supporting page is found.")
        facts.append(f"{len(self.support) - len(self.found)} supporting pages are missing.")
        facts.append("No answer is given." if self.given is None else f"The answer given is {quote(self.given, 200)}.")
        return facts

    def structured(self) -> dict[str, Any]:
        """The same as named values."""
        return {
            "searches": len(self.queries),
            "found": list(self.found),
            "missing": len(self.support) - len(self.found),
            "answered": self.given is not None,
        }


class Made(msgspec.Struct):
    """One search of an episode: its words and the numbers of the pages it found."""

    query: str
    pages: list[Count]
    turn: Count


class Saved(msgspec.Struct):
    """What a snapshot keeps of an episode."""

    index: int
    stride: int
    place: Count
    made: list[Made]
    given: str | None

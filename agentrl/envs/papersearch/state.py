"""The truth about a search for papers: what answers the question, and how much of it is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from agentrl.core.claims import Claims, Value
from agentrl.core.parsing import quote
from agentrl.core.state import State
from agentrl.envs.common.calls import Call

CLAIMS = Claims(
    values=(Value("papers", tolerance=0.5), Value("searches", many=True), Value("expanded", many=True), Value("best"))
)


@dataclass(frozen=True)
class PaperSearchState(State):
    """All but `asks`, `relevant` and `found` can be seen by an agent. Searches and expansions decide the rest."""

    scored = CLAIMS

    question: str
    asks: dict[str, str]  # facet -> what of it is asked for
    relevant: tuple[str, ...]  # the ids of the papers that answer the question
    found: tuple[str, ...]  # those of them that are in the pool
    papers: int  # in the pool
    searches: tuple[str, ...]
    expanded: tuple[str, ...]  # ids
    best: str  # the id of the paper that stands first in the list; empty for an empty pool

    def natural(self) -> list[str]:
        """What was done and what the pool holds."""
        facts = [f"The pool holds {self.papers} papers."]
        facts += [f"{quote(query, 200)} was searched for." for query in self.searches] or ["Nothing was searched for."]
        facts.append(f"Expanded: {', '.join(self.expanded)}." if self.expanded else "No paper is expanded.")
        facts += [f"The first paper of the list is {self.best}."] if self.best else []
        facts.append(f"{len(self.found)} papers of the pool answer the question fully.")
        return facts

    def structured(self) -> dict[str, Any]:
        """The same as named values."""
        shown = self.to_json()
        return {each.key: shown[each.key] for each in CLAIMS.values}


class Saved(msgspec.Struct):
    """What a snapshot keeps of an episode: its calls, which are run again."""

    index: int
    stride: int
    task: str
    done: list[Call]
    repeated: int
    invalid: int
    finished: bool

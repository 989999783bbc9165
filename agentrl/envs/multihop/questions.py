"""A question with its answer, where the evidence stands, and how to find it."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]


class Find(msgspec.Struct, array_like=True, frozen=True):
    """A page that supports the answer, and a search that should bring it up."""

    page: Count
    query: str


class Question(msgspec.Struct, frozen=True):
    """One task. `stages` are the supporting pages in the order in which they can be found; those of one stage can be
    looked for side by side."""

    id: str
    text: str
    answer: str
    aliases: tuple[str, ...]
    kind: str
    stages: tuple[tuple[Find, ...], ...] = ()
    asked: str = ""  # what kind of thing the answer is, where that is known
    named: tuple[str, ...] = ()  # entities that the question names

    @property
    def accepted(self) -> tuple[str, ...]:
        """The answer and its aliases."""
        return (self.answer, *self.aliases)

    @property
    def support(self) -> tuple[int, ...]:
        """The supporting pages in order."""
        return tuple(find.page for stage in self.stages for find in stage)

    @property
    def hops(self) -> int:
        """How many pages it takes."""
        return len(self.support)

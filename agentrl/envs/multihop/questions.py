"""A question: where the evidence stands, how to find it, and how an answer is compared with the right one."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
CLOSED = ("yes", "no", "noanswer")  # answers of which no part is worth anything


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


# ---------------------------------------------------------------------- as SQuAD, HotpotQA and their kin score answers


@lru_cache(maxsize=1 << 15)
def normalised(text: str) -> str:
    """Lower case, without punctuation, articles and superfluous white space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(answer: str, accepted: Iterable[str]) -> bool:
    """Is it one of the accepted ones, once both are normalised? What normalises to nothing never is."""
    given = normalised(answer)
    return given != "" and any(given == normalised(each) for each in accepted)


def f1(answer: str, accepted: Iterable[str]) -> float:
    """The best harmonic mean of precision and recall of words, as SQuAD's evaluation has it."""
    return max((_f1(normalised(answer), normalised(each)) for each in accepted), default=0.0)


def _f1(given: str, wanted: str) -> float:
    if given != wanted and (given in CLOSED or wanted in CLOSED):
        return 0.0
    ours, theirs = given.split(), wanted.split()
    shared = sum((Counter(ours) & Counter(theirs)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)

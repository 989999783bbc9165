"""How answers are compared: exact match and F1 after the normalisation of SQuAD, as HotpotQA and its kin score them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
CLOSED = ("yes", "no", "noanswer")  # answers of which no part is worth anything


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

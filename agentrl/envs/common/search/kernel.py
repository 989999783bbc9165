"""Scores of all documents that share a term with a query, and the best of them: compiled C, or numpy where it is not.

Both compute with the numbers of Lucene in the same order, so their results are equal to the bit.
`AGENTRL_KERNEL=numpy` chooses the fallback by hand. The numbers are BM25's with k1 0.9, b 0.4, lengths in one byte:

    score(query, document) = sum over terms of  count in query * idf * tf / (tf + k1 * (1 - b + b * length / average))

Lucene computes in single precision and adds up in double, and so do we: two documents whose scores it takes for equal
stand in the order of their ids, and only the same numbers tell which these are. With weight = count in query * idf and
inverse = 1 / (k1 * (1 - b + b * length / average)), a term adds weight - weight / (1 + tf * inverse).

Lengths go through Lucene's one-byte code and back (exact below 40, then four leading bits), their average does not.
As in Lucene, a document without any term counts neither for the number of documents nor for the average.
"""

from __future__ import annotations

import ctypes
import math
import os
from array import array
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

K1, B = 0.9, 0.4
EXACT_LENGTHS = 24


def length_code(length: int) -> int:
    """The byte that stands for a length."""
    if length < EXACT_LENGTHS:
        return length
    rest = length - EXACT_LENGTHS
    shift = rest.bit_length() - 4
    return EXACT_LENGTHS + (rest if shift < 0 else (rest >> shift & 7) | (shift + 1) << 3)


def length_of(code: int) -> int:
    """The length that a byte stands for: the smallest of those it is the code of."""
    if code < EXACT_LENGTHS:
        return code
    bits, shift = code - EXACT_LENGTHS & 7, (code - EXACT_LENGTHS >> 3) - 1
    return EXACT_LENGTHS + (bits if shift < 0 else (bits | 8) << shift)


CODE_STARTS = np.array([length_of(code) for code in range(256)], np.int64)


def length_codes(lengths: np.ndarray) -> np.ndarray:
    """`length_code` of many lengths at once."""
    return (np.searchsorted(CODE_STARTS, lengths, side="right") - 1).astype(np.uint8)


def inverse_document_frequency(documents: int, containing: int) -> np.float32:
    """How much a term tells that is in `containing` of `documents` documents, in single precision."""
    return np.float32(math.log(1 + (documents - containing + 0.5) / (containing + 0.5)))


def length_inverses(average: float) -> np.ndarray:
    """What a term's frequency is multiplied with, for each length code, in single precision."""
    one, k1, b = np.float32(1), np.float32(K1), np.float32(B)
    return one / (k1 * ((one - b) + b * CODE_STARTS.astype(np.float32) / np.float32(average)))


# ---------------------------------------------------------------------- the best documents


@dataclass(frozen=True, eq=False)
class Postings:
    """The arrays of an index, and the tables made from them."""

    documents: np.ndarray  # uint32: the documents of all terms, ascending within a term
    counts: np.ndarray  # uint8: how often they say the term; 0: see large_at
    large_at: np.ndarray  # int64: places of counts above 255, ascending
    large_counts: np.ndarray  # uint32
    lengths: np.ndarray  # uint8: the length code of each document
    inverses: np.ndarray  # float32[256]: by length code, what a count is multiplied with

    @cached_property
    def addresses(self) -> tuple[int, ...]:
        """Of the arrays in memory, in this order, for C."""
        return tuple(getattr(self, field.name).ctypes.data for field in fields(self))


class QueryTerm(NamedTuple):
    """The postings of one term of a query, and what the term is worth."""

    start: int
    stop: int
    weight: float


@cache
def compiled() -> ctypes.CDLL | None:
    """The C library, or None where there is none."""
    if os.environ.get("AGENTRL_KERNEL") == "numpy":
        return None
    for path in sorted(Path(__file__).parent.glob("_score*")):
        if path.suffix in (".so", ".pyd", ".dylib"):
            try:
                library = ctypes.CDLL(str(path))
                library.best_by_score.restype = ctypes.c_int64
                library.best_by_score.argtypes = [ctypes.c_int64] * 4 + [ctypes.c_void_p] * 10
            except (OSError, AttributeError):  # built for another kind of machine, or another version of this file
                continue
            return library
    return None


def kernel_name() -> str:
    """ "c" or "numpy"."""
    return "c" if compiled() else "numpy"


def best(postings: Postings, terms: list[QueryTerm], k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best documents, best first, and their scores; of equal scores the first document."""
    if not terms or not len(postings.lengths):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    library = compiled()
    documents, scores = _best_c(library, postings, terms, k) if library else _best_numpy(postings, terms, k)
    order = np.lexsort((documents, -scores))
    return documents[order], scores[order]


def _best_c(library: ctypes.CDLL, postings: Postings, terms: list[QueryTerm], k: int) -> tuple[np.ndarray, np.ndarray]:
    k = min(k, len(postings.lengths))
    documents, scores = np.empty(k, np.int64), np.empty(k, np.float32)
    places = array("q", [place for term in terms for place in (term.start, term.stop)])
    weights = array("f", [term.weight for term in terms])
    asked = places.buffer_info()[0], weights.buffer_info()[0]
    sizes = len(terms), len(postings.large_at), len(postings.lengths), k
    found = library.best_by_score(*sizes, *asked, *postings.addresses, documents.ctypes.data, scores.ctypes.data)
    if found < 0:
        raise MemoryError("no memory for the scores of a window of documents")
    return documents[:found], scores[:found]


def _best_numpy(postings: Postings, terms: list[QueryTerm], k: int) -> tuple[np.ndarray, np.ndarray]:
    scores = np.zeros(len(postings.lengths))
    for start, stop, weight in terms:
        documents = postings.documents[start:stop]
        counts = postings.counts[start:stop].astype(np.float32)
        first, last = np.searchsorted(postings.large_at, (start, stop))
        counts[postings.large_at[first:last] - start] = postings.large_counts[first:last]
        inverses, worth = postings.inverses[postings.lengths[documents]], np.float32(weight)
        scores[documents] += worth - worth / (np.float32(1) + counts * inverses)
    documents = np.flatnonzero(scores)
    found = scores[documents].astype(np.float32)
    if len(found) > k:
        lowest = np.partition(found, len(found) - k)[len(found) - k]
        above, equal = np.flatnonzero(found > lowest), np.flatnonzero(found == lowest)
        kept = np.concatenate((above, equal[: k - len(above)]))  # of equal ones the first: they are in order of ids
        documents, found = documents[kept], found[kept]
    return documents, found

"""Scores of all documents that share a term with a query, and the best of them: compiled C, or numpy where it is not.

Both compute with the numbers of Lucene (see scoring.py) in the same order, so their results are equal to the bit.
`AGENTRL_KERNEL=numpy` chooses the fallback by hand.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Postings(NamedTuple):
    """The arrays of an index, and the tables made from them."""

    documents: np.ndarray  # uint32: the documents of all terms, ascending within a term
    counts: np.ndarray  # uint8: how often they say the term; 0: see large_at
    large_at: np.ndarray  # int64: places of counts above 255, ascending
    large_counts: np.ndarray  # uint32
    lengths: np.ndarray  # uint8: the length code of each document
    inverses: np.ndarray  # float32[256]: by length code, what a count is multiplied with


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
    places = np.array([(term.start, term.stop) for term in terms], np.int64)
    weights = np.array([term.weight for term in terms], np.float32)
    arrays = (places, weights, *postings, documents, scores)
    sizes = (len(terms), len(postings.large_at), len(postings.lengths), k)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    found = library.best_by_score(*map(ctypes.c_int64, sizes), *pointers)
    if found < 0:
        raise MemoryError("no memory for the scores of a window of documents")
    return documents[:found], scores[:found]


def _best_numpy(postings: Postings, terms: list[QueryTerm], k: int) -> tuple[np.ndarray, np.ndarray]:
    scores = np.zeros(len(postings.lengths))
    for start, stop, weight in terms:
        documents = postings.documents[start:stop]
        scores[documents] += _parts(postings, start, stop, np.float32(weight))
    documents = np.flatnonzero(scores)
    found = scores[documents].astype(np.float32)
    if len(found) > k:
        lowest = np.partition(found, len(found) - k)[len(found) - k]
        above, equal = np.flatnonzero(found > lowest), np.flatnonzero(found == lowest)
        kept = np.concatenate((above, equal[: k - len(above)]))  # of equal ones the first: they are in order of ids
        documents, found = documents[kept], found[kept]
    return documents, found


def _parts(postings: Postings, start: int, stop: int, weight: np.float32) -> np.ndarray:
    """What a term adds to the scores of its documents, in single precision."""
    counts = postings.counts[start:stop].astype(np.float32)
    first, last = np.searchsorted(postings.large_at, (start, stop))
    counts[postings.large_at[first:last] - start] = postings.large_counts[first:last]
    inverses = postings.inverses[postings.lengths[postings.documents[start:stop]]]
    return weight - weight / (np.float32(1) + counts * inverses)

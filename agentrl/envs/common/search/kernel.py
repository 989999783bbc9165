"""Scores of all documents that share a term with a query, and the best of them: compiled C, or numpy where it is not.

Both add the same double-precision numbers in the same order, so their results are equal to the bit.
`AGENTRL_KERNEL=numpy` chooses the fallback by hand.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agentrl.envs.common.search.scoring import DECIMALS


class Postings(NamedTuple):
    """The arrays of an index, and the tables made from them."""

    documents: np.ndarray  # uint32: the documents of all terms, ascending within a term
    counts: np.ndarray  # uint8: how often they say the term; 0: see large_at
    large_at: np.ndarray  # int64: places of counts above 255, ascending
    large_counts: np.ndarray  # uint32
    lengths: np.ndarray  # uint8: the length code of each document
    norms: np.ndarray  # float64[256]: by length code
    saturation: np.ndarray  # float64[256, 256]: by count and length code


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
                library.best.restype = ctypes.c_int64
            except (OSError, AttributeError):  # built for another kind of machine, or another version of this file
                continue
            return library
    return None


def kernel_name() -> str:
    """ "c" or "numpy"."""
    return "c" if compiled() else "numpy"


def best(postings: Postings, terms: list[QueryTerm], k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best documents, best first, and their scores in units of the last decimal."""
    if not terms or not len(postings.lengths):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    library = compiled()
    documents, keys = _best_c(library, postings, terms, k) if library else _best_numpy(postings, terms, k)
    order = np.lexsort((documents, -keys))
    return documents[order], keys[order]


def _best_c(library: ctypes.CDLL, postings: Postings, terms: list[QueryTerm], k: int) -> tuple[np.ndarray, np.ndarray]:
    k = min(k, len(postings.lengths))
    documents, keys = np.empty(k, np.int64), np.empty(k, np.int64)
    places = np.array([(term.start, term.stop) for term in terms], np.int64)
    weights = np.array([term.weight for term in terms], np.float64)
    arrays = (places, weights, *postings, documents, keys)
    sizes = (len(terms), len(postings.large_at), len(postings.lengths), k)
    found = library.best(*map(ctypes.c_int64, sizes), *(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    if found < 0:
        raise MemoryError("no memory for the scores of a window of documents")
    return documents[:found], keys[:found]


def _best_numpy(postings: Postings, terms: list[QueryTerm], k: int) -> tuple[np.ndarray, np.ndarray]:
    scores = np.zeros(len(postings.lengths))
    for start, stop, weight in terms:
        documents = postings.documents[start:stop]
        scores[documents] += weight * _saturations(postings, start, stop)
    documents = np.flatnonzero(scores)
    keys = (scores[documents] * DECIMALS).astype(np.int64)
    if len(keys) > k:
        lowest = np.partition(keys, len(keys) - k)[len(keys) - k]
        above, equal = np.flatnonzero(keys > lowest), np.flatnonzero(keys == lowest)
        kept = np.concatenate((above, equal[: k - len(above)]))  # of equal ones the first: they are in order of ids
        documents, keys = documents[kept], keys[kept]
    return documents, keys


def _saturations(postings: Postings, start: int, stop: int) -> np.ndarray:
    codes = postings.lengths[postings.documents[start:stop]]
    found = postings.saturation[postings.counts[start:stop], codes]
    first, last = np.searchsorted(postings.large_at, (start, stop))
    for place, count in zip(postings.large_at[first:last], postings.large_counts[first:last], strict=True):
        frequency = float(count)
        found[place - start] = frequency / (frequency + postings.norms[codes[place - start]])
    return found

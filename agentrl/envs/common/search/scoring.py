"""The numbers of BM25 as Lucene computes them: k1 0.9, b 0.4, lengths kept in one byte.

    score(query, document) = sum over terms of  count in query * idf * tf / (tf + k1 * (1 - b + b * length / average))

Lucene computes in single precision and adds up in double, and so do we: two documents whose scores it takes for equal
stand in the order of their ids, and only the same numbers tell which these are. With weight = count in query * idf and
inverse = 1 / (k1 * (1 - b + b * length / average)), a term adds weight - weight / (1 + tf * inverse).

Lengths go through Lucene's one-byte code and back (exact below 40, then four leading bits), their average does not.
As in Lucene, a document without any term counts neither for the number of documents nor for the average.
"""

from __future__ import annotations

import math

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

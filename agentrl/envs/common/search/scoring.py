"""The numbers of BM25 as Lucene computes them: k1 0.9, b 0.4, lengths kept in one byte.

    score(query, document) = sum over terms of  count in query * idf * tf / (tf + k1 * (1 - b + b * length / average))

Lengths go through Lucene's one-byte code and back (exact below 40, then four leading bits), their average does not.
As in Lucene, a document without any term counts neither for the number of documents nor for the average.
"""

from __future__ import annotations

import math

import numpy as np

K1, B = 0.9, 0.4
EXACT_LENGTHS = 24
DECIMALS = 10_000  # scores are cut, not rounded, to four decimals


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


def inverse_document_frequency(documents: int, containing: int) -> float:
    """How much a term tells that is in `containing` of `documents` documents."""
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


def length_norms(average: float) -> np.ndarray:
    """What is added to the term's frequency below the line, for each length code."""
    return K1 * ((1 - B) + B * CODE_STARTS / average)


def saturation_table(norms: np.ndarray) -> np.ndarray:
    """tf / (tf + norm) for every tf below 256 (row) and every length code (column)."""
    frequencies = np.arange(256, dtype=np.float64)[:, None]
    return frequencies / (frequencies + norms)

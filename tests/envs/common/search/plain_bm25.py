"""The search engine's formula once more, written down plainly from its definition: what the index is held against."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from agentrl.envs.common.search import analyze

single = np.float32  # Lucene computes in single precision, and adds up in double


def rough_length(length: int) -> int:
    """What is left of a length in one byte: below 24 all; of the rest above that the four leading bits."""
    rest = length - 24
    if rest < 16:
        return length
    unit = 1
    while rest // unit >= 16:
        unit *= 2
    return 24 + rest // unit * unit


def plain_search(documents: list[tuple[str, str]], query: str, k: int) -> list[tuple[str, float]]:
    """Every document scored one by one; the best k as (id, score)."""
    terms = {docid: Counter(analyze(text)) for docid, text in documents}
    lengths = {docid: sum(counts.values()) for docid, counts in terms.items()}
    filled = sum(1 for length in lengths.values() if length)
    if not filled:
        return []
    average = sum(lengths.values()) / filled
    containing = Counter(term for counts in terms.values() for term in counts)
    asked = Counter(analyze(query))
    ranked = []
    for docid, counts in terms.items():
        shared = [term for term in asked if term in counts]
        score = 0.0
        for term in shared:
            idf = single(math.log(1 + (filled - containing[term] + 0.5) / (containing[term] + 0.5)))
            weight = single(asked[term]) * idf
            below = (single(1) - single(0.4)) + single(0.4) * single(rough_length(lengths[docid])) / single(average)
            inverse = single(1) / (single(0.9) * below)
            score += float(weight - weight / (single(1) + single(counts[term]) * inverse))
        if shared:
            ranked.append((-float(single(score)), docid))
    return [(docid, -lost) for lost, docid in sorted(ranked)[:k]]

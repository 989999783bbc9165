"""The segments of all writers into one index file.

Documents are numbered anew in the order of their ids, so that of two equal scores the one that comes first wins by
itself. Terms are ordered by a hash of theirs: looking one up is a binary search in one array of numbers. Notes keep the
order in which the documents were given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.envs.common.search.kernel import length_codes
from agentrl.envs.common.search.storage import ROW_TYPE, pack_strings, unpack_strings, write_file

SORTED_AT_ONCE = 4 << 20  # postings, to bound the memory; also bounds the terms of a piece, to 24 bits and less


def term_hash(term: str) -> int:
    """64 bits that look terms up; equal ones are told apart by the terms themselves."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


@dataclass
class Corpus:
    """What the first pass over the segments finds out."""

    docids: list[str] = field(default_factory=list)
    lengths: list[np.ndarray] = field(default_factory=list)
    note_bytes: int = 0
    terms: list[str] = field(default_factory=list)
    hashes: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))
    numbers: dict[int, np.ndarray] = field(default_factory=dict)  # of each writer: its term numbers -> ours
    containing: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    large: int = 0


def merge_segments(folder: Path, path: Path, fingerprint: str, report: Callable[[int, int], None]) -> None:
    """Write the index file; `report` is told how many of how many segments are in."""
    segments = sorted(folder.glob("segment-*.npz"))
    corpus = _survey(folder, segments)
    docids = corpus.docids
    in_order = sorted(range(len(docids)), key=docids.__getitem__)
    for before, after in pairwise(in_order):
        if docids[before] == docids[after]:
            raise ConfigError(f"documents must have different ids; two are called {docids[after][:100]!a}")
    order = np.array(in_order, np.int64)
    starts = np.concatenate(([0], np.cumsum(corpus.containing)))
    lengths = np.concatenate([np.zeros(0, np.int64), *corpus.lengths])
    shapes, names = _shapes(corpus, order, int(starts[-1]))
    facts = {
        "documents": len(order),
        "filled": int(np.count_nonzero(lengths)),
        "length": int(lengths.sum()),
        "fingerprint": fingerprint,
    }
    with write_file(path, folder, shapes, facts) as arrays:
        for name, content in names.items():
            arrays[name][:] = content
        arrays["term_hashes"][:] = corpus.hashes
        arrays["starts"][:] = starts
        arrays["lengths"][:] = length_codes(lengths[order])
        arrays["numbers"][:] = order
        _fill_from_segments(arrays, segments, corpus, order, report)


def _survey(folder: Path, segments: list[Path]) -> Corpus:
    """The first pass over the segments."""
    corpus = Corpus()
    own_terms: dict[int, list[str]] = {}
    for path in sorted(folder.glob("terms-*.npz")):
        with np.load(path, allow_pickle=False) as file:
            own_terms[int(path.stem[-4:])] = unpack_strings(file["content"], file["ends"])
    distinct = {term for terms in own_terms.values() for term in terms}
    hashed = sorted((term_hash(term), term) for term in distinct)
    corpus.terms = [term for _, term in hashed]
    corpus.hashes = np.array([number for number, _ in hashed], np.uint64)
    known = {term: number for number, term in enumerate(corpus.terms)}
    corpus.numbers = {
        writer: np.array([known[term] for term in terms], np.int64) for writer, terms in own_terms.items()
    }
    corpus.containing = np.zeros(len(known), np.int64)
    for path in segments:
        with np.load(path, allow_pickle=False) as segment:
            corpus.docids += unpack_strings(segment["docid_content"], segment["docid_ends"])
            corpus.lengths.append(segment["lengths"])
            corpus.note_bytes += len(segment["note_content"])
            corpus.containing[_our_terms(corpus, path, segment)] += segment["documents_of"]
            corpus.large += segment["large"].shape[1]
    return corpus


def _our_terms(corpus: Corpus, path: Path, segment: Any) -> np.ndarray:
    return corpus.numbers[int(path.stem[-4:])][segment["terms"]]


def _shapes(
    corpus: Corpus, order: np.ndarray, postings: int
) -> tuple[dict[str, tuple[str, int]], dict[str, np.ndarray]]:
    """The arrays of the file, and the content of those that hold strings."""
    docid_content, docid_ends = pack_strings([corpus.docids[number] for number in order])
    term_content, term_ends = pack_strings(corpus.terms)
    names = {
        "docid_content": docid_content,
        "docid_ends": docid_ends,
        "term_content": term_content,
        "term_ends": term_ends,
    }
    shapes = {
        **{name: (content.dtype.str, len(content)) for name, content in names.items()},
        "term_hashes": ("<u8", len(corpus.terms)),
        "starts": ("<i8", len(corpus.terms) + 1),
        "lengths": ("|u1", len(order)),
        "numbers": ("<u4", len(order)),
        "note_content": ("|u1", corpus.note_bytes),
        "note_rows": (f"|V{ROW_TYPE.itemsize}", len(order)),
        "documents": ("<u4", postings),
        "counts": ("|u1", postings),
        "large_at": ("<i8", corpus.large),
        "large_counts": ("<u4", corpus.large),
    }
    return shapes, names


def _fill_from_segments(
    arrays: dict[str, np.ndarray],
    segments: list[Path],
    corpus: Corpus,
    order: np.ndarray,
    report: Callable[[int, int], None],
) -> None:
    """Postings and notes. Notes stay in the order in which documents were given: moving them would cost time."""
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    free = arrays["starts"][:-1].copy()  # where the next posting of each term goes
    large: list[np.ndarray] = [np.zeros((3, 0), np.int64)]
    note_at = note_row = 0
    for done, path in enumerate(segments, 1):
        with np.load(path, allow_pickle=False) as segment:
            content, rows = segment["note_content"], segment["note_rows"]
            rows["start"] += np.uint64(note_at)
            arrays["note_content"][note_at : note_at + len(content)] = content
            arrays["note_rows"][note_row : note_row + len(rows)] = rows.view(arrays["note_rows"].dtype)
            note_at, note_row = note_at + len(content), note_row + len(rows)
            ours, many = _our_terms(corpus, path, segment), segment["documents_of"]
            places = np.repeat(free[ours] - (np.cumsum(many) - many), many)
            places += np.arange(len(places))
            arrays["documents"][places] = rank[segment["documents"]]
            arrays["counts"][places] = segment["counts"]
            free[ours] += many
            terms, documents, counts = segment["large"]
            large.append(np.stack([corpus.numbers[int(path.stem[-4:])][terms], rank[documents], counts]))
        report(done, len(segments))
    if not (order[1:] > order[:-1]).all():
        _sort_postings(arrays)
    # Where the counts lie that a byte does not hold, in the order of the postings.
    found = []
    for term, document, count in np.concatenate(large, axis=1).T.tolist():
        start, stop = arrays["starts"][term : term + 2].tolist()
        found.append((start + int(np.searchsorted(arrays["documents"][start:stop], document)), count))
    for row, (place, count) in enumerate(sorted(found)):
        arrays["large_at"][row], arrays["large_counts"][row] = place, count


def _sort_postings(arrays: dict[str, np.ndarray]) -> None:
    """By document within each term: term, document and count as one number, as many terms at once as the memory
    allows; one endless term is a piece of its own."""
    starts, last = arrays["starts"], 0
    while last < len(starts) - 1:
        first = last
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + SORTED_AT_ONCE, side="right")) - 1)
        piece = slice(int(starts[first]), int(starts[last]))
        terms = np.repeat(np.arange(last - first, dtype=np.uint64), np.diff(starts[first : last + 1]))
        documents, counts = arrays["documents"][piece], arrays["counts"][piece]
        keys = terms << np.uint64(40) | documents.astype(np.uint64) << np.uint64(8) | counts
        keys.sort()
        documents[:] = (keys >> np.uint64(8)).astype(np.uint32)
        counts[:] = keys.astype(np.uint8)

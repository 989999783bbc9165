"""`Index`: BM25 search over a file that is mapped, not loaded: opens in a millisecond, shared by all processes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.envs.common.search.analyzer import analyze_query
from agentrl.envs.common.search.kernel import Postings, QueryTerm, best, inverse_document_frequency, length_inverses
from agentrl.envs.common.search.merge import term_hash
from agentrl.envs.common.search.storage import CheckedFile, IndexCorrupt, SingleStrings

FILE_NAME = "search.index"
DEFAULT_HITS = 50
TERMS_KEPT = 1 << 14  # that a process has looked up; most queries say the same ones
UNKNOWN = object()


class Hit(NamedTuple):
    """A document that was found."""

    docid: str
    score: float  # as Lucene computes it, in single precision
    number: int  # its place among the documents that were indexed


class Index:
    """A search index on disk. Any number of threads may search at once; copies in other processes reopen the file."""

    def __init__(self, folder: Path, file: CheckedFile) -> None:
        self.folder = folder
        self._file = file
        self._notes = SingleStrings(file, "note")
        facts = file.facts
        self._tables: Postings | None = None
        self._terms: dict[str, Any] = {}
        self._documents, self._filled, self._length = (int(facts[name]) for name in ("documents", "filled", "length"))

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None) -> Index:
        """The index in `folder`; `IndexCorrupt` if it is missing, damaged, or made of other documents."""
        folder = Path(folder)
        file = CheckedFile(folder / FILE_NAME)
        if fingerprint is not None and file.facts["fingerprint"] != fingerprint:
            raise IndexCorrupt(f"{file.path} was made of other documents: {file.facts['fingerprint']!a}")
        return cls(folder, file)

    def __reduce__(self) -> tuple:
        return partial(Index.open, fingerprint=self.fingerprint), (str(self.folder),)

    def __len__(self) -> int:
        return self._documents

    def __repr__(self) -> str:
        return f"Index({str(self.folder)!r}, documents={len(self)}, terms={self.term_count})"

    @property
    def fingerprint(self) -> str:
        """Which documents these are, as given when the index was built."""
        return str(self._file.facts["fingerprint"])

    @property
    def term_count(self) -> int:
        """How many distinct terms."""
        return len(self._file.unchecked("term_hashes"))

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._file.size

    def verify(self) -> None:
        """Check every byte now; `IndexCorrupt` if any is wrong. Searching checks only what it touches."""
        self._terms = {}
        self._file.check_everything()

    def search(self, query: str, k: int = DEFAULT_HITS) -> list[Hit]:
        """The k best documents for a query, best first; of equal scores the smaller id first.

        Any string is a query; one without a known term finds nothing. Of a very long one the first 65,536 characters
        and the first 1,024 distinct terms count. `IndexCorrupt` if a part of the file that is needed is damaged.
        """
        if not isinstance(query, str):
            raise ConfigError(f"query must be a string; got {type(query).__name__}")
        k = whole_number("k", k, at_least=1)
        terms = [
            known if count == 1 else known._replace(weight=float(np.float32(count) * np.float32(known.weight)))
            for term, count in analyze_query(query).items()
            if (known := self._term(term)) is not None
        ]
        if not terms:
            return []
        documents, scores = best(self._postings(), terms, k)
        file = self._file
        starts = np.where(documents > 0, file.pick("docid_ends", np.maximum(documents - 1, 0)), 0)
        docids = file.cut("docid_content", starts, file.pick("docid_ends", documents))
        numbers = file.pick("numbers", documents).tolist()
        return list(map(Hit, map(bytes.decode, docids), scores.tolist(), numbers))

    def notes(self, numbers: Sequence[int]) -> list[str]:
        """The notes of the documents with these numbers (`Hit.number`); `IndexCorrupt` if one of them is damaged.

        Numbers count the documents from 0 in the order in which they were indexed. `IndexError` for any other.
        """
        if numbers and not 0 <= min(numbers) <= max(numbers) < self._documents:
            raise IndexError(f"documents {min(numbers)} to {max(numbers)} of an index of {self._documents}")
        return self._notes.read(numbers)

    # ------------------------------------------------------------------ inside

    def _postings(self) -> Postings:
        """Made at the first search. Two threads may both make it: a lock could stay held in a forked process."""
        if self._tables is None:
            file = self._file
            self._tables = Postings(
                documents=file.unchecked("documents"),  # `search` has the parts it needs checked
                counts=file.unchecked("counts"),
                large_at=file.array("large_at"),
                large_counts=file.array("large_counts"),
                lengths=file.array("lengths"),
                inverses=length_inverses(self._length / self._filled),
            )
        return self._tables

    def _term(self, term: str) -> QueryTerm | None:
        """A term that a query says once; its postings are checked, and what is known of it is kept."""
        if (known := self._terms.get(term, UNKNOWN)) is not UNKNOWN:
            return known
        number, found = self._term_number(term), None
        if number is not None:
            start, stop = self._file.array("starts", number, number + 2).tolist()
            self._file.array("documents", start, stop)
            self._file.array("counts", start, stop)
            found = QueryTerm(start, stop, float(inverse_document_frequency(self._filled, stop - start)))
        if len(self._terms) >= TERMS_KEPT:
            self._terms = {}
        self._terms[term] = found
        return found

    def _term_number(self, term: str) -> int | None:
        """The place of a term among those with its hash; None where the index does not know it."""
        wanted = np.uint64(term_hash(term))
        hashes = self._file.array("term_hashes")
        number = int(np.searchsorted(hashes, wanted))
        while number < len(hashes) and hashes[number] == wanted:
            ends = self._file.array("term_ends", max(0, number - 1), number + 1).tolist()
            known = self._file.array("term_content", ends[0] if number else 0, ends[-1]).tobytes().decode()
            if known == term:
                return number
            number += 1
        return None

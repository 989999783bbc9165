"""Documents to postings, some thousand at a time: the part of building that all processes share.

A segment is a file with the postings of its documents ordered by term, under term numbers of its writer's own; `merge`
joins the segments of all writers. Documents are ids with texts, or a source that other processes can make again for
themselves. One may carry a note, a string that is kept with it and handed back as it is; searches do not see it.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.envs.common.search.analyzer import analyze, pieces
from agentrl.envs.common.search.storage import pack_single_strings, pack_strings

Entry = tuple[str, str, str]  # id, text, note
Document = tuple[str, str] | Entry  # without a note, it is empty
Task = tuple[str, tuple[Any, ...]]
DOCUMENTS_AT_ONCE = 8192
CHARACTERS_AT_ONCE = 16 << 20  # a batch of very long documents must still fit a message


@runtime_checkable
class DocumentSource(Protocol):
    """Documents by number, with a `recipe` by which each building process makes the source again.

    The recipe is `("module:callable", {keyword arguments})`, plain JSON-like values only, so that the documents of a
    generated catalogue are generated in all processes at once, and nothing but numbers is sent to them.
    """

    @property
    def recipe(self) -> tuple[str, Mapping[str, Any]]:
        """How another process makes an equal source."""
        ...

    def __len__(self) -> int:
        """How many documents."""
        ...

    def __getitem__(self, number: int, /) -> Document:
        """Id and text of a document, and its note if it has one."""
        ...


class CatalogueDocuments:
    """The documents of a catalogue: of whatever has a length and `entry(number)`, which gives id, text and note.

    `catalogue` is "module:Class", `arguments` what to make it with.
    """

    def __init__(self, catalogue: str, arguments: Mapping[str, Any]) -> None:
        self._catalogue = make(catalogue, arguments)
        place = f"{CatalogueDocuments.__module__}:{CatalogueDocuments.__qualname__}"
        self.recipe = place, {"catalogue": catalogue, "arguments": dict(arguments)}

    def __len__(self) -> int:
        return len(self._catalogue)

    def __getitem__(self, number: int, /) -> Entry:
        return self._catalogue.entry(number)


def make(target: str, arguments: Mapping[str, Any]) -> Any:
    """What "module:callable" gives for these arguments."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)(**arguments)


def checked_entry(document: Any) -> Entry:
    """Id, text and note, or a `ConfigError`."""
    if not isinstance(document, (tuple, list)) or not 2 <= len(document) <= 3:
        raise _not_strings(document)
    docid, text, note = document if len(document) == 3 else (*document, "")
    if not (isinstance(docid, str) and isinstance(text, str) and isinstance(note, str)):
        raise _not_strings(document)
    if not docid or not (docid.isascii() or is_unicode(docid)):
        what = "ids that are not empty and can be written as UTF-8"
        raise ConfigError(f"documents must have {what}; got {docid[:100]!a}")
    if not (note.isascii() or is_unicode(note)):
        raise ConfigError(f"documents must have notes that can be written as UTF-8; got {note[:100]!a}")
    return docid, text, note


def _not_strings(document: Any) -> ConfigError:
    what = "pairs of id and text, both strings, with a note or without"
    return ConfigError(f"documents must be {what}; got {str(document)[:100]!a}")


def is_unicode(text: str) -> bool:
    """No half surrogates?"""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def tasks_of_source(count: int) -> Iterator[Task]:
    """Ranges of numbers for `SegmentWriter.from_source`."""
    for start in range(0, count, DOCUMENTS_AT_ONCE):
        yield "from_source", (start, min(start + DOCUMENTS_AT_ONCE, count))


def tasks_of_documents(documents: Iterator[Any]) -> Iterator[Task]:
    """Batches for `SegmentWriter.from_entries`."""
    start, characters = 0, 0
    batch: list[Entry] = []
    for document in documents:
        batch.append(checked_entry(document))
        characters += sum(map(len, batch[-1]))
        if characters > CHARACTERS_AT_ONCE or len(batch) == DOCUMENTS_AT_ONCE:
            yield "from_entries", (start, batch)
            start, characters, batch = start + len(batch), 0, []
    if batch:
        yield "from_entries", (start, batch)


# ---------------------------------------------------------------------- segments

MAX_COUNT = 255  # counts are bytes; a larger one is written as 0 and listed apart


class Vocabulary:
    """Numbers for pieces of text as they come, and the numbers of the terms that each piece stands for.

    A piece is looked up wherever it occurs but analysed only once: a corpus repeats its words all the time.
    """

    def __init__(self) -> None:
        self.pieces: defaultdict[str, int] = defaultdict()
        self.pieces.default_factory = self.pieces.__len__  # the next piece gets the next number
        self.terms: defaultdict[str, int] = defaultdict()
        self.terms.default_factory = self.terms.__len__
        self._flat, self._ends = array("q"), array("q")  # the terms of all pieces one after the other

    def terms_of(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The terms of these pieces one after the other, and how many each piece gave."""
        for piece in islice(self.pieces, len(self._ends), None):
            self._flat.extend(map(self.terms.__getitem__, analyze(piece)))
            self._ends.append(len(self._flat))
        ends = np.array(self._ends, np.int64)
        starts = np.concatenate(([0], ends[:-1]))
        given = (ends - starts)[numbers]
        first = np.repeat(starts[numbers] - (np.cumsum(given) - given), given)
        return np.array(self._flat, np.int64)[first + np.arange(len(first))], given


class SegmentWriter:
    """Writes segments into `folder`; `number` tells its files from those of other writers."""

    def __init__(self, folder: str, number: int, recipe: tuple[str, Mapping[str, Any]] | None = None) -> None:
        self._folder, self._number = Path(folder), number
        self._source = make(*recipe) if recipe else None
        self._vocabulary = Vocabulary()

    def from_source(self, start: int, stop: int) -> int:
        """A segment of the source's documents start .. stop - 1; says how many these are."""
        assert self._source is not None
        source = self._source
        return self.from_entries(start, (checked_entry(source[number]) for number in range(start, stop)))

    def from_entries(self, start: int, entries: Iterable[Entry]) -> int:
        """A segment of documents whose numbers count from `start`; says how many these are."""
        look_up, ends = self._vocabulary.pieces.__getitem__, array("q")
        numbers: list[int] = []  # grows quicker than an array
        docids: list[str] = []
        notes: list[str] = []
        for docid, text, note in entries:
            numbers.extend(map(look_up, pieces(text)))
            ends.append(len(numbers))
            docids.append(docid)
            notes.append(note)
        terms, given = self._vocabulary.terms_of(np.fromiter(numbers, np.int64, len(numbers)))
        lengths = np.diff(np.concatenate(([0], np.cumsum(given)))[np.concatenate(([0], np.array(ends, np.int64)))])
        docid_content, docid_ends = pack_strings(docids)
        note_content, note_rows = pack_single_strings(notes, start)
        np.savez(
            self._folder / f"segment-{start:012}-{self._number:04}.npz",
            lengths=lengths,
            docid_content=docid_content,
            docid_ends=docid_ends,
            note_content=note_content,
            note_rows=note_rows,
            **_postings(start, terms, lengths),  # pyright: ignore[reportArgumentType]  (none is a flag)
        )
        return len(docids)

    def finish(self) -> None:
        """Write down which term each number stands for; segments are of no use before."""
        content, ends = pack_strings(list(self._vocabulary.terms))
        np.savez(self._folder / f"terms-{self._number:04}.npz", content=content, ends=ends)


def _postings(start: int, terms: np.ndarray, lengths: np.ndarray) -> dict[str, np.ndarray]:
    """By term, then by document: how often the document says the term."""
    if len(terms) and (start + len(lengths) >= 1 << 32 or int(terms.max()) >= 1 << 31):
        raise ConfigError("documents must be fewer than 2**32, with fewer than 2**31 distinct terms")
    numbers = np.repeat(np.arange(start, start + len(lengths), dtype=np.uint64), lengths)
    keys = np.sort(terms.astype(np.uint64) << np.uint64(32) | numbers)
    new = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    counts = np.diff(np.append(new, len(keys)))
    keys = keys[new]
    own_terms, documents_of = np.unique(keys >> np.uint64(32), return_counts=True)
    large = np.flatnonzero(counts > MAX_COUNT)
    return {
        "terms": own_terms.astype(np.int64),
        "documents_of": documents_of.astype(np.int64),
        "documents": (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        "counts": np.where(counts > MAX_COUNT, 0, counts).astype(np.uint8),
        "large": np.stack(
            [(keys[large] >> np.uint64(32)).astype(np.int64), keys[large].astype(np.uint32), counts[large]]
        ),
    }

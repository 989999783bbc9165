"""What can be indexed: ids with texts, or a source that other processes can make again for themselves.

A document may carry a note, a string that is kept with it and handed back as it is; searches do not see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from agentrl.core.errors import ConfigError

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
    start = 0
    while batch := _batch(documents):
        yield "from_entries", (start, batch)
        start += len(batch)


def _batch(documents: Iterator[Any]) -> list[Entry]:
    batch: list[Entry] = []
    characters = 0
    for document in islice(documents, DOCUMENTS_AT_ONCE):
        batch.append(checked_entry(document))
        characters += sum(map(len, batch[-1]))
        if characters > CHARACTERS_AT_ONCE:
            break
    return batch

"""What can be indexed: any pairs of id and text, or a source that other processes can make again for themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from agentrl.core.errors import ConfigError

Pair = tuple[str, str]
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

    def __getitem__(self, number: int, /) -> Pair:
        """Id and text of a document."""
        ...


class CatalogueDocuments:
    """The documents of a catalogue: of whatever has a length, `docid(number)` and `document(number)`.

    `catalogue` is "module:Class", `arguments` what to make it with.
    """

    def __init__(self, catalogue: str, arguments: Mapping[str, Any]) -> None:
        self._catalogue = make(catalogue, arguments)
        place = f"{CatalogueDocuments.__module__}:{CatalogueDocuments.__qualname__}"
        self.recipe = place, {"catalogue": catalogue, "arguments": dict(arguments)}

    def __len__(self) -> int:
        return len(self._catalogue)

    def __getitem__(self, number: int, /) -> Pair:
        return self._catalogue.docid(number), self._catalogue.document(number)


def make(target: str, arguments: Mapping[str, Any]) -> Any:
    """What "module:callable" gives for these arguments."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)(**arguments)


def checked_pair(pair: Any) -> Pair:
    """Id and text, or a `ConfigError`."""
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
        raise ConfigError(f"documents must be pairs of id and text, both strings, not {str(pair)[:100]!a}")
    docid, text = pair
    if not docid or not is_unicode(docid):
        raise ConfigError(
            f"documents must have ids that are not empty and can be written as UTF-8, not {docid[:100]!a}"
        )
    return docid, text


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


def tasks_of_pairs(pairs: Iterator[Any]) -> Iterator[Task]:
    """Batches for `SegmentWriter.from_pairs`."""
    start = 0
    while batch := _batch(pairs):
        yield "from_pairs", (start, batch)
        start += len(batch)


def _batch(pairs: Iterator[Any]) -> list[Pair]:
    batch: list[Pair] = []
    characters = 0
    for pair in islice(pairs, DOCUMENTS_AT_ONCE):
        batch.append(checked_pair(pair))
        characters += sum(map(len, batch[-1]))
        if characters > CHARACTERS_AT_ONCE:
            break
    return batch

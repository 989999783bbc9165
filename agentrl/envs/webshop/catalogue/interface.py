"""What a shop needs of a catalogue, be it generated or read from the benchmark's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.product import Product


@runtime_checkable
class Catalogue(Protocol):
    """Products numbered from zero, and goals by split. Everything is read-only and the same in every process."""

    @property
    def fingerprint(self) -> str:
        """Names the documents and their order: two catalogues with one fingerprint may share an index on disk."""
        ...

    def __len__(self) -> int: ...

    def product(self, index: int) -> Product:
        """Product number `index`; IndexError outside the catalogue."""
        ...

    def find(self, asin: str) -> Product | None:
        """The product with this id, in either case of letters, or None."""
        ...

    def document(self, index: int) -> str:
        """The indexed text of product number `index`, without making the rest of it."""
        ...

    def entry(self, index: int) -> tuple[str, str, str]:
        """Id, indexed text and `listing_note` of product number `index`: all that a search index keeps of it."""
        ...

    def docid(self, index: int) -> str:
        """The id of product number `index`."""
        ...

    def goals(self, split: str) -> Sequence[Goal]:
        """The goals of one split, computed or read one by one as they are asked for."""
        ...

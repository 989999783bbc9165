"""What a shop needs of a catalogue, be it generated or read from files."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from agentrl.envs.common.catalogue.product import Product


@runtime_checkable
class Catalogue(Protocol):
    """Products numbered from zero, read-only and the same in every process."""

    @property
    def fingerprint(self) -> str:
        """Names the documents and their order: two catalogues with one fingerprint may share an index on disk."""
        ...

    def __len__(self) -> int: ...

    def product(self, index: int, /) -> Product:
        """Product number `index`; IndexError outside the catalogue."""
        ...

    def find(self, asin: str) -> Product | None:
        """The product with this id, in either case of letters, or None."""
        ...

    def entry(self, index: int) -> tuple[str, str, str]:
        """Id, indexed text and `listing_note` of product number `index`: all that a search index keeps of it."""
        ...

    def docid(self, index: int) -> str:
        """The id of product number `index`."""
        ...

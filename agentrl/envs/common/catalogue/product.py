"""One product of the shop, as pages show it, the reward compares it and the search engine reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol, runtime_checkable

NO_ATTRIBUTES = ("DUMMY_ATTR",)  # what the benchmark lists for a product without annotated attributes
NO_PRICE = (100.0,)  # and what it charges where the price is unknown
PATH_MARK = "\u203a"  # parts the names of a category path
PATH_SEPARATOR = f" {PATH_MARK} "


@dataclass(frozen=True, slots=True)
class Product:
    """Everything the shop knows about one article; `attributes` are hidden from customers unless a page shows them."""

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    category: str
    category_path: str  # outermost first, parted by PATH_SEPARATOR
    query: str  # the search phrase under which the article is filed: its kind
    pricing: tuple[float, ...]  # one price, or the lowest and the highest
    price: float  # what it costs: `pricing` itself, or a fixed point within the range
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attributes: tuple[str, ...] = NO_ATTRIBUTES
    rating: str = "N.A."
    reviews: tuple[str, ...] = ()
    image: str = ""

    @property
    def price_tag(self) -> str:
        """The price as pages print it: "$19.99", or "$19.99 to $27.99"."""
        return price_tag(self.pricing)

    def document(self) -> str:
        """The text that the search engine indexes: title, description, first bullet and options, in lower case."""
        first_bullet = self.bullets[0] if self.bullets else ""
        return document_text(self.title, self.description, first_bullet, self.options)


def path_names(path: str) -> tuple[str, ...]:
    """The names along a category path, outermost first."""
    return tuple([name.strip() for name in path.split(PATH_MARK)])


def price_tag(pricing: Sequence[float]) -> str:
    """One price, or the lowest and the highest, as pages print them."""
    return " to ".join([f"${amount}" for amount in pricing[:2]])


def listing_note(title: str, tag: str) -> str:
    """What results show of a product, as one string that an index keeps: a change needs a new version of the file."""
    return f"{title}\n{tag}"


def read_listing(note: str) -> tuple[str, str]:
    """Title and price tag out of what `listing_note` wrote."""
    title, _, tag = note.rpartition("\n")  # a title may hold a line break, a tag never does
    return title, tag


def document_text(title: str, description: str, first_bullet: str, options: Mapping[str, Sequence[str]]) -> str:
    """The indexed text of a product with these fields."""
    choices = ", and ".join([f"{name}: {', '.join(values)}" for name, values in options.items()])
    return f"{title} {description} {first_bullet} {choices}".lower()


def price_within(pricing: Sequence[float], seed: int, asin: str) -> float:
    """The one price of a product: the listed one, or a point of the range that (seed, asin) decides.

    The benchmark draws this point without a seed, so that its prices differ from process to process; ours do not.
    """
    if len(pricing) == 1 or pricing[0] == pricing[1]:
        return pricing[0]
    lowest, highest = pricing[0], pricing[1]
    return round(lowest + (highest - lowest) * fraction_for("price", seed, asin), 2)


def fraction_for(purpose: str, seed: int, asin: str) -> float:
    """A number in [0, 1) that depends on its arguments alone, in every process and on every machine."""
    key = f"{seed}|{purpose}|{asin}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=6).digest(), "big") / (1 << 48)


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

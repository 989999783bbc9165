"""A shop made from a seed: product number i can be computed alone, so that a catalogue of any size needs no storage."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b

from agentrl.core.arguments import whole_number
from agentrl.envs.common.catalogue import families, texts
from agentrl.envs.common.catalogue.families import BLOCK, PLANS, Family, Variant, pick, random_numbers
from agentrl.envs.common.catalogue.product import (
    NO_ATTRIBUTES,
    Product,
    document_text,
    listing_note,
    price_tag,
    price_within,
)
from agentrl.envs.common.catalogue.texts import Traits, wording
from agentrl.envs.common.catalogue.words import words

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PREFIX = "B0"
PLACES = 8
SPACE = 36**PLACES
_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)


class AsinCode:
    """A bijection between indexes and ids that depends on the seed, so that neighbours do not look alike."""

    def __init__(self, seed: int) -> None:
        digest = blake2b(b"%d|asin" % seed).digest()
        factor = int.from_bytes(digest[:8], "big") % SPACE
        while factor % 2 == 0 or factor % 3 == 0:  # it must have no divisor in common with 36**8
            factor += 1
        self._factor, self._offset = factor, int.from_bytes(digest[8:16], "big") % SPACE
        self._inverse = pow(factor, -1, SPACE)

    def encode(self, index: int) -> str:
        """The id of product number `index`."""
        rest = (index * self._factor + self._offset) % SPACE
        rest, d = divmod(rest, 1296)
        rest, c = divmod(rest, 1296)
        a, b = divmod(rest, 1296)
        return PREFIX + _PAIRS[a] + _PAIRS[b] + _PAIRS[c] + _PAIRS[d]

    def decode(self, asin: str) -> int | None:
        """The index of an id, in capitals; None for what is not an id. The index may lie outside the catalogue."""
        if len(asin) != len(PREFIX) + PLACES or not asin.startswith(PREFIX):
            return None
        # Python's own numbers to the base 36 would also take small letters, signs, underscores and other scripts.
        if not (asin.isascii() and asin.isalnum() and asin.isupper()):
            return None
        return (int(asin[len(PREFIX) :], 36) - self._offset) * self._inverse % SPACE


# ---------------------------------------------------------------------- the catalogue

SMALLEST, MAX_SIZE = 1_000, 1_180_000
RECENT = 1_024  # products remembered
VERSION = 1  # raise it with every change that changes products or goals


class GeneratedCatalogue:
    """`size` products, all decided by `seed`."""

    def __init__(self, seed: int = 0, size: int = 100_000) -> None:
        self.seed = whole_number("seed", seed, at_least=0)
        self.size = whole_number("size", size, at_least=SMALLEST, at_most=MAX_SIZE)
        self._blocks = self.size // BLOCK
        self._asins = AsinCode(self.seed)
        # A goal is written from the product that an agent is about to look at: it need not be made twice.
        self.product: Callable[[int], Product] = lru_cache(RECENT)(self._product)

    def __repr__(self) -> str:
        return f"GeneratedCatalogue(seed={self.seed}, size={self.size})"

    @property
    def fingerprint(self) -> str:
        """Changes with the seed, the size, the words and the way they are put together."""
        key = f"generated|{VERSION}|{words().digest}|{self.seed}|{self.size}"
        return f"generated-{self.size}-{blake2b(key.encode(), digest_size=8).hexdigest()}"

    def __reduce__(self) -> tuple:
        return GeneratedCatalogue, (self.seed, self.size)

    def __len__(self) -> int:
        return self.size

    def docid(self, index: int) -> str:
        """The id of product number `index`."""
        return self._asins.encode(self._checked(index))

    def index(self, asin: str) -> int | None:
        """The number of the product with this id, or None."""
        found = self._asins.decode(asin.upper())
        return found if found is not None and found < self.size else None

    def find(self, asin: str) -> Product | None:
        """The product with this id, in either case of letters, or None."""
        found = self.index(asin)
        return None if found is None else self.product(found)

    def entry(self, index: int) -> tuple[str, str, str]:
        """Id, indexed text and listing of product number `index`, its title written only once."""
        traits = self.traits(index)
        title, variant = texts.title(traits), traits.variant
        text = document_text(title, texts.description(traits), texts.first_bullet(traits), variant.options)
        return self._asins.encode(index), text, listing_note(title, price_tag(variant.pricing))

    def _product(self, index: int) -> Product:
        """Product number `index`."""
        traits = self.traits(index)
        asin, noun, variant = self._asins.encode(index), traits.family.noun, traits.variant
        return Product(
            asin=asin,
            title=texts.title(traits),
            description=texts.description(traits),
            bullets=texts.bullets(traits),
            category=noun.category,
            category_path=noun.path,
            query=noun.name,
            pricing=variant.pricing,
            price=price_within(variant.pricing, self.seed, asin),
            options=variant.options,
            attributes=_listed(traits),
        )

    def filed(self, index: int) -> tuple[str, str, tuple[str, ...]]:
        """Category, query and attributes of product number `index`: what special searches ask for, and no text."""
        traits = self.traits(index)
        return traits.family.noun.category, traits.family.noun.name, _listed(traits)

    def families(self) -> int:
        """How many families of siblings the catalogue holds."""
        return self._blocks * len(PLANS)

    def family(self, number: int) -> Family:
        """What the members of family number `number` share."""
        return families.family_of(self.seed, number)

    def members(self, number: int) -> range:
        """The indexes of a family's members; the wanted one is at place `family(number).target`."""
        first = families.first_index(number)
        return range(first, first + PLANS[number % len(PLANS)].size)

    def _checked(self, index: int) -> int:
        if not 0 <= index < self.size:
            raise IndexError(f"product {index} of a catalogue of {self.size}")
        return index

    def traits(self, index: int) -> Traits:
        """What product number `index` is made from, also the attributes that its text does not state."""
        rng = random_numbers(self.seed, b"product", self._checked(index))
        place = families.place_of(index, self._blocks)
        if place is None:
            family = families.alone(self.seed, index)
            variant = Variant(family.attributes, family.options, family.pricing)
        else:
            family = families.family_of(self.seed, place[0])
            variant = families.variant_of(family, place[1], rng)
        brand = pick(words().brands[family.noun.category], rng[14])
        return Traits(family, variant, rng, wording(family.noun), brand)


def _listed(traits: Traits) -> tuple[str, ...]:
    """The attributes that the catalogue has on record: the last ones of the family's choice."""
    attributes = traits.variant.attributes
    listed = [attribute.text for attribute in attributes[len(attributes) - traits.family.listed :]]
    return tuple(listed) or NO_ATTRIBUTES

"""A shop made from a seed: product number i can be computed alone, so that a catalogue of any size needs no storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b

from agentrl.core.arguments import whole_number
from agentrl.envs.webshop.catalogue import families, texts
from agentrl.envs.webshop.catalogue.asins import AsinCode
from agentrl.envs.webshop.catalogue.draws import Draws, draws, pick
from agentrl.envs.webshop.catalogue.families import BLOCK, PLANS, Family, Variant
from agentrl.envs.webshop.catalogue.wording import Wording, wording
from agentrl.envs.webshop.catalogue.words import words
from agentrl.envs.webshop.goals import Goal
from agentrl.envs.webshop.product import NO_ATTRIBUTES, Product, document_text, listing_note, price_tag, price_within

SMALLEST, LARGEST = 1_000, 1_180_000
RECENT = 1_024  # products remembered
VERSION = 1  # raise it with every change that changes products or goals


class GeneratedCatalogue:
    """`size` products and the goals that go with them, all decided by `seed`."""

    def __init__(self, seed: int = 0, size: int = 100_000) -> None:
        self.seed = whole_number("seed", seed, at_least=0)
        self.size = whole_number("size", size, at_least=SMALLEST, at_most=LARGEST)
        self._blocks = self.size // BLOCK
        self._asins = AsinCode(self.seed)
        # A goal is written from the product that its shopper is about to look for: it need not be made twice.
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

    def document(self, index: int) -> str:
        """The indexed text of product number `index`: cheaper than the product, and the same text."""
        return self.entry(index)[1]

    def entry(self, index: int) -> tuple[str, str, str]:
        """Id, indexed text and listing of product number `index`, its title written only once."""
        family, variant, d, says, brand = self._traits(index)
        name = texts.title(family, variant, says, brand, d)
        story = texts.description(family, variant, says, brand, d)
        text = document_text(name, story, texts.first_bullet(family, says, brand, d), variant.options)
        return self._asins.encode(index), text, listing_note(name, price_tag(variant.pricing))

    def _product(self, index: int) -> Product:
        """Product number `index`."""
        family, variant, d, says, brand = self._traits(index)
        asin = self._asins.encode(index)
        noun = family.noun
        return Product(
            asin=asin,
            title=texts.title(family, variant, says, brand, d),
            description=texts.description(family, variant, says, brand, d),
            bullets=texts.bullets(family, variant, says, brand, d),
            category=noun.category,
            category_path=noun.path,
            query=noun.name,
            pricing=variant.pricing,
            price=price_within(variant.pricing, self.seed, asin),
            options=variant.options,
            attributes=_listed(family, variant),
        )

    def filed(self, index: int) -> tuple[str, str, tuple[str, ...]]:
        """Category, query and attributes of product number `index`: what special searches ask for, and no text."""
        family, variant, *_ = self._traits(index)
        return family.noun.category, family.noun.name, _listed(family, variant)

    def variant(self, index: int) -> Variant:
        """What product number `index` has of its own: all its attributes, also those that nothing states."""
        return self._traits(index)[1]

    def listing(self, asin: str) -> tuple[str, str] | None:
        """Title and price tag of a product, as results show them: written anew, where `entry` was written once."""
        index = self.index(asin)
        if index is None:
            return None
        family, variant, d, says, brand = self._traits(index)
        return texts.title(family, variant, says, brand, d), price_tag(variant.pricing)

    def brand(self, index: int) -> str:
        """The made-up maker of product number `index`."""
        return self._traits(index)[4]

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

    def goals(self, split: str) -> Sequence[Goal]:
        """The goals of one split, computed one by one as they are asked for."""
        from agentrl.envs.webshop.catalogue.wishes import Wishes

        return Wishes(self, split)

    def _checked(self, index: int) -> int:
        if not 0 <= index < self.size:
            raise IndexError(f"product {index} of a catalogue of {self.size}")
        return index

    def _traits(self, index: int) -> tuple[Family, Variant, Draws, Wording, str]:
        d = draws(self.seed, b"product", self._checked(index))
        place = families.place_of(index, self._blocks)
        if place is None:
            family = families.alone(self.seed, index)
            variant = Variant(family.attributes, family.options, family.pricing)
        else:
            family = families.family_of(self.seed, place[0])
            variant = families.variant_of(family, place[1], d)
        return family, variant, d, wording(family.noun), pick(words().brands[family.noun.category], d[14])


def _listed(family: Family, variant: Variant) -> tuple[str, ...]:
    """The attributes that the catalogue has on record: the last ones of the family's choice."""
    listed = [attribute.text for attribute in variant.attributes[len(variant.attributes) - family.listed :]]
    return tuple(listed) or NO_ATTRIBUTES

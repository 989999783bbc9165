"""The hand-written words of the generated catalogue, read once and put in order."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from importlib.resources import files
from typing import Any, Literal

from agentrl.envs.common.catalogue.matching import same_option
from agentrl.envs.common.catalogue.product import PATH_SEPARATOR

Kind = Literal["adjective", "with", "for"]
BRANDS_PER_CATEGORY = 300
_INITIALS = frozenset({"bpa", "fm", "gmo", "gps", "hd", "hdmi", "ips", "lcd", "led", "msg", "pc", "rfid", "rgb", "sd"})
_INITIALS |= {"sos", "spf", "tv", "usb", "usda", "uv"}
_SMALL_WORDS = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})


@dataclass(frozen=True, slots=True, eq=False)  # there is one of each: comparing them by identity is quick
class Attribute:
    """Something a product can be, have or be meant for."""

    text: str
    kind: Kind
    title: str

    @property
    def phrase(self) -> str:
        """The attribute as it reads after a noun: "with argan oil", "for dry skin"; plain ones stay as they are."""
        return self.text if self.kind == "adjective" else f"{self.kind} {self.text}"


@dataclass(frozen=True, eq=False)
class Schema:
    """An option that customers choose, and all the values it can have."""

    option: str
    values: tuple[str, ...]

    @cached_property
    def clashes(self) -> dict[str, frozenset[str]]:
        """For each value those that the reward would accept in its place (itself among them)."""
        return {
            wanted: frozenset(value for value in self.values if same_option(value, wanted)) for wanted in self.values
        }

    @cached_property
    def _left(self) -> dict[frozenset[str], tuple[str, ...]]:
        return {}

    def can_lack(self, wanted: set[str]) -> bool:
        """Does `without` leave anything? Told without making the list."""
        taken = frozenset().union(*(self.clashes[value] for value in wanted))
        return any(value not in taken for value in self.values)

    def without(self, wanted: set[str]) -> tuple[str, ...]:
        """The values that satisfy none of those wanted; remembered, since families ask the same again and again."""
        key = frozenset(wanted)
        if (known := self._left.get(key)) is None:
            taken = frozenset().union(*(self.clashes[value] for value in key))
            known = self._left[key] = tuple(value for value in self.values if value not in taken)
        return known


@dataclass(frozen=True, eq=False)
class Noun:
    """One kind of product: its name, its place in the shop and what is said of its kind."""

    index: int
    article: str
    name: str
    category: str
    path: str
    price: float
    attributes: tuple[Attribute, ...]
    uses: tuple[str, ...]
    details: tuple[str, ...]
    tags: tuple[str, ...]
    schemas: tuple[Schema, ...]  # repeated by weight
    category_sentences: tuple[str, ...]

    @property
    def plural(self) -> bool:
        """True for things that come in the plural: boots, chips."""
        return " of" in self.article and self.name.endswith("s") and not self.name.endswith("ss")

    @property
    def sized(self) -> bool:
        """True for things that come in sizes and in colors, flavors or scents as well."""
        names = {schema.option for schema in self.schemas}
        return "size" in names and bool(names & {"color", "flavor name", "scent"})


@dataclass(frozen=True)
class Words:
    """All words, by the name of what they are for."""

    nouns: tuple[Noun, ...]
    nouns_by_category: dict[str, tuple[Noun, ...]]
    two_option_nouns: dict[str, tuple[Noun, ...]]  # those that come in sizes and in something else that is common
    shares: dict[str, float]
    brands: dict[str, tuple[str, ...]]
    sentences: dict[str, tuple[str, ...]]
    instructions: dict[str, tuple[str, ...]]
    digest: str  # of the file: part of a catalogue's fingerprint


@cache
def words() -> Words:
    """The words of the catalogue."""
    raw = files("agentrl.envs.common.catalogue").joinpath("words.toml").read_bytes()
    data = tomllib.loads(raw.decode("utf-8"))
    schemas = {name: Schema(entry["option"], tuple(entry["values"])) for name, entry in data["schemas"].items()}
    nouns = _nouns(data["categories"], schemas)
    categories = data["categories"]
    by_category = {name: tuple(noun for noun in nouns if noun.category == name) for name in categories}
    return Words(
        nouns=nouns,
        nouns_by_category=by_category,
        two_option_nouns={name: tuple(noun for noun in group if noun.sized) for name, group in by_category.items()},
        shares={name: category["share"] for name, category in categories.items()},
        brands={name: _brands(data["brands"], name) for name in categories},
        sentences={name: tuple(lines) for name, lines in data["sentences"].items()},
        instructions={name: tuple(lines) for name, lines in data["instructions"].items()},
        digest=blake2b(raw, digest_size=8).hexdigest(),
    )


def title_case(text: str) -> str:
    """Capitals as in titles: every word but the small ones."""
    return " ".join(
        word.upper() if word in _INITIALS else word if word in _SMALL_WORDS else word[:1].upper() + word[1:]
        for word in text.split(" ")
    )


def _nouns(categories: dict[str, Any], schemas: dict[str, Schema]) -> tuple[Noun, ...]:
    """Every kind of product. "a pair of ankle boots" is an article with "of" and a name, "an eye cream" one without."""
    found: list[Noun] = []
    for category, entry in categories.items():
        for group in entry["groups"].values():
            for place, line in enumerate(group["nouns"], 1):
                named, leaf, price = line.split(" : ")
                path = PATH_SEPARATOR.join((entry["root"], group["path"], leaf))
                article, of, name = named.partition(" of ")
                if of:
                    article += " of"
                else:
                    article, _, name = named.partition(" ")
                found.append(
                    Noun(
                        index=len(found),
                        article=article,
                        name=name,
                        category=category,
                        path=path,
                        price=float(price),
                        category_sentences=tuple(entry["sentences"]),
                        **_own(group, place, schemas),
                    )
                )
    return tuple(found)


def _own(group: dict[str, list[str]], place: int, schemas: dict[str, Schema]) -> dict[str, Any]:
    """What a group says that fits its noun number `place`, by the names of `Noun`'s fields."""
    own: dict[str, Any] = {}
    for key in ("attributes", "uses", "details", "tags", "options"):
        marked = [item.partition("@") for item in group[key]]  # the mark names the nouns that the item fits
        own[key] = tuple(text for text, _, places in marked if text and (not places or str(place) in places))
    weighted = [option.split("*") for option in own.pop("options")]
    own["schemas"] = tuple(schemas[name] for name, weight in weighted for _ in range(int(weight)))
    attributes = []
    for text in own["attributes"]:
        first, _, rest = text.partition(" ")
        if first == "with" or first == "for":
            attributes.append(Attribute(rest, first, title_case(rest)))
        else:
            attributes.append(Attribute(text, "adjective", title_case(text)))
    own["attributes"] = tuple(attributes)
    return own


def _brands(syllables: dict[str, list[str]], category: str) -> tuple[str, ...]:
    """Made-up names, always the same; which shop carries which does not depend on a catalogue's seed."""
    starts, middles, ends = (syllables[key] for key in ("starts", "middles", "ends"))
    names: dict[str, None] = {}
    count = 0
    while len(names) < BRANDS_PER_CATEGORY:
        a, b, c, short, *_ = blake2b(f"brand|{category}|{count}".encode(), digest_size=8).digest()
        middle = "" if short < 96 else middles[b % len(middles)]
        names[starts[a % len(starts)] + middle + ends[c % len(ends)]] = None
        count += 1
    return tuple(names)

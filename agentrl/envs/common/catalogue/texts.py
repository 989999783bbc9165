"""Title, bullets and description of one product, put together from its traits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import NamedTuple

from agentrl.envs.common.catalogue.families import Family, RandomNumbers, Variant, log_normal_table, pick, sample
from agentrl.envs.common.catalogue.words import Attribute, Noun, title_case, words

TURNS = 4  # how often each label for plain bullets is used, with another detail each time
BRAND = "{brand}"  # stays in prepared texts and is filled in last


class Wording:
    """The sentences of one noun. `BRAND` still stands in them where the brand belongs.

    Each kind is prepared when first asked for: results show titles only, and need none of them.
    """

    def __init__(self, noun: Noun) -> None:
        self._noun = noun
        one, many = ("is", "it", "has", "does", "comes"), ("are", "they", "have", "do", "come")
        this = f"{'these' if noun.plural else 'this'} {noun.name}"
        self._forms = dict(zip(one, many if noun.plural else one, strict=True))
        self._forms |= {"this": this, "This": "T" + this[1:]}
        self.title = title_case(noun.name)
        self.tags = noun.tags
        self.uses = {use: title_case(use) for use in noun.uses}
        self._openers: dict[str, tuple[str, ...]] = {}
        self._bullets: dict[str, tuple[str, ...]] = {}
        self._said: dict[tuple[Attribute, int], str] = {}
        self._labels: dict[Attribute, tuple[str, ...]] = {}

    def openers(self, use: str) -> tuple[str, ...]:
        """First sentences of descriptions."""
        if (known := self._openers.get(use)) is None:
            lines = words().sentences["openers"]
            known = self._openers[use] = tuple(self._fill(line, use=use) for line in lines)
        return known

    def plain_bullets(self, use: str) -> tuple[str, ...]:
        """Bullets that name no attribute."""
        if (known := self._bullets.get(use)) is None:
            labels, general = words().sentences["plain_labels"], words().sentences["general"]
            details = self._noun.details
            known = self._bullets[use] = tuple(
                self._fill(
                    label,
                    detail=details[(k + turn) % len(details)],
                    general=self._fill(general[(3 * k + 5 * turn) % len(general)]),
                    use=use,
                )
                for turn in range(TURNS)
                for k, label in enumerate(labels)
            )
        return known

    def says(self, attribute: Attribute, turn: int) -> str:
        """A sentence that states an attribute word for word; those of the next turns are phrased in other ways."""
        lines = words().sentences[f"attribute_{attribute.kind}"]
        key = attribute, turn % len(lines)
        if (known := self._said.get(key)) is None:
            known = self._said[key] = self._fill(lines[key[1]], attr=attribute.text)
        return known

    def labels(self, attribute: Attribute) -> tuple[str, ...]:
        """Beginnings of bullets that name an attribute; a detail follows."""
        if (known := self._labels.get(attribute)) is None:
            forms = {"Attr": attribute.title, "ATTR": attribute.text.upper(), "detail": ""}
            known = tuple(line.format(**forms) for line in words().sentences["bullet_labels"])
            self._labels[attribute] = known
        return known

    @property
    def details(self) -> tuple[str, ...]:
        """Sentences about the thing that fit after any label."""
        return self._noun.details

    def _fill(self, line: str, **further: str) -> str:
        return line.format(brand=BRAND, noun=self._noun.name, **self._forms, **further)

    @cached_property
    def pool(self) -> tuple[str, ...]:
        """Sentences for descriptions, kinds mixed so that neighbours in the pool differ."""
        noun = self._noun
        kinds = (noun.category_sentences, words().sentences["general"], noun.details)
        longest = max(len(kind) for kind in kinds)
        mixed = [kind[k] for k in range(longest) for kind in kinds if k < len(kind)]
        return tuple(self._fill(line) for line in mixed)

    @cached_property
    def plain_details(self) -> tuple[int, ...]:
        """For each plain bullet the number of the detail in it; -1 where there is none."""
        labels = words().sentences["plain_labels"]
        count = len(self._noun.details)
        return tuple(
            (k + turn) % count if "{detail}" in label else -1 for turn in range(TURNS) for k, label in enumerate(labels)
        )


@cache
def wording(noun: Noun) -> Wording:
    """The prepared sentences of a noun."""
    return Wording(noun)


# ---------------------------------------------------------------------- the texts of a product

_DESCRIPTION_SENTENCES = tuple(round(count) for count in log_normal_table(2.9, 1.32, 0, 36))
_TITLE_WORDS = (12, 13, 14, 15, 15, 16, 16, 17, 17, 18, 18, 19, 19, 20, 21, 22)
# Orders of a title's parts: describing words, name, "with ...", "for ...", the rest; the brand where it says so.
_LAYOUTS = (
    ("brand", "adjectives", "noun", "with", "for", ",", "rest"),
    ("brand", "noun", "with", ",", "list", ",", "for", ",", "rest"),
    ("adjectives", "noun", "with", "for", ",", "rest", "-", "brand"),
    ("brand", "adjectives", "noun", ",", "with", ",", "for", ",", "rest"),
    ("noun", "for", "by", "brand", ",", "list", ",", "with", ",", "rest"),
    ("brand", "-", "adjectives", "noun", "for", "with", ",", "rest"),
)
_GLUE = {",": ", ", "-": " - ", "by": " by "}


class Traits(NamedTuple):
    """All that the texts of one product are made from."""

    family: Family
    variant: Variant
    rng: RandomNumbers
    wording: Wording
    brand: str

    def stated(self, place: str) -> list[Attribute]:
        """The attributes that this part of the text names."""
        placed = zip(self.variant.attributes, self.family.places, strict=True)
        return [attribute for attribute, where in placed if where == place]


def title(traits: Traits) -> str:
    """A title of about 12 to 22 words."""
    family, variant, rng, wording, brand = traits
    named: dict[str, list[str]] = {"adjective": [], "with": [], "for": []}
    for attribute, where in zip(variant.attributes, family.places, strict=True):
        if where == "title":
            named[attribute.kind].append(attribute.title)
    adjectives, features, aims = named.values()
    layout = pick(_LAYOUTS, rng[0])
    parts = {
        "brand": brand,
        "noun": wording.title,
        "with": "with " + " and ".join(features) if features else "",
        "for": "for " + " and ".join(aims) if aims else "",
    }
    if "list" in layout:
        parts["list"] = ", ".join(adjectives)
        surplus: list[str] = []
    else:
        parts["adjectives"], surplus = " ".join(adjectives[:2]), adjectives[2:]
    # What fills a title up to its length: further attributes, the use, tags.
    wanted = pick(_TITLE_WORDS, rng[1])
    have = " ".join([*filter(None, parts.values()), *surplus]).count(" ") + 1
    if have < wanted:
        for filler in ("Made for " + wording.uses[family.use], *sample(wording.tags, 5, rng[2], rng[3])):
            surplus.append(filler)
            have += filler.count(" ") + 1
            if have >= wanted:
                break
    parts["rest"] = ", ".join(surplus)
    text, glue = "", ""
    for name in layout:
        if name in _GLUE:
            glue = glue if glue == " - " else _GLUE[name]
        elif part := parts[name]:
            text = f"{text}{glue or ' '}{part}" if text else part
            glue = ""
    return text


def description(traits: Traits) -> str:
    """An opening, what must be stated here, and anything between nothing and some 300 words more."""
    family, variant, rng, wording, brand = traits
    lines = [pick(wording.openers(family.use), rng[4])]
    if variant.loud:
        lines += _statements(variant.attributes[: family.plan.attributes], traits)
        return " ".join(lines).replace(BRAND, brand)
    lines += _statements(traits.stated("description"), traits)
    lines += sample(wording.pool, pick(_DESCRIPTION_SENTENCES, rng[6]), rng[7], rng[8])
    return " ".join(lines).replace(BRAND, brand)


def _statements(attributes: Sequence[Attribute], traits: Traits) -> list[str]:
    """A sentence for each attribute, each phrased in another way."""
    return [traits.wording.says(attribute, traits.rng[5] + k) for k, attribute in enumerate(attributes)]


def first_bullet(traits: Traits) -> str:
    """The one bullet that the search engine reads; it names no attribute that other parts are meant to hold."""
    bullets = traits.wording.plain_bullets(traits.family.use)
    return pick(bullets, traits.rng[9]).replace(BRAND, traits.brand)


def bullets(traits: Traits) -> tuple[str, ...]:
    """Four to six bullets, more where many attributes are to be named; those come after the first."""
    family, _, rng, wording, brand = traits
    plain, about = wording.plain_bullets(family.use), wording.plain_details
    place = rng[9] * len(plain) >> 16
    lines, told = [plain[place]], {about[place]}
    detail = rng[10]
    for attribute in traits.stated("bullets"):
        detail = (detail + 1) % len(wording.details)
        lines.append(pick(wording.labels(attribute), rng[11]) + wording.details[detail])
        told.add(detail)
    missing = 4 + (rng[12] * 3 >> 16) - len(lines)
    for _ in range(len(plain) if missing > 0 else 0):
        place = (place + 9) % len(plain)
        if about[place] not in told:  # nothing is told twice, and there is one promise at most
            told.add(about[place])
            lines.append(plain[place])
            missing -= 1
            if not missing:
                break
    return tuple("\n".join(dict.fromkeys(lines)).replace(BRAND, brand).split("\n"))

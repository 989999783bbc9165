"""Title, bullets and description of one product, put together from its traits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentrl.envs.common.catalogue.families import Family, Variant
from agentrl.envs.common.catalogue.random_numbers import RandomNumbers, log_normal_table, pick, sample
from agentrl.envs.common.catalogue.wording import BRAND, Wording
from agentrl.envs.common.catalogue.words import Attribute

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
    parts["rest"] = _rest(surplus, parts, traits)
    return _lay_out(layout, parts)


def _rest(pieces: list[str], parts: dict[str, str], traits: Traits) -> str:
    """What fills a title up to its length: further attributes, the use, tags."""
    wording, rng = traits.wording, traits.rng
    wanted = pick(_TITLE_WORDS, rng[1])
    have = " ".join([*filter(None, parts.values()), *pieces]).count(" ") + 1
    if have < wanted:
        for filler in ("Made for " + wording.uses[traits.family.use], *sample(wording.tags, 5, rng[2], rng[3])):
            pieces.append(filler)
            have += filler.count(" ") + 1
            if have >= wanted:
                break
    return ", ".join(pieces)


def _lay_out(layout: tuple[str, ...], parts: dict[str, str]) -> str:
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

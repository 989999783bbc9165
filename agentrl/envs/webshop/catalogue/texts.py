"""Title, bullets and description of one product, put together from its traits and its own draws."""

from __future__ import annotations

from collections.abc import Sequence

from agentrl.envs.webshop.catalogue.draws import Draws, log_normal_table, pick, sample
from agentrl.envs.webshop.catalogue.families import Family, Variant
from agentrl.envs.webshop.catalogue.wording import BRAND, Wording
from agentrl.envs.webshop.catalogue.words import Attribute

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


def stated(family: Family, variant: Variant, place: str) -> list[Attribute]:
    """The attributes that this part of the text names."""
    return [attribute for attribute, where in zip(variant.attributes, family.places, strict=True) if where == place]


def title(family: Family, variant: Variant, says: Wording, brand: str, d: Draws) -> str:
    """A title of about 12 to 22 words."""
    named: dict[str, list[str]] = {"adjective": [], "with": [], "for": []}
    for attribute, where in zip(variant.attributes, family.places, strict=True):
        if where == "title":
            named[attribute.kind].append(attribute.title)
    adjectives, features, aims = named.values()
    layout = pick(_LAYOUTS, d[0])
    parts = {
        "brand": brand,
        "noun": says.title,
        "with": "with " + " and ".join(features) if features else "",
        "for": "for " + " and ".join(aims) if aims else "",
    }
    if "list" in layout:
        parts["list"] = ", ".join(adjectives)
        surplus: list[str] = []
    else:
        parts["adjectives"], surplus = " ".join(adjectives[:2]), adjectives[2:]
    parts["rest"] = _rest(surplus, parts, says, family.use, d)
    return _lay_out(layout, parts)


def _rest(pieces: list[str], parts: dict[str, str], says: Wording, use: str, d: Draws) -> str:
    """What fills a title up to its length: further attributes, the use, tags."""
    wanted = pick(_TITLE_WORDS, d[1])
    have = " ".join([*filter(None, parts.values()), *pieces]).count(" ") + 1
    if have < wanted:
        for filler in ("Made for " + says.uses[use], *sample(says.tags, 5, d[2], d[3])):
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


def description(family: Family, variant: Variant, says: Wording, brand: str, d: Draws) -> str:
    """An opening, what must be stated here, and anything between nothing and some 300 words more."""
    lines = [pick(says.openers(family.use), d[4])]
    if variant.loud:
        lines += _statements(variant.attributes[: family.plan.attributes], says, d)
        return " ".join(lines).replace(BRAND, brand)
    lines += _statements(stated(family, variant, "description"), says, d)
    lines += sample(says.pool, pick(_DESCRIPTION_SENTENCES, d[6]), d[7], d[8])
    return " ".join(lines).replace(BRAND, brand)


def _statements(attributes: Sequence[Attribute], says: Wording, d: Draws) -> list[str]:
    """A sentence for each attribute, each phrased in another way."""
    return [says.says(attribute, d[5] + k) for k, attribute in enumerate(attributes)]


def first_bullet(family: Family, says: Wording, brand: str, d: Draws) -> str:
    """The one bullet that the search engine reads; it names no attribute that other parts are meant to hold."""
    return pick(says.plain_bullets(family.use), d[9]).replace(BRAND, brand)


def bullets(family: Family, variant: Variant, says: Wording, brand: str, d: Draws) -> tuple[str, ...]:
    """Four to six bullets, more where many attributes are to be named; those stand behind the first."""
    plain, about = says.plain_bullets(family.use), says.plain_details
    place = d[9] * len(plain) >> 16
    lines, told = [plain[place]], {about[place]}
    detail = d[10]
    for attribute in stated(family, variant, "bullets"):
        detail = (detail + 1) % len(says.details)
        lines.append(pick(says.labels(attribute), d[11]) + says.details[detail])
        told.add(detail)
    missing = 4 + (d[12] * 3 >> 16) - len(lines)
    for _ in range(len(plain) if missing > 0 else 0):
        place = (place + 9) % len(plain)
        if about[place] not in told:  # nothing is told twice, and there is one promise at most
            told.add(about[place])
            lines.append(plain[place])
            missing -= 1
            if not missing:
                break
    return tuple("\n".join(dict.fromkeys(lines)).replace(BRAND, brand).split("\n"))

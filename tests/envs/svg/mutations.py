"""Seeded damage to SVG files: what a fuzzer does, with a vocabulary that knows where it hurts."""

from __future__ import annotations

import random
import re

NUMBER = re.compile(r"\d+(?:\.\d+)?")
VALUE = re.compile(r'="[^"]*"')
NAME = re.compile(r"(?<=[<\s])[a-zA-Z-]+")
ATTRIBUTE = re.compile(r"(?<=\s)[a-zA-Z:-]+(?==)")
ELEMENT = re.compile(r"<[a-zA-Z]+(?:\s[^<>]*)?/>")
TAG_END = re.compile(r"(?<=>)")
NUMBERS = ("nan", "inf", "-1", "0", "1e308", "1e-308", "99999", "1e5", "-0", "1e", "0x10", "1_0", "٣", "50%", "3em", "")
WORDS = (
    *("script", "image", "use", "g", "svg", "mask", "pattern", "clipPath", "foreignObject", "style", "text", "tspan"),
    *("href", "xlink:href", "fill", "stroke", "id", "class", "mask", "clip-path", "filter", "transform", "d", "font"),
)
PIECES = (
    *(
        "<g>",
        "</g>",
        "<!--",
        "-->",
        "]]>",
        "<![CDATA[",
        "&a;",
        "&#0;",
        "&lt;",
        "<?x ?>",
        '"',
        "'",
        ">",
        "<",
        "{",
        "}",
        "\\",
    ),
    *("url(#a)", "url(", "/*", "*/", "!important", "@import", ";", "\x00", "\ud800", "\u202e", "é", "\t\n"),
    *(
        '<use href="#a"/>',
        "<style>*{fill:url(#g)}</style>",
        '<image href="#a"/>',
        ' id="a"',
        ' id="g"',
        ' style="fill:red"',
    ),
)


ATTRIBUTES = (
    *(
        "href",
        "xlink:href",
        "fill",
        "stroke",
        "id",
        "class",
        "mask",
        "clip-path",
        "filter",
        "transform",
        "d",
        "marker-end",
    ),
    *(
        "style",
        "x",
        "width",
        "r",
        "rx",
        "points",
        "viewBox",
        "stroke-width",
        "stroke-dasharray",
        "opacity",
        "font-size",
    ),
)


def mutate(rng: random.Random, corpus: list[str], host: str, folder: str) -> str:
    """One file of the corpus after one to four kinds of damage; in most, all of them leave it well-formed."""
    code = rng.choice(corpus)
    places = (f"http://{host}/m", f"{folder}/canary.svg", f"file://{folder}/canary.png")
    operations = ROUGH if rng.random() < 0.25 else CAREFUL
    for _ in range(rng.randint(1, 4)):
        code = rng.choice(operations)(rng, code, corpus, places)
    return code


def _span(rng: random.Random, code: str) -> tuple[int, int]:
    start = rng.randrange(len(code) + 1)
    return start, min(len(code), start + rng.choice((1, 2, 5, 20, 100)))


def _cut(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    start, end = _span(rng, code)
    return code[:start] + code[end:]


def _repeat(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    start, end = _span(rng, code)
    return code[:end] + code[start:end] * rng.choice((1, 2, 50)) + code[end:]


def _splice(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    other = rng.choice(corpus)
    start, end = _span(rng, other)
    place = rng.randrange(len(code) + 1)
    return code[:place] + other[start:end] + code[place:]


def _insert(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    place = rng.randrange(len(code) + 1)
    return code[:place] + rng.choice(PIECES) + code[place:]


def _flip(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    if not code:
        return code
    place = rng.randrange(len(code))
    return code[:place] + chr(ord(code[place]) ^ (1 << rng.randrange(7))) + code[place + 1 :]


def _swap(rng: random.Random, code: str, pattern: re.Pattern[str], replacement: str) -> str:
    found = list(pattern.finditer(code))
    if not found:
        return code
    inside = [match for match in found if match.start() > code.find(">", code.find("<svg"))]
    match = rng.choice(inside if inside and rng.random() < 0.9 else found)  # the root has the easiest things to break
    return code[: match.start()] + replacement + code[match.end() :]


def _number(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    return _swap(rng, code, NUMBER, rng.choice(NUMBERS))


def _word(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    return _swap(rng, code, NAME, rng.choice(WORDS))


def _address(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    place = rng.choice(places)
    form = rng.choice(("{}", "{}#a", "url({})", "url('{}#a')", "#a", "url(#a)", "url(#g)"))
    return _swap(rng, code, VALUE, f'="{form.format(place)}"')


def _rename(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    return _swap(rng, code, ATTRIBUTE, rng.choice(ATTRIBUTES))


def _move_value(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    values = VALUE.findall(rng.choice(corpus)) or ['=""']
    return _swap(rng, code, VALUE, rng.choice(values))


def _add_element(rng: random.Random, code: str, corpus: list[str], places: tuple[str, ...]) -> str:
    elements = ELEMENT.findall(rng.choice(corpus)) or ["<g/>"]
    return _swap(rng, code, TAG_END, rng.choice(elements) * rng.choice((1, 1, 30)))


ROUGH = (_cut, _repeat, _splice, _insert, _flip, _word)
CAREFUL = (_number, _number, _address, _rename, _move_value, _add_element)

"""Style sheets: rules out of text. Only what the embedded sites use is read (see `style`); the rest is skipped."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

Declarations = dict[str, Any]
_SIDES = ("top", "right", "bottom", "left")
_BRACE = re.compile(r"[{}]")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMPOUND = re.compile(r"(\*|[\w-]+)?((?:[.#][\w-]+)*)")
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(px|em|rem|%|fr)?")
_STYLES = {"none", "hidden", "solid", "dashed", "dotted", "double", "groove", "ridge", "inset", "outset"}
_KEYWORD_LENGTHS = {"thin": 1.0, "medium": 3.0, "thick": 5.0}


class Em(NamedTuple):
    """A length in font sizes."""

    size: float


class Percent(NamedTuple):
    """A share of what the parent offers."""

    share: float


class Fraction(NamedTuple):
    """A share of the space that is left over in a grid."""

    share: float


class Compound(NamedTuple):
    """One element of a selector: `a.button#buy`. `child` says that the element before it must be the parent."""

    tag: str  # "" for any
    identifier: str
    classes: frozenset[str]
    child: bool


class Rule(NamedTuple):
    """What a style sheet declares for elements that a selector matches."""

    selector: tuple[Compound, ...]
    specificity: tuple[int, int, int]
    declarations: Declarations
    important: Declarations


class Sheet:
    """Rules in the order of the text, found by the last element of their selectors."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._rules: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        self.identifiers: set[str] = set()
        self.classes: set[str] = set()
        for order, rule in enumerate(rule for text in texts for rule in parse(text)):
            for compound in rule.selector:
                self.classes |= compound.classes
                self.identifiers |= {compound.identifier} - {""}
            last = rule.selector[-1]
            key = f"#{last.identifier}" if last.identifier else f".{min(last.classes)}" if last.classes else last.tag
            self._rules[key].append((order, rule))

    def candidates(self, tag: str, identifier: str, classes: Iterable[str]) -> Iterator[tuple[int, Rule]]:
        """Rules that may match an element, with their places in the text."""
        yield from self._rules.get("", ())
        yield from self._rules.get(tag, ())
        if identifier:
            yield from self._rules.get(f"#{identifier}", ())
        for name in classes:
            yield from self._rules.get(f".{name}", ())


def parse(text: str) -> Iterator[Rule]:
    """The rules of a style sheet. At-rules, unknown selectors and states such as `:hover` are skipped."""
    text = _COMMENT.sub(" ", text)
    at = 0
    while (opening := text.find("{", at)) >= 0:
        prelude = text[at:opening].rpartition(";")[2].strip()
        closing, depth = len(text), 0
        for brace in _BRACE.finditer(text, opening):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                closing = brace.start()
                break
        at = closing + 1
        if prelude.startswith("@"):
            continue
        declarations, important = declare(text[opening + 1 : closing])
        for part in prelude.split(","):
            selector = _selector(part)
            if selector is not None:
                specificity = (
                    sum(bool(compound.identifier) for compound in selector),
                    sum(len(compound.classes) for compound in selector),
                    sum(bool(compound.tag) for compound in selector),
                )
                yield Rule(selector, specificity, declarations, important)


def _selector(text: str) -> tuple[Compound, ...] | None:
    compounds: list[Compound] = []
    child = False
    for part in text.replace(">", " > ").split():
        if part == ">":
            child = True
            continue
        found = _COMPOUND.fullmatch(part)
        if found is None:
            return None
        names = re.findall(r"[.#][\w-]+", found[2])
        identifier = next((name[1:] for name in names if name[0] == "#"), "")
        classes = frozenset(name[1:] for name in names if name[0] == ".")
        compounds.append(Compound((found[1] or "").lower().replace("*", ""), identifier, classes, child))
        child = False
    return tuple(compounds) or None


def declare(text: str) -> tuple[Declarations, Declarations]:
    """The declarations of a rule or a `style` attribute: ordinary and `!important` ones."""
    ordinary: Declarations = {}
    important: Declarations = {}
    for declaration in text.split(";"):
        name, colon, value = declaration.partition(":")
        if not colon:
            continue
        value, mark, _ = value.lower().partition("!important")
        (important if mark else ordinary).update(_expand(name.strip().lower(), value.strip()))
    return ordinary, important


def _expand(name: str, value: str) -> Declarations:
    """Longhand properties with parsed values; none where the value cannot be read."""
    if value in ("inherit", "initial"):
        return {part: value for part in (("font-size", "line-height") if name == "font" else (name,))}
    if name == "line-height" and re.fullmatch(r"[\d.]+", value):
        return {name: Em(float(value))} if length(value) is not None else {}
    expand = _SHORTHANDS.get(name)
    if expand is not None:
        return expand(name, value)
    if name in _LENGTHS:
        found = length(value)
        return {} if found is None else {name: found}
    if name in _KEYWORDS:
        return {name: value}
    return {}


def length(text: str) -> float | Em | Percent | Fraction | str | None:
    """A length, "auto", "normal" or "none"; None if it is anything else."""
    if text in ("auto", "normal", "none"):
        return text
    found = _NUMBER.fullmatch(text)
    if found is None:
        return _KEYWORD_LENGTHS.get(text)
    number = float(found[1])
    match found[2]:
        case "em" | "rem":
            return Em(number)
        case "%":
            return Percent(number / 100)
        case "fr":
            return Fraction(number)
    return number


def _four(name: str, value: str) -> Declarations:
    """`margin`, `padding`, `border-width` and `border-color`: one to four values around the box."""
    values = value.split() if name == "border-color" else [length(part) for part in value.split()]
    if not 1 <= len(values) <= 4 or None in values:
        return {}
    top = values[0]
    right = values[1] if len(values) > 1 else top
    bottom = values[2] if len(values) > 2 else top
    left = values[3] if len(values) > 3 else right
    kind, dash, what = name.partition("-")
    names = (f"{kind}-{side}{dash}{what}" for side in _SIDES)
    return dict(zip(names, (top, right, bottom, left), strict=True))


def _border(name: str, value: str) -> Declarations:
    """`border` and `border-top`: width and colour."""
    parts = value.split()
    lengths = [length(part) for part in parts]
    widths = [found for found in lengths if isinstance(found, float)]
    width = 0.0 if "none" in parts or "hidden" in parts else widths[0] if widths else 3.0
    sides = _SIDES if name == "border" else (name.removeprefix("border-"),)
    words = {part for part in parts if part.isalpha()} - _STYLES - _KEYWORD_LENGTHS.keys()
    colours = [part for part in parts if part[0] == "#" or part in words]
    found: Declarations = {f"border-{side}-width": width for side in sides}
    return found | {f"border-{side}-color": colours[0] if colours else "" for side in sides}


def _gap(name: str, value: str) -> Declarations:
    parts = [length(part) for part in value.split()]
    return {"row-gap": parts[0], "column-gap": parts[-1]} if parts and None not in parts else {}


def _flex(name: str, value: str) -> Declarations:
    if value == "none":
        return {"flex-grow": 0.0, "flex-shrink": 0.0, "flex-basis": "auto"}
    if value == "auto":
        return {"flex-grow": 1.0, "flex-shrink": 1.0, "flex-basis": "auto"}
    found: Declarations = {"flex-grow": 1.0, "flex-shrink": 1.0, "flex-basis": 0.0}
    numbers = iter(("flex-grow", "flex-shrink"))
    for part in value.split():
        if re.fullmatch(r"\d+\.?\d*|\.\d+", part) and (key := next(numbers, None)):
            found[key] = float(part)
        else:
            found["flex-basis"] = length(part) or 0.0
    return found


def _font(name: str, value: str) -> Declarations:
    """`font: inherit`, or a size and a line height with a slash between them."""
    found = re.search(r"(\d+\.?\d*px)\s*(?:/\s*(\d+\.?\d*px))?", value)
    if not found:
        return {}
    return {"font-size": length(found[1]), "line-height": length(found[2]) if found[2] else "normal"}


def _columns(name: str, value: str) -> Declarations:
    repeated = re.sub(r"repeat\(\s*(\d{1,3})\s*,([^()]*)\)", lambda found: f"{found[2]} " * int(found[1]), value)
    tracks = [length(part) for part in repeated.replace("minmax(0,", " ").replace(")", " ").split()]
    return {} if None in tracks else {name: tuple(tracks)}


def _flow(name: str, value: str) -> Declarations:
    return {"flex-wrap" if "wrap" in part else "flex-direction": part for part in value.split()}


_SHORTHANDS = {
    "margin": _four, "padding": _four, "border": _border, "border-width": _four,
    "border-color": _four, "gap": _gap, "grid-gap": _gap,
    "flex": _flex, "font": _font, "grid-template-columns": _columns, "flex-flow": _flow,
    **{f"border-{side}": _border for side in _SIDES},
}  # fmt: skip
_LENGTHS = {
    "width", "height", "min-height", "min-width", "max-width", "max-height", "row-gap", "column-gap", "font-size",
    "line-height", "flex-grow", "flex-shrink", "flex-basis", "text-indent", "z-index", *_SIDES,
    *(f"{kind}-{side}" for kind in ("margin", "padding") for side in _SIDES),
    *(f"border-{side}-width" for side in _SIDES),
}  # fmt: skip
_KEYWORDS = {
    "display", "box-sizing", "text-align", "vertical-align", "white-space", "overflow", "overflow-wrap", "word-break",
    "visibility", "cursor", "flex-wrap", "flex-direction", "align-items", "align-self", "justify-content",
    "background", "background-color", "outline", "table-layout", "overflow-x", "overflow-y", "border-collapse",
    "list-style", "grid-column", "color", "border-radius", "text-decoration", "text-overflow", "position",
    *(f"border-{side}-color" for side in _SIDES),
}  # fmt: skip

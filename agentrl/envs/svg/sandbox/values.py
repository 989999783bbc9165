"""What may stand in an SVG, and how one is refused: elements, attributes, and one check for each kind of value.

An attribute is let through only if the renderer reads it; all others are left out of what is drawn, so that nothing
hides in them. Elements are of three kinds: drawn ones, silent ones (they draw nothing; they are emptied but keep their
place, because selectors count siblings), and all the rest, for which the whole file is refused.

Each check returns the value as it will be written, or refuses it. References are written anew, in one form only, so
that the renderer cannot read another target out of them than the one that was checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from agentrl.core.errors import AgentRLError

REASONS = (
    "empty",  # no text at all
    "too_long",
    "encoding",  # half surrogates, null characters, a declared encoding that text cannot have
    "not_xml",
    "not_svg",  # well-formed, but its root is no <svg> of the SVG namespace
    "entity",  # an entity is declared or cannot be resolved
    "doctype_internal_subset",
    "too_deep",
    "too_many_nodes",
    "element",  # one that is not allowed, such as script or image
    "attribute",  # a value that no such attribute has
    "css",  # style that cannot be checked
    "reference",  # leads out of the document
    "number",  # not a number, or far too large
    "size",  # a canvas or a view that cannot be drawn
    "text",  # too many letters
    "cycle",  # something that contains itself
    "expansion",  # references or dashes multiply to too much work
    # The reasons above are the gate's, those below the drawing process's.
    "undrawable",  # it passed the gate, but the renderer found no sense in it
    "timeout",
    "memory",
    "crash",
)


class SvgRefused(AgentRLError, ValueError):
    """This SVG is not drawn; `reason` is one of `REASONS`, `detail` one line for the author of the code.

    Always the doing of the code's author: faults of the machinery are `WorkerFault`s.
    """

    def __init__(self, reason: str, detail: str) -> None:
        if reason not in REASONS:
            raise ValueError(f"unknown reason {reason!r}")
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail

    def __reduce__(self) -> tuple:
        return type(self), (self.reason, self.detail)


@dataclass(frozen=True)
class Limits:
    """How much an SVG may ask for; the defaults leave room for any ordinary icon of up to 64 KB."""

    bytes: int = 65_536
    """Length as UTF-8."""
    nodes: int = 4_000
    """Elements in the file, those counted that are not drawn."""
    depth: int = 48
    """Elements inside each other in the file."""
    nesting: int = 64
    """The same after following references; the renderer calls itself at every level."""
    letters: int = 2_000
    """Characters of drawn text."""
    value: int = 4_096
    """Characters of one attribute other than path data and points."""
    number: float = 1e6
    """The largest coordinate, length or factor."""
    font_size: float = 10_000
    """The largest size of text, in any unit."""
    rules: int = 400
    """Rules in style sheets."""
    expansion: float = 20_000
    """Elements drawn after following references; long paths and dashes count in proportion."""


# ---------------------------------------------------------------------- which elements and attributes pass

SHAPES = frozenset({"circle", "ellipse", "line", "path", "polygon", "polyline", "rect"})
TEXTS = frozenset({"a", "text", "textPath", "tspan"})
GRADIENTS = frozenset({"linearGradient", "radialGradient"})
# Drawn only where something refers to them.
HIDDEN = frozenset({"clipPath", "defs", "filter", "marker", "mask", "pattern", "symbol", *GRADIENTS})
# What the renderer fills and strokes; a container too, though with an empty path.
PAINTED = SHAPES | TEXTS | {"svg", "use"}

FILTER_PARTS = frozenset(
    {
        *("feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting"),
        *("feDisplacementMap", "feDistantLight", "feDropShadow", "feFlood", "feFuncA", "feFuncB", "feFuncG"),
        *("feFuncR", "feGaussianBlur", "feMerge", "feMergeNode", "feMorphology", "feOffset", "fePointLight"),
        *("feSpecularLighting", "feSpotLight", "feTile", "feTurbulence"),
    }
)
DRAWN = SHAPES | TEXTS | HIDDEN | FILTER_PARTS | {"svg", "g", "use", "switch", "stop", "style"}
SILENT = frozenset(
    {
        *("title", "desc", "metadata", "view"),
        *("animate", "animateColor", "animateMotion", "animateTransform", "set", "mpath", "discard"),
    }
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Name -> how its value is checked below.
ATTRIBUTES: dict[str, str] = {
    **dict.fromkeys(_names("d points"), "geometry"),
    **dict.fromkeys(_names("fill stroke"), "paint"),
    **dict.fromkeys(_names("clip-path mask filter marker marker-start marker-mid marker-end"), "target"),
    **dict.fromkeys(_names("font-family font"), "font"),
    **dict.fromkeys(_names("id class type requiredFeatures requiredExtensions systemLanguage"), "name"),
    **dict.fromkeys(
        _names(
            """
            x y width height rx ry r cx cy fx fy x1 x2 y1 y2 dx dy rotate offset startOffset refX refY orient
            markerWidth markerHeight markerUnits preserveAspectRatio transform transform-origin gradientTransform
            patternTransform gradientUnits patternUnits patternContentUnits maskUnits clipPathUnits primitiveUnits
            spreadMethod mode opacity fill-opacity stroke-opacity stop-opacity flood-opacity color stop-color
            flood-color fill-rule stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dashoffset
            stroke-dasharray display visibility overflow clip shape-rendering text-rendering font-style font-weight
            font-size text-anchor letter-spacing dominant-baseline alignment-baseline display-anchor viewBox
            """
        ),
        "plain",
    ),
}
# Declarations reach the renderer exactly like attributes; these would change what is what.
PROPERTIES: dict[str, str] = {
    name: kind for name, kind in ATTRIBUTES.items() if kind != "name" and name == name.lower()
}
OUTLINES = ("d", "points")
LENGTHS = ("x1", "y1", "x2", "y2", "width", "height", "r", "rx", "ry")
GEOMETRY = frozenset({*OUTLINES, *LENGTHS})  # how long an outline is
MARKERS = ("marker", "marker-start", "marker-mid", "marker-end")


# ---------------------------------------------------------------------- what their values may be

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
# Most values: a word or a number of few digits. Anything else takes the long way.
ORDINARY = re.compile(r"-?(?:\d{1,6}(?:\.\d*)?|\.\d+)(?:px|%)?|[a-hj-mo-zA-HJ-MO-Z][a-zA-Z-]{0,30}|none", re.ASCII)
# Where a number could hide that is too large or none at all.
SUSPECT = re.compile(r"(?<![\d.])\d{7,}|[eE]\+?\d|[nN][aA][nN]|[iI][nN][fF]|_", re.ASCII)
NOT_FINITE = re.compile(r"(?<![a-z])(?:nan|inf|infinity)(?![a-z])|\d_\d", re.I | re.ASCII)
SHARE = re.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?)%\s*", re.ASCII)
GLANCE = 1e6  # the limit that the two patterns above are made for
HASH_WORD = re.compile(r"#[\w-]+")
PLAIN = re.compile(r"[\w#%.,()+\-/*!\s]*", re.ASCII)
OUTLINE = re.compile(r"[MmZzLlHhVvCcSsQqTtAa0-9eE+\-.,\s]*", re.ASCII)
FONT = re.compile(r"(?:[\w .,/%+-]|\"[\w .-]*\"|'[\w .-]*')*")
NAME = re.compile(r"[^\"\\<>\x00-\x1f]*")
FRAGMENT = re.compile(r"\s*#([^\s\"'()\\<>#]+)\s*")
URL = re.compile(r"\s*url\(\s*([\"']?)#([^\s\"'()\\<>#]+)\1\s*\)\s*([\w#%.,()+\-/\s]*)", re.I | re.ASCII)


def checked_value(name: str, value: str, limits: Limits) -> str:
    """The value of an allowed attribute or property as it may be written; refused if it may not."""
    kind = ATTRIBUTES[name]
    if kind == "geometry":
        if not OUTLINE.fullmatch(value):
            why = f"{name} holds more than letters of path commands and numbers: {value[:60]!a}"
            raise SvgRefused("attribute", why)
        refuse_wild_numbers(name, value, limits.number)
        return value
    if len(value) > limits.value:
        raise SvgRefused("attribute", f"{name} has {len(value)} characters, at most {limits.value} are allowed")
    if kind == "plain":
        return _plain(name, value, limits)
    if kind in ("paint", "target"):
        found = URL.fullmatch(value) if "(" in value else None
        if found is None:
            return _plain(name, value, limits)
        written, fallback = f"url(#{found[2]})", found[3].strip()
        return f"{written} {_plain(name, fallback, limits)}" if fallback else written
    if not (FONT if kind == "font" else NAME).fullmatch(value):
        _complain(name, value)
    if name == "font":
        refuse_wild_numbers(name, value, limits.font_size)
    return value


def target_of(value: str) -> str | None:
    """The id that a checked value refers to, if it is a reference."""
    return value[5 : value.index(")")] if value.startswith("url(#") else None


def checked_href(value: str) -> str:
    """The id that an href names; only the document itself can be referred to."""
    found = FRAGMENT.fullmatch(value)
    if not found:
        raise SvgRefused("reference", f"href may only be #id of this drawing, not {value[:60]!a}")
    return found[1]


def _plain(name: str, value: str, limits: Limits) -> str:
    if name.endswith("opacity") and (share := SHARE.fullmatch(value)):
        value = f"{float(share[1]) / 100:g}"  # models write 50%, which the renderer does not read
    if limits.number < GLANCE or not ORDINARY.fullmatch(value):
        if not PLAIN.fullmatch(value):
            _complain(name, value)
        if "url" in value.lower():
            raise SvgRefused("reference", f"{name} may only refer to url(#id) of this drawing, not {value[:60]!a}")
        refuse_wild_numbers(name, value, limits.number)
    if name == "font-size":
        refuse_wild_numbers(name, value, limits.font_size)
    return value


def _complain(name: str, value: str) -> NoReturn:
    if re.search(r"url\s*\(|://|data:", value, re.I):
        raise SvgRefused("reference", f"{name} refers to something outside of this drawing: {value[:60]!a}")
    raise SvgRefused("attribute", f"{name} cannot be {value[:60]!a}")


def refuse_wild_numbers(name: str, value: str, largest: float) -> None:
    """Refuse NaN, infinity and everything above `largest`; a glance is enough for most values."""
    text = HASH_WORD.sub(" ", value) if "#" in value else value  # colours such as #1e9999 are no numbers
    if largest >= GLANCE and not SUSPECT.search(text):
        return
    if NOT_FINITE.search(text):
        raise SvgRefused("number", f"{name} must hold finite numbers, not {value[:60]!a}")
    for number in NUMBER.findall(text):
        if abs(float(number)) > largest:
            raise SvgRefused("number", f"{name} holds {number[:30]}; at most {largest:g} is allowed")

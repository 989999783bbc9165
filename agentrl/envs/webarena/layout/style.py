"""How elements look, as far as a layout needs it: the cascade over the CSS subset of the embedded sites.

Selectors: compounds of tag, `.class` and `#id`, joined by a space or `>`, in lists; rules with anything else (states,
attributes, siblings) are skipped, and so are at-rules. Lengths in px, em or, for widths, percent. Properties: display
(block, inline, inline-block, none, flex, inline-flex, grid, table and its parts, list-item), box-sizing, width, height,
min-* and max-* of them, margin, padding, border widths, gap, font-size, line-height, text-align, vertical-align,
white-space, overflow, overflow-wrap, visibility, cursor, flex (row and column, wrapping, align-items, align-self,
justify-content), grid-template-columns and position: a box may lie over the page, `absolute` in the nearest `relative`
one around it or `fixed` in the window, at top or bottom and left or right in px, by z-index. Nothing floats.

An element's style depends only on the tag, id, class and style attributes of itself and its ancestors. That chain is
interned: elements that share it, on this page or the next, share one `Style`.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from agentrl.envs.webarena.layout.stylesheet import Compound, Declarations, Em, Percent, Sheet, declare
from agentrl.envs.webarena.layout.text import ASCENT, DESCENT

_FINE = 1 << 22  # FreeType tells how wide characters are in these parts of a pixel
MAX_CHAINS = 40_000  # kept for one set of style sheets; hostile pages could make any number


class Style:
    """The computed style of an element, ready for the layout: all lengths in pixels.

    Sizes are those of the border box; `left` and its like are padding and border together. `ascent` and `descent` are
    what a line of text takes above and below the baseline, `font_ascent` and `font_descent` what its letters take.
    """

    width: float | None
    height: float | None
    min_width: float
    min_height: float
    max_width: float
    max_height: float
    margin_left: float
    margin_right: float
    margin_top: float
    margin_bottom: float
    padding_left: float
    padding_right: float
    padding_top: float
    padding_bottom: float
    border_left: float
    border_right: float
    border_top: float
    border_bottom: float
    auto_left: bool
    auto_right: bool

    def __init__(self, declared: Declarations, parent: Style | None) -> None:
        self.declared = declared
        self._inherit(declared, parent)
        self._size(declared)
        self.valign = _keyword(declared, "vertical-align", "baseline")
        overflow = [declared.get(name, "visible") for name in ("overflow", "overflow-x", "overflow-y")]
        self.clips = any(value in ("hidden", "auto", "scroll", "clip") for value in overflow)
        self.row_gap = self._pixels(declared.get("row-gap", 0.0))
        self.column_gap = self._pixels(declared.get("column-gap", 0.0))
        self.grow = self._pixels(declared.get("flex-grow", 0.0))
        self.shrink = self._pixels(declared.get("flex-shrink", 1.0))
        basis = declared.get("flex-basis", "auto")
        self.basis = None if basis in ("auto", "normal", "none") else self._pixels(basis)
        self.wraps_items = declared.get("flex-wrap", "nowrap") != "nowrap"
        self.direction = _keyword(declared, "flex-direction", "row")
        self.align_items = _keyword(declared, "align-items", "stretch")
        self.align_self = _keyword(declared, "align-self", "auto")
        self.justify = _keyword(declared, "justify-content", "flex-start")
        self.columns: tuple[Any, ...] = declared.get("grid-template-columns", ())
        painted = [declared.get(name, "none") for name in ("background", "background-color", "outline")]
        shown = any(value not in ("none", "transparent", "inherit", "initial") for value in painted)
        edges = (self.left, self.right, self.top, self.bottom, self.margin_left, self.margin_right)
        # As an inline element, does it show a box of its own?
        self.framed = shown or any(edges) or self.valign != "baseline"
        self.position = _keyword(declared, "position", "static")
        self.special = self.pointer or self.hidden or self.clips or self.position != "static"

    def _inherit(self, declared: Declarations, parent: Style | None) -> None:
        get = declared.get
        size = get("font-size")
        inherited = parent.font_size if parent else 16.0
        if isinstance(size, float):
            self.font_size: float = min(max(size, 0.0), 1000.0)
        elif isinstance(size, Em | Percent):
            self.font_size = min(max(size[0] * inherited, 0.0), 1000.0)
        else:
            self.font_size = inherited
        height = get("line-height", "inherit")
        if isinstance(height, float | Em):
            self.line_height: float | Em | None = height
        else:
            self.line_height = parent.line_height if height == "inherit" and parent else None
        self.align = _keyword(declared, "text-align", parent.align if parent else "left")
        self.white_space = _keyword(declared, "white-space", parent.white_space if parent else "normal")
        self.wraps = self.white_space in ("normal", "pre-wrap", "pre-line", "break-spaces")
        self.collapses = self.white_space in ("normal", "nowrap")  # white space
        anywhere = get("overflow-wrap") or get("word-break")
        self.wraps_anywhere = anywhere in ("anywhere", "break-word", "break-all")
        if not anywhere or anywhere == "inherit":
            self.wraps_anywhere = bool(parent and parent.wraps_anywhere)
        self.hidden = _keyword(declared, "visibility", "hidden" if parent and parent.hidden else "visible") != "visible"
        self.pointer = _keyword(declared, "cursor", "pointer" if parent and parent.pointer else "auto") == "pointer"
        self.colour = _keyword(declared, "color", parent.colour if parent else "#000000")
        line = get("text-decoration")
        self.underlined = bool(parent and parent.underlined) if line is None else "underline" in line
        # Heights of a line of text above and below the baseline, as Chromium rounds them.
        self.font_ascent = float(math.floor(ASCENT * self.font_size / 1000 + 0.5))
        self.font_descent = float(math.floor(DESCENT * self.font_size / 1000 + 0.5))
        text_height = self.font_ascent + self.font_descent
        own = self.line_height
        self.line = text_height if own is None else own[0] * self.font_size if isinstance(own, Em) else own
        self.ascent = self.font_ascent + math.floor((self.line - text_height) / 2)
        self.descent = self.line - self.ascent
        # Pixels of a thousandth of the font size, rounded as FreeType does; a text as wide as whole 64ths of a pixel is
        # a little wider or narrower then, and Chromium rounds it up or does not.
        self.scale = math.floor(self.font_size * _FINE / 1000 + 0.5) / _FINE

    def _size(self, declared: Declarations) -> None:
        self.display = _keyword(declared, "display", "inline")
        self.inline = self.display in ("inline", "inline-block", "inline-flex", "inline-grid", "inline-table")
        self.border_box = declared.get("box-sizing") == "border-box"
        for side in ("top", "right", "bottom", "left"):
            margin = declared.get(f"margin-{side}", 0.0)
            if side in ("left", "right"):
                setattr(self, f"auto_{side}", margin == "auto")
            setattr(self, f"margin_{side}", self._pixels(margin))
            setattr(self, f"padding_{side}", max(0.0, self._pixels(declared.get(f"padding-{side}", 0.0))))
            setattr(self, f"border_{side}", max(0.0, self._pixels(declared.get(f"border-{side}-width", 0.0))))
        self.left = self.padding_left + self.border_left
        self.right = self.padding_right + self.border_right
        self.top = self.padding_top + self.border_top
        self.bottom = self.padding_bottom + self.border_bottom
        self.across, self.along = self.left + self.right, self.top + self.bottom
        # Widths and heights are those of the border box, whatever `box-sizing` says.
        extra_width = 0.0 if self.border_box else self.left + self.right
        extra_height = 0.0 if self.border_box else self.top + self.bottom
        width = declared.get("width")
        self.width_share = width.share if isinstance(width, Percent) else None
        for name, extra in (("width", extra_width), ("height", extra_height)):
            wanted = self._optional(declared.get(name))
            setattr(self, name, None if wanted is None else wanted + extra)
            least = declared.get(f"min-{name}")
            setattr(self, f"min_{name}", 0.0 if least is None else self._pixels(least) + extra)
            most = self._optional(declared.get(f"max-{name}"))
            setattr(self, f"max_{name}", math.inf if most is None else most + extra)
        if self.width is not None:
            self.width = max(self.width, self.left + self.right)
        if self.height is not None:
            self.height = max(self.height, self.top + self.bottom)

    @cached_property
    def bare(self) -> Style:
        """The same for a check box or radio button, which have neither padding nor border whatever is declared."""
        declared = {name: value for name, value in self.declared.items() if not name.startswith(("padding", "border"))}
        return Style(declared, self)

    def _pixels(self, value: Any) -> float:
        if isinstance(value, float):
            return value if abs(value) < 1e7 else 0.0
        return value.size * self.font_size if isinstance(value, Em) else 0.0

    def _optional(self, value: Any) -> float | None:
        return self._pixels(value) if isinstance(value, float | Em) else None


def _keyword(declared: Declarations, name: str, default: str) -> str:
    value = declared.get(name, default)
    return value if isinstance(value, str) and value not in ("inherit", "initial") else default


class Chain:
    """An element as style sheets see it: tag, id and classes of itself and, through `parent`, of its ancestors."""

    __slots__ = ("cascade", "children", "classes", "identifier", "kind", "parent", "style", "tag")

    def __init__(self, cascade: Cascade, parent: Chain | None, tag: str, name: str, classes: str, inline: str) -> None:
        self.cascade, self.parent, self.tag, self.identifier = cascade, parent, tag, name
        self.classes = frozenset(classes.split())
        self.kind: int | None = None  # of its boxes; see `boxes`
        self.children: dict[tuple[str, str | None, str | None, str | None], Chain] = {}
        self.style = Style(cascade.declarations(self, inline), parent.style if parent else None)

    def child(self, tag: str, classes: str | None, name: str | None, inline: str | None) -> Chain:
        """The chain of an element with these attributes within this one."""
        key = (tag, classes, name, inline)
        found = self.children.get(key)
        if found is not None:
            return found
        # Ids and classes that no rule names are left out, so that their number does not matter.
        known = self.cascade.sheet
        classes = " ".join(sorted(known.classes.intersection((classes or "").split())))
        name = name if name in known.identifiers else None
        plain = (tag, classes or None, name, inline)
        found = self.children.get(plain)
        if found is None:
            found = Chain(self.cascade, self, tag, name or "", classes, inline or "")
        self.children[plain] = found
        if len(self.children) < MAX_CHAINS // 10:
            self.children[key] = found
        return found


class Cascade:
    """The styles of pages with one set of style sheets."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.sheet = Sheet(texts)
        self.count = 0
        self.root = Chain(self, None, "", "", "", "")

    def declarations(self, chain: Chain, inline: str) -> Declarations:
        """What holds for an element, later and more special rules over others."""
        self.count += 1
        found: list[tuple[tuple[Any, ...], Declarations]] = []
        for origin, sheet in enumerate((_BROWSER_SHEET, self.sheet)):
            for order, rule in sheet.candidates(chain.tag, chain.identifier, chain.classes):
                selector = rule.selector
                if _fits(selector[-1], chain) and _leads(selector, len(selector) - 1, chain):
                    found.append(((0, origin, rule.specificity, order), rule.declarations))
                    found.append(((1, origin, rule.specificity, order), rule.important))
        if inline:
            ordinary, important = declare(inline)
            found += [((0, 2), ordinary), ((1, 2), important)]
        merged: Declarations = {}
        for _, declarations in sorted(found, key=lambda entry: entry[0]):
            merged.update(declarations)
        if chain.tag == "a":
            merged.setdefault("cursor", "pointer")
        return merged


_BROWSER_SHEET = Sheet([files("agentrl.envs.webarena.layout").joinpath("browser.css").read_text("utf-8")])


@lru_cache(32)
def _cascade(texts: tuple[str, ...]) -> list[Cascade]:
    return [Cascade(texts)]


def cascade(texts: tuple[str, ...]) -> Cascade:
    """The styles of pages with these style sheets, kept from page to page."""
    kept = _cascade(texts)
    if kept[0].count > MAX_CHAINS:
        kept[0] = Cascade(texts)
    return kept[0]


def _leads(selector: tuple[Compound, ...], place: int, chain: Chain) -> bool:
    """Do the ancestors of an element match what stands before `place` in the selector?"""
    if place == 0:
        return True
    ancestor = chain.parent
    while ancestor is not None:
        if _fits(selector[place - 1], ancestor) and _leads(selector, place - 1, ancestor):
            return True
        if selector[place].child:
            return False
        ancestor = ancestor.parent
    return False


def _fits(compound: Compound, chain: Chain) -> bool:
    return (
        (not compound.tag or compound.tag == chain.tag)
        and (not compound.identifier or compound.identifier == chain.identifier)
        and compound.classes <= chain.classes
    )

"""`inner_text`: the text of an element as a browser shows it (the specification's innerText).

Hidden elements are left out, blocks begin new lines, cells of a table row are parted by tabs, white space is collapsed
as on the screen. How an element is displayed is asked from `Styles`, which may know the style sheets; without them the
element's tag and its own `style` decide.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

# Elements by how browsers display them without style sheets.
_NOT_SHOWN = "head script style template noscript title meta link datalist iframe video audio canvas svg"
_OPAQUE = "input textarea img br hr object embed progress meter"  # what is inside is no text of the page
_BLOCKS = """address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p plaintext
    pre search section summary ul xmp"""
HIDDEN, OPAQUE, BLOCKS = (frozenset(names.split()) for names in (_NOT_SHOWN, _OPAQUE, _BLOCKS))
TABLE = {
    "table": "table", "caption": "table-caption", "tr": "table-row", "td": "table-cell", "th": "table-cell",
    "thead": "table-header-group", "tbody": "table-row-group", "tfoot": "table-footer-group",
}  # fmt: skip
BREAKING = frozenset({"block", "flex", "grid", "list-item", "table", "table-caption", "flow-root"})
STYLED_DISPLAY = re.compile(r"(?:^|;)\s*display\s*:\s*([a-z-]+)", re.IGNORECASE)
SPACES = re.compile(r"[ \t\n\r\f]+")


class Styles(Protocol):
    """How elements are displayed."""

    def display(self, element: Any) -> str:
        """The CSS display: "none", "block", "inline", "flex", ..."""
        ...

    def keeps_space(self, element: Any) -> bool:
        """Is white space in its text shown as it is, as in <pre>?"""
        ...


class TagStyles:
    """How elements are displayed without style sheets."""

    def display(self, element: Any) -> str:
        """By the tag, or the element's own style."""
        styled = STYLED_DISPLAY.search(element.get("style") or "")
        if styled:
            return styled[1].lower()
        if element.tag in HIDDEN or element.get("hidden") is not None:
            return "none"
        if element.tag == "input" and (element.get("type") or "").lower() == "hidden":
            return "none"
        return TABLE.get(element.tag) or ("block" if element.tag in BLOCKS else "inline")

    def keeps_space(self, element: Any) -> bool:
        """In <pre>, or by the element's own style."""
        style = element.get("style") or ""
        return element.tag == "pre" or ("white-space" in style and "pre" in style)


BY_TAG = TagStyles()


def inner_text(element: Any, styles: Styles = BY_TAG) -> str:
    """The visible text; of an element that is itself hidden, all its text."""
    hidden = any(styles.display(node) == "none" for node in (element, *element.iterancestors()))
    if hidden:
        return str(element.xpath("string()"))
    collector = _Collector(styles)
    collector.children(element)
    return collector.text()


class _Collector:
    """Gathers pieces of text and wishes for line breaks (numbers), then puts them together."""

    def __init__(self, styles: Styles) -> None:
        self.styles = styles
        self.pieces: list[str | int] = []
        self.space = False  # a space is due, if more text follows on the line
        self.in_line = False  # text stands on the line already

    def text(self) -> str:
        """The pieces; runs of wishes become the largest of them, and none at either end."""
        result: list[str] = []
        wish = 0
        for piece in self.pieces:
            if isinstance(piece, int):
                wish = max(wish, piece)
                continue
            if result:
                result.append("\n" * wish)
            result.append(piece)
            wish = 0
        return "".join(result)

    def children(self, element: Any) -> None:
        if element.tag in OPAQUE:
            self.stand_in()
            return
        verbatim = self.styles.keeps_space(element)
        self.add(element.text or "", verbatim)
        for child in element:
            if isinstance(child.tag, str):
                self.element(child)
            self.add(child.tail or "", verbatim)

    def element(self, element: Any) -> None:
        display = self.styles.display(element)
        if display == "none":
            return
        if element.tag == "br":
            self.put("\n")
            return
        parent = element.getparent()
        if display.startswith("inline") and parent is not None and self.styles.display(parent) in ("flex", "grid"):
            display = "block"  # as every child of a flexible box or grid
        wish = 2 if element.tag == "p" else 1 if display in BREAKING else 0
        self.wish(wish)
        self.children(element)
        self.wish(wish)
        if display == "table-cell" and _has_next(element, ("td", "th")):
            self.put("\t")
        elif display == "table-row":
            later = () if parent is None else parent.itersiblings()  # groups of rows
            if _has_next(element, ("tr",)) or any(group.find("tr") is not None for group in later):
                self.put("\n")

    def add(self, text: str, verbatim: bool) -> None:
        if not text:
            return
        if verbatim:
            self.pieces.append(text)
            self.space, self.in_line = False, not text.endswith("\n")
            return
        words = SPACES.sub(" ", text)
        if words.startswith(" "):
            self.space = self.in_line
        stripped = words.strip(" ")
        if stripped:
            self.pieces.append((" " if self.space else "") + stripped)
            self.in_line, self.space = True, words.endswith(" ")

    def stand_in(self) -> None:
        """A picture or field: no text, but spaces beside it are shown."""
        if self.space:
            self.pieces.append(" ")
        self.space, self.in_line = False, True

    def put(self, piece: str) -> None:
        self.pieces.append(piece)
        self.space = self.in_line = False

    def wish(self, breaks: int) -> None:
        if breaks:
            self.pieces.append(breaks)
            self.space = self.in_line = False


def _has_next(element: Any, tags: tuple[str, ...]) -> bool:
    return any(sibling.tag in tags for sibling in element.itersiblings())

"""From SVG text to a tree of what may be drawn, counted and checked while it is parsed.

Prefixes are resolved here and not by the parser: models write `xlink:href` without declaring it, and that is no reason
to refuse a drawing. The tree holds nothing but allowed elements and checked values; `write` turns it into the text for
the renderer, which thus never sees the doctype, comments, processing instructions or anything else of the original.
"""

from __future__ import annotations

import re
from typing import NoReturn
from xml.parsers import expat

from agentrl.envs.svg.sandbox.stylesheet import read_declarations, read_sheet
from agentrl.envs.svg.sandbox.values import (
    ATTRIBUTES,
    DRAWN,
    GEOMETRY,
    MARKERS,
    NUMBER,
    SILENT,
    TEXTS,
    Limits,
    SvgRefused,
    checked_href,
    checked_value,
    target_of,
)

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
XML = "http://www.w3.org/XML/1998/namespace"
# A text has no encoding; a declaration of one of these is a leftover, any other one an attempt at something.
ENCODINGS = frozenset({"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"})
SMALLEST_VIEW = 1e-3
LONG_VALUE = 100  # characters; reading a longer one costs more than an element does
ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
SELECTOR_GAP = re.compile(r"[\s>+~,]+")
NEEDS_ESCAPE = re.compile(r'[&<>"\n\r\t]')


class Element:
    """An allowed element: its checked attributes, declarations and references, and what is inside of it."""

    __slots__ = ("attributes", "content", "parent", "references", "styled", "tag")

    def __init__(self, tag: str, parent: Element | None) -> None:
        self.tag, self.parent = tag, parent
        self.attributes: dict[str, str] = {}
        self.references: dict[str, str] = {}
        """Property, or "href" -> the id it refers to; "" where it says that it refers to nothing."""
        self.styled: dict[str, str] = {}
        """Geometry that its style attribute declares: the renderer takes it in place of the attributes."""
        self.content: list[Element | str] = []

    @property
    def children(self) -> list[Element]:
        """The elements directly inside."""
        return [part for part in self.content if isinstance(part, Element)]


class Drawing:
    """What was read: the root, every element by id, and what style sheets could add to any of them."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self.elements: list[Element] = []
        self.by_id: dict[str, list[Element]] = {}
        self.referring: set[str] = set()
        """Properties (and "href") that refer to something anywhere."""
        self.rules = self.selector_parts = 0
        self.rule_references: dict[str, set[str]] = {}
        self.rule_geometry: dict[str, list[str]] = {}
        self.rule_characters = 0
        """Of long values in rules, any of which could hold for every element."""
        self.dash_periods: list[float] = []


class Reader:
    """Feeds one text to the parser and collects a `Drawing`; refuses as soon as something is wrong."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.drawing = limits, Drawing()
        self._open: list[Element | None] = []  # None: inside of something silent
        self._namespaces: list[dict[str, str]] = [{"xlink": XLINK, "xml": XML}]
        self._nodes, self._letters, self._subset = 0, 0, False

    def read(self, text: str) -> Drawing:
        """Parse the whole text."""
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler, parser.EndDoctypeDeclHandler = self._doctype, self._doctype_end
        parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = parser.SkippedEntityHandler = self._entity
        try:
            parser.Parse(text.encode("utf-8"), True)
        except expat.ExpatError as error:
            raise SvgRefused("not_xml", f"{expat.ErrorString(error.code)}, line {error.lineno}") from None
        assert self.drawing.root is not None  # the parser refuses a document without a root
        if not self.drawing.referring.isdisjoint(MARKERS):
            # A marker that is not there is not drawn; the renderer would fail on it.
            markers = {name for name, found in self.drawing.by_id.items() if any(one.tag == "marker" for one in found)}
            for element in self.drawing.elements:
                for name in MARKERS:
                    if name in element.attributes and element.references[name] not in markers:
                        del element.attributes[name], element.references[name]
        return self.drawing

    # ------------------------------------------------------------------ before the root

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            raise SvgRefused("encoding", f"the text says that its encoding is {encoding[:30]!a}")

    def _doctype(self, name: str, system: str | None, public: str | None, subset: int) -> None:
        self._subset = bool(subset)

    def _doctype_end(self) -> None:
        if self._subset:
            raise SvgRefused("doctype_internal_subset", "declarations inside of the doctype are not allowed")

    def _entity(self, *declaration: object) -> NoReturn:
        raise SvgRefused("entity", "entities are not allowed")

    # ------------------------------------------------------------------ elements

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._nodes += 1
        if self._nodes > self.limits.nodes:
            raise SvgRefused("too_many_nodes", f"more than {self.limits.nodes} elements")
        if len(self._open) >= self.limits.depth:
            raise SvgRefused("too_deep", f"more than {self.limits.depth} elements inside each other")
        namespaces = self._namespaces[-1]
        declared = {key[6:]: uri for key, uri in attributes.items() if key == "xmlns" or key.startswith("xmlns:")}
        if declared:
            namespaces = {**namespaces, **declared}
        self._namespaces.append(namespaces)
        prefix, _, tag = name.rpartition(":")
        known = namespaces.get(prefix, "" if not prefix else None) in ("", SVG)
        parent = self._open[-1] if self._open else None
        if not self._open and (tag != "svg" or not known):
            raise SvgRefused("not_svg", f"the outermost element must be <svg xmlns={SVG!r}>")
        if self._open and parent is None:
            self._open.append(None)
            return
        if known and tag not in DRAWN and tag not in SILENT:
            raise SvgRefused("element", f"<{tag[:40]}> is not allowed")
        element = Element(tag if known else "metadata", parent)
        self.drawing.elements.append(element)
        if parent is None:
            self.drawing.root = element
        else:
            parent.content.append(element)
        drawn = known and tag in DRAWN
        if drawn:
            self._take_attributes(element, attributes, namespaces)
        self._open.append(element if drawn else None)

    def _end(self, name: str) -> None:
        self._namespaces.pop()
        element = self._open.pop()
        if element is None:
            return
        if element.tag == "style":
            self._take_sheet(element)
        elif element.tag == "use" and "href" not in element.references:
            raise SvgRefused("reference", "<use> needs href='#id'")  # the renderer would draw the root inside itself

    def _characters(self, text: str) -> None:
        element = self._open[-1]
        if element is None or not (element.tag in TEXTS or element.tag == "style"):
            return
        element.content.append(text)
        if element.tag != "style":
            self._letters += len(text)
            if self._letters > self.limits.letters:
                raise SvgRefused("text", f"more than {self.limits.letters} characters of text")

    # ------------------------------------------------------------------ attributes and styles

    def _take_attributes(self, element: Element, attributes: dict[str, str], namespaces: dict[str, str]) -> None:
        for name, value in attributes.items():
            if name in ATTRIBUTES:
                checked = element.attributes[name] = checked_value(name, value, self.limits)
                self._note(element, name, checked)
            elif name == "style":
                self._take_style(element, value)
            elif name.rpartition(":")[2] in ("href", "space"):
                self._take_prefixed(element, name, value, namespaces)
        if "id" in element.attributes:
            self.drawing.by_id.setdefault(element.attributes["id"], []).append(element)
        view = element.attributes.get("viewBox")
        if view is not None and element.tag in ("svg", "symbol", "marker", "pattern"):
            numbers = [float(number) for number in NUMBER.findall(view)]
            if len(numbers) != 4 or min(numbers[2:]) < SMALLEST_VIEW:
                raise SvgRefused("size", f"viewBox must be four numbers, the last two above 0, not {view[:60]!a}")

    def _take_prefixed(self, element: Element, name: str, value: str, namespaces: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        uri = namespaces.get(prefix) if prefix else ""
        if local == "space" and uri == XML and value == "preserve":
            element.attributes["xml:space"] = value
        elif local == "href" and uri in ("", XLINK) and (prefix or "href" not in element.references):
            target = element.references["href"] = checked_href(value)
            self.drawing.referring.add("href")
            element.attributes["href"] = f"#{target}"

    def _take_style(self, element: Element, value: str) -> None:
        if len(value) > self.limits.value:
            raise SvgRefused("css", f"a style of {len(value)} characters; at most {self.limits.value} are allowed")
        declarations = read_declarations(value, self.limits)
        element.attributes["style"] = str(declarations)
        for name, (checked, _) in declarations.values.items():
            self._note(element, name, checked)
            if name in GEOMETRY:
                element.styled[name] = checked

    def _note(self, element: Element, name: str, value: str) -> None:
        """Remember what the cost of drawing depends on."""
        if ATTRIBUTES[name] in ("paint", "target"):
            target = element.references[name] = target_of(value) or ""
            if target:
                self.drawing.referring.add(name)
        elif name == "stroke-dasharray":
            self._note_dashes(value)

    def _note_dashes(self, value: str) -> None:
        period = sum(abs(float(number)) for number in NUMBER.findall(value))
        if period:
            self.drawing.dash_periods.append(period)

    def _take_sheet(self, element: Element) -> None:
        rules = read_sheet("".join(part for part in element.content if isinstance(part, str)), self.limits)
        if element.attributes.get("type", "text/css") != "text/css":
            rules = []
        self.drawing.rules += len(rules)
        if self.drawing.rules > self.limits.rules:
            raise SvgRefused("css", f"more than {self.limits.rules} rules")
        for selector, declarations in rules:
            self.drawing.selector_parts += len(SELECTOR_GAP.findall(selector)) + 1
            for name, (value, _) in declarations.values.items():
                self.drawing.rule_characters += len(value) if len(value) > LONG_VALUE else 0
                if name in GEOMETRY:
                    self.drawing.rule_geometry.setdefault(name, []).append(value)
                target = target_of(value)
                if target is not None:
                    self.drawing.rule_references.setdefault(name, set()).add(target)
                    self.drawing.referring.add(name)
                elif name == "stroke-dasharray":
                    self._note_dashes(value)
        element.content = ["".join(f"{selector}{{{declarations}}}" for selector, declarations in rules)]


# ---------------------------------------------------------------------- writing


def write(root: Element) -> str:
    """The tree as text, with nothing in it that was not checked."""
    parts: list[str] = []
    _write(root, parts, f' xmlns="{SVG}"')
    return "".join(parts)


def _write(element: Element, parts: list[str], extra: str = "") -> None:
    parts.append(f"<{element.tag}{extra}")
    parts.extend(f' {name}="{_escaped(value)}"' for name, value in element.attributes.items())
    if not element.content:
        parts.append("/>")
        return
    parts.append(">")
    for part in element.content:
        if isinstance(part, str):
            parts.append(_escaped(part))
        else:
            _write(part, parts)
    parts.append(f"</{element.tag}>")


def _escaped(text: str) -> str:
    return text.translate(ESCAPES) if NEEDS_ESCAPE.search(text) else text

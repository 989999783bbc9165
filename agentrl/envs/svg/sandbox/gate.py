"""The gate in front of the renderer: SVG text that a model wrote goes in, text that is safe to draw comes out.

    safe = check(code)        # raises SvgRefused with a reason and a detail

What comes out is written anew from what was understood: allowed elements, checked attributes, references inside of the
document only, and no more work than one drawing may ask for: a file of a few lines can ask for billions of shapes, by
a group that uses a group ten times that uses a group ten times. That estimate errs upwards and takes time in proportion
to the file, because each element is looked at once; its unit is about what one plain shape costs.

The gate itself runs in the caller's process, so its own cost is bounded: a cap on length, elements
counted while parsing, entities refused before they are expanded, no recursion deeper than the caps.
A plain doctype, a missing xmlns and an undeclared `xlink:` are what models write; they pass.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from agentrl.core.errors import ConfigError
from agentrl.envs.svg.sandbox.reading import LONG_VALUE, Drawing, Element, Reader, write
from agentrl.envs.svg.sandbox.values import (
    HIDDEN,
    LENGTHS,
    MARKERS,
    NUMBER,
    OUTLINES,
    PAINTED,
    REASONS,
    SHAPES,
    TEXTS,
    Limits,
    SvgRefused,
)

__all__ = ["REASONS", "Limits", "SvgRefused", "check"]

DEFAULT_LIMITS = Limits()
BYTE_ORDER_MARK = "\ufeff"
PATH_CHARACTERS = 100  # of path data that cost as much as a shape
LETTERS = 4
RULES = 50  # parts of selectors that cost as much on each element
DASHES = 100
SEARCHED = 100  # elements the renderer looks through while it searches for a target
OWN_CANVAS = 15.0  # a mask or a pattern is drawn on a canvas of its own


class Load(NamedTuple):
    """Of an element with everything in it: work, painted elements, and how deep the renderer goes."""

    cost: float
    painted: int
    depth: int


def check_expansion(drawing: Drawing, limits: Limits) -> None:
    """Refuse a drawing that contains itself, goes too deep or asks for too much work."""
    estimate, root = _Estimate(drawing, limits), drawing.root
    assert root is not None
    # Without references nothing is drawn twice, and a sum will do.
    cost = estimate.load(root, 0).cost if drawing.referring else sum(map(estimate.own_cost, drawing.elements))
    if cost > limits.expansion:
        raise SvgRefused(
            "expansion", f"the drawing asks for the work of {cost:.3g} shapes; {limits.expansion:g} are allowed"
        )


class _Estimate:
    """Loads of elements, each computed once."""

    def __init__(self, drawing: Drawing, limits: Limits) -> None:
        self.drawing, self.limits = drawing, limits
        self._known: dict[Element, Load] = {}
        self._active: set[Element] = set()
        self._search = len(drawing.elements) / SEARCHED
        self._dash_period = min(drawing.dash_periods, default=None)
        self._base = 1 + drawing.selector_parts / RULES + drawing.rule_characters / PATH_CHARACTERS
        # Rules are assumed to fit every element; of several that set one property, one counts.
        geometry = drawing.rule_geometry
        self._rule_length = sum(max(map(_total, geometry[name])) for name in LENGTHS if name in geometry)
        outlines = [value for name in OUTLINES for value in geometry.get(name, ())]
        self._rule_outline = max(map(_total, outlines), default=0.0)
        self._rule_numbers = max((len(NUMBER.findall(value)) for value in outlines), default=0)

    def own_cost(self, element: Element) -> float:
        """The element alone."""
        cost = self._base
        values = element.attributes.items()
        # Outlines, and styles and transformations of a length that takes time to read.
        cost += sum(len(text) for name, text in values if name in OUTLINES or len(text) > LONG_VALUE) / PATH_CHARACTERS
        if element.tag in SHAPES and self._dash_period is not None:  # more than the length of the element's outline
            outline = max(self._rule_outline, *map(_total, _outlines(element)), 0.0)
            places = (element.attributes, element.styled)
            lengths = sum(_total(place[name]) for place in places for name in LENGTHS if name in place)
            cost += (4 * outline + 8 * (lengths + self._rule_length)) / self._dash_period / DASHES
        elif element.tag in TEXTS:
            cost += sum(len(part) for part in element.content if isinstance(part, str)) / LETTERS
        return cost

    def load(self, element: Element, level: int) -> Load:
        """The element with what is inside of it and what it refers to."""
        known = self._known.get(element)
        if known is None:
            if element in self._active:
                raise SvgRefused("cycle", f"<{element.tag}> contains itself through references")
            if level > self.limits.nesting:
                self._refuse_depth()
            self._active.add(element)
            cost, painted, depth = self.own_cost(element), int(element.tag in PAINTED), 0
            for child in element.children:
                if child.tag not in HIDDEN:
                    part = self.load(child, level + 1)
                    cost, painted, depth = cost + part.cost, painted + part.painted, max(depth, part.depth)
            extra = self._referred(element, level)
            known = Load(cost + extra.cost, painted + extra.painted, 1 + max(depth, extra.depth))
            self._known[element] = known
            self._active.remove(element)
        if level + known.depth > self.limits.nesting:
            self._refuse_depth()
        return known

    def _refuse_depth(self) -> NoReturn:
        raise SvgRefused("too_deep", f"references lead more than {self.limits.nesting} elements deep")

    def _referred(self, element: Element, level: int) -> Load:
        """Masks, clips and filters of the element itself, its paint, and what `href` brings in."""
        cost, painted, depth = 0.0, 0, 0
        for name in ("mask", "clip-path", "filter"):
            if name in self.drawing.referring:
                load = self._heaviest(name, element.references.get(name), level)
                cost, depth = cost + load.cost, max(depth, load.depth)
        if element.tag in PAINTED:
            load = self._paint(element, level)
            cost, depth = cost + load.cost, max(depth, load.depth)
        if "href" in element.references:  # a copy, parents of a gradient, or the path under a text
            load = self._heaviest("href", element.references["href"], level)
            used, painted = load.cost, load.painted
            if element.tag in TEXTS:  # the path is followed anew for every letter
                used *= 1 + sum(len(part) for part in element.content if isinstance(part, str))
            if element.tag == "use":  # what is used inherits the paint, and the paint may want to know its extent
                paint = self._paint(element, level).cost
                used += 2 * used * (paint > 0) + painted * paint
            cost, depth = cost + (used + self._search), max(depth, load.depth)
        return Load(cost, painted, depth)

    def _paint(self, element: Element, level: int) -> Load:
        """Filling, stroking and markers of one element; properties may come from an ancestor."""
        cost, depth = 0.0, 0
        for name in ("fill", "stroke", *MARKERS):
            if name in self.drawing.referring:
                place: Element | None = element  # the nearest of the element and its ancestors that says something
                while place is not None and name not in place.references:
                    place = place.parent
                load, times = self._heaviest(name, None if place is None else place.references[name], level), 1
                if load.cost and name in MARKERS:  # at more points than the element can have
                    own = max((len(NUMBER.findall(value)) for value in _outlines(element)), default=0)
                    times = 2 + max(own, self._rule_numbers)
                cost, depth = cost + load.cost * times, max(depth, load.depth)
        return Load(cost, 0, depth)

    def _heaviest(self, name: str, own: str | None, level: int) -> Load:
        """The most expensive target of a property, of which at most one is drawn: the element's own or a rule's."""
        cost, painted, depth = 0.0, 0, 0
        for target in (own, *self.drawing.rule_references.get(name, ())):
            for element in self.drawing.by_id.get(target, ()) if target else ():
                if target is not own and element in self._active:
                    continue  # rules are assumed to fit every element; this one fits too well to be true
                load = self.load(element, level + 1)
                canvas = OWN_CANVAS if element.tag in ("mask", "pattern") else 1.0
                cost, painted = max(cost, canvas + load.cost), max(painted, load.painted)
                depth = max(depth, load.depth)
        return Load(cost, painted, depth)


def _outlines(element: Element) -> list[str]:
    """What may say where its outline runs: attributes, and its style in place of them."""
    return [value for place in (element.attributes, element.styled) for name in OUTLINES if (value := place.get(name))]


def _total(text: str) -> float:
    """The sum of the numbers in a value, whatever their signs."""
    return sum(abs(float(number)) for number in NUMBER.findall(text))


# ---------------------------------------------------------------------- the gate


def check(code: str, limits: Limits = DEFAULT_LIMITS) -> str:
    """The safe SVG text to draw for this code, or `SvgRefused`."""
    if not isinstance(code, str):
        raise ConfigError(f"code must be the text of an SVG; got {type(code).__name__}")
    if len(code) > limits.bytes:
        raise SvgRefused("too_long", f"{len(code)} characters; at most {limits.bytes} bytes are allowed")
    text = code.strip().lstrip(BYTE_ORDER_MARK).lstrip()
    if not text:
        raise SvgRefused("empty", "there is no code")
    if "\x00" in text:
        raise SvgRefused("encoding", "null characters are not allowed")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise SvgRefused("encoding", "half surrogates are not allowed") from None
    if size > limits.bytes:
        raise SvgRefused("too_long", f"{size} bytes; at most {limits.bytes} are allowed")
    try:
        drawing = Reader(limits).read(text)
        check_expansion(drawing, limits)
        assert drawing.root is not None
        return write(drawing.root)
    except RecursionError:  # the caps leave room for any ordinary caller, but not for one that is deep already
        raise SvgRefused("too_deep", "elements or references go too deep") from None

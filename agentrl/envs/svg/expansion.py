"""How much work a drawing asks for once every reference is followed.

A file of a few lines can ask for billions of shapes: a group that uses a group ten times that uses a group ten times.
The estimate here errs upwards and takes time in proportion to the file, because each element is looked at once.
Its unit is about what one plain shape costs to draw.
"""

from __future__ import annotations

from typing import NamedTuple

from agentrl.envs.svg.reading import Drawing, Element
from agentrl.envs.svg.refusal import Limits, SvgRefused
from agentrl.envs.svg.values import NUMBER
from agentrl.envs.svg.vocabulary import HIDDEN, MARKERS, PAINTED, SHAPES, TEXTS

PATH_CHARACTERS = 100  # of path data that cost as much as a shape
LETTERS = 4
RULES = 50  # of style sheets that cost as much on each element
DASHES = 100
SEARCHED = 100  # elements the renderer looks through while it searches for a target
OWN_CANVAS = 3.0  # a mask or a pattern is drawn on a canvas of its own
LENGTHS = ("x1", "y1", "x2", "y2", "width", "height", "r", "rx", "ry")


class Load(NamedTuple):
    """Of an element with everything in it: work, painted elements, and how deep the renderer goes."""

    cost: float
    painted: int
    depth: int


def check_expansion(drawing: Drawing, limits: Limits) -> None:
    """Refuse a drawing that contains itself, goes too deep or asks for too much work."""
    estimate = _Estimate(drawing, limits)
    if not drawing.rule_references and not any(element.references for element in drawing.elements):
        cost = sum(estimate.own_cost(element) for element in drawing.elements)  # nothing is drawn twice
    else:
        cost = estimate.load(_root(drawing), 0).cost
    if cost > limits.expansion:
        raise SvgRefused(
            "expansion", f"the drawing asks for the work of {cost:.3g} shapes; {limits.expansion:g} are allowed"
        )


def _root(drawing: Drawing) -> Element:
    assert drawing.root is not None
    return drawing.root


class _Estimate:
    """Loads of elements, each computed once."""

    def __init__(self, drawing: Drawing, limits: Limits) -> None:
        self.drawing, self.limits = drawing, limits
        self._known: dict[Element, Load] = {}
        self._active: set[Element] = set()
        self._search = len(drawing.elements) / SEARCHED
        self._dash_period = min(drawing.dash_periods, default=None)
        self._base = 1 + drawing.rules / RULES

    def own_cost(self, element: Element) -> float:
        """The element alone."""
        cost = self._base
        if element.tag in SHAPES:
            data = element.attributes.get("d") or element.attributes.get("points") or ""
            cost += len(data) / PATH_CHARACTERS
            if self._dash_period is not None:
                cost += _length(element, data) / self._dash_period / DASHES
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
            known = self._known[element] = self._new_load(element, level)
            self._active.remove(element)
        if level + known.depth > self.limits.nesting:
            self._refuse_depth()
        return known

    def _refuse_depth(self) -> None:
        raise SvgRefused("too_deep", f"references lead more than {self.limits.nesting} elements deep")

    def _new_load(self, element: Element, level: int) -> Load:
        parts = [self.load(child, level + 1) for child in element.children if child.tag not in HIDDEN]
        cost = self.own_cost(element) + sum(part.cost for part in parts)
        painted = (element.tag in PAINTED) + sum(part.painted for part in parts)
        for name in ("mask", "clip-path", "filter"):
            cost += self._heaviest(self._targets(element, name), level, parts)
        if element.tag in PAINTED:
            cost += self._paint(element, level, parts)
        if "href" in element.references:
            used = self._used(element, level, parts)
            cost, painted = cost + used.cost, painted + used.painted
        return Load(cost, painted, 1 + max((part.depth for part in parts), default=0))

    def _paint(self, element: Element, level: int, parts: list[Load]) -> float:
        """Filling, stroking and markers of one element; properties may come from an ancestor."""
        cost = sum(self._heaviest(self._inherited(element, name), level, parts) for name in ("fill", "stroke"))
        markers = sum(self._heaviest(self._inherited(element, name), level, parts) for name in MARKERS)
        if markers:
            data = element.attributes.get("d") or element.attributes.get("points") or ""
            cost += markers * (2 + len(NUMBER.findall(data)))
        return cost

    def _used(self, element: Element, level: int, parts: list[Load]) -> Load:
        """What `href` brings in: a copy, parents of a gradient, or the path under a text."""
        found = [self.load(target, level + 1) for target in self.drawing.by_id.get(element.references["href"], ())]
        parts.extend(found)
        cost = max((load.cost for load in found), default=0.0)
        painted = max((load.painted for load in found), default=0)
        if element.tag in TEXTS:  # the path is followed anew for every letter
            cost *= 1 + sum(len(part) for part in element.content if isinstance(part, str))
        if element.tag == "use":  # what is used inherits the paint, and the paint may want to know its extent
            paint = self._paint(element, level, parts)
            cost += 2 * cost * (paint > 0) + painted * paint
        return Load(cost + self._search, painted, 0)

    def _targets(self, element: Element, name: str) -> list[str]:
        """What the property of this very element may refer to: its own word and every style rule."""
        own = element.references.get(name)
        return (
            [own, *self.drawing.rule_references.get(name, ())]
            if own
            else list(self.drawing.rule_references.get(name, ()))
        )

    def _inherited(self, element: Element, name: str) -> list[str]:
        found, place = list(self.drawing.rule_references.get(name, ())), element
        while place is not None:
            if name in place.references:
                return [*found, place.references[name]]
            place = place.parent
        return found

    def _heaviest(self, targets: list[str], level: int, parts: list[Load]) -> float:
        """The cost of the most expensive of some targets; at most one of them is drawn."""
        loads = [
            self.load(element, level + 1)
            for target in targets
            if target
            for element in self.drawing.by_id.get(target, ())
        ]
        parts.extend(loads)
        return OWN_CANVAS + max(load.cost for load in loads) if loads else 0.0


def _length(element: Element, data: str) -> float:
    """More than the length of the element's outline."""
    if data:
        return 4 * sum(abs(float(number)) for number in NUMBER.findall(data))
    values = (element.attributes.get(name, "") for name in LENGTHS)
    return 8 * sum(abs(float(number)) for value in values for number in NUMBER.findall(value))

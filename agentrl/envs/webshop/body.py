"""What a page shows, as strings with their kinds: from these text, rich text, HTML and picture all follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

SEPARATOR = " [SEP] "
CLICKABLE = frozenset({"button", "product", "option"})


class Part(NamedTuple):
    """One visible string of a page. `kind` says what it is:

    `shop`, `label`, `goal`, `heading`, `button`, `product` (the id that opens it), `title`, `price`, `rating`,
    `option_name`, `option`, `line` (of a sub page); on the last page `field`, `value`, `bought` and `score`.
    """

    kind: str
    text: str
    chosen: bool = False  # of an option


Parts = tuple[Part, ...]


Targets = tuple[tuple[str, ...], tuple[int, ...]]


class Body:
    """What a place shows below the wish, and what of it can be clicked: the same for every shopper who stands there.

    Thousands are remembered, and text and clicks need strings only. So strings are kept in plain tuples, which cost
    the garbage collector nothing, and parts are made of them when somebody draws the page.
    """

    __slots__ = ("_chosen", "_kinds", "_parts", "_targets", "_texts", "clickables", "text")

    def __init__(self, kinds: Sequence[str], texts: Sequence[str]) -> None:
        self._kinds, self._texts = tuple(kinds), tuple(texts)
        self._chosen: tuple[int, ...] = ()  # places of options
        self._parts: Parts | None = None
        self._targets: Targets | None = None  # once somebody has clicked
        # Buttons and ids are clicked in lower case, option values as they are.
        clickables = [
            text if kind == "option" else text.lower()
            for kind, text in zip(kinds, texts, strict=True)
            if kind in CLICKABLE
        ]
        self.clickables = tuple(clickables)
        self.text = SEPARATOR.join(texts)

    def choosing(self, options: Iterable[tuple[str, str]]) -> Body:
        """The same with these options chosen, (name, value) each. Shares everything that a choice does not change."""
        wanted = dict(options)
        if not wanted:
            return self
        other = object.__new__(Body)
        other._kinds, other._texts, other._parts = self._kinds, self._texts, None
        other.clickables, other.text = self.clickables, self.text
        other._targets = self._targets or self._aim()
        other._chosen = self._places(wanted)
        return other

    def _places(self, wanted: dict[str, str]) -> tuple[int, ...]:
        """Where these options' values stand."""
        found: list[int] = []
        value: str | None = None
        for place, kind in enumerate(self._kinds):
            if kind == "option":
                if self._texts[place] == value:
                    found.append(place)
            elif kind == "option_name":
                value = wanted.get(self._texts[place])
        return tuple(found)

    @property
    def parts(self) -> Parts:
        """Every visible string, in order."""
        if self._parts is None:
            self._parts = tuple([self._part(place) for place in range(len(self._texts))])
        return self._parts

    def _part(self, place: int) -> Part:
        return Part(self._kinds[place], self._texts[place], place in self._chosen)

    def find(self, wanted: str) -> Part | None:
        """What `click[wanted]` means here. Where two options share a value, one that is not chosen yet."""
        names, places = self._targets or self._aim()
        if wanted not in names:
            return None
        if names.count(wanted) == 1:
            return self._part(places[names.index(wanted)])
        found = [self._part(place) for name, place in zip(names, places, strict=True) if name == wanted]
        return next((part for part in found if not part.chosen), found[-1])

    def _aim(self) -> Targets:
        """Of everything that can be clicked the name in its plain form, and its place."""
        names = tuple([" ".join(name.lower().split()) for name in self.clickables])
        places = tuple([place for place, kind in enumerate(self._kinds) if kind in CLICKABLE])
        self._targets = self.clickables if names == self.clickables else names, places
        return self._targets

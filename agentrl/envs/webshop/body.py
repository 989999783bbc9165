"""What a page shows, as strings with their kinds: from these text, rich text, HTML and picture all follow."""

from __future__ import annotations

from collections.abc import Sequence
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


class Body:
    """What a place shows below the wish, and what of it can be clicked: the same for every shopper who stands there.

    Thousands are remembered, most of them results, of which text and clicks need strings only. So strings are kept in
    plain tuples, which cost the garbage collector nothing, and parts are made of them when somebody draws the page.
    """

    __slots__ = ("_kinds", "_parts", "_targets", "_texts", "clickables", "text")

    def __init__(self, kinds: Sequence[str], texts: Sequence[str], parts: Parts | None = None) -> None:
        self._kinds, self._texts, self._parts = tuple(kinds), tuple(texts), parts
        self._targets: tuple[tuple[str, ...], tuple[int, ...]] | None = None  # once somebody has clicked
        # Buttons and ids are clicked in lower case, option values as they are.
        clickables = [
            text if kind == "option" else text.lower()
            for kind, text in zip(kinds, texts, strict=True)
            if kind in CLICKABLE
        ]
        self.clickables = tuple(clickables)
        self.text = SEPARATOR.join(texts)

    @classmethod
    def of(cls, parts: Parts) -> Body:
        """A body of these parts."""
        return cls([part.kind for part in parts], [part.text for part in parts], parts)

    @property
    def parts(self) -> Parts:
        """Every visible string, in order."""
        if self._parts is None:
            self._parts = tuple(map(Part, self._kinds, self._texts))
        return self._parts

    def find(self, wanted: str) -> Part | None:
        """What `click[wanted]` means here. Where two options share a value, one that is not chosen yet."""
        names, places = self._targets or self._aim()
        if wanted not in names:
            return None
        found = [self._part(place) for name, place in zip(names, places, strict=True) if name == wanted]
        return next((part for part in found if not part.chosen), found[-1])

    def _aim(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Of everything that can be clicked the name in its plain form, and its place."""
        names = tuple([" ".join(name.lower().split()) for name in self.clickables])
        places = tuple([place for place, kind in enumerate(self._kinds) if kind in CLICKABLE])
        self._targets = self.clickables if names == self.clickables else names, places
        return self._targets

    def _part(self, place: int) -> Part:
        return Part(self._kinds[place], self._texts[place]) if self._parts is None else self._parts[place]

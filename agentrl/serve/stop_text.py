"""Looking for strings in text that comes in pieces."""

from __future__ import annotations

from collections.abc import Sequence


class StopText:
    """Hands text on until one of some strings turns up; the string itself is not handed on."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops, self._held, self.found = stops, "", False
        self.behind = ""  # the text behind the string, as far as it has come with it

    def take(self, piece: str) -> str:
        """The text that is certainly not the beginning of a stop string."""
        text = self._held + piece
        places = [(place, place + len(stop)) for stop in self._stops if (place := text.find(stop)) >= 0]
        if places:
            start, end = min(places)
            self.found, self._held, self.behind = True, "", text[end:]
            return text[:start]
        keep = 0  # characters at the end of the text that are the beginning of a stop string
        for stop in self._stops:
            longest = min(len(text), len(stop) - 1)
            keep = max(keep, next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0))
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def rest(self) -> str:
        """What was held back when no more text comes."""
        held, self._held = self._held, ""
        return held

"""The truth about a moment: typed, frozen, in up to three representations, with what judges can score."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from agentrl.core.claims import Claims
from agentrl.core.errors import UnsupportedRepresentation

REPRESENTATIONS = ("natural", "symbolic", "structured")


@dataclass(frozen=True)
class State:
    """Ground truth of one moment. Subclasses add fields and override the representations they support."""

    scored: ClassVar[Claims | None] = None  # what judges can score about states of a class, where that is declared

    def natural(self) -> list[str]:
        """English sentences, one fact each."""
        raise self._unsupported("natural")

    def symbolic(self) -> str:
        """A drawing in characters."""
        raise self._unsupported("symbolic")

    def structured(self) -> dict[str, Any]:
        """A dictionary of named positions and quantities."""
        raise self._unsupported("structured")

    @classmethod
    def claims(cls) -> Claims | None:
        """What judges can score about states of this class; None where nothing is declared."""
        return cls.scored

    def represent(self, representation: str) -> list[str] | str | dict[str, Any]:
        """The representation of that name."""
        if representation not in REPRESENTATIONS:
            raise UnsupportedRepresentation(f"{representation!r} is not one of {', '.join(REPRESENTATIONS)}")
        return getattr(self, representation)()

    def anchor(self) -> str:
        """Equal for states that are the same to whoever acts; counters of turns and feedback do not count."""
        kept = {name: value for name, value in self.to_json().items() if name not in ("turn", "feedback")}
        return json.dumps(kept, sort_keys=True)

    def to_json(self) -> dict[str, Any]:
        """Every field, as plain JSON types."""
        return msgspec.to_builtins(self)

    def _unsupported(self, representation: str) -> UnsupportedRepresentation:
        return UnsupportedRepresentation(f"{type(self).__name__} has no {representation} representation")

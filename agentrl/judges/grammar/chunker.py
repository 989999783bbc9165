"""What stands together: lexemes grouped into noun phrases, places, absolute places and clause words."""

from __future__ import annotations

from agentrl.judges.grammar.chunks import ACTIONS, CLAUSE_WORDS, NOUN_STARTS, VERBS, Chunk
from agentrl.judges.grammar.lexicon import Lexeme
from agentrl.judges.grammar.places import PlaceReader
from agentrl.judges.grammar.spots import SPOT_KINDS, SpotReader
from agentrl.judges.grammar.vocabulary import Vocabulary


class Chunker(PlaceReader, SpotReader):
    """One left-to-right pass over the lexemes; every look-ahead is bounded by the run it looks at."""

    def __init__(self, lexemes: list[Lexeme], vocabulary: Vocabulary) -> None:
        super().__init__(lexemes, vocabulary)
        self._has_spots = not SPOT_KINDS.isdisjoint(self.kinds)  # most texts have none: do not look for them

    def chunks(self) -> list[Chunk]:
        """The chunks of the whole text."""
        found: list[Chunk] = []
        i, end = 0, len(self.kinds) - 1  # the last stop is a sentinel
        kinds, lexemes = self.kinds, self.lexemes
        while i < end:
            kind = kinds[i]
            if kind in CLAUSE_WORDS:
                if kind != "stop" or not found or found[-1][0] != "stop":
                    found.append((kind, lexemes[i][1]))
                i += 1
                continue
            chunk, i = self._chunk(i)
            if chunk is not None:
                found.append(chunk)
        return found

    def _chunk(self, i: int) -> tuple[Chunk | None, int]:
        kind = self.kinds[i]
        if kind == "dir" and (order := self._order(i)) is not None:
            return ("order", order), i + 3
        if self._has_spots and (spot := self._spot(i)) is not None:
            return ("spot", spot[0]), spot[1]
        if kind in NOUN_STARTS and (np := self.noun_phrase(i)) is not None:
            if not np[0]:
                return None, np[1]
            mentions, i = self._more_nouns(np[0], np[1], subject=True, after_verb=self.kinds[i - 1] in VERBS)
            return ("np", mentions), i
        if (place := self._place(i)) is not None:
            return ("place", place[0]), place[1]
        if kind == "between":
            return self._between(i)
        if kind in ("link", "to"):
            return self._landmark_alone(i)
        return None, i + 1

    def _order(self, i: int) -> tuple[int, int] | None:
        """ "From left to right": the axis and the sign of its direction."""
        if self.kinds[i + 1] != "to" or self.kinds[i + 2] != "dir":
            return None
        start, end = self.lexemes[i].value[1:], self.lexemes[i + 2].value[1:]
        for axis in (0, 1):
            if start[axis] is not None and end[axis] == -start[axis]:
                return axis, end[axis]
        return None

    def _between(self, i: int) -> tuple[Chunk | None, int]:
        np = self.noun_phrase(i + 1) if self.kinds[i + 1] in NOUN_STARTS else None
        if np is None or not np[0]:
            return None, i + 1
        mentions, after = self._more_nouns(np[0], np[1], subject=False)
        return ("between" if len(mentions) > 1 else "np", mentions), after

    def _landmark_alone(self, i: int) -> tuple[Chunk | None, int]:
        """ "Relative to the player" sets the point of view; "to the target" is where something goes."""
        np = self.noun_phrase(i + 1) if self.kinds[i + 1] in NOUN_STARTS else None
        if np is None or not np[0]:
            infinitive = self.kinds[i] == "to" and self.kinds[i + 1] in ACTIONS
            return (("goal", None) if infinitive and self.kinds[i - 1] not in ("will", "would") else None), i + 1
        word, after = self.lexemes[i].value, np[1]
        if self.kinds[i - 1] == "distance":  # the direction to the goal is ...
            return ("np", np[0]), after
        if (self.kinds[i - 1] in ("unit", "number") and word == "from") or word == "away_from":
            return ("near", np[0]), after
        if word.endswith("where"):
            return ("view", np[0]), after + (self.kinds[after] in ("is", "be"))
        if word == "as" and self.kinds[after] in VERBS:
            return None, i + 1  # "as the box is ...": the start of a clause
        return ("view" if self.kinds[i] == "link" else "goes_to", np[0]), after

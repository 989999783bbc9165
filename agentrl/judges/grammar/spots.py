"""Absolute places: "(2, 3)", "row 2, column 3", "the top row", "the lower left corner"."""

from __future__ import annotations

from agentrl.judges.grammar.chunks import Spot
from agentrl.judges.grammar.nouns import NounReader

SPOT_KINDS = frozenset(("pair", "row", "column", "x", "y", "corner", "number"))
_EDGES = {-1: ("first", 1), 1: ("last", 1)}


class SpotReader(NounReader):
    """Reads absolute places at a position of the lexemes."""

    def _spot(self, i: int) -> tuple[Spot, int] | None:
        """ "(2, 3)", "row 2, column 3", "the top row", "the lower left corner"."""
        kinds = self.kinds
        row = column = None
        found = i
        while True:
            j = i
            while kinds[j] in ("at", "the", "filler", "unk", "unit") and j < i + 4:
                j += 1
            kind = kinds[j]
            if kind == "pair":
                pair = self.lexemes[j].value
                return Spot(("number", pair[0]), ("number", pair[1])), j + 1
            if kind == "number" and kinds[j - 1] in ("noun", "unit", "at", "colon") and self._bare_pair(j):
                row, column = self.lexemes[j].value, self.lexemes[j + 2].value
                return Spot(("number", row), ("number", column)), j + 3
            part = self._half_spot(j)
            if part is None:
                break
            spot, after = part
            if (spot.row and row) or (spot.column and column):
                break
            i = after
            row, column, found = spot.row or row, spot.column or column, i
            while kinds[i] in ("comma", "and", "of"):
                i += 1
        return (Spot(row, column), found) if row or column else None

    def _bare_pair(self, j: int) -> bool:
        """ "2, 3" without brackets, and not the beginning of "2, 3 cells ..."."""
        kinds = self.kinds
        return kinds[j + 1] == "comma" and kinds[j + 2] == "number" and kinds[j + 3] in ("stop", "comma", "and", "is")

    def _half_spot(self, j: int) -> tuple[Spot, int] | None:
        kinds, lexemes = self.kinds, self.lexemes
        kind, after = kinds[j], kinds[j + 1]
        if kind in ("row", "column", "x", "y"):
            k = j + 1
            while kinds[k] in ("filler", "colon", "is") and k < j + 4:
                k += 1
            if kinds[k] == "number" and kinds[k + 1] not in ("unit", "dir"):
                value = ("number", lexemes[k].value)
                return (Spot(row=value) if kind in ("row", "y") else Spot(column=value)), k + 1
        if kind == "ordinal" and after in ("row", "column") and kinds[j + 2] != "dir":
            value = ("first", lexemes[j].value)
            return (Spot(row=value) if after == "row" else Spot(column=value)), j + 2
        if kind == "dir" and after in ("row", "column") and kinds[j + 2] != "of":
            return self._edge(lexemes[j].value, after), j + 2
        if kind == "dir":
            return self._corner(j)
        return None

    def _edge(self, value: tuple[str, int | None, int | None], axis: str) -> Spot:
        _, down, along = value
        sign = down if axis == "row" else along
        if sign is None:
            return Spot()
        edge = ("first", 1) if sign < 0 else ("last", 1)
        return Spot(row=edge) if axis == "row" else Spot(column=edge)

    def _corner(self, j: int) -> tuple[Spot, int] | None:
        rows, columns = None, None
        while self.kinds[j] == "dir":
            _, down, along = self.lexemes[j].value
            rows, columns = (down if down is not None else rows), (along if along is not None else columns)
            j += 1
        if self.kinds[j] != "corner" or rows is None or columns is None:
            return None
        edges = {-1: ("first", 1), 1: ("last", 1)}
        return Spot(edges[rows], edges[columns]), j + 1

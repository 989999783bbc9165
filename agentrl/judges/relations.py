"""Where things are, seen from the origin: the form in which texts and truth are compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from agentrl.core.claims import Relations
from agentrl.core.env_class import claims_of
from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest
from agentrl.core.state import State

Vertical = Literal["above", "below", "same"]
Horizontal = Literal["left", "right", "same"]
Cell = tuple[int, int]  # row, column; row 0 is at the top

_INTS = [int, int]


class Relation(NamedTuple):
    """One thing seen from the origin; None where nothing is said about that axis."""

    object: str
    vertical: Vertical | None = None
    horizontal: Horizontal | None = None

    def to_json(self) -> dict[str, str | None]:
        """A plain dictionary, for evidence and corpora."""
        name, vertical, horizontal = self
        return {"object": name, "vertical": vertical, "horizontal": horizontal}


_VERTICALS: dict[int, Vertical] = {-1: "above", 0: "same", 1: "below"}
_HORIZONTALS: dict[int, Horizontal] = {-1: "left", 0: "same", 1: "right"}


@lru_cache(maxsize=4096)
def _relation(name: str, rows: int, columns: int) -> Relation:
    return Relation(name, _VERTICALS[rows], _HORIZONTALS[columns])


def between(name: str, cell: Cell, origin: Cell) -> Relation:
    """How a cell lies relative to the origin's."""
    (row, column), (origin_row, origin_column) = cell, origin
    rows, columns = (row > origin_row) - (row < origin_row), (column > origin_column) - (column < origin_column)
    return _relation(name, rows, columns)


def relations_of(request: JudgeRequest) -> tuple[Relations, tuple[Relation, ...]]:
    """The relations that a request's state declares, and the true ones; `JudgeFault` if it has none."""
    declared = claims_of(request).relations
    if declared is None:
        raise JudgeFault(f"the states of {request.env_id or 'this environment'!r} declare no relations")
    return declared, truth(declared, facts_of(request))


def truth(declared: Relations, facts: Mapping[str, Any]) -> tuple[Relation, ...]:
    """Every scored thing of a state's structured form, seen from the origin."""
    key = declared.origin.key
    origin = _cells(facts, key)
    if len(origin) != 1:
        raise JudgeFault(f"{key} must be one [row, column]")
    things = [thing for thing in declared.things if thing.key]
    return tuple(between(thing.name, cell, origin[0]) for thing in things for cell in _cells(facts, thing.key))


def facts_of(request: JudgeRequest) -> Mapping[str, Any]:
    """The structured form of a request's state."""
    state = request.state
    if not isinstance(state, State):
        return state
    try:
        return state.structured()
    except Exception as error:  # a broken state is not scored
        raise JudgeFault(f"{type(state).__name__} gives no structured form: {error}") from error


def _cells(facts: Mapping[str, Any], key: str) -> list[Cell]:
    """One position or a list of them, as cells."""
    value = facts.get(key)
    if not isinstance(value, (list, tuple)):
        raise JudgeFault(f"{key} must hold positions; got {'nothing' if value is None else type(value).__name__}")
    cells: list[Cell] = []
    for cell in [value] if len(value) == 2 and type(value[0]) is int else value:
        if not isinstance(cell, (list, tuple)) or [type(part) for part in cell] != _INTS:
            raise JudgeFault(f"{key} must hold [row, column] pairs")
        cells.append((cell[0], cell[1]))
    return cells

"""Where things are, seen from the player: the vocabulary in which descriptions and truth are compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from agentrl.core.errors import JudgeFault
from agentrl.core.state import State

Vertical = Literal["above", "below", "same"]
Horizontal = Literal["left", "right", "same"]
Game = Literal["sokoban", "frozenlake"]
Cell = tuple[int, int]  # row, column; row 0 is at the top

CLASSES: dict[Game, tuple[str, ...]] = {"sokoban": ("target", "box"), "frozenlake": ("target", "hole")}
_KEYS: dict[Game, dict[str, str]] = {  # key of the structured form -> kind of object
    "sokoban": {"target_positions": "target", "box_positions": "box"},
    "frozenlake": {"target_position": "target", "hole_positions": "hole"},
}


_INTS = [int, int]


class Relation(NamedTuple):
    """One object seen from the player; None where nothing is said about that axis."""

    object: str
    vertical: Vertical | None = None
    horizontal: Horizontal | None = None

    def to_json(self) -> dict[str, str | None]:
        """A plain dictionary, for evidence and corpora."""
        name, vertical, horizontal = self
        return {"object": name, "vertical": vertical, "horizontal": horizontal}


_VERTICALS: dict[int, Vertical] = {-1: "above", 0: "same", 1: "below"}
_HORIZONTALS: dict[int, Horizontal] = {-1: "left", 0: "same", 1: "right"}
# By name and by the signs of the rows and columns: truths are looked up, not built.
_BY_SIGNS: dict[tuple[str, int, int], Relation] = {
    (name, rows, columns): Relation(name, vertical, horizontal)
    for name in ("target", "box", "hole")
    for rows, vertical in _VERTICALS.items()
    for columns, horizontal in _HORIZONTALS.items()
}


def between(name: str, cell: Cell, player: Cell) -> Relation:
    """How a cell lies relative to the player's."""
    (row, column), (player_row, player_column) = cell, player
    rows, columns = (row > player_row) - (row < player_row), (column > player_column) - (column < player_column)
    return _BY_SIGNS[name, rows, columns]


def game_of(state: State | Mapping[str, Any]) -> Game:
    """Which game a state belongs to, recognised by the keys of its structured form."""
    structured = state if isinstance(state, Mapping) else _structured(state)
    if "box_positions" in structured and "target_positions" in structured:
        return "sokoban"
    if "hole_positions" in structured and "target_position" in structured:
        return "frozenlake"
    raise JudgeFault(f"no rules for a state with {', '.join(sorted(map(str, structured))) or 'nothing in it'}")


def truth(state: State | Mapping[str, Any]) -> list[Relation]:
    """Every target, box and hole of a state, or of its `to_json` dictionary, seen from the player."""
    return list(facts(state)[1])


def facts(state: State | Mapping[str, Any]) -> tuple[Game, tuple[Relation, ...]]:
    """The game and its true relations together; `JudgeFault` if the state is none of the games'."""
    if not isinstance(state, Mapping):
        return _facts_of_state(state)
    game = game_of(state)
    player = _cells(state.get("player_position"), "player_position")
    if len(player) != 1:
        raise JudgeFault("player_position must be one [row, column]")
    origin = player[0]
    found = [between(name, cell, origin) for key, name in _KEYS[game].items() for cell in _cells(state[key], key)]
    return game, tuple(found)


@lru_cache(maxsize=4096)
def _facts_of_state(state: State) -> tuple[Game, tuple[Relation, ...]]:
    return facts(_structured(state))


def _structured(state: Any) -> Mapping[str, Any]:
    if not isinstance(state, State):
        raise JudgeFault(f"a state is a State or a dictionary, not {type(state).__name__}")
    try:
        return state.structured()
    except Exception as error:  # a state of another kind, or a broken one: unscored either way
        raise JudgeFault(f"{type(state).__name__} gives no positions: {error}") from error


def _cells(value: Any, key: str) -> list[Cell]:
    """One position or a list of them, as cells."""
    if not isinstance(value, (list, tuple)):
        raise JudgeFault(f"{key} must hold positions, not {type(value).__name__}")
    cells: list[Cell] = []
    for cell in [value] if len(value) == 2 and type(value[0]) is int else value:
        if not isinstance(cell, (list, tuple)) or [type(part) for part in cell] != _INTS:
            raise JudgeFault(f"{key} must hold [row, column] pairs")
        cells.append((cell[0], cell[1]))
    return cells

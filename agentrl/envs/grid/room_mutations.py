"""New rooms of Sokoban out of old ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agentrl.envs.grid.level_mutations import LevelMutations, chosen
from agentrl.envs.grid.sokoban import (
    PLAYER,
    STANDING,
    as_grids,
    bits,
    expand,
    inside,
    layout_codes,
    level_codes,
    masks,
    offsets,
    pushes,
    reachable,
    shift,
    solve,
)

MAX_SEARCHED = 50_000  # positions of the boxes, before a room counts as too hard to say
CHANGES = {
    "nearby": ("move_player", "move_box", "move_target", "move_wall"),
    "easier": ("play", "open_wall", "move_box", "remove_box"),
    "harder": ("move_player", "move_box", "build_wall", "enlarge", "add_box"),
}


@dataclass(frozen=True)
class Room:
    """Sets of cells as bits (see `sokoban`): the floor under everything, the boxes, the player's cell, the targets."""

    floor: int
    boxes: int
    player: int
    targets: int
    size: int

    @property
    def free(self) -> int:
        """Floor with nothing on it."""
        return self.floor & ~(self.boxes | self.player | self.targets)


class RoomMutations(LevelMutations[Room]):
    """Moves, adds and removes boxes with their targets, opens and builds walls, plays a few moves, enlarges rooms."""

    names = ("size", "boxes")

    def most(self) -> dict[str, int]:
        """One box more than the run's own."""
        return {**super().most(), "boxes": self.env.boxes + 1}  # pyright: ignore[reportAttributeAccessIssue]

    def from_codes(self, codes: np.ndarray) -> Room:
        """The room of a board."""
        floor, boxes, targets = masks(codes)
        (player,) = np.flatnonzero(np.isin(codes.ravel(), (PLAYER, STANDING))).tolist()
        return Room(floor, boxes, 1 << player, targets, len(codes))

    def to_codes(self, level: Room) -> np.ndarray:
        """The board of a room."""
        layout = layout_codes(level.floor, level.targets, level.size)
        return as_grids([level_codes(layout, level.boxes, level.player)], level.size)[0]

    def layout(self, level: Room) -> np.ndarray:
        """Walls and targets."""
        return as_grids([layout_codes(level.floor, level.targets, level.size)], level.size)[0]

    def properties(self, level: Room) -> dict[str, int]:
        """Size and number of boxes."""
        return {"size": level.size, "boxes": level.boxes.bit_count()}

    def burden(self, level: Room) -> tuple[int, ...]:
        """More boxes, larger rooms, less floor."""
        return level.boxes.bit_count(), level.size, -level.floor.bit_count()

    def length(self, level: Room) -> int | None:
        """By breadth-first search, which gives up where it would take too long."""
        if level.boxes == level.targets:
            return None
        layer, seen = {level.boxes: level.player}, {level.boxes: level.player}
        for moves in range(1, self.longest + 1):
            layer = expand(layer, seen, level.floor, level.size, pushes)
            if level.targets in layer:
                return moves
            if not layer or len(seen) > MAX_SEARCHED:
                return None
        return None

    def changed(self, kind: str, level: Room, rng: np.random.Generator) -> Room | None:
        """One of the changes that suit the kind, if what stands in the room can still be reached."""
        room = getattr(self, f"_{chosen(rng, CHANGES[kind])}")(level, rng)
        return None if room is None else _closed(room)

    def combined(self, one: Room, other: Room, rng: np.random.Generator) -> Room | None:
        """The floor of both rooms or of one alone, with the boxes of one and the targets of the other."""
        floor = (one.floor, other.floor, one.floor | other.floor)[rng.integers(3)]
        floor |= one.boxes | one.player | other.targets
        if one.boxes & one.player:
            return None
        return _closed(Room(floor, one.boxes, one.player, other.targets, one.size))

    # ------------------------------------------------------------------ single changes

    def _move_player(self, room: Room, rng: np.random.Generator) -> Room | None:
        return replace(room, player=_some(room.floor & ~room.boxes, rng))

    def _move_box(self, room: Room, rng: np.random.Generator) -> Room | None:
        places = room.floor & ~room.boxes & ~room.player
        return replace(room, boxes=room.boxes ^ _some(room.boxes, rng) | _some(places, rng)) if places else None

    def _move_target(self, room: Room, rng: np.random.Generator) -> Room | None:
        places = room.floor & ~room.targets
        return replace(room, targets=room.targets ^ _some(room.targets, rng) | _some(places, rng))

    def _move_wall(self, room: Room, rng: np.random.Generator) -> Room | None:
        built = self._build_wall(room, rng)
        return None if built is None else self._open_wall(built, rng)

    def _build_wall(self, room: Room, rng: np.random.Generator) -> Room | None:
        return replace(room, floor=room.floor ^ _some(room.free, rng)) if room.free else None

    def _open_wall(self, room: Room, rng: np.random.Generator) -> Room | None:
        walls = sum(inside(room.size)) & ~room.floor
        return replace(room, floor=room.floor | _some(walls, rng)) if walls else None

    def _play(self, room: Room, rng: np.random.Generator) -> Room | None:
        """The room after a few moves of a shortest solution: the box is nearer."""
        length = self.length(room)
        moves = solve(room.floor, room.boxes, room.player, room.targets, room.size) if length else None
        if not moves or len(moves) < 2:
            return None
        for move in moves[: rng.integers(1, len(moves))]:
            step = offsets(room.size)[move]
            player = shift(room.player, step)
            boxes = room.boxes ^ player ^ shift(player, step) if room.boxes & player else room.boxes
            room = replace(room, player=player, boxes=boxes)
        return room

    def _remove_box(self, room: Room, rng: np.random.Generator) -> Room | None:
        if room.boxes.bit_count() == 1:
            return None
        boxes, targets = room.boxes ^ _some(room.boxes, rng), room.targets ^ _some(room.targets, rng)
        return replace(room, boxes=boxes, targets=targets)

    def _add_box(self, room: Room, rng: np.random.Generator) -> Room | None:
        if room.boxes.bit_count() >= min(8, self.most()["boxes"]) or room.free.bit_count() < 2:
            return None
        box = _some(room.free, rng)
        return replace(room, boxes=room.boxes | box, targets=room.targets | _some(room.free & ~box, rng))

    def _enlarge(self, room: Room, rng: np.random.Generator) -> Room | None:
        """A new row and a new column of floor somewhere inside."""
        if room.size >= min(16, self.most()["size"]):
            return None
        row, column = (int(place) for place in rng.integers(1, room.size, size=2))
        sets = (room.floor, room.boxes, room.player, room.targets)
        floor, *things = (_spread(cells, room.size, row, column) for cells in sets)
        wide = room.size + 1
        places = [(cell, *_place(cell, wide)) for cell in inside(wide)]
        fresh = [cell for cell, r, c in places if r == row or c == column]
        floor |= sum(cell for cell in fresh if rng.random() < 0.8 and not floor & cell)
        return Room(floor, things[0], things[1], things[2], wide)


def _closed(room: Room) -> Room | None:
    """The room without floor that nobody can come to; None if a box or a target was there, or the player in a box."""
    floor = reachable(room.player, room.floor, room.size)
    things = room.boxes | room.targets
    if things & ~floor or room.player & room.boxes or room.boxes.bit_count() != room.targets.bit_count():
        return None
    return replace(room, floor=floor)


def _some(cells: int, rng: np.random.Generator) -> int:
    """One cell of a set that is not empty."""
    return chosen(rng, list(bits(cells)))


def _place(cell: int, size: int) -> tuple[int, int]:
    return divmod(cell.bit_length() - 1, size)


def _spread(cells: int, size: int, row: int, column: int) -> int:
    """A set of cells once a row and a column were put in."""
    spread = 0
    for cell in bits(cells):
        r, c = _place(cell, size)
        spread |= 1 << (r + (r >= row)) * (size + 1) + c + (c >= column)
    return spread

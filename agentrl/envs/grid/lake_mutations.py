"""New lakes out of old ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from agentrl.envs.grid.frozenlake import FROZEN, GOAL, HOLE, PLAYER, neighbours, shortest_path
from agentrl.envs.grid.level_mutations import LevelMutations, chosen

CHANGES = {
    "nearby": ("move_player", "move_goal", "move_hole"),
    "easier": ("walk", "freeze", "move_goal"),
    "harder": ("move_player", "move_goal", "dig", "enlarge"),
}


@dataclass(frozen=True, eq=False)
class Lake:
    """Where the holes are (bool [size, size]), and the flat indices of player and goal, which stand on ice."""

    holes: np.ndarray
    player: int
    goal: int

    @property
    def ice(self) -> list[int]:
        """The tiles that hold nothing."""
        return [int(cell) for cell in np.flatnonzero(~self.holes) if cell not in (self.player, self.goal)]


class LakeMutations(LevelMutations[Lake]):
    """Moves player, goal and holes, digs and freezes holes, enlarges lakes and joins two."""

    def from_codes(self, codes: np.ndarray) -> Lake:
        """The lake of a board."""
        flat = codes.ravel()
        return Lake(codes == HOLE, int(np.flatnonzero(flat == PLAYER)[0]), int(np.flatnonzero(flat == GOAL)[0]))

    def to_codes(self, level: Lake) -> np.ndarray:
        """The board of a lake."""
        codes = self.layout(level)
        codes.ravel()[level.player] = PLAYER
        return codes

    def layout(self, level: Lake) -> np.ndarray:
        """The lake without the player."""
        codes = np.where(level.holes, HOLE, FROZEN).astype(np.uint8)
        codes.ravel()[level.goal] = GOAL
        return codes

    def properties(self, level: Lake) -> dict[str, int]:
        """Its size."""
        return {"size": len(level.holes)}

    def burden(self, level: Lake) -> tuple[int, ...]:
        """Larger lakes and more holes."""
        return len(level.holes), int(level.holes.sum())

    def length(self, level: Lake) -> int | None:
        """By breadth-first search."""
        moves = shortest_path(self.to_codes(level), level.player)
        return len(moves) if moves and len(moves) <= self.longest else None

    def changed(self, kind: str, level: Lake, rng: np.random.Generator) -> Lake | None:
        """One of the changes that suit the kind."""
        return getattr(self, f"_{chosen(rng, CHANGES[kind])}")(level, rng)

    def combined(self, one: Lake, other: Lake, rng: np.random.Generator) -> Lake | None:
        """The holes of one lake on one side of a line and of the other beyond it; player and goal of one each."""
        size, line = len(one.holes), int(rng.integers(1, len(one.holes)))
        beyond = np.repeat(np.arange(size) >= line, size).reshape(size, size)
        holes = np.where(beyond if rng.integers(2) else beyond.T, other.holes, one.holes)
        if one.player == other.goal:
            return None
        holes.ravel()[[one.player, other.goal]] = False
        return Lake(holes, one.player, other.goal)

    # ------------------------------------------------------------------ single changes

    def _move_player(self, lake: Lake, rng: np.random.Generator) -> Lake | None:
        return replace(lake, player=chosen(rng, lake.ice)) if lake.ice else None

    def _move_goal(self, lake: Lake, rng: np.random.Generator) -> Lake | None:
        return replace(lake, goal=chosen(rng, lake.ice)) if lake.ice else None

    def _move_hole(self, lake: Lake, rng: np.random.Generator) -> Lake | None:
        moved = self._dig(lake, rng)
        return None if moved is None else self._freeze(moved, rng)

    def _dig(self, lake: Lake, rng: np.random.Generator) -> Lake | None:
        return self._with_hole(lake, chosen(rng, lake.ice), True) if lake.ice else None

    def _freeze(self, lake: Lake, rng: np.random.Generator) -> Lake | None:
        holes = np.flatnonzero(lake.holes).tolist()
        return self._with_hole(lake, chosen(rng, holes), False) if holes else None

    @staticmethod
    def _with_hole(lake: Lake, cell: int, there: bool) -> Lake:
        holes = lake.holes.copy()
        holes.ravel()[cell] = there
        return replace(lake, holes=holes)

    def _walk(self, lake: Lake, rng: np.random.Generator) -> Lake | None:
        """The player is a few steps further on a shortest path."""
        moves = shortest_path(self.to_codes(lake), lake.player)
        if not moves or len(moves) < 2:
            return None
        player, after = lake.player, neighbours(len(lake.holes))
        for move in moves[: rng.integers(1, len(moves))]:
            player = after[player][move]
        return replace(lake, player=player)

    def _enlarge(self, lake: Lake, rng: np.random.Generator) -> Lake | None:
        """A new row and a new column somewhere, with as many holes as elsewhere."""
        size = len(lake.holes)
        if size >= min(32, self.most()["size"]):
            return None
        row, column = (int(place) for place in rng.integers(size + 1, size=2))
        holes = np.insert(np.insert(lake.holes, row, False, axis=0), column, False, axis=1)
        fresh = rng.random(holes.shape) < lake.holes.mean()
        holes[row], holes[:, column] = fresh[row], fresh[:, column]
        (r, c), (gr, gc) = divmod(lake.player, size), divmod(lake.goal, size)
        player = (r + (r >= row)) * (size + 1) + c + (c >= column)
        goal = (gr + (gr >= row)) * (size + 1) + gc + (gc >= column)
        return Lake(holes, player, goal)

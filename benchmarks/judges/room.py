"""A small state for the checks of the judges, so that they depend on no environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentrl.core.claims import Claims, Relations, Thing, Value
from agentrl.core.state import State

ENV_ID = "testing/Room-v0"  # of no registered environment: prompts are the general ones

TARGET = Thing("target", "target goal", "targets goals", key="target_positions", weight=0.5)
BOX = Thing("box", "box crate", "boxes crates", key="box_positions", weight=0.5)
RELATIONS = Relations(
    origin=Thing("player", "player agent", key="player_position"),
    things=(TARGET, BOX),
    key_words=(("player", ("player",)), ("box", ("box",)), ("target", ("target",))),
)
CLAIMS = Claims(RELATIONS, (Value("player_position"), Value("box_positions", many=True)))


@dataclass(frozen=True)
class Room(State):
    """A player, a box and a target, each at (row, column)."""

    player: tuple[int, int] = (2, 2)
    box: tuple[int, int] = (2, 1)
    target: tuple[int, int] = (1, 1)

    @classmethod
    def claims(cls) -> Claims:
        """Where box and target are, seen from the player."""
        return CLAIMS

    def structured(self) -> dict[str, Any]:
        """Positions as [row, column]."""
        return {
            "player_position": list(self.player),
            "box_positions": [list(self.box)],
            "target_positions": [list(self.target)],
        }

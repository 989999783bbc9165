"""The truth about the table: named positions in whole millimetres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentrl.core.claims import Claims, Points, Value
from agentrl.core.state import State

TOLERANCE = 10.0  # millimetres on each axis, as in the VAGEN paper

TABLE = Claims(
    points=Points(
        ending="_position",
        tolerance=TOLERANCE,
        synonyms={
            "cube": "block box brick",
            "target": "goal marker mark disc disk spot circle area zone",
            "sphere": "ball",
            "drawer": "cabinet",
            "grey": "gray",
            "gray": "grey",
        },
    ),
    values=(Value("drawer_open_value", tolerance=TOLERANCE),),
)


def whole(point: tuple[float, float, float]) -> tuple[int, int, int]:
    """A position in whole millimetres."""
    x, y, z = map(round, point)
    return x, y, z


def spoken(name: str) -> str:
    """`red_cube` in a sentence."""
    return f"the {name.replace('_', ' ')}"


@dataclass(frozen=True)
class SkillState(State):
    """Where everything is; the names are what the prompt keeps to itself."""

    scored = TABLE

    instruction: str
    positions: dict[str, tuple[int, int, int]]  # by name, x, y, z of the middle in mm
    values: dict[str, int]  # other measurements, such as drawer_open_value in mm
    held: str | None  # what the gripper holds
    stage: int  # the highest stage that holds now, -1 for none

    def natural(self) -> list[str]:
        """One sentence for each thing, then the other measurements and the gripper."""
        facts = [f"{spoken(name).capitalize()} is at ({x}, {y}, {z})." for name, (x, y, z) in self.positions.items()]
        facts += [f"The {name.replace('_', ' ')} is {value} mm." for name, value in self.values.items()]
        return [*facts, f"The gripper holds {spoken(self.held)}." if self.held else "The gripper is empty."]

    def structured(self) -> dict[str, Any]:
        """`<name>_position` as [x, y, z], and the other measurements by name."""
        return {**{f"{name}_position": list(at) for name, at in self.positions.items()}, **self.values}

    def to_json(self) -> dict[str, Any]:
        """The structured form with what is asked, what is held and how far it is done."""
        told = {"instruction": self.instruction, "held": self.held, "stage": self.stage}
        return {**self.structured(), **told}

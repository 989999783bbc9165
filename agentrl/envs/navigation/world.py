"""What the environment needs of a world, whoever simulates it: the embedded homes or AI2-THOR."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agentrl.envs.navigation.sight import Eye

ACTIONS = (
    "moveahead", "moveback", "moveleft", "moveright", "rotateleft", "rotateright", "lookup", "lookdown",
)  # fmt: skip
MOVES = {"moveahead": 0, "moveright": 1, "moveback": 2, "moveleft": 3}  # -> quarter turns right of the heading
TURNS = {"rotateright": 1, "rotateleft": -1}  # -> quarter turns to the right
TILTS = {"lookup": 30, "lookdown": -30}  # -> degrees
HIGHEST, LOWEST = 30, -60  # degrees above the horizon, as in AI2-THOR
SIDES = {"ahead": 0, "back": 2, "left": 3, "right": 1}  # the views of `multiview` -> quarter turns to the right


@dataclass(frozen=True)
class Rules:
    """The arguments of the environment that its worlds depend on."""

    step_length: float
    success_distance: float
    fov: float
    image_size: int
    min_solution: int
    max_solution: int
    in_view: bool | None
    homes: int | None


class Thing(NamedTuple):
    """Something in view."""

    type: str
    x: float
    y: float


class World(ABC):
    """A place to walk in, with one target."""

    instruction: str
    scene: str  # the name of the home
    target: Thing
    eye: Eye

    @abstractmethod
    def tasks(self) -> Sequence[str]:
        """The ids of the split's tasks."""

    @abstractmethod
    def find(self, task: str) -> Any:
        """What `begin` needs for a task id; `ConfigError` if it is unknown."""

    @abstractmethod
    def begin(self, task: Any) -> None:
        """Go to the start of a task."""

    @abstractmethod
    def act(self, action: str) -> str | None:
        """Run one of `ACTIONS`. None, or why nothing changed."""

    @abstractmethod
    def things_in_view(self) -> list[Thing]:
        """What can be seen from here."""

    @abstractmethod
    def plan(self) -> list[str] | None:
        """A shortest list of actions to the target; None if there is none."""

    @abstractmethod
    def picture(self, quarters: int = 0) -> np.ndarray:
        """What is seen from here after some quarter turns to the right: uint8 [size, size, 3]."""

    @abstractmethod
    def map_picture(self, size: int) -> np.ndarray:
        """The place from above: uint8 [size, size, 3]."""

    @abstractmethod
    def map_text(self) -> str:
        """The place from above, in characters."""

    @abstractmethod
    def save(self) -> dict[str, Any]:
        """Everything that acting changes."""

    @abstractmethod
    def load(self, task: Any, data: dict[str, Any]) -> None:
        """Go to a moment that `save` kept; ValueError if it cannot come up."""

    def close(self) -> None:  # noqa: B027 (most hold nothing)
        """Free what the world holds; may be called twice."""

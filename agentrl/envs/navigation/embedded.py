"""The world of generated homes: walking and seeing by geometry, pictures by MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from agentrl.envs.navigation import tasks
from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.sight import Eye, Place, place_of
from agentrl.envs.navigation.tasks import instruction
from agentrl.envs.navigation.walking import UNREACHABLE, VECTORS, Cell
from agentrl.envs.navigation.world import HIGHEST, LOWEST, MOVES, TILTS, TURNS, Rules, Thing, World

# Sideways first: walking ahead last, the target stays in view for longest.
PLAN_ORDER = ("moveleft", "moveright", "moveback", "moveahead")


class EmbeddedWorld(World):
    """One generated home at a time."""

    def __init__(self, rules: Rules, split: str, instructions: str) -> None:
        self._rules, self._split = rules, split
        self._names = tasks.TaskNames(split, rules.homes, instructions)
        self._place: Place | None = None
        self._item = 0  # index of the target
        self._cell: Cell = (0, 0)
        self._heading = self._tilt = 0

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The names, spelled when they are looked at."""
        return self._names

    def find(self, task: Any) -> tuple[tasks.Name, tasks.Start]:
        """The name and what is drawn for it."""
        name = tasks.find(task, self._split)
        return name, tasks.draw(self._built(name.home), name.number, self._rules)

    def _built(self, seed: int) -> Place:
        return place_of(seed, self._rules.step_length)

    @property
    def _here(self) -> Place:
        assert self._place is not None  # after `begin`
        return self._place

    def begin(self, task: tuple[tasks.Name, tasks.Start]) -> None:
        """Stand at the start and look straight ahead."""
        name, start = task
        self._place, self._item = self._built(name.home), start.target
        self._cell, self._heading, self._tilt = start.cell, start.heading, 0
        item = self._here.home.items[start.target]
        self.scene, self.target = f"home-{name.home}", Thing(item.type, *item.position[:2])
        kind, wording = TYPES[item.type], name.home * tasks.PER_HOME + name.number
        self.instruction = instruction(name.instructions, kind.noun, kind.uses, wording)

    # ------------------------------------------------------------------ acting

    @property
    def eye(self) -> Eye:  # pyright: ignore[reportIncompatibleVariableOverride]  (computed here)
        """Where the agent stands and looks."""
        x, y = self._here.floor.place(self._cell)
        return Eye(x, y, self._heading, self._tilt)

    def act(self, action: str) -> str | None:
        """Move, turn or tilt."""
        if (side := MOVES.get(action)) is not None:
            return self._move((self._heading + side) % 4)
        if (quarters := TURNS.get(action)) is not None:
            self._heading = (self._heading + quarters) % 4
            return None
        tilt = self._tilt + TILTS[action]
        if not LOWEST <= tilt <= HIGHEST:
            return "you cannot look further that way"
        self._tilt = tilt
        return None

    def _move(self, heading: int) -> str | None:
        if not self._here.floor.can_step(self._cell, heading):
            return "blocked"
        x, y = VECTORS[heading]
        self._cell = self._cell[0] + x, self._cell[1] + y
        return None

    def plan(self) -> list[str] | None:
        """Down the field of distances to the target."""
        place, cell = self._here, self._cell
        steps = place.steps_to(self._item, self._rules.success_distance)
        left = int(steps[place.floor.index(cell)])
        if left == UNREACHABLE:
            return None
        moves: list[str] = []
        while left:
            action, cell = self._downhill(steps, cell, left)
            moves.append(action)
            left -= 1
        return moves

    def _downhill(self, steps: np.ndarray, cell: Cell, left: int) -> tuple[str, Cell]:
        """A move to a place that is one step nearer."""
        floor = self._here.floor
        for action in PLAN_ORDER:
            heading = (self._heading + MOVES[action]) % 4
            x, y = VECTORS[heading]
            ahead = cell[0] + x, cell[1] + y
            if floor.can_step(cell, heading) and steps[floor.index(ahead)] == left - 1:
                return action, ahead
        raise AssertionError("a place that is some steps away always has a neighbour that is one fewer away")

    # ------------------------------------------------------------------ seeing

    def things_in_view(self) -> list[Thing]:
        """By lines of sight."""
        items = self._here.home.items
        found = self._here.seen(self.eye, self._rules.fov)
        return [Thing(items[index].type, *items[index].position[:2]) for index in found]

    def picture(self, quarters: int = 0) -> np.ndarray:
        """By MuJoCo."""
        from agentrl.envs.navigation.views import draw

        return draw(self._here.home, self.eye.turned(quarters), self._rules.image_size, self._rules.fov)

    def map_picture(self, size: int) -> np.ndarray:
        """The floor plan."""
        from agentrl.envs.navigation.maps import draw_map

        return draw_map(self._here.home, self.eye, self.target, size)

    def map_text(self) -> str:
        """The lattice in characters."""
        from agentrl.envs.navigation.maps import spell_map

        return spell_map(self._here, self._cell, self._heading, self._item)

    # ------------------------------------------------------------------ fork

    def save(self) -> dict[str, Any]:
        """The pose: all else follows from the task."""
        return {"cell": list(self._cell), "heading": self._heading, "tilt": self._tilt}

    def load(self, task: tuple[tasks.Name, tasks.Start], data: dict[str, Any]) -> None:
        """Stand where `save` says, if one can stand there."""
        pose = msgspec.convert(data, _Pose)
        place = self._built(task[0].home)
        steps = place.steps_to(task[1].target, self._rules.success_distance)
        if not place.floor.stands(pose.cell) or steps[place.floor.index(pose.cell)] == UNREACHABLE:
            raise ValueError("nobody can stand where it says")
        self.begin(task)
        self._cell, self._heading, self._tilt = pose.cell, pose.heading, pose.tilt

    def __getstate__(self) -> dict[str, Any]:
        seed = None if self._place is None else self._place.home.seed
        return {**self.__dict__, "_place": seed}  # every process can build it, and keeps it for all of its environments

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._place = None if state["_place"] is None else self._built(state["_place"])


class _Pose(msgspec.Struct):
    cell: tuple[int, int]
    heading: Annotated[int, msgspec.Meta(ge=0, le=3)]
    tilt: Literal[-60, -30, 0, 30]

"""The same task in AI2-THOR's rooms, for who has its Unity build.

Everything goes through `Controller.step` and the metadata of its events, as AI2-THOR 5 documents them. Its x and z are
our x and y, its rotations turn right as ours do, and its horizon is positive below ours.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from agentrl.core.errors import ConfigError, EnvFault, SnapshotUnsupported
from agentrl.core.parsing import quote
from agentrl.core.seeding import splitmix64_int, uniform
from agentrl.envs.navigation.catalogue import TYPES
from agentrl.envs.navigation.maps import ARROWS
from agentrl.envs.navigation.sight import Eye
from agentrl.envs.navigation.tasks import IN_VIEW, PER_HOME, SETS, TO_LOOK_AROUND, TRIES, instruction
from agentrl.envs.navigation.walking import VECTORS, Cell
from agentrl.envs.navigation.world import MOVES, Rules, Thing, World

ACTIONS = {
    "moveahead": "MoveAhead", "moveback": "MoveBack", "moveleft": "MoveLeft", "moveright": "MoveRight",
    "rotateleft": "RotateLeft", "rotateright": "RotateRight", "lookup": "LookUp", "lookdown": "LookDown",
}  # fmt: skip
FIRST_SCENES = (0, 200, 300, 400)  # kitchens, living rooms, bedrooms, bathrooms: FloorPlan1, FloorPlan201, ...
NUMBERS = {"train": range(1, 21), "dev": range(21, 26), "test": range(26, 31)}  # AI2-THOR's own custom
VISIBLE_WITHIN = 10.0  # metres; AI2-THOR's default of 1.5 is about reaching, not about seeing


class ThorTask(NamedTuple):
    """A task by its name, `FloorPlan1:base:0`."""

    scene: str
    instructions: str
    number: int


def find_controller() -> Any:
    """AI2-THOR's class; `ConfigError` where it is not installed."""
    try:
        from ai2thor.controller import Controller  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ConfigError(
            'backend="ai2thor" needs AI2-THOR, which is not installed: pip install ai2thor (it downloads a Unity build '
            'at its first start). backend="embedded" needs neither.'
        ) from error
    return Controller


def start_controller(**settings: Any) -> Any:
    """A controller, which starts Unity; `ConfigError` where that fails."""
    controller = find_controller()
    try:
        return controller(**settings)
    except Exception as error:
        raise ConfigError(f'AI2-THOR does not start ({error}); backend="embedded" needs no Unity') from error


class ThorWorld(World):
    """One scene of AI2-THOR at a time."""

    def __init__(
        self, rules: Rules, split: str, instructions: str, start: Callable[..., Any] = start_controller
    ) -> None:
        self._rules, self._split, self._start = rules, split, start
        scenes = [f"FloorPlan{first + number}" for number in NUMBERS[split] for first in FIRST_SCENES]
        self._scenes = scenes[: rules.homes]
        self._names = [f"{scene}:{instructions}:{number}" for number in range(PER_HOME) for scene in self._scenes]
        self._controller = self._event = None
        self._cells: frozenset[Cell] = frozenset()
        self._steps: dict[Cell, int] = {}  # to the target
        if start is start_controller:
            find_controller()  # complains now where there is none

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The first task of every scene, then the second ..."""
        return self._names

    def find(self, task: Any) -> ThorTask:
        """Read a name."""
        if not isinstance(task, str):
            raise ConfigError(f"a task must be text, for example {self._names[0]!r}; got {type(task).__name__}")
        read = re.fullmatch(rf"(FloorPlan\d{{1,3}}):({'|'.join(SETS)}):(\d)", task, re.ASCII)
        if read is None or read[1] not in self._scenes or int(read[3]) >= PER_HOME:
            raise ConfigError(f"unknown task {quote(task)} in split {self._split}; one of them is {self._names[0]!r}")
        return ThorTask(read[1], read[2], int(read[3]))

    def begin(self, task: ThorTask) -> None:
        """Load the scene, draw a target and a start, and go there."""
        self._load_scene(task.scene)
        self.scene = task.scene
        positions = self._step("GetReachablePositions").metadata["actionReturn"] or []
        self._height = positions[0]["y"] if positions else 0.0
        self._cells = frozenset(self._cell(position) for position in positions)
        key = splitmix64_int(int(task.scene[9:]) * PER_HOME + task.number)
        wanted = self._rules.in_view if self._rules.in_view is not None else uniform(key, 0, (1,))[0] < IN_VIEW
        for target in self._targets(task.number, int(task.scene[9:])):
            if self._try_starts(target, key, bool(wanted)):
                self.target = target
                kind = TYPES[target.type]
                self.instruction = instruction(task.instructions, kind.noun, kind.uses, key >> 1)
                return
        raise ConfigError(f"{task.scene} has no task with these limits; widen min_solution..max_solution or in_view")

    def _load_scene(self, scene: str) -> None:
        rules = self._rules
        if self._controller is None:
            self._controller = self._start(
                agentMode="default", scene=scene, gridSize=rules.step_length, snapToGrid=True, rotateStepDegrees=90,
                visibilityDistance=VISIBLE_WITHIN, width=rules.image_size, height=rules.image_size,
                fieldOfView=rules.fov,
            )  # fmt: skip
            self._event = self._controller.last_event
        else:
            self._event = self._guarded(self._controller.reset, scene=scene)

    def _targets(self, number: int, scene: int) -> list[Thing]:
        """The only objects of their types that can be targets; every number begins with another one."""
        objects = self._metadata()["objects"]
        counts = Counter(each["objectType"] for each in objects)
        known = {name for name, kind in TYPES.items() if kind.target and counts[name] == 1}
        single = [each for each in objects if each["objectType"] in known]
        things = [Thing(each["objectType"], each["position"]["x"], each["position"]["z"]) for each in single]
        order = sorted(things, key=lambda thing: splitmix64_int(scene << 32 | crc32(thing.type.encode())))
        first = number % len(order) if order else 0
        return order[first:] + order[:first]

    def _try_starts(self, target: Thing, key: int, wanted: bool) -> bool:
        """Stand at the first of some drawn places from which the target is, or is not, in view."""
        rules = self._rules
        near = [cell for cell in self._cells if self._gap(cell, target) <= rules.success_distance + 1e-9]
        self._steps = steps_from(self._cells, near)
        longest = max(rules.min_solution, rules.max_solution - (0 if wanted else TO_LOOK_AROUND))
        cells = sorted(cell for cell, count in self._steps.items() if rules.min_solution <= count <= longest)
        for place, turn in uniform(key, 1, (2, TRIES)).T if cells else ():
            cell = cells[int(place * len(cells))]
            for quarter in range(4):
                step, heading = self._rules.step_length, (int(turn * 4) + quarter) % 4
                position = {"x": cell[0] * step, "y": self._height, "z": cell[1] * step}
                self._step("Teleport", position=position, rotation=90 * heading, horizon=0, standing=True)
                if any(thing.type == target.type for thing in self.things_in_view()) == wanted:
                    return True
        return False

    def _gap(self, cell: Cell, target: Thing) -> float:
        step = self._rules.step_length
        return math.hypot(cell[0] * step - target.x, cell[1] * step - target.y)

    # ------------------------------------------------------------------ acting

    def act(self, action: str) -> str | None:
        """One action of AI2-THOR."""
        metadata = self._step(ACTIONS[action]).metadata
        if metadata["lastActionSuccess"]:
            return None
        return "blocked" if action in MOVES else "you cannot look further that way"

    def plan(self) -> list[str] | None:
        """Over the places that AI2-THOR calls reachable."""
        cell, heading = self._cell(self._metadata()["agent"]["position"]), self.eye.heading
        if cell not in self._steps:
            return None
        moves: list[str] = []
        while self._steps[cell]:
            for action, side in sorted(MOVES.items(), key=lambda move: move[1] % 2 == 0):  # sideways first
                x, y = VECTORS[(heading + side) % 4]
                ahead = cell[0] + x, cell[1] + y
                if self._steps.get(ahead) == self._steps[cell] - 1:
                    moves.append(action)
                    cell = ahead
                    break
        return moves

    # ------------------------------------------------------------------ seeing

    @property
    def eye(self) -> Eye:  # pyright: ignore[reportIncompatibleVariableOverride]  (computed here)
        """Where AI2-THOR says that the agent is."""
        agent = self._metadata()["agent"]
        heading = round(agent["rotation"]["y"] / 90) % 4
        return Eye(agent["position"]["x"], agent["position"]["z"], heading, -round(agent["cameraHorizon"]))

    def things_in_view(self) -> list[Thing]:
        """What AI2-THOR calls visible."""
        seen = [each for each in self._metadata()["objects"] if each["visible"]]
        return [Thing(each["objectType"], each["position"]["x"], each["position"]["z"]) for each in seen]

    def picture(self, quarters: int = 0) -> np.ndarray:
        """The frame; for other sides the agent turns there and back."""
        if not quarters:
            assert self._event is not None
            return np.array(self._event.frame, np.uint8)
        frame = np.array(self._step("RotateRight", degrees=90 * quarters).frame, np.uint8)
        self._step("RotateLeft", degrees=90 * quarters)
        return frame

    def map_picture(self, size: int) -> np.ndarray:
        """The map in characters, as a picture."""
        from PIL import Image

        from agentrl.core.text_picture import text_picture

        return np.asarray(Image.fromarray(text_picture(self.map_text())).resize((size, size))).copy()

    def map_text(self) -> str:
        """The reachable places, the agent and the target."""
        step, eye = self._rules.step_length, self.eye
        marks = {cell: "." for cell in self._cells}
        marks[round(self.target.x / step), round(self.target.y / step)] = "X"
        marks[round(eye.x / step), round(eye.y / step)] = ARROWS[eye.heading]
        columns, rows = zip(*marks, strict=True)
        return "\n".join(
            "".join(marks.get((x, y), " ") for x in range(min(columns), max(columns) + 1)).rstrip()
            for y in range(max(rows), min(rows) - 1, -1)
        )

    # ------------------------------------------------------------------ the simulator

    def _cell(self, position: dict[str, float]) -> Cell:
        return round(position["x"] / self._rules.step_length), round(position["z"] / self._rules.step_length)

    def _metadata(self) -> dict[str, Any]:
        if self._event is None:
            raise EnvFault("AI2-THOR is not running in this process; call reset()")
        return self._event.metadata

    def _step(self, action: str, **arguments: Any) -> Any:
        if self._controller is None:
            raise EnvFault("AI2-THOR is not running in this process; call reset()")
        self._event = self._guarded(self._controller.step, action=action, **arguments)
        return self._event

    def _guarded(self, call: Callable[..., Any], **arguments: Any) -> Any:
        """A call of the simulator; whatever goes wrong there is a fault, and the next reset starts a new one."""
        try:
            return call(**arguments)
        except Exception as error:
            self.close()
            raise EnvFault(f"AI2-THOR failed: {error}") from error

    def save(self) -> dict[str, Any]:
        """Unity's state cannot be read."""
        raise SnapshotUnsupported("AI2-THOR's state cannot be saved; the embedded homes can be")

    def load(self, task: Any, data: dict[str, Any]) -> None:
        """Nor can it be written."""
        self.save()

    def close(self) -> None:
        """Stop Unity."""
        controller, self._controller, self._event = self._controller, None, None
        if controller is not None:
            controller.stop()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_controller": None, "_event": None}  # Unity belongs to its process


def steps_from(cells: frozenset[Cell], goals: Sequence[Cell]) -> dict[Cell, int]:
    """How many steps between neighbouring cells the nearest goal is away from each cell that reaches one."""
    found = dict.fromkeys(goals, 0)
    waiting = deque(goals)
    while waiting:
        i, j = waiting.popleft()
        for x, y in VECTORS:
            if (beside := (i + x, j + y)) in cells and beside not in found:
                found[beside] = found[i, j] + 1
                waiting.append(beside)
    return found

"""A tiny healthy environment in four kinds, and one broken descendant for every check of the kit.

A module of its own because the kit's other processes import it by name.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.env import SPLITS, AgentEnv, Outcome
from agentrl.core.errors import ConfigError, MissingExtra, SnapshotUnsupported
from agentrl.core.parsing import Turn, parse_turn
from agentrl.core.spaces import AnyText
from agentrl.core.state import State

LENGTH = 8
GRAMMAR = {"up": 1, "down": -1}


@dataclass(frozen=True)
class TinyState(State):
    """Where the walker is on the line, where it should be, and the weather."""

    position: int
    target: int
    wind: int

    def symbolic(self) -> str:
        """The line in characters."""
        return "".join("P" if i == self.position else "G" if i == self.target else "_" for i in range(LENGTH))

    def structured(self) -> dict[str, Any]:
        """The fields."""
        return {"position": self.position, "target": self.target}


class TinyEnv(AgentEnv[Any, Any]):
    """Walk along a line to the target while the wind, which only shows, turns at random."""

    representations = frozenset({"symbolic", "structured"})

    def __init__(self, *, kind: str = "text", max_turns: int = 9, max_actions_per_turn: int = 2, **others: Any) -> None:
        super().__init__(max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, **others)
        self.kind = kind
        picture, text = spaces.Box(0, 255, (4, LENGTH, 3), np.uint8), AnyText()
        proprio = spaces.Box(0, LENGTH, (2,), np.float32)
        self.observation_space = {
            "text": spaces.Dict({"text": text}),
            "visual": spaces.Dict({"text": text, "image": picture}),
            "grid": spaces.Box(0, 3, (LENGTH,), np.uint8),
            "control": spaces.Dict({"text": text, "image": picture, "proprio": proprio}),
        }[kind]
        self.action_space = {"grid": spaces.Discrete(2), "control": spaces.Box(-1, 1, (1,), np.float32)}.get(
            kind, AnyText(("up", "down"), max_words=max_actions_per_turn)
        )
        self.position = self.target = self.wind = 0

    @property
    def system_prompt(self) -> str:
        return "" if self.kind == "grid" else f"Say up or down to reach the target. You have {self.max_turns} turns."

    # tasks
    def tasks(self) -> Sequence[str]:
        pairs = [(a, b) for a in range(LENGTH) for b in range(LENGTH) if a != b]
        return [f"{a} to {b}" for a, b in pairs if (a + 3 * b) % 3 == SPLITS.index(self.split)]

    def _find_task(self, task: Any) -> str:
        if not isinstance(task, str) or task not in self.tasks():
            raise ConfigError(f"no such task: {task!r}")
        return task

    def _begin(self, task: str) -> None:
        start, target = task.split(" to ")
        self.position, self.target, self.wind = int(start), int(target), 0
        self.name = task

    def _task(self) -> str:
        return self.name

    # turns
    def _read(self, action: Any) -> Turn:
        if self.kind == "grid":
            fits = isinstance(action, (int, np.integer)) and not isinstance(action, bool) and action in (0, 1)
            return Turn([1 if action else -1]) if fits else Turn([], "an action is 0 or 1")
        if self.kind == "control":
            fits = isinstance(action, np.ndarray) and action.dtype == np.float32 and action in self.action_space
            return Turn([int(np.sign(action[0]))]) if fits else Turn([], "an action is one float from -1 to 1")
        return parse_turn(action, GRAMMAR, self.max_actions_per_turn)

    def _act(self, primitive: int) -> Outcome:
        before = self.position
        self.position = min(max(before + primitive, 0), LENGTH - 1)
        self.wind = int(self.np_random.integers(4))
        arrived = self.position == self.target
        terms = {"success": 1.0} if arrived else {"step": -0.1}
        return Outcome(terms, self.position != before, arrived, arrived, "You are there." if arrived else "")

    def oracle(self) -> Any:
        distance = self.target - self.position
        if not distance or self._terminated:
            return None
        if self.kind == "grid":
            return int(distance > 0)
        if self.kind == "control":
            return np.array([np.sign(distance)], np.float32)
        return ", ".join(["up" if distance > 0 else "down"] * min(abs(distance), self.max_actions_per_turn))

    # what is seen
    def state(self) -> State:
        return TinyState(self.position, self.target, self.wind)

    def _line(self) -> np.ndarray:
        line = np.zeros(LENGTH, np.uint8)
        line[self.target] += 1
        line[self.position] += 2
        return line

    def _observe(self) -> Any:
        if self.kind == "grid":
            return self._line()
        seen = {"text": f"{self._feedback} wind {self.wind} {self._draw_text()}"}
        if self.kind in ("visual", "control"):
            seen["image"] = self._draw()
        if self.kind == "control":
            seen["proprio"] = np.array([self.position, self.wind], np.float32)
        return seen

    def _draw(self) -> np.ndarray:
        return np.broadcast_to((self._line() * 80)[None, :, None], (4, LENGTH, 3)).copy()

    def _save(self) -> dict[str, Any]:
        walk = [self._index, self._stride]
        return {"position": self.position, "target": self.target, "wind": self.wind, "name": self.name, "walk": walk}

    def _load(self, data: dict[str, Any]) -> None:
        numbers = [data[key] for key in ("position", "target", "wind")]
        if not all(isinstance(number, int) and 0 <= number < LENGTH for number in numbers):
            raise ValueError("out of range")
        self.position, self.target, self.wind = numbers
        self.name = str(data["name"])
        self._restore_walk(*data["walk"])


# ---------------------------------------------------------------------- broken in exactly one way

BROKEN: list[tuple[type[AgentEnv], str, set[str], dict[str, Any]]] = []


def breaks(check: str, *also: str, **kwargs: Any) -> Callable[[type], type]:
    """This class fails the check of that name (and of these others, which look at the same thing)."""

    def remember(cls: type) -> type:
        BROKEN.append((cls, check, {check, *also}, kwargs))
        return cls

    return remember


@breaks("gymnasium")
class OldSeedMethod(TinyEnv):
    def seed(self, seed: int | None = None) -> None:
        """Gymnasium warns about environments that still have this method."""


@breaks("gymnasium")
class WarnsInReset(TinyEnv):
    def reset(self, **arguments: Any) -> Any:
        gym.logger.warn("this environment is deprecated")
        return super().reset(**arguments)


@breaks("spaces", "gymnasium", "hostile")
class TextIsBytes(TinyEnv):
    def _observe(self) -> Any:
        return {"text": super()._observe()["text"].encode()}


@breaks("spaces", "hostile", kind="grid")
class OutsideAfterAWhile(TinyEnv):
    def _observe(self) -> Any:
        return self._line() + np.uint8(9 if self._turn == 4 else 0)


@breaks("spaces", "gymnasium", kind="grid")
class OneBuffer(TinyEnv):
    def _observe(self) -> Any:
        self.buffer = getattr(self, "buffer", np.zeros(LENGTH, np.uint8))
        self.buffer[:] = self._line()
        return self.buffer


@breaks("spaces", "snapshot")
class HandsOutItsOwnList(TinyEnv):
    def _info(self, *arguments: Any, **others: Any) -> dict[str, Any]:
        self.visited = self.visited if self._turn else []
        self.visited += [self.position]
        return {**super()._info(*arguments, **others), "visited": self.visited}


@breaks(
    "seed_determinism",
    "gymnasium",
    "spaces",
    "snapshot",
    "spec",
    "rendering",
    "process_determinism",
    "pickling",
    "splits",
)
class CountsItsResets(TinyEnv):
    resets = 0

    def _begin(self, task: str) -> None:
        super()._begin(task)
        CountsItsResets.resets += 1
        self.wind = CountsItsResets.resets


@breaks("seed_determinism")
class IgnoresItsSeed(TinyEnv):
    def _task_at(self, index: int) -> str:
        return self.tasks()[0]


@breaks("process_determinism")
class Hashes(TinyEnv):
    def _begin(self, task: str) -> None:
        super()._begin(task)
        self.wind = hash(self.name) % 4


@breaks("random_state")
class UsesRandomModule(TinyEnv):
    def _act(self, primitive: int) -> Outcome:
        random.random()
        return super()._act(primitive)


@breaks("random_state")
class SeedsNumpyWhenMade(TinyEnv):
    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        np.random.seed(3)


@breaks("snapshot")
class ForgetsTheWind(TinyEnv):
    def _save(self) -> dict[str, Any]:
        return {**super()._save(), "wind": 0}


@breaks("snapshot")
class RestoresWithoutLooking(TinyEnv):
    def restore(self, blob: bytes) -> None:
        self.position = 0
        super().restore(blob)


@breaks("snapshot")
class RaisesKeyError(TinyEnv):
    def restore(self, blob: bytes) -> None:
        try:
            super().restore(blob)
        except ValueError as error:
            raise KeyError(str(error)) from error


@breaks("snapshot")
class LoadsAnything(TinyEnv):
    def _load(self, data: dict[str, Any]) -> None:
        for key in ("position", "target", "wind", "name"):
            setattr(self, key, data[key])


@breaks("snapshot")
class SavesOnlySmallSeeds(TinyEnv):
    def _save(self) -> dict[str, Any]:
        return {**super()._save(), "drawn": self.np_random_seed}


@breaks("rewards")
class AddsToTheReward(TinyEnv):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, reward + 0.01, *rest


@breaks("rewards", kind="grid")
class WholeNumberReward(TinyEnv):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        rest[-1]["reward_terms"] = {"total": int(reward)}
        return observation, int(reward), *rest


@breaks("info", "hostile", "oracle")
class NoFeedback(TinyEnv):
    def _info(self, *arguments: Any, **others: Any) -> dict[str, Any]:
        info = super()._info(*arguments, **others)
        del info["feedback"]
        return info


@breaks("info", "hostile")
class NumpyInInfo(TinyEnv):
    def _info(self, *arguments: Any, **others: Any) -> dict[str, Any]:
        return {**super()._info(*arguments, **others), "distance": np.int64(3)}


@breaks("info")
class LiesAboutTheState(TinyEnv):
    def _info(self, *arguments: Any, **others: Any) -> dict[str, Any]:
        info = super()._info(*arguments, **others)
        return {**info, "state": {**info["state"], "target": 0}}


@breaks("limits")
class TerminatesAtTheLimit(TinyEnv):
    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, False, info


@breaks("limits")
class TruncatesSuccessOnTheLastTurn(TinyEnv):
    def step(self, action: Any) -> Any:
        observation, reward, terminated, _, info = super().step(action)
        late = info["turn"] >= self.max_turns
        return observation, reward, terminated and not late, late, {**info, "limit": "task" if late else None}


@breaks("oracle")
class OracleGivesUp(TinyEnv):
    def oracle(self) -> Any:
        return None if self._turn else super().oracle()


@breaks("oracle")
class OracleHasNoScripts(TinyEnv):
    def oracle(self) -> Any:
        return None


@breaks("oracle")
class OracleWalksAway(TinyEnv):
    def oracle(self) -> Any:
        return "down" if self.target > self.position else "up"


@breaks("oracle")
class OracleFailsMostly(OracleWalksAway):
    oracle_may_fail = True


@breaks("splits")
class OneSplit(TinyEnv):
    def tasks(self) -> Sequence[str]:
        return [f"{a} to {b}" for a in range(LENGTH) for b in range(LENGTH) if a != b]


@breaks("splits")
class IgnoresTheTask(TinyEnv):
    def _begin(self, task: str) -> None:
        super()._begin(self.tasks()[self._index])
        self.name = task


@breaks("splits")
class AcceptsAnyTask(TinyEnv):
    def _find_task(self, task: Any) -> str:
        return super()._find_task(task) if task in self.tasks() else self.tasks()[0]


@breaks("spec")
class ForgetsItsSpec(TinyEnv):
    """The attribute that Gymnasium sets comes back with other arguments."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "spec" and value is not None:
            value.kwargs = {**value.kwargs, "max_actions_per_turn": 1}
        super().__setattr__(name, value)


@breaks("pickling")
class HoldsAFunction(TinyEnv):
    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.hook = lambda: None


@breaks("pickling")
class ShallowCopies(TinyEnv):
    def __deepcopy__(self, memo: Any) -> TinyEnv:
        return self


@breaks("close", "gymnasium")
class ClosesOnce(TinyEnv):
    open = True

    def close(self) -> None:
        if not self.open:
            raise RuntimeError("already closed")
        self.open = False


@breaks("pictures", "snapshot", kind="control")
class OldMemory(TinyEnv):
    """A renderer whose memory is filled when an episode begins: what it hands out is not what there is to see."""

    memory: np.ndarray | None = None

    def _begin(self, task: str) -> None:
        super()._begin(task)
        self.memory = None

    def _draw(self) -> np.ndarray:
        self.memory = super()._draw() if self.memory is None else self.memory
        return self.memory.copy()


@breaks("pictures", kind="control")
class DrawsBeforeItMoves(TinyEnv):
    """Observations show the state before the last action, as if a frame were read too early."""

    def step(self, action: Any) -> Any:
        before = self._draw()
        observation, *rest = super().step(action)
        return {**observation, "image": before}, *rest


@breaks("pictures", kind="control")
class BlackPictures(TinyEnv):
    def _draw(self) -> np.ndarray:
        return np.zeros((4, LENGTH, 3), np.uint8)


@breaks("hostile", kind="control")
class TakesAnyNumber(TinyEnv):
    def _read(self, action: Any) -> Turn:
        fits = isinstance(action, np.ndarray) and action.dtype.kind == "f" and action.shape == (1,)
        return Turn([1 if action[0] > 0 else -1]) if fits else super()._read(action)


@breaks("vectors", "pickling", kind="control")
class SharedPosition(TinyEnv):
    """Two environments of a process share their state."""

    places: dict[str, int] = {}

    @property
    def position(self) -> int:
        return SharedPosition.places.get("now", 0)

    @position.setter
    def position(self, value: int) -> None:
        SharedPosition.places["now"] = value


@breaks("rendering")
class RenderingMoves(TinyEnv):
    def render(self) -> Any:
        self.wind = 3
        return super().render()


@breaks("rendering", "gymnasium")
class FloatPictures(TinyEnv):
    def _draw(self) -> np.ndarray:
        return super()._draw() / 255


@breaks("rendering")
class NoCharacters(TinyEnv):
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 4}


@breaks("hostile")
class StumblesOverNul(TinyEnv):
    def _read(self, action: Any) -> Turn:
        if isinstance(action, str) and "\0" in action:
            raise ValueError("embedded null character")
        return super()._read(action)


@breaks("hostile")
class RepeatsWhatItHears(TinyEnv):
    def _read(self, action: Any) -> Turn:
        turn = super()._read(action)
        return turn if turn.error is None else Turn([], f"{action} is not an action".replace("\n", " "))


@breaks("hostile", kind="control")
class TrustsArrays(TinyEnv):
    def _read(self, action: Any) -> Turn:
        return Turn([]) if action is None else Turn([int(np.sign(action[0]))])


@breaks("prompt")
class NoLimitInPrompt(TinyEnv):
    system_prompt = "Say up or down."


@breaks("prompt", kind="grid")
class TalksToGridAgents(TinyEnv):
    system_prompt = "You have 9 turns."


@breaks("representations")
class DeclaresTooMuch(TinyEnv):
    representations = frozenset({"natural", "symbolic", "structured"})


@breaks("representations")
class DeclaresTooLittle(TinyEnv):
    representations = frozenset({"symbolic"})


class Softened(State):
    """A state that can be written to."""

    def __init__(self, env: TinyEnv) -> None:
        self.env = env

    def symbolic(self) -> str:
        return "P"

    def structured(self) -> dict[str, Any]:
        return {}

    def to_json(self) -> dict[str, Any]:
        return {"position": self.env.position}


@breaks("representations")
class SoftState(TinyEnv):
    def state(self) -> State:
        return Softened(self)


@breaks("representations")
class NoDataclass(TinyEnv):
    def state(self) -> Any:
        return SimpleNamespace(to_json=lambda: {"position": self.position}, anchor=lambda: str(self.position))

    def _draw_text(self) -> str:
        return "P"


# ---------------------------------------------------------------------- healthy, but able to do less


class NoOracle(TinyEnv):
    oracle = AgentEnv.oracle


class SomeScripts(TinyEnv):
    """Its oracle knows the tasks to a place beyond the third only."""

    def oracle(self) -> Any:
        return super().oracle() if self.target > 3 else None


class ClumsyScript(TinyEnv):
    """Its oracle is a script that walks away from the first two places."""

    oracle_may_fail = True

    def oracle(self) -> Any:
        return super().oracle() if self.target > 1 else ("down" if self.target > self.position else "up")


class RealSite(TinyEnv):
    def snapshot(self) -> bytes:
        raise SnapshotUnsupported("a real site cannot be saved")


class OneTask(TinyEnv):
    def tasks(self) -> Sequence[str]:
        return [f"{SPLITS.index(self.split)} to 5"]


class Chatty(TinyEnv):
    """Prints, which must not confuse processes that talk through their output."""

    def _act(self, primitive: int) -> Outcome:
        print("moving", primitive)
        return super()._act(primitive)


LESS_ABLE = (NoOracle, SomeScripts, ClumsyScript, RealSite, OneTask, Chatty)


# ---------------------------------------------------------------------- cannot be made


class NeedsASimulator(TinyEnv):
    def __init__(self, **arguments: Any) -> None:
        raise MissingExtra("simulator", "robots")


class FallsApart(TinyEnv):
    def __init__(self, **arguments: Any) -> None:
        raise RuntimeError("no \ud800 today")


class NotOurs(gym.Env):
    observation_space = action_space = spaces.Discrete(2)


def register_all() -> None:
    """Every class of this module under `kit/<Class>-v0`."""
    classes = [TinyEnv, *LESS_ABLE, NeedsASimulator, FallsApart, NotOurs, *(cls for cls, *_ in BROKEN)]
    for cls in classes:
        gym.register(f"kit/{cls.__name__}-v0", entry_point=f"{__name__}:{cls.__name__}")


register_all()

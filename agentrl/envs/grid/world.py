"""`GridWorld`: the single environment that FrozenLake and Sokoban share, in its three kinds.

A level is a grid of symbol codes. The grid *is* the state: every symbol says all there is to know about its cell.
A game adds its symbols, its rule for one move, its level generator, its sentences and its tile art.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import one_of, whole_number
from agentrl.core.env import AgentEnv
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn, parse_turn, quote
from agentrl.core.seeding import GOLDEN, MASK64, splitmix64_int
from agentrl.core.spaces import AnyText
from agentrl.core.state import State
from agentrl.core.tools import function_schema
from agentrl.envs.grid.levels import LevelNames, LevelPool, spelled
from agentrl.envs.grid.relations import Cell

KINDS = ("grid", "text", "visual")
ACTIONS = ("Left", "Down", "Right", "Up")  # Gymnasium's FrozenLake order
STEPS: tuple[Cell, ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
GRAMMAR = {name.casefold(): code for code, name in enumerate(ACTIONS)}


@dataclass(frozen=True)
class GridState(State):
    """Rows of symbols; everything else follows from them."""

    rows: tuple[str, ...]

    def symbolic(self) -> str:
        """The rows, one a line."""
        return "\n".join(self.rows)

    def find(self, symbols: str) -> tuple[Cell, ...]:
        """The cells that hold any of these symbols, in reading order."""
        # Searching a text is several times as quick as asking tile by tile.
        text, found = "".join(self.rows), list[int]()
        for symbol in symbols:
            place = text.find(symbol)
            while place >= 0:
                found.append(place)
                place = text.find(symbol, place + 1)
        width = len(self.rows[0])
        return tuple(divmod(place, width) for place in sorted(found))

    @property
    def size(self) -> Cell:
        """Height and width."""
        return len(self.rows), len(self.rows[0])

    def anchor(self) -> str:
        """The drawing: everything else follows from it."""
        return self.symbolic()

    def to_json(self) -> dict[str, Any]:
        """The rows and the structured form together."""
        return {"rows": list(self.rows), **self.structured()}


class GridWorld(AgentEnv[Any, Any]):
    """Base of the grid games; see `FrozenLakeEnv` and `SokobanEnv`."""

    symbols: ClassVar[str]  # index = code in grids and observations
    player_symbols: ClassVar[str]  # exactly one of these stands on every level
    obstacle_symbols: ClassVar[str]  # what makes a level harder: holes, boxes
    state_type: ClassVar[type[GridState]]
    art: ClassVar[str]  # the name of the game's tile art
    rules: str  # the game in our own words; arguments may add to it
    legend: ClassVar[str]
    safe_arguments = ("kind", "size", "min_solution", "max_solution", "levels", "image_size")
    action_names = ACTIONS

    def __init__(
        self,
        *,
        kind: str = "text",
        size: int,
        min_solution: int = 5,
        max_solution: int | None = None,
        levels: int | None = None,
        image_size: int = 192,
        max_turns: int = 3,
        max_actions_per_turn: int = 3,
        **others: Any,
    ) -> None:
        super().__init__(max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, **others)
        self.kind, self.size = one_of("kind", kind, KINDS), size
        if kind == "grid":  # one primitive action a step, the same number of them an episode
            self.max_turns, self.max_actions_per_turn = self.max_turns * self.max_actions_per_turn, 1
        self.image_size = whole_number("image_size", image_size, at_least=4 * size, at_most=4096)
        self.levels = None if levels is None else whole_number("levels", levels, at_least=1)
        budget = self.max_turns * self.max_actions_per_turn
        self.max_solution = budget if max_solution is None else whole_number("max_solution", max_solution, at_least=1)
        self.min_solution = whole_number("min_solution", min_solution, at_least=1)
        if self.max_solution > budget:
            raise ConfigError(
                f"max_solution={self.max_solution} moves do not fit into {budget} (max_turns x max_actions_per_turn)"
            )
        if self.min_solution > self.max_solution:
            raise ConfigError(f"min_solution={self.min_solution} is above max_solution={self.max_solution}")
        self._pool = self._make_pool()
        if self.levels is not None and len(self._pool) < self.levels:
            raise ConfigError(f"only {len(self._pool)} such levels exist in split {self.split}; lower levels={levels}")
        if kind == "grid":
            self.observation_space = spaces.Box(0, len(self.symbols) - 1, (size, size), np.uint8)
            self.action_space = spaces.Discrete(len(ACTIONS))
        else:
            parts: dict[str, spaces.Space] = {"text": AnyText()}
            if kind == "visual":
                parts["image"] = spaces.Box(0, 255, (self.image_size, self.image_size, 3), np.uint8)
            self.observation_space = spaces.Dict(parts)
            self.action_space = AnyText(ACTIONS, max_words=self.max_actions_per_turn)
        self._codes = np.zeros((size, size), np.uint8)
        self._player = 0  # index into the flattened grid
        self._key = 0  # the state of this environment's own random stream
        self._named: str | None = None  # set when the task was given by name
        self._known: tuple[bytes, Any] = b"", None  # the tiles that `state()` was last asked about, and its answer
        self._name = -1, ""  # of the level that was last asked for, with its index

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The levels of this split, spelled as rows of symbols joined by "/"."""
        return LevelNames(self._pool, self.symbols)

    def _find_task(self, task: Any) -> tuple[str, np.ndarray]:
        """Any well-formed level of the right size, in the pool or not, solvable or not."""
        example = f"for example {self.tasks()[0]!r}"
        if not isinstance(task, str):
            raise ConfigError(f"a task must be a level as text, {example}; got {type(task).__name__}")
        rows = task.split("/")
        if len(rows) != self.size or any(len(row) != self.size for row in rows):
            raise ConfigError(f"a level must be {self.size} rows of {self.size} symbols joined by '/', {example}")
        if strange := set(task) - set(self.symbols) - {"/"}:
            raise ConfigError(f"a level must be made of the symbols {self.symbols}; got {quote(strange.pop())}")
        self._check_level(self.state_type(tuple(rows)))
        return task, np.array([[self.symbols.index(symbol) for symbol in row] for row in rows], np.uint8)

    def sound(self, boards: np.ndarray) -> np.ndarray:
        """Whether the rules can run on each of some boards [n, size, size], at any moment of an episode: bool [n].

        Asked of boards that come from a file or a snapshot; the rules themselves do not look for an edge again.
        """
        known = (boards < len(self.symbols)).all(axis=(1, 2))
        return known & (self._counted(boards, self.player_symbols) == 1)

    def _counted(self, boards: np.ndarray, symbols: str) -> np.ndarray:
        """How many cells of each board hold any of these symbols: int [n]."""
        held = np.zeros(boards.shape, bool)
        for symbol in symbols:
            held |= boards == self.symbols.index(symbol)
        return held.view(np.uint8).sum(axis=(1, 2), dtype=np.uint16)

    def _check_level(self, state: GridState) -> None:
        if len(state.find(self.player_symbols)) != 1:
            raise ConfigError(f"a level must have exactly one player ({' or '.join(self.player_symbols)})")

    def _start_walk(self, count: int) -> tuple[int, int]:
        self._key = int(self.np_random.integers(2**63))
        return self._pool.walk(self._key)

    def _task_at(self, index: int) -> tuple[None, np.ndarray]:
        return None, self._pool.grids[index].copy()  # spelling a level and reading it again would take longer

    def _begin(self, task: tuple[str | None, np.ndarray]) -> None:
        self._named, self._codes = task
        self._player = self._find_player()

    def _find_player(self) -> int:
        tiles = self._codes.astype(np.uint8).tobytes()
        places = [tiles.find(self.symbols.index(symbol)) for symbol in self.player_symbols]
        return max(places)  # there is one player, so the other symbols are nowhere: -1

    def _task(self) -> str:
        if self._named is not None:
            return self._named
        if self._name[0] != self._index:
            self._name = self._index, self.tasks()[self._index]
        return self._name[1]

    def _next_random(self) -> int:
        """The next number of this environment's own stream (the vectorised core draws the same ones)."""
        self._key = (self._key + int(GOLDEN)) & MASK64
        return splitmix64_int(self._key)

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        if self.kind != "grid":
            return parse_turn(action, GRAMMAR, self.max_actions_per_turn)
        if isinstance(action, np.ndarray) and action.size == 1:
            action = action.reshape(()).item()
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool) and 0 <= action < len(ACTIONS):
            return Turn([int(action)])
        return Turn([], f"an action is a whole number from 0 to {len(ACTIONS) - 1}")

    def action_name(self, primitive: int) -> str:
        """Left, Down, Right or Up."""
        return ACTIONS[primitive]

    def state(self) -> GridState:
        """The true grid."""
        tiles = self._codes.tobytes()
        if tiles != self._known[0]:  # a turn asks several times
            self._known = tiles, self.state_type(tuple(spelled(self._codes, self.symbols)))
        return self._known[1]

    def oracle(self) -> str | int | None:
        """The first turn of a shortest solution."""
        moves = self._solve()
        if not moves:
            return None
        if self.kind == "grid":
            return moves[0]
        return ", ".join(ACTIONS[move] for move in moves[: self.max_actions_per_turn])

    def actions_needed(self) -> int | None:
        """The length of a shortest solution."""
        moves = self._solve()
        return len(moves) if moves else None

    def about_task(self) -> dict[str, Any]:
        """The size of the level, how many holes or boxes are in the way, and its shortest solution."""
        obstacles = len(self.state().find(self.obstacle_symbols))
        found: dict[str, Any] = {"group": f"{self.size}x{self.size}", "complexity": obstacles}
        return found if (steps := self._shortest(obstacles)) is None else {**found, "steps": steps}

    def _shortest(self, obstacles: int) -> int | None:
        """The length of the level's shortest solution, where the pool knows it or it is quickly found."""
        return int(self._pool.lengths[self._index]) if self._named is None else self.actions_needed()

    @abstractmethod
    def _solve(self) -> list[int] | None:
        """A shortest list of moves to success from here; None if there is none."""

    @abstractmethod
    def _make_pool(self) -> LevelPool:
        """The levels of this split with these parameters."""

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """Rules, grammar and limits for the agent; empty in the Grid kind."""
        if self.kind == "grid":
            return ""
        legend = f"\n{self.legend}" if self.kind == "text" else ""
        return (
            f"{self.rules}{legend}\n"
            f"Moves: {', '.join(ACTIONS)}. Write up to {self.max_actions_per_turn} of them a turn, separated by "
            f"commas; they run in order. You have {self.max_turns} turns.\n"
            "Reply with the moves alone, or put them between <answer> and </answer>."
        )

    def guide(self, representation: str) -> str:
        """The game's own words; for drawings, the symbols."""
        return f"One line a row. {self.legend}" if representation == "symbolic" else super().guide(representation)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """One tool, `move`; none in the Grid kind."""
        if self.kind == "grid":
            return []
        direction = {"type": "string", "enum": list(ACTIONS), "description": "Where to go."}
        return [function_schema("move", "Move one cell in a direction.", {"direction": direction})]

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """`move(direction)` is the direction's name."""
        return arguments["direction"] if name == "move" else None

    def tool_calls(self, action: str) -> list[dict[str, Any]]:
        """A `move` for each name."""
        return [{"name": "move", "arguments": {"direction": part}} for part in action.split(self.action_separator)]

    def _observe(self) -> Any:
        if self.kind == "grid":
            return self._codes.copy()
        view = "<image>" if self.kind == "visual" else self.state().symbolic()
        text = "\n".join(part for part in (self._feedback, self._heading(), view) if part)
        return {"text": text, "image": self._draw()} if self.kind == "visual" else {"text": text}

    def _draw(self) -> np.ndarray:
        from agentrl.envs.grid.pictures import draw

        return draw(self.art, self._codes[None], self.image_size)[0]

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        return {
            "codes": self._codes.tobytes(),
            "key": self._key,
            "level": self._index,
            "stride": self._stride,
            "named": self._named,
        }

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, _Saved)
        codes = np.frombuffer(saved.codes, np.uint8).reshape(self.size, self.size).copy()
        if not self.sound(codes[None]).all():
            raise ValueError("its board cannot come up in this game")
        self._restore_walk(saved.level, saved.stride)
        self._codes, self._named, self._key = codes, saved.named, saved.key
        self._player = self._find_player()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["_pool"]  # megabytes that every process has or can load
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pool = self._make_pool()


class _Saved(msgspec.Struct):
    codes: bytes
    key: Annotated[int, msgspec.Meta(ge=0)]
    level: int
    stride: int
    named: str | None

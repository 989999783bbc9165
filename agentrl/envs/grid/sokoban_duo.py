"""Two-player Sokoban: push every box onto a target, together; a PettingZoo environment.

from agentrl.envs.grid.sokoban_duo import parallel_env

env = parallel_env(kind="text")
observations, infos = env.reset(seed=7)
observations, rewards, terminations, truncations, infos = env.step({"player_0": "Up, Left", "player_1": "Stay"})
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
import numpy as np
from gymnasium import logger, spaces
from gymnasium.error import ResetNeeded

from agentrl.core.errors import ConfigError, MissingExtra, SnapshotError
from agentrl.core.parsing import Turn, parse_turn
from agentrl.core.seeding import reset_key
from agentrl.core.snapshot import open_blob, seal_blob
from agentrl.core.spaces import AnyText
from agentrl.envs.grid.relations import numbered, relation
from agentrl.envs.grid.sokoban import BOX, FLOOR, PLAYER, STANDING, STORED, TARGET, WALL, SokobanEnv, offsets
from agentrl.envs.grid.sokoban_plans import (
    ON_FLOOR,
    ON_TARGET,
    PARTNER,
    PARTNER_STANDING,
    STAY,
    find_players,
    joint_plan,
    moving_order,
    second_place,
)
from agentrl.envs.grid.world import ACTIONS, GridState

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise MissingExtra("pettingzoo", "pettingzoo") from error

SYMBOLS = "#_OXP*SQT"
AGENTS = ("player_0", "player_1")
LETTERS, COATS = "PQ", ("blue", "violet")
MOVES = (*ACTIONS, "Stay")
GRAMMAR = {name.casefold(): code for code, name in enumerate(MOVES)}
SWAPPED = np.array([WALL, FLOOR, TARGET, BOX, PARTNER, STORED, PARTNER_STANDING, PLAYER, STANDING], np.uint8)
MAX_PASSED_OVER = 1_000  # levels without a place for the second player, before we say that there are none


def parallel_env(kind: str = "text", **parameters: Any) -> SokobanDuo:
    """The game as a PettingZoo `ParallelEnv`; `kind` is "text", "visual" or "grid"."""
    return SokobanDuo(kind=kind, **parameters)


def env(kind: str = "grid", **parameters: Any) -> Any:
    """The same game with the players acting one after the other, through PettingZoo's own converter."""
    from pettingzoo.utils import parallel_to_aec

    return parallel_to_aec(parallel_env(kind, **parameters))


@dataclass(frozen=True)
class DuoState(GridState):
    """The room as rows of `# _ O X P * S Q T`."""

    def natural(self) -> list[str]:
        """Boxes, targets and the partner seen from each player, then targets seen from each box."""
        boxes, targets = (numbered("box", self.find("X*")), numbered("target", self.find("O*ST")))
        players = [("player P", self.find("PS")[0]), ("player Q", self.find("QT")[0])]
        facts = [relation(*players[1], *players[0])]
        facts += [relation(*thing, *player) for player in players for thing in boxes + targets]
        return facts + [relation(*target, *box) for box in boxes for target in targets]

    def structured(self) -> dict[str, Any]:
        """Positions as [row, column]."""
        return {
            "player_positions": {agent: list(self.find(s)[0]) for agent, s in zip(AGENTS, ("PS", "QT"), strict=True)},
            "box_positions": [list(cell) for cell in self.find("X*")],
            "target_positions": [list(cell) for cell in self.find("O*ST")],
            "grid_size": list(self.size),
        }

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The codes of the symbols, uint8 [size, size]."""
        return np.array([[SYMBOLS.index(symbol) for symbol in row] for row in self.rows], dtype or np.uint8)


@dataclass
class _Deeds:
    """What one player did in a turn."""

    turn: Turn
    done: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    effective: bool = False
    fault: str | None = None


class _Saved(msgspec.Struct):
    """A snapshot's content; reading it checks the types."""

    codes: bytes
    turn: int
    level: int
    stride: int
    task: str
    terminated: bool
    truncated: bool
    success: bool
    feedback: list[str]


class SokobanDuo(ParallelEnv):
    """Two-player cooperative Sokoban: push every box onto a target, together.

    ## Description
    A room of Sokoban (same levels, same splits, same seeds) with a second player in it. `player_0` is `P`,
    `player_1` is `Q`. Both walk and push; each stands in the way of the other and of the boxes the other
    pushes. Every level can be solved within the limits: the second player starts on a cell that some shortest
    solution never touches, or, in a room so narrow that there is none, on a cell from which a search over both
    players' moves finds a solution in time (rooms without such a cell are passed over for the next one).

    ## Turns
    Both players act at the same time. A turn runs in rounds: the first move of both, then the second move of
    both, and so on. Within a round one player moves first: `player_0` in the first turn, `player_1` in the
    second, and so on in turn, so that neither is favoured. What the first one does is done when the other one
    moves: it may step into the cell that was just left, and is stopped by a box that was just pushed. A player
    with fewer moves than the other waits.

    ## Observations
    - `text`: `{"text"}`, who you are, what happened, who moves first, and the room in symbols: `#` wall, `_`
      floor, `O` target, `X` box, `*` box on target, `P` and `Q` the players, `S` and `T` the same players on a
      target.
    - `visual`: `{"text", "image"}`, a picture instead of the symbols; `P` wears blue, `Q` violet.
    - `grid`: `Box(0, 8, (size, size), uint8)`, the index of each symbol in `#_OXP*SQT`. Here each player sees
      itself as `P` (`S`) and its partner as `Q` (`T`), so that one policy can play both.

    ## Actions
    `Left`, `Down`, `Right`, `Up`, `Stay`; up to `max_actions_per_turn` a turn, separated by commas, bare or
    between `<answer>` and `</answer>`. In the grid kind `Discrete(5)` in that order, one a step. Any text is a
    legal argument; what cannot be read is feedback and costs the penalty.

    ## Rewards
    Shared: both players get the sum over both players' actions. Per action, the first that applies: `success`
    +10 if it solves the level, `box` +1 if it pushes a box onto a target, otherwise `step` -0.1. An invalid
    action costs `invalid` -0.1.

    ## Episode end
    Terminates when every box is on a target. Truncates after `max_turns` turns (`info["limit"] == "task"`).
    Both players end together.

    ## Arguments
    Those of `agentrl.envs.grid.sokoban.SokobanEnv`.

    ## Truth
    `state()` is a `DuoState` (`numpy.asarray` of it is the grid of codes, as PettingZoo's `state()` wants).
    `oracle()` gives one whole correct turn of both players, as a dictionary. `snapshot()` and `restore()` work
    as everywhere in agentrl.

    ## Honest note
    Two players can solve every level; one of them alone could solve nearly all. What is tested is keeping out
    of each other's way and sharing the work, not tasks that need two.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "sokoban_duo_v0",
        "render_modes": ["human", "rgb_array", "ansi"],
        "render_fps": 4,
        "is_parallelizable": True,
    }
    representations = frozenset({"natural", "symbolic", "structured"})

    def __init__(self, *, kind: str = "text", **parameters: Any) -> None:
        # The one-player game checks the arguments and owns levels, limits and figures.
        self._solo = solo = SokobanEnv(kind=kind, **parameters)
        self.kind, self.size, self.render_mode = kind, solo.size, solo.render_mode
        self.max_turns, self.max_actions_per_turn = (solo.max_turns, solo.max_actions_per_turn)
        self.possible_agents, self.agents = list(AGENTS), []
        self._observation_spaces: dict[str, spaces.Space] = {}
        self._action_spaces: dict[str, spaces.Space] = {}
        for agent in AGENTS:
            if kind == "grid":
                board = spaces.Box(0, len(SYMBOLS) - 1, (self.size, self.size), np.uint8)
                self._observation_spaces[agent], self._action_spaces[agent] = board, spaces.Discrete(len(MOVES))
                continue
            parts: dict[str, spaces.Space] = {"text": AnyText()}
            if kind == "visual":
                parts["image"] = spaces.Box(0, 255, (solo.image_size, solo.image_size, 3), np.uint8)
            self._observation_spaces[agent] = spaces.Dict(parts)
            self._action_spaces[agent] = AnyText(MOVES, max_words=self.max_actions_per_turn)
        self.state_space = spaces.Box(0, len(SYMBOLS) - 1, (self.size, self.size), np.uint8)
        self._codes = np.zeros((self.size, self.size), np.uint8)
        self._players = [0, 0]  # indices into the flattened grid
        self._turn: int | None = None  # None until the first reset
        self._level = self._stride = 0
        self._task = ""
        self._terminated = self._truncated = self._success = False
        self._feedback = ["", ""]
        self._window: Any = None

    def observation_space(self, agent: str) -> spaces.Space:
        """What a player sees."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """What a player can do."""
        return self._action_spaces[agent]

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The levels of this split with both players, spelled as rows of symbols joined by "/"."""
        return _DuoNames(self)

    def _hosted(self, index: int) -> np.ndarray:
        """The level with that number and the second player in it; the next that has a place for it, if need be."""
        grids = self._solo._pool.grids
        for passed_over in range(min(len(grids), MAX_PASSED_OVER)):
            codes = grids[(index + passed_over) % len(grids)]
            cell = second_place(codes, self.max_turns * self.max_actions_per_turn, self.max_actions_per_turn)
            if cell is not None:
                codes = codes.copy()
                codes.ravel()[cell] = ON_TARGET[1] if codes.ravel()[cell] == TARGET else ON_FLOOR[1]
                return codes
        raise ConfigError("these rooms have no place for a second player; enlarge the size or take fewer boxes")

    def _find_task(self, task: Any) -> np.ndarray:
        """A level by its spelling; everything but the second player is for the one-player game to judge."""
        example = f"for example {self.tasks()[0]!r}"
        if not isinstance(task, str) or sum(map(task.count, "QT")) != 1:
            raise ConfigError(f"a task is a level as text with one second player (Q, or T on a target), {example}")
        _, codes = self._solo._find_task(task.replace("Q", "_").replace("T", "O"))
        where = task.replace("/", "").index("Q" if "Q" in task else "T")
        codes.ravel()[where] = ON_FLOOR[1] if "Q" in task else ON_TARGET[1]
        return codes

    # ------------------------------------------------------------------ the PettingZoo side

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a level: the next one of this split, or exactly `options["task"]` (other options mean nothing)."""
        task = (options or {}).get("task")
        found = None if task is None else self._find_task(task)
        if seed is not None or self._turn is None:
            # The very draw of the one-player game: the same seed gives the same room.
            self._level, self._stride = self._solo._pool.walk(reset_key(seed))
        elif found is None:
            self._level = (self._level + self._stride) % len(self._solo._pool)
        self._codes = found if found is not None else self._hosted(self._level)
        self._players, self._task = find_players(self._codes), spell(self._codes)
        self._terminated = self._truncated = self._success = False
        self._turn, self._feedback, self.agents = 0, ["", ""], list(AGENTS)
        self._show()
        idle = [_Deeds(Turn([])), _Deeds(Turn([]))]
        return self._observe(), self._infos(idle, {})

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Run one turn of both players. No action, however malformed, raises; a missing one is an invalid one."""
        if self._turn is None:
            raise ResetNeeded("call reset() before step()")
        if not isinstance(actions, Mapping) or not set(actions) <= set(AGENTS):
            raise ConfigError(f"step takes a dictionary from {' and '.join(AGENTS)} to their actions")
        if not self.agents:
            return {}, {}, {}, {}, {}
        deeds = [_Deeds(self._read(actions.get(agent))) for agent in AGENTS]
        terms = self._run(deeds)
        self._turn += 1
        self._truncated = not self._terminated and self._turn >= self.max_turns
        self._feedback = [self._report(i, deeds) for i in (0, 1)]
        reward = math.fsum(terms.values())
        if self._over:
            self.agents = []
        self._show()
        results = (dict.fromkeys(AGENTS, value) for value in (reward, self._terminated, self._truncated))
        return self._observe(), *results, self._infos(deeds, terms)  # type: ignore[return-value]

    @property
    def _over(self) -> bool:
        return self._terminated or self._truncated

    def _read(self, action: Any) -> Turn:
        if self.kind != "grid":
            return parse_turn(action, GRAMMAR, self.max_actions_per_turn)
        if isinstance(action, np.ndarray) and action.size == 1:
            action = action.reshape(()).item()
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool) and 0 <= action < len(MOVES):
            return Turn([int(action)])
        return Turn([], f"an action is a whole number from 0 to {len(MOVES) - 1}")

    def _run(self, deeds: list[_Deeds]) -> dict[str, float]:
        """Run the rounds of a turn; the team's reward terms."""
        terms: dict[str, float] = {}
        solo = self._solo
        worth = {"step": solo.step_penalty, "box": solo.box_reward, "success": solo.success_reward}
        for number in range(self.max_actions_per_turn):
            for i in moving_order(self._turn or 0):
                mine = deeds[i]
                if self._terminated or number > len(mine.turn.actions):
                    continue
                if number < len(mine.turn.actions):
                    term = self._act(i, mine.turn.actions[number], mine)
                elif mine.turn.error is not None:
                    term, mine.fault = ("invalid", "invalid_action" if mine.done else "unparsed")
                    mine.remarks.append(f"Invalid: {mine.turn.error}.")
                else:
                    continue
                terms[term] = terms.get(term, 0.0) + worth.get(term, solo.invalid_cost(number))
        return terms

    def _act(self, i: int, move: int, deeds: _Deeds) -> str:
        """One move of one player; the name of the reward term it earned."""
        deeds.done.append(MOVES[move])
        if move == STAY:
            return "step"
        codes, step = self._codes.ravel(), offsets(self.size)[move]
        here, ahead = self._players[i], self._players[i] + step
        boxed = codes[ahead] in (BOX, STORED)
        landing = codes[ahead + step] if boxed else codes[ahead]
        if landing not in (FLOOR, TARGET):
            partner = codes[ahead] in (*ON_FLOOR, *ON_TARGET)
            deeds.remarks.append(f"{MOVES[move]}: {'your partner is in the way' if partner else 'no change'}.")
            return "step"
        if boxed:
            codes[ahead + step] = STORED if landing == TARGET else BOX
        codes[ahead] = ON_TARGET[i] if codes[ahead] in (TARGET, STORED) else ON_FLOOR[i]
        codes[here] = TARGET if codes[here] == ON_TARGET[i] else FLOOR
        self._players[i], deeds.effective = ahead, True
        if not boxed or landing != TARGET:
            return "step"
        self._terminated = self._success = not (codes == BOX).any()
        return "success" if self._success else "box"

    def _report(self, i: int, deeds: list[_Deeds]) -> str:
        mine, partner = deeds[i], deeds[1 - i]
        lines = list(mine.remarks)
        if mine.turn.surplus and mine.fault is None and not self._terminated:
            lines.append(
                f"Only the first {self.max_actions_per_turn} actions of a turn run; {mine.turn.surplus} dropped."
            )
        lines.append(f"Your partner played {', '.join(partner.done)}." if partner.done else "Your partner did nothing.")
        if self._success:
            lines.append("Every box is on a target.")
        return " ".join(lines)

    def _infos(self, deeds: list[_Deeds], terms: dict[str, float]) -> dict[str, dict[str, Any]]:
        return {
            agent: {
                "state": self.state().to_json(),
                "success": self._success,
                "valid": deeds[i].fault is None,
                "effective": deeds[i].effective,
                "actions": list(deeds[i].done),
                "feedback": self._feedback[i],
                "reward_terms": dict(terms),
                "pending": [],
                "format": None,
                "fault": deeds[i].fault,
                "limit": "task" if self._truncated else None,
                "turn": self._turn,
                "task": self._task,
                "moves_first": moving_order(self._turn or 0)[0] == i,
            }
            for i, agent in enumerate(AGENTS)
        }

    # ------------------------------------------------------------------ what the players see

    def system_prompt(self, agent: str) -> str:
        """Rules, grammar and limits for one player; empty in the grid kind."""
        if self.kind == "grid":
            return ""
        i = AGENTS.index(agent)
        who = f"You are {LETTERS[i]}, your partner is {LETTERS[1 - i]}."
        legend = "Symbols: # wall, _ floor, O target, X box, * box on a target, P and Q the players, S and T the same "
        legend += "players on a target."
        if self.kind == "visual":
            who, legend = f"You wear {COATS[i]}, your partner {COATS[1 - i]}.", ""
        rules = f"{self._solo.rules} There are two of you, and you stand in each other's way. {who}"
        grammar = (
            f"Moves: {', '.join(MOVES)}. Write up to {self.max_actions_per_turn} of them a turn, separated by commas. "
            "Both players' first moves run, then both second moves, and so on; who moves first changes every turn. "
            f"You have {self.max_turns} turns."
        )
        reply = "Reply with the moves alone, or put them between <answer> and </answer>."
        return "\n".join(filter(None, (rules, legend, grammar, reply)))

    def _observe(self) -> dict[str, Any]:
        if self.kind == "grid":
            return {AGENTS[0]: self._codes.copy(), AGENTS[1]: SWAPPED[self._codes]}
        views: dict[str, Any] = {}
        turn = f"Turn {(self._turn or 0) + 1} of {self.max_turns}."
        for i, agent in enumerate(AGENTS):
            who = f"You are {LETTERS[i]}." if self.kind == "text" else f"You wear {COATS[i]}."
            first = "You move first." if moving_order(self._turn or 0)[0] == i else "Your partner moves first."
            heading = "The episode is over." if self._over else f"{turn} {first}"
            view = "<image>" if self.kind == "visual" else self.state().symbolic()
            text = "\n".join(part for part in (who, self._feedback[i], heading, view) if part)
            views[agent] = {"text": text, "image": self._draw()} if self.kind == "visual" else {"text": text}
        return views

    def _draw(self) -> np.ndarray:
        from agentrl.envs.grid.pictures import draw

        return draw("sokoban_duo", self._codes[None], self._solo.image_size)[0]

    def render(self) -> np.ndarray | str | None:
        """A picture, a drawing in characters, or a frame in a window, as `render_mode` says."""
        if self.render_mode is None:
            logger.warn("render() needs a render_mode: parallel_env(render_mode='rgb_array')")
            return None
        if self._turn is None:
            raise ResetNeeded("call reset() before render()")
        if self.render_mode == "ansi":
            return self.state().symbolic()
        if self.render_mode == "rgb_array":
            return self._draw()
        self._show()
        return None

    def _show(self) -> None:
        if self.render_mode != "human":
            return
        if self._window is None:
            from agentrl.core.window import Window

            self._window = Window(self.metadata["name"])
        self._window.show(self._draw(), self.metadata["render_fps"])

    def close(self) -> None:
        """Free what the environment holds; may be called twice."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # ------------------------------------------------------------------ truth, gold, fork

    def state(self) -> DuoState:  # type: ignore[override]
        """The true room."""
        return DuoState(tuple(spell(self._codes).split("/")))

    def oracle(self) -> dict[str, Any] | None:
        """One whole correct turn of both players; None if the level cannot be solved any more."""
        if self._turn is None or self._over:
            return None
        rounds = (self.max_turns - self._turn) * self.max_actions_per_turn
        plan = joint_plan(self._codes, self._turn, rounds, self.max_actions_per_turn)
        if plan is None:
            return None
        turn = plan[: self.max_actions_per_turn]
        if self.kind == "grid":
            return {agent: turn[0][i] for i, agent in enumerate(AGENTS)}
        return {agent: ", ".join(MOVES[pair[i]] for pair in turn) for i, agent in enumerate(AGENTS)}

    def snapshot(self) -> bytes:
        """Everything the future depends on."""
        if self._turn is None:
            raise SnapshotError("nothing to save before the first reset()")
        saved = _Saved(
            self._codes.tobytes(), self._turn, self._level, self._stride, self._task,
            self._terminated, self._truncated, self._success, list(self._feedback),
        )  # fmt: skip
        return seal_blob(self._identity(), msgspec.to_builtins(saved, builtin_types=(bytes,)))

    def restore(self, blob: bytes) -> None:
        """Continue from `snapshot()`. A bad blob raises `SnapshotError` and changes nothing."""
        data = open_blob(blob, self._identity())
        try:
            saved = msgspec.convert(data, _Saved)
            codes = np.frombuffer(saved.codes, np.uint8).reshape(self.size, self.size).copy()
            players = find_players(codes)
            if not self._sound(codes) or len(saved.feedback) != 2 or saved.turn < 0:
                raise ValueError("its room cannot come up in this game")
        except (ValueError, TypeError, IndexError, msgspec.ValidationError) as error:
            raise SnapshotError(f"the snapshot does not fit SokobanDuo: {error}") from error
        self._codes, self._players, self._turn = codes, players, saved.turn
        self._level, self._stride, self._task = (saved.level % len(self._solo._pool), saved.stride, saved.task)
        self._terminated, self._truncated, self._success = (saved.terminated, saved.truncated, saved.success)
        self._feedback = saved.feedback
        self.agents = [] if self._over else list(AGENTS)

    def _sound(self, codes: np.ndarray) -> bool:
        """Whether this room has one second player and is a room of the one-player game without that one."""
        second, on_target = codes == ON_FLOOR[1], codes == ON_TARGET[1]
        alone = np.where(second, SYMBOLS.index("_"), np.where(on_target, SYMBOLS.index("O"), codes)).astype(np.uint8)
        return int((second | on_target).sum()) == 1 and bool(self._solo.sound(alone[None]).all())

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a window belongs to its process

    def _identity(self) -> dict[str, Any]:
        parameters = json.loads(json.dumps(self._solo.parameters, default=repr))
        return {"env": "SokobanDuo", "version": 1, "parameters": parameters}


class _DuoNames(Sequence[str]):
    """The task ids, made only when looked at."""

    def __init__(self, duo: SokobanDuo) -> None:
        self._duo = duo

    def __len__(self) -> int:
        return len(self._duo._solo._pool)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return spell(self._duo._hosted(range(len(self))[index]))


def spell(codes: np.ndarray) -> str:
    """A level as rows of symbols joined by "/"."""
    return "/".join("".join(SYMBOLS[code] for code in row) for row in codes)

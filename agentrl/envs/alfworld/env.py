"""ALFWorld: household tasks in words."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import one_of, whole_number
from agentrl.core.env import Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn, extract_answer, quote
from agentrl.core.spaces import AnyText
from agentrl.envs.alfworld.engine import NOTHING, World
from agentrl.envs.alfworld.files import file_data, file_game, file_ids
from agentrl.envs.alfworld.games import FAMILIES, WORDINGS, Game
from agentrl.envs.alfworld.homes import build, task_ids
from agentrl.envs.alfworld.planner import plan
from agentrl.envs.alfworld.real import RealGame
from agentrl.envs.alfworld.state import HomeState, home_state
from agentrl.envs.common.calls import Call, TextTool, TextToolEnv

KINDS, BACKENDS = ("text", "visual"), ("native", "textworld")
ACT = TextTool("act", "Do something in the home.", "command", "One of the possible commands, such as: go to cabinet 1")
MAX_COMMAND = 200  # characters; no command of any home comes near
COMMANDS = re.compile(
    r"look|inventory|help|go to \S.*|(?:open|close|examine|use) \S.*|take \S.* from \S.*|move \S.* to \S.*"
    r"|put \S.* in/on \S.*|(?:heat|clean|cool|slice) \S.* with \S.*"
)
SAMPLES = ("look", "inventory", "go to cabinet 1", "open drawer 1", "go to countertop 1", "go to shelf 1")
FORMS = """go to RECEPTACLE; open RECEPTACLE; close RECEPTACLE; take THING from RECEPTACLE; {put}; use LAMP;
heat THING with MICROWAVE; cool THING with FRIDGE; clean THING with SINKBASIN; slice THING with KNIFE;
examine RECEPTACLE; examine THING (in your hand); inventory; look"""
RULES = """You are in a room of a home and have a household task. You act by commands:
{commands}
Things have names such as "mug 1". To reach a receptacle, go to it; a closed one must be opened before you can see or
take what is in it. You can carry one thing. {admissible}A command that is not possible here does nothing.
You have {turns} commands. Reply with one command, or put it between <answer> and </answer>."""


class ALFWorldEnv(TextToolEnv):
    """Find things in a home, heat, cool, clean or look at them, and put them where they belong.

    ## Description
    A room of a home holds receptacles (cabinets, drawers, tables, appliances) and things. A task asks for one of six
    errands: put a thing somewhere; put two there; clean, heat or cool one first; look at one in the light of a lamp.
    The agent sees what lies in or on what it stands at, so most of a task is to search where such a thing usually is.

    Sentences, commands, admissible commands and goals are those of ALFWorld 0.4, to the letter: on 1,000 walks through
    these homes (6,265 commands, all families) TextWorld 1.7 gave the same texts, lists and ends without a difference,
    and a test repeats them. A step with its list of commands takes our engine about 20 microseconds, 12,000 times less
    than TextWorld in the same run (`agentrl bench alfworld`).

    The homes are our own: 120 rooms (30 kitchens, living rooms, bedrooms and bathrooms each), drawn from a seed, with 9
    to 37 receptacles and 4,494 tasks, all of them solvable.

    ![A kitchen from above](../../_static/alfworld.png)

    The splits are those of the benchmark: `train` and `dev` have the same 96 rooms with other tasks ("seen"), `test`
    has 24 rooms of its own ("unseen").

    ## Observations
    `{"text"}`: what the game says: first the room and the task, then the answer to the last command. By default each
    later observation also repeats the task and all list the commands that are possible (`show_task`,
    `show_admissible`); without both the text is that of the game alone. `Visual` adds `image`, the room from above:
    where things stand, what is open, what is seen and held. `info["admissible_commands"]` is the list, in the order of
    the game.

    ## Actions
    One command a turn, bare or between `<answer>` and `</answer>`: `go to R`, `open R`, `close R`, `take O from R`,
    `move O to R`, `examine R` (or the thing in the hand), `use O`, `heat O with R`, `clean O with R`, `cool O with R`,
    `slice O with K`, `inventory`, `look`, `help`. Case and white space do not matter. What is not possible here, or no
    command at all, is answered with "Nothing happens."; it is `valid` if it has the form of a command.

    ## Rewards
    1 when the goal is reached (`success`), as in the benchmark; what is no command costs `invalid_penalty`, 0 by
    default.

    ## Episode end
    Terminates when the goal is reached. Truncates after `max_turns` commands (`info["limit"] == "task"`).

    ## Arguments
    - `max_turns=20`: the limit of StepPO's paper; the benchmark's own training stops after 50.
    - `wording="0.4"`: or `"0.3"`, that of ALFWorld before: `put O in/on R`, no `help`, "You arrive at loc 3." Files
      keep their own.
    - `show_task=True`, `show_admissible=True`: see the observations.
    - `families=None`: names of the families of tasks to play, such as `["pick_heat_then_place_in_recep"]`.
    - `data_dir=None`: a folder with the benchmark's own `game.tw-pddl` files, or with ALFRED's `traj_data.json`, at any
      depth. Folders `valid_seen` and `valid_unseen` are the splits dev and test, all others train. Games that are
      marked unsolvable, and those of movable receptacles and sliced things, are left out, as the benchmark does. A
      `traj_data.json` without a game beside it gives a *rebuilt* scene, `rebuilt:...`: its task and its numbers of
      things, in one of our own rooms, since the file does not tell where things are.
    - `backend="native"`: our engine. `"textworld"`: TextWorld itself answers, in a process of its own virtual
      environment (`agentrl setup alfworld`), and every answer is compared with ours: a difference is an `EnvFault`.
    - `python=None`: the interpreter that has textworld and alfworld, if it is not found by itself.
    - `image_size=512`: width and height of the picture.
    - `invalid_penalty=0.0`, `max_actions_per_turn=1`, `split="train"`, `render_mode=None`.
    - `whole_turn_penalty=False`: of no effect here, where commands cost nothing.
    - `full_info=True`; False: only `success`, `valid` and `effective`.

    ## Truth
    `state()` supports `natural` and `structured`: what is faced, held, seen, open, and which things are clean, hot,
    cool, sliced or on; in its JSON also where everything lies. `oracle()` gives the first command of a shortest plan
    from any state, and `about_task()` its length at the start, the golden steps (3 to 11 in our homes). A snapshot
    holds the commands so far; restoring repeats them.

    ## Honest note
    These homes are not ALFWorld's, and scores on them are not scores on the benchmark: their rooms follow lists of our
    own, and things lie in usual places six times as often as elsewhere. With `data_dir` rooms, things and tasks are the
    benchmark's. The picture is a plan, not AI2-THOR's view. Oddities of ALFWorld are kept: a thing can be examined in
    the hand only, `look` sees nothing from the middle of the room (the first observation alone lists what is there),
    and a lamp that was used never counts as off again. A plan for a file in which a thing lies in
    several receptacles at once may not be the shortest.
    """

    task_reward = 1.0
    state_type = HomeState
    text_tools = (ACT,)
    safe_arguments = (
        "kind", "wording", "show_task", "show_admissible", "families", "image_size",
    )  # fmt: skip
    representations = frozenset({"natural", "structured"})
    guides: ClassVar[dict[str, str]] = {
        "natural": "Say what you stand at, what you hold, which things you see there, which receptacles are open, and "
        "which things are clean, hot, cool, sliced or on.",
        "structured": 'A JSON object with the keys "facing" (a list of receptacles), "holding" (a thing or ""), '
        '"visible" (things in or on what you face), "open" (receptacles) and "changed" (thing to a list of "clean", '
        '"hot", "cool", "sliced", "on").',
    }

    def __init__(
        self,
        *,
        kind: str = "text",
        wording: str = "0.4",
        show_task: bool = True,
        show_admissible: bool = True,
        families: Sequence[str] | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        backend: str = "native",
        python: str | None = None,
        image_size: int = 512,
        max_turns: int = 20,
        max_actions_per_turn: int = 1,
        invalid_penalty: float = 0.0,
        **others: Any,
    ) -> None:
        whole_number("max_actions_per_turn", max_actions_per_turn, at_least=1, at_most=1)
        super().__init__(max_turns=max_turns, invalid_penalty=invalid_penalty, **others)
        self.kind, self.wording = one_of("kind", kind, KINDS), WORDINGS[one_of("wording", wording, WORDINGS)]
        self.backend = one_of("backend", backend, BACKENDS)
        self.show_task, self.show_admissible = bool(show_task), bool(show_admissible)
        self.image_size = whole_number("image_size", image_size, at_least=128, at_most=2048)
        chosen = FAMILIES if families is None else tuple(families)
        if isinstance(families, str) or not chosen or not set(chosen) <= set(FAMILIES):
            raise ConfigError(f"families must be a list of some of {', '.join(FAMILIES)}; got {families!r}")
        self._data_dir = data_dir
        self._ids = task_ids(self.split, chosen) if data_dir is None else file_ids(data_dir, self.split, chosen)
        self._known = frozenset(self._ids)
        parts: dict[str, spaces.Space] = {"text": AnyText()}
        if kind == "visual":
            parts["image"] = spaces.Box(0, 255, (self.image_size, self.image_size, 3), np.uint8)
        self.observation_space = spaces.Dict(parts)
        self.action_space = AnyText(SAMPLES)
        self._task_id, self._said = "", ""
        self._world: Any = None  # a `World` from the first reset on
        self._commands: list[str] = []  # of this episode, as far as they changed something
        self._real = RealGame(python) if backend == "textworld" else None

    # ------------------------------------------------------------------ tasks

    def tasks(self) -> Sequence[str]:
        """The ids of this split: room and number, or the folder of a file."""
        return self._ids

    def _find_task(self, task: Any) -> Game:
        if not isinstance(task, str) or task not in self._known:
            raise self._unknown_task(task)
        return build(task, self.wording) if self._data_dir is None else file_game(self._data_dir, task, self.wording)

    def instruction_of(self, task: str) -> str:
        """The sentence of the task."""
        return self._find_task(task).instruction

    def _begin(self, task: Game) -> None:
        self._world = World(task)
        self._said = self._world.reset()
        self._task_id, self._commands = task.name, []
        if self._real is not None:
            data = None if self._data_dir is None else file_data(self._data_dir, task.name)
            self._real.begin(task, data, (self._said, self._world.commands(), self._world.won()))

    def _task(self) -> str:
        return self._task_id

    # ------------------------------------------------------------------ turns

    def _read(self, action: Any) -> Turn:
        self._said = NOTHING  # unless a command says otherwise
        answer, problem = extract_answer(action)
        if answer is None:
            return Turn([], problem)
        command = " ".join(answer.strip()[: MAX_COMMAND + 1].split()).lower()
        if len(answer.strip()) > MAX_COMMAND or not command.isprintable() or not COMMANDS.fullmatch(command):
            return Turn([], f"{quote(answer.strip())} is no command" if answer.strip() else "no command given")
        return Turn([command])

    def _act(self, primitive: str) -> Outcome:
        world = self._world
        before = world.key()
        self._said = world.step(primitive)
        effective, won = world.key() != before, world.won()
        if self._real is not None:
            self._real.step(primitive, (self._said, world.commands(), won))
        if effective:
            self._commands.append(primitive)
        return Outcome({"success": 1.0} if won else {}, effective, won, won, self._said.strip())

    @property
    def admissible_commands(self) -> list[str]:
        """The commands that are possible now, sorted."""
        return [] if self._over else self._world.commands()

    def legal_actions(self) -> list[str]:
        """The same: random play chooses among them."""
        return self.admissible_commands

    def _info(self, actions: list[str], terms: dict[str, float], **facts: Any) -> dict[str, Any]:
        return {**super()._info(actions, terms, **facts), "admissible_commands": self.admissible_commands}

    # ------------------------------------------------------------------ the truth

    def state(self) -> HomeState:
        """Where everything is and what it is like."""
        return home_state(self._world)

    def oracle(self) -> str | None:
        """The first command of a shortest plan."""
        return commands[0] if (commands := self._plan()) else None

    def actions_needed(self) -> int | None:
        """The length of that plan."""
        return len(commands) if (commands := self._plan()) else None

    def _plan(self) -> list[str] | None:
        return None if self._over else plan(self._world)

    def about_task(self) -> dict[str, Any]:
        """The family of the task, and its golden steps."""
        steps = self.actions_needed()
        return {"group": self._world.game.goal.family, **({} if steps is None else {"steps": steps})}

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """The command of a call; angle brackets, which no command has, would be read as tags."""
        return arguments["command"].replace("<", "(").replace(">", ")") if name == "act" else None

    def _calls(self, action: str) -> list[Call]:
        return [Call(ACT.name, command) for command in self._read(action).actions]

    # ------------------------------------------------------------------ what the agent sees

    @property
    def system_prompt(self) -> str:
        """The rules, the commands and the limit."""
        put = "put THING in/on RECEPTACLE" if self.wording.put else "move THING to RECEPTACLE"
        admissible = "Each turn lists the commands that are possible. " if self.show_admissible else ""
        return RULES.format(commands=FORMS.format(put=put), admissible=admissible, turns=self.max_turns)

    def _observe(self) -> dict[str, Any]:
        parts = [self._said.strip()]
        if self._turn and self.show_task:
            parts.append(f"Your task is to: {self._world.game.instruction}.")
        if self._turn and self._feedback.startswith("Invalid"):
            parts.append(self._feedback)
        if self._over:
            parts.append("The episode is over.")
        elif self.show_admissible:
            parts.append(f"Possible commands: {', '.join(self.admissible_commands)}")
        if self.kind == "visual":
            return {"text": "\n\n".join([*parts, "<image>"]), "image": self._draw()}
        return {"text": "\n\n".join(parts)}

    def _draw(self) -> np.ndarray:
        from agentrl.envs.alfworld.picture import room_picture

        return room_picture(self._world, self.image_size)

    # ------------------------------------------------------------------ fork

    def _save(self) -> dict[str, Any]:
        walk = {"index": self._index, "stride": self._stride}
        return {**walk, "task": self._task_id, "commands": self._commands, "said": self._said}

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, Saved)
        game = self._find_task(saved.task)
        self._restore_walk(saved.index, saved.stride)
        if len(saved.commands) > self.max_turns:
            raise ValueError("it has more commands than turns")
        self._begin(game)
        for command in saved.commands:
            if not self._act(command).effective:
                raise ValueError(f"its command {quote(command)} does nothing")
        self._said = saved.said

    def close(self) -> None:
        """Free what the environment holds; may be called twice."""
        if self._real is not None:
            self._real.close()
        super().close()


class Saved(msgspec.Struct):
    """What a snapshot keeps of an episode."""

    index: int
    stride: int
    task: str
    commands: list[str]
    said: str

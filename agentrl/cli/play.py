"""`agentrl play ID`: a person plays in the terminal."""

from __future__ import annotations

import math
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

import gymnasium as gym
import numpy as np
from PIL import Image

from agentrl.cli.arguments import Common, EnvId, JsonText, Split, json_object
from agentrl.cli.output import print_json, waiting
from agentrl.core.arguments import whole_number
from agentrl.core.env import AgentEnv
from agentrl.core.errors import ConfigError, SnapshotUnsupported
from agentrl.core.snapshot import restore, snapshot
from agentrl.policies.human import printable, read_action
from agentrl.policies.oracle import gold_action
from agentrl.rollout.episode import make
from agentrl.rollout.evaluate import checked_kwargs
from agentrl.rollout.prompts import read_observation
from agentrl.rollout.trajectory import plain

HELP = """Type an action, or one of:
  hint   what the environment itself would do
  state  the truth about this moment
  undo   take the last turn back
  next   another task
  help   the rules again
  quit   leave (so does the end of the input)"""


@dataclass(kw_only=True)
class Arguments(Common):
    """Play an environment yourself in the terminal; type `help` there."""

    id: EnvId
    """Environment id; `agentrl list` shows them."""
    seed: int = 0
    """Seed of the first task; `next` continues from there."""
    split: Split = "train"
    """Split of the tasks."""
    pictures: Literal["auto", "blocks", "off"] = "auto"
    """Show pictures as coloured characters; auto: on a terminal."""
    output: Path | None = None
    """Also write every picture into this folder."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""


def run(arguments: Arguments) -> int:
    """Play until the person leaves."""
    kwargs = checked_kwargs(json_object("--env-kwargs", arguments.env_kwargs))
    seed = whole_number("--seed", arguments.seed, at_least=0)
    with waiting(f"making {arguments.id}"):
        env = make(arguments.id, **{"split": arguments.split, "render_mode": "rgb_array", **kwargs})
    # With --json stdout belongs to the result.
    screen = Screen(sys.stderr if arguments.json else sys.stdout, arguments.pictures, arguments.output)
    try:
        game = Game(env, GameTable(env, seed), screen)
        game.loop()
    finally:
        env.close()
    if arguments.json:
        print_json({"schema": 1, "id": arguments.id, "split": arguments.split, "seed": seed, **game.table.to_json()})
    return 0


class Game:
    """Reads lines, turns them into commands and turns."""

    def __init__(self, env: gym.Env, table: GameTable, screen: Screen) -> None:
        self.env, self.table, self.screen = env, table, screen
        # None for a foreign environment, which has no truth to tell.
        self.base = env.unwrapped if isinstance(env.unwrapped, AgentEnv) else None
        commands = ("hint", "state", "undo", "next", "help")
        self._commands = {name: getattr(self, f"_{name}") for name in commands}

    def loop(self) -> None:
        """One line, one command or turn, until `quit` or the end of the input."""
        self._help()
        self._look()
        while (line := self.screen.ask()) is not None:
            word = line.strip().casefold()
            if word in ("quit", "exit", "q"):
                break
            if not word:
                continue
            try:
                self._commands[word]() if word in self._commands else self._turn(line)
            except (ConfigError, SnapshotUnsupported) as error:
                self.screen.say(str(error))

    def _turn(self, line: str) -> None:
        if self.table.over:
            self.screen.say("The episode is over: next, undo or quit?")
            return
        turn = self.table.step(read_action(line, self.env))
        terms = ", ".join(f"{name} {value:+g}" for name, value in turn.info.get("reward_terms", {}).items())
        ran = ", ".join(turn.info.get("actions", [])) or "nothing"
        self.screen.say(f"ran: {ran}; reward {turn.reward:+g}{f' ({terms})' if terms else ''}")
        self._look()
        if self.table.over:
            ending = "solved" if self.table.success else "out of turns" if self.table.truncated else "lost"
            self.screen.say(f"The episode is over: {ending}, total reward {self.table.reward:g}. next, undo or quit?")

    def _look(self) -> None:
        text, pictures = read_observation(self.table.observation)
        if not isinstance(self.table.observation, dict):
            # A plain array means little to a person; these kinds have no text, so say their feedback and draw them.
            drawing = self.base.state().symbolic() if self.base else ""
            text = "\n".join(filter(None, (self.table.info.get("feedback"), drawing or str(self.table.observation))))
        self.screen.say(text)
        for picture in pictures:
            self.screen.show(picture)
        if not pictures and self.screen.folder is not None:
            self.screen.save(np.asarray(self.env.render()))

    def _hint(self) -> None:
        action = None if self.table.over else gold_action(self.env)
        if action is not None and not isinstance(action, str):
            action = getattr(self.env.unwrapped, "action_name", str)(action)
        self.screen.say("No solution is known from here." if action is None else f"hint: {action}")

    def _state(self) -> None:
        if self.base is None:
            raise ConfigError(f"{type(self.env.unwrapped).__name__} has no state(); agentrl environments have")
        state = self.base.state()
        for name in sorted(self.base.representations):
            value = state.represent(name)
            self.screen.say(f"[{name}]\n" + ("\n".join(value) if isinstance(value, list) else str(value)))

    def _undo(self) -> None:
        if self.table.undo():
            self.screen.say("Took the last turn back.")
            self._look()
        else:
            self.screen.say("There is nothing to take back.")

    def _next(self) -> None:
        self.table.next()
        self._look()

    def _help(self) -> None:
        has_prompt = self.env.has_wrapper_attr("system_prompt")
        prompt = self.env.get_wrapper_attr("system_prompt") if has_prompt else ""
        self.screen.say(f"{prompt}\n\n{HELP}\n" if prompt else f"{HELP}\n")


class Screen:
    """Where the person looks and types."""

    def __init__(self, out: TextIO, pictures: str, folder: Path | None) -> None:
        self.out, self.folder, self._saved = out, folder, 0
        self._blocks = pictures == "blocks" or (pictures == "auto" and out.isatty())

    def say(self, text: str) -> None:
        """Text that may come from anywhere."""
        print(printable(text), file=self.out, flush=True)

    def show(self, picture: np.ndarray) -> None:
        """A picture: in characters, into the folder, or at least a word about it."""
        if self._blocks:
            columns, rows = shutil.get_terminal_size()
            print(half_blocks(picture, min(columns, 96), max(8, rows - 6)), file=self.out, flush=True)
        if self.folder is not None:
            self.save(picture)
        elif not self._blocks:
            self.say("(a picture: --pictures blocks shows it, --output DIR keeps it, `state` describes it)")

    def save(self, picture: np.ndarray) -> None:
        """Write the next picture of the folder and say where."""
        from PIL import Image

        assert self.folder is not None
        path = self.folder / f"{self._saved:04d}.png"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(path)
        except OSError as error:
            raise ConfigError(f"cannot save the picture: {error}; choose another folder with --output") from error
        self._saved += 1
        self.say(f"picture: {path}")

    def ask(self) -> str | None:
        """The next line; None at the end of the input."""
        if sys.stdin.isatty():
            print("> ", end="", file=self.out, flush=True)
        line = sys.stdin.readline()
        return line.rstrip("\r\n") if line else None


# ---------------------------------------------------------------------- turns so far, each of which can be taken back


class Moment(NamedTuple):
    """What is shown at one time, and the snapshot to return to it (None: impossible)."""

    observation: Any
    info: dict[str, Any]
    terminated: bool
    truncated: bool
    blob: bytes | None


class Turn(NamedTuple):
    """One finished turn."""

    action: Any
    reward: float
    info: dict[str, Any]
    before: Moment


class GameTable:
    """Plays one environment and keeps a stack of turns to undo."""

    def __init__(self, env: gym.Env, seed: int) -> None:
        self.env = env
        self.turns: list[Turn] = []
        observation, info = env.reset(seed=seed)
        self._now = self._moment(observation, info, False, False)

    @property
    def observation(self) -> Any:
        """What the person sees now."""
        return self._now.observation

    @property
    def info(self) -> dict[str, Any]:
        """What the environment says about the last turn."""
        return self._now.info

    @property
    def truncated(self) -> bool:
        """Did the episode end at a limit?"""
        return self._now.truncated

    @property
    def over(self) -> bool:
        """Has the episode ended?"""
        return self._now.terminated or self._now.truncated

    @property
    def success(self) -> bool:
        """Was the task done?"""
        return bool(self.info.get("success"))

    @property
    def reward(self) -> float:
        """The sum of all rewards so far."""
        return math.fsum(turn.reward for turn in self.turns)

    def step(self, action: Any) -> Turn:
        """Play one turn."""
        before = self._now
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._now = self._moment(observation, info, terminated, truncated)
        self.turns.append(Turn(action, float(reward), info, before))
        return self.turns[-1]

    def undo(self) -> bool:
        """Go back to before the last turn; False if there was none."""
        if not self.turns:
            return False
        before = self.turns[-1].before
        if before.blob is None:
            raise SnapshotUnsupported("undo is not available: this environment cannot be restored from a snapshot")
        restore(self.env, before.blob)
        self.turns.pop()
        self._now = before
        return True

    def next(self) -> None:
        """Start the next task; what was before it is forgotten."""
        observation, info = self.env.reset()
        self.turns = []
        self._now = self._moment(observation, info, False, False)

    def to_json(self) -> dict[str, Any]:
        """The game so far, as JSON types."""
        return {
            "task": self.info.get("task"),
            "turns": [
                {
                    "action": plain(turn.action),
                    "actions": turn.info.get("actions", []),
                    "reward": turn.reward,
                    "reward_terms": turn.info.get("reward_terms", {}),
                    "valid": turn.info.get("valid"),
                }
                for turn in self.turns
            ],
            "reward": self.reward,
            "success": self.success,
            "terminated": self._now.terminated,
            "truncated": self._now.truncated,
        }

    def _moment(self, observation: Any, info: dict[str, Any], terminated: bool, truncated: bool) -> Moment:
        try:
            blob = snapshot(self.env)
        except SnapshotUnsupported:
            blob = None  # playing works all the same; only undo does not
        return Moment(observation, info, terminated, truncated, blob)


# ---------------------------------------------------------------------- pictures
#
# Each character shows two pixels, one above the other, in true colour.

UPPER_HALF = "\N{UPPER HALF BLOCK}"
RESET = "\x1b[0m"


def fit(picture: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """The picture small enough for that many characters, an even number of pixels high; never enlarged."""
    height, width = picture.shape[:2]
    scale = min(1.0, columns / width, 2 * rows / height)
    size = max(1, int(width * scale)), max(2, 2 * int(height * scale / 2))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX))


def half_blocks(picture: np.ndarray, columns: int, rows: int) -> str:
    """The picture as lines of coloured characters that fit into `columns` x `rows`."""
    small = fit(picture, max(1, columns), max(1, rows))
    lines = []
    for upper, lower in zip(small[::2].tolist(), small[1::2].tolist(), strict=True):
        pixels = zip(upper, lower, strict=True)
        codes = [(_code(above), _code(below)) for above, below in pixels]
        lines.append("".join(f"\x1b[38;2;{above};48;2;{below}m{UPPER_HALF}" for above, below in codes) + RESET)
    return "\n".join(lines)


def _code(colour: list[int]) -> str:
    return ";".join(map(str, colour[:3]))

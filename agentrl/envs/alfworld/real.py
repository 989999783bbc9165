"""TextWorld itself behind the same game, in a process of the virtual environment that has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentrl.core.errors import EnvFault
from agentrl.core.interpreter import InterpreterSpec, find_interpreter, set_up_interpreter
from agentrl.core.worker import Worker
from agentrl.envs.alfworld.games import Game
from agentrl.envs.alfworld.pddl import write_problem

INTERPRETER = InterpreterSpec(
    package="textworld",
    variable="AGENTRL_TEXTWORLD_PYTHON",
    folder=".venv-textworld",
    setup="agentrl setup alfworld",
    install="agentrl setup alfworld",
)
# ALFWorld's own requirements hold nothing more that a text game needs; the planner is compiled, which takes minutes.
PACKAGES = ("textworld[pddl]==1.7.0", "alfworld==0.4.2", "fast-downward-textworld==20.6.4", "msgspec", "setuptools<81")
INSIDE = Path(__file__).parent / "inside"
STEP, START = 120.0, 120.0  # seconds that a call, or the start of the process, may take
Seen = tuple[str, list[str], bool]  # text, admissible commands, is the goal reached?


def setup(say: Callable[[str], None], folder: str | None = None) -> dict[str, Any]:
    """What `agentrl setup alfworld` does."""
    return set_up_interpreter(INTERPRETER, PACKAGES, say, folder)


class RealGame:
    """A game in TextWorld that is played beside ours; where they differ, something is wrong and the episode is void.

    Its state cannot be saved: whoever goes back in time begins again and repeats the commands.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = find_interpreter(INTERPRETER, python).python
        self._worker = self._start()
        self._begun = False

    def _start(self) -> Worker:
        return Worker(
            "agentrl_textworld:Server", python=self._python, path=[INSIDE], deadline=STEP, start_deadline=START
        )

    def begin(self, game: Game, data: dict[str, Any] | None, ours: Seen) -> None:
        """Load a game (the data of its file, where it has one) and compare how it begins."""
        self._begun = False
        if data is None:
            data = {"pddl_problem": write_problem(game), "instruction": game.instruction}
        self._worker.call("load", data, game.wording.put)
        self._begun = True
        self._compare("reset", self._worker.call("reset"), ours)

    def step(self, command: str, ours: Seen) -> None:
        """One command, and the comparison."""
        if not self._begun:
            raise EnvFault("TextWorld was started again and has no game; call reset()")
        try:
            theirs = self._worker.call("step", command)
        except BaseException:
            self._begun = False
            raise
        self._compare(command, theirs, ours)

    def _compare(self, what: str, theirs: list[Any], ours: Seen) -> None:
        for name, one, other in zip(("text", "admissible commands", "success"), theirs, ours, strict=True):
            if one != other:
                raise EnvFault(f"after {what!r} TextWorld and the native engine differ in {name}: {one!r}, {other!r}")

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"_python": self._python, "_begun": False}  # a process belongs to who started it

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._worker = self._start()

"""A tiny environment for the tests of the contract: count to the target, one primitive action at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from agentrl.core.env import AgentEnv, Outcome
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn, parse_turn
from agentrl.core.spaces import AnyText
from agentrl.core.state import State

GRAMMAR = {name: name for name in ("inc", "wait", "gamble", "break", "lose")}


@dataclass(frozen=True)
class CounterState(State):
    """A number on its way to a target."""

    count: int
    target: int

    def symbolic(self) -> str:
        return f"{self.count}/{self.target}"


class CounterEnv(AgentEnv[Any, str]):
    """`inc` counts, `wait` does nothing, `gamble` adds a random number, `break` is impossible, `lose` ends it."""

    representations = frozenset({"symbolic"})
    system_prompt = "Count."

    def __init__(
        self, *, target: int = 4, extra: Any = None, max_turns: int = 3, max_actions_per_turn: int = 3, **others: Any
    ) -> None:
        super().__init__(max_turns=max_turns, max_actions_per_turn=max_actions_per_turn, **others)
        self.target, self.extra, self.count = target, extra, 0
        self.observation_space = spaces.Dict({"text": AnyText()})
        self.action_space = AnyText(tuple(GRAMMAR), max_words=max_actions_per_turn)

    def state(self) -> CounterState:
        return CounterState(self.count, self.target)

    def tasks(self) -> Sequence[str]:
        return ["0", "1", "2"]

    def _find_task(self, task: Any) -> int:
        if task not in self.tasks():
            raise ConfigError(f"tasks are 0, 1 and 2, not {task!r}")
        return int(task)

    def _begin(self, task: int) -> None:
        self.start = self.count = task

    def _task(self) -> str:
        return str(self.start)

    def _read(self, action: Any) -> Turn:
        return parse_turn(action, GRAMMAR, self.max_actions_per_turn)

    def _act(self, primitive: str) -> Outcome:
        if primitive == "break":
            return Outcome({"never": 100.0}, valid=False, feedback="nothing breaks")
        if primitive == "wait":
            return Outcome({"step": -0.01}, effective=False, feedback="Nothing happens.")
        if primitive == "lose":
            return Outcome({"step": -0.01}, terminated=True)
        self.count += 1 if primitive == "inc" else int(self.np_random.integers(-5, 2))
        if self.count >= self.target:
            return Outcome({"step": -0.01, "success": 1.0}, True, True, True, "Done.")
        return Outcome({"step": -0.01})

    def _observe(self) -> dict[str, str]:
        return {"text": f"{self._feedback} {self.count}"}

    def _draw(self) -> np.ndarray:
        return np.full((8, 8, 3), self.count % 256, np.uint8)

    def _save(self) -> dict[str, Any]:
        return {"count": self.count, "start": self.start, "walk": [self._index, self._stride]}

    def _load(self, data: dict[str, Any]) -> None:
        self.count = data["count"]
        self.start = data["start"]
        self._restore_walk(*data["walk"])

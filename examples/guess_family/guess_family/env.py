"""Guess a secret number: every answer says whether it is higher or lower."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import msgspec

from agentrl import AgentEnv, AnyText, ConfigError, Outcome, State, Turn, parse_turn

NUMBERS = {str(number): number for number in range(100)}
SPLITS = {"train": (0, 1, 2), "dev": (3,), "test": (4,)}  # by the number modulo 5


@dataclass(frozen=True)
class GuessState(State):
    """The truth: the secret, and the lowest and highest number it can still be."""

    secret: int
    low: int = 0
    high: int = 99

    def natural(self) -> list[str]:
        return [f"The secret is {self.secret}.", f"It can be anything from {self.low} to {self.high}."]


class GuessEnv(AgentEnv[dict[str, str], str]):
    """Guess a number from 0 to 99 from the answers "higher" and "lower"."""

    state_type, representations = GuessState, frozenset({"natural"})

    def __init__(self, *, max_turns: int = 7, **others: Any) -> None:
        super().__init__(max_turns=max_turns, **others)
        self.observation_space = gym.spaces.Dict({"text": AnyText()})
        self.action_space = AnyText(tuple(NUMBERS), max_words=self.max_actions_per_turn)
        self.system_prompt = f"Guess a number from 0 to 99. You have {max_turns} turns. Reply with the number alone."

    def tasks(self) -> Sequence[str]:
        return [name for name, number in NUMBERS.items() if number % 5 in SPLITS[self.split]]

    def _find_task(self, task: Any) -> int:
        if task not in self.tasks():
            raise ConfigError(f"a task must be a number of the split {self.split}, as text; got {task!r}")
        return NUMBERS[task]

    def _begin(self, task: int) -> None:
        self._world = GuessState(task)

    def _task(self) -> str:
        return str(self._world.secret)

    def state(self) -> GuessState:
        return self._world

    def _read(self, action: Any) -> Turn:
        return parse_turn(action, NUMBERS, self.max_actions_per_turn)

    def _act(self, guess: int) -> Outcome:
        before, secret = self._world, self._world.secret
        if guess == secret:
            self._world = GuessState(secret, secret, secret)
            return Outcome({"success": 1.0}, terminated=True, success=True, feedback=f"{guess} is right.")
        higher = secret > guess
        low, high = (max(before.low, guess + 1), before.high) if higher else (before.low, min(before.high, guess - 1))
        self._world = GuessState(secret, low, high)
        hint = f"The secret is {'higher' if higher else 'lower'} than {guess}."
        return Outcome({"guess": -0.1}, effective=self._world != before, feedback=hint)

    def oracle(self) -> str | None:
        return None if self._over else str((self._world.low + self._world.high) // 2)

    def _observe(self) -> dict[str, str]:
        return {"text": f"{self._heading()} {self._feedback}".strip()}

    def _save(self) -> dict[str, Any]:
        return {"world": self._world.to_json(), "walk": [self._index, self._stride]}

    def _load(self, data: dict[str, Any]) -> None:
        world = msgspec.convert(data["world"], GuessState)
        if not 0 <= world.low <= world.secret <= world.high <= 99:
            raise ValueError("the secret is outside its bounds")
        self._world = world
        self._restore_walk(*data["walk"])

"""Text environments as another package would write them: no splits, no rules, no info of agentrl's."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

LETTERS = "abcdefghijklmnopqrstuvwxyz "


class Copy(gym.Env):
    """Write the letter that you read. The observation is nothing but text."""

    observation_space = spaces.Text(64, charset=LETTERS)
    action_space = spaces.Text(64, charset=LETTERS)
    turns = 3

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """A letter that follows from the seed."""
        super().reset(seed=seed)
        self.turn = 0
        return self._shown(), {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One point for the right letter."""
        right = self.letter in action
        self.turn += 1
        return self._shown(), float(right), False, self.turn == self.turns, {"is_success": right}

    def _shown(self) -> Any:
        self.letter = LETTERS[self.np_random.integers(26)]
        return f"write {self.letter}"


class Told(Copy):
    """The same in a dict, under a name of its own, and with an argument."""

    observation_space = spaces.Dict({"mission": spaces.Text(64, charset=LETTERS), "turn": spaces.Discrete(9)})

    def __init__(self, turns: int = 3, **further: Any) -> None:
        self.turns = turns
        if further:
            raise TypeError(f"Told got unexpected arguments: {sorted(further)}")

    def _shown(self) -> Any:
        return {"mission": super()._shown(), "turn": self.turn}


class Numbered(Told):
    """Actions are numbers: nothing for a language model."""

    action_space = spaces.Discrete(4)


for _game in (Copy, Told, Numbered):
    gym.register(f"games/{_game.__name__}-v0", entry_point=f"tests.cli.text_games:{_game.__name__}")

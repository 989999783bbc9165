"""A small environment of continuous control: a puck with a speed, pushed over a square table to a mark.

It draws with numpy and counts its frames, so that tests of wrappers, records and policies need no simulator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.envs.common.control import ControlEnv

NEAR = 0.1
COLOURS = {"image": (255, 60, 60), "wrist_image": (60, 60, 255)}


class PuckEnv(ControlEnv):
    """Push the puck to the mark; it keeps half of its speed."""

    pictures = ("image", "wrist_image")
    instruction = "Push the puck to the mark."

    def __init__(self, *, image_size: int = 32, max_turns: int = 30, **others: Any) -> None:
        super().__init__(image_size=image_size, max_turns=max_turns, **others)
        self._set_spaces(actions=2, proprio=2, state=4)
        self.place, self.speed, self.mark = np.zeros(2), np.zeros(2), np.zeros(2)
        self.number = self.frames = self.steps = 0

    def tasks(self) -> Sequence[str]:
        return [f"{self.split}:{number}" for number in range(50)]

    def _find_task(self, task: Any) -> int:
        if not isinstance(task, str) or task not in self.tasks():
            raise ConfigError(f"no such task: {task!r:.40}")
        return int(task.split(":")[1])

    def _begin(self, task: int) -> None:
        random = np.random.default_rng([SPLITS.index(self.split), task])
        self.number, self.speed = task, np.zeros(2)
        self.place, self.mark = random.uniform(-1, 1, (2, 2))
        if np.abs(self.place - self.mark).max() < 4 * NEAR:
            self.mark = -np.sign(self.place) * 0.5

    def _task(self) -> str:
        return f"{self.split}:{self.number}"

    def _simulate(self, action: np.ndarray) -> bool:
        self.steps += 1
        self.speed = 0.5 * self.speed + 0.1 * action.astype(float)
        self.place = np.clip(self.place + self.speed, -1, 1)
        return self._done()

    def _done(self) -> bool:
        return bool(np.abs(self.place - self.mark).max() < NEAR)

    def _frame(self, picture: str) -> np.ndarray:
        self.frames += 1
        canvas = np.zeros((self.image_size, self.image_size, 3), np.uint8)
        for colour, point in (((60, 255, 60), self.mark), (COLOURS[picture], self.place)):
            column, row = ((point + 1) / 2 * (self.image_size - 5)).astype(int)
            canvas[row : row + 5, column : column + 5] = colour
        return canvas

    def _proprio(self) -> np.ndarray:
        return np.concatenate([self.speed, self.speed * 0])[:2]

    def _object_state(self) -> np.ndarray:
        return np.concatenate([self.place, self.mark])

    def oracle(self) -> np.ndarray | None:
        if self._over:
            return None
        return np.clip((self.mark - self.place - self.speed) * 5, -1, 1).astype(np.float32)

    def _save(self) -> dict[str, Any]:
        numbers = [*self.place.tolist(), *self.speed.tolist(), *self.mark.tolist()]
        return {"number": self.number, "walk": [self._index, self._stride], "numbers": numbers}

    def _load(self, data: dict[str, Any]) -> None:
        numbers = np.array(data["numbers"], float).reshape(3, 2)
        if not np.isfinite(numbers).all() or data["number"] not in range(50):
            raise ValueError("no such moment")
        self._restore_walk(*data["walk"])
        self.place, self.speed, self.mark = (row.copy() for row in numbers)
        self.number = int(data["number"])


PUCK = "toy/Puck-v0"
if PUCK not in gym.registry:
    gym.register(PUCK, entry_point="tests.toy_control:PuckEnv")

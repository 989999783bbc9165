"""A choice between two words; without anything heavy, since processes of their own import it."""

from __future__ import annotations

import os
import time
from typing import Any

import gymnasium as gym

from agentrl.core.errors import ConfigError
from agentrl.core.spaces import AnyText

ARMS = "tests.trainers.arms:trainer-tests/Arms-v0"
WORDS = ("Left", "Right")


class ArmsEnv(gym.Env):
    """`turns` turns; the word of the turn is worth 1, `form` is paid for any word of `form_for`. All right: success.

    Episodes whose seed leaves 0 when divided by `trouble_every` meet `trouble` in their first turn: "die", "hang",
    "refuse" (in the second of several processes, which ends it), or any other word for an error.
    """

    render_mode = None
    system_prompt = "Moves: Left, Right."

    def __init__(
        self,
        split: str = "train",
        turns: int = 1,
        good: str = "Right",
        form: float = 0.0,
        form_for: tuple[str, ...] = WORDS,
        trouble: str = "",
        trouble_every: int = 3,
    ) -> None:
        self.action_space, self.observation_space = AnyText(WORDS), gym.spaces.Dict({"text": AnyText()})
        self.split, self.turns, self.good, self.form, self.form_for = split, turns, good, form, form_for
        self.trouble, self.trouble_every = trouble, trouble_every

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.turn, self.hits = 0, 0
        return self._see(), {"task": f"{self.good}-{seed}"}

    def _see(self) -> dict[str, str]:
        return {"text": f"turn {self.turn}"}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._meet_trouble()
        self.turn += 1
        hit = action.strip() == self.good
        self.hits += hit
        terms = {"hit": float(hit), "form": self.form * (action.strip() in self.form_for)}
        success = self.hits == self.turns
        cut = self.turn == self.turns and not success
        info = {"success": success, "reward_terms": terms, "valid": action.strip() in WORDS, "pending": []}
        return self._see(), sum(terms.values()), success, cut, {**info, "limit": "task" if cut else None}

    def _meet_trouble(self) -> None:
        if not self.trouble or self.np_random_seed % self.trouble_every or self.turn:
            return
        if self.trouble == "die":
            os.kill(os.getpid(), 9)
        if self.trouble == "hang":
            time.sleep(60)
        if self.trouble != "refuse":
            raise RuntimeError("a bug of the simulator")
        if os.environ.get("RANK") == "1":
            raise ConfigError("nothing to play in here")

    def oracle(self) -> str:
        return self.good


if "trainer-tests/Arms-v0" not in gym.registry:
    gym.register("trainer-tests/Arms-v0", entry_point=f"{__name__}:ArmsEnv", disable_env_checker=True)

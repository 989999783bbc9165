"""`History`: the last turns as text in front of the present observation."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium as gym

from agentrl.core.arguments import whole_number
from agentrl.core.parsing import quote
from agentrl.wrappers.base import AgentWrapper, StepResult, clean_text, require_text

MARKER = "<image>"
NO_PICTURE = "(picture no longer shown)"
MAX_CHARS = 20_000  # of one remembered observation


class History(AgentWrapper):
    """Puts the last `turns` observations and actions before the present one: the step-style prompt.

    Each observation then stands on its own, for policies whose prompt is rebuilt every turn instead of growing. Past
    pictures are not shown again, so only the present observation keeps its `<image>` marker. The first observation of
    an episode has no history and is left as it is.
    """

    memory = ("_past", "_present", "_count")

    def __init__(self, env: gym.Env, turns: int = 3) -> None:
        super().__init__(env, turns=turns)
        require_text(env, "History")
        self.turns = whole_number("turns", turns, at_least=1)
        self._past: deque[list[str]] = deque(maxlen=self.turns)  # [observation, action]
        self._present = ""
        self._count = 0  # turns of this episode so far

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Forget the last episode."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._past, self._count = deque(maxlen=self.turns), 0
        self._present = remembered(obs["text"])
        return obs, info

    def step(self, action: Any) -> StepResult:
        """Remember the turn, then show the new observation after the last ones."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        if info.get("fault") != "episode_over":
            self._past.append([self._present, what_was_done(action, info)])
            self._present = remembered(obs["text"])
            self._count += 1
        first = self._count - len(self._past) + 1
        lines = ["Your turns so far:" if first == 1 else f"Your last {len(self._past)} turns of {self._count}:"]
        for number, (observation, action) in enumerate(self._past, first):
            lines.append(f"[{number}] You saw:\n{observation}\n[{number}] You did: {action}")
        story = "\n".join([*lines, "Now:", obs["text"]])
        return {**obs, "text": story}, reward, terminated, truncated, info

    def _rules(self) -> str:
        turns = "the last turn" if self.turns == 1 else f"the last {self.turns} turns"
        return f"Every observation begins with what you saw and did in {turns}; act on the part after 'Now:'."


def remembered(text: str) -> str:
    """An observation as the past shows it."""
    return clean_text(text, MAX_CHARS).replace(MARKER, NO_PICTURE)


def what_was_done(action: Any, info: dict[str, Any]) -> str:
    """The actions that ran; a quotation where nothing could be read."""
    done = ", ".join(info.get("actions", []))
    if not done:
        done = quote(action if isinstance(action, str) else type(action).__name__)
    remark = "" if info.get("valid", True) else " (then something invalid)" if info.get("actions") else " (invalid)"
    return remembered(done + remark)

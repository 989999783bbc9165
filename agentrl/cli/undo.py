"""The state of a game that a person plays: turns so far, each of which can be taken back."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import gymnasium as gym

from agentrl.core.errors import SnapshotUnsupported
from agentrl.core.snapshot import restore, snapshot
from agentrl.rollout.trajectory import plain


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

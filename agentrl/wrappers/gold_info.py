"""`GoldInfo`: what right play would do now, in `info`, for a trainer that may know what the policy may not."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from agentrl.core.env import AgentEnv
from agentrl.core.errors import ConfigError
from agentrl.wrappers.base import AgentWrapper, StepResult, require_text


class GoldInfo(AgentWrapper):
    """Adds `info["gold"]` after every reset and step; observations and prompts stay as they are.

    - `reply`: a whole right turn in the form that the stack expects, None where none is known (any more).
    - `actions`: how many actions right play takes from here, None where that is not known.
    - `turns`, `turns_left`: what the task allows in all, and still; None where the environment has no such limit.
    - `turn_actions`: the most actions of a turn, likewise.

    It goes around all wrappers that change the form of replies.
    """

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        require_text(env, "GoldInfo")
        kind = type(env.unwrapped)
        if getattr(kind, "oracle", AgentEnv.oracle) is AgentEnv.oracle:
            raise ConfigError(f"critic_truth (GoldInfo) needs an environment with an oracle; {kind.__name__} has none")
        self._source = "gold" if env.has_wrapper_attr("gold") else "oracle"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first state's."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "gold": self._told(info)}

    def step(self, action: Any) -> StepResult:
        """The next state's; nothing is right any more once the episode has terminated."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        told = None if terminated else self._told(info)
        return observation, reward, terminated, truncated, {**info, "gold": told}

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        base: Any = self.unwrapped
        turns, turn = getattr(base, "max_turns", None), info.get("turn")
        return {
            "reply": self.env.get_wrapper_attr(self._source)(),
            "actions": base.actions_needed() if hasattr(base, "actions_needed") else None,
            "turns": turns,
            "turns_left": None if turns is None or turn is None else turns - turn,
            "turn_actions": getattr(base, "max_actions_per_turn", None),
        }

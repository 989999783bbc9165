"""`DiscreteActions`: whole numbers instead of text, for classic RL libraries."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.errors import ConfigError
from agentrl.wrappers.base import (
    UNREADABLE,
    AgentWrapper,
    StepResult,
    explain_invalid,
    find_layer,
    require_no_reasoning,
    require_text,
)
from agentrl.wrappers.tool_calls import ToolCalls


class DiscreteActions(AgentWrapper):
    """`Discrete(n)` over the environment's action names: one primitive action is one turn.

    Turn limits count turns, so an environment made for three turns of three actions would end after three numbers.
    Make it with the same number of moves spread over single-action turns, for example
    `gym.make(id, max_turns=9, max_actions_per_turn=1)`. Where no level could be solved in time this raises; where only
    some could, it warns.
    """

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        if isinstance(env.action_space, spaces.Discrete):
            raise ConfigError("the actions are whole numbers already; DiscreteActions is for Text and Visual kinds")
        require_text(env, "DiscreteActions")
        require_no_reasoning(env, "DiscreteActions", "numbers have no form: leave one of the two out")
        if find_layer(env, ToolCalls) is not None:
            raise ConfigError(
                "ToolCalls inside DiscreteActions would find no call in a number; leave one of the two out"
            )
        self.names: tuple[str, ...] = tuple(getattr(self.unwrapped, "action_names", ()))
        if not self.names:
            raise ConfigError(f"{type(self.unwrapped).__name__} has no finite list of actions to number")
        self._check_limits()
        self.action_space = spaces.Discrete(len(self.names))

    def _check_limits(self) -> None:
        base, turns = self.unwrapped, self.unwrapped.max_turns
        shortest = getattr(base, "min_solution", 1)
        longest = getattr(base, "max_solution", shortest)
        moves = turns * base.max_actions_per_turn
        fix = f"gym.make(id, max_turns={max(moves, longest)}, max_actions_per_turn=1)"
        if shortest > turns:
            raise ConfigError(
                f"with one action a turn, max_turns={turns} is less than any solution takes ({shortest} or more): {fix}"
            )
        if longest > turns:
            gym.logger.warn(
                f"with one action a turn, levels that take more than max_turns={turns} moves cannot be solved "
                f"(some take {longest}): {fix}"
            )

    def action(self, action: Any) -> str:
        """The name of a number."""
        if isinstance(action, np.ndarray) and action.size == 1:
            action = action.reshape(()).item()
        whole = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
        return self.names[int(action)] if whole and 0 <= int(action) < len(self.names) else UNREADABLE

    def step(self, action: Any) -> StepResult:
        """One primitive action; anything but a number in range is an invalid turn."""
        name = self.action(action)
        obs, reward, terminated, truncated, info = self.env.step(name)
        if name == UNREADABLE and info.get("fault") == "unparsed":
            obs, info = explain_invalid(obs, info, f"an action is a whole number from 0 to {len(self.names) - 1}")
        return obs, reward, terminated, truncated, info

    def oracle(self) -> int | None:
        """The number of the oracle's next action."""
        turn = self.unwrapped.oracle()
        return None if turn is None else self.names.index(turn.split(self.unwrapped.action_separator)[0])

"""`ActionChunks`: several control steps in one action, as vision-language-action policies answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.core.arguments import whole_number
from agentrl.core.control import as_array, describe_box, read_control
from agentrl.core.errors import ConfigError
from agentrl.wrappers.base import AgentWrapper, StepResult, explain_invalid, require_no_second


class ActionChunks(AgentWrapper):
    """An action is up to `size` actions of the environment, one a row: `Box` of shape (size, n).

    They run in order until the episode ends. Rewards and their terms are summed, and the observation is the one after
    the last action: pictures in between are not drawn. The first row that is no action stops the chunk; what ran before
    it stays, and `info["valid"]` is False. Fewer rows are a shorter chunk; of more, only the first `size` run.

    `info` describes the whole chunk (`actions`, `reward_terms`, `effective`, `feedback`, `clipped`), with two keys of
    its own: `ran`, how many turns of the environment it took, and `rewards`, the reward of each. Limits still count the
    environment's turns. `oracle()` is a whole chunk, found by playing ahead and going back.

    Put recorders, and wrappers that stack or change pictures, around this one: inside they would see black pictures
    between the ends of chunks.
    """

    def __init__(self, env: gym.Env, size: int) -> None:
        super().__init__(env, size=size)
        require_no_second(env, ActionChunks)
        self.size = whole_number("size", size, at_least=1, at_most=1000)
        space = env.action_space
        if not isinstance(space, spaces.Box) or len(space.shape) != 1:
            raise ConfigError(f"ActionChunks needs actions that are arrays of one dimension; got {space}")
        self._single = space
        low, high = (np.repeat(bound[None], self.size, axis=0) for bound in (self._single.low, self._single.high))
        self.action_space = spaces.Box(low, high, dtype=self._single.dtype.type)  # type: ignore[union-attr]

    def _rules(self) -> str:
        return f"Up to {self.size} actions are given at a time, one a row; they run in order until the episode ends."

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, _build_info(info, [], [])

    def step(self, action: Any) -> StepResult:
        """Run the rows of a chunk."""
        rows, problem, surplus = self._read(action)
        last = len(rows) - 1
        infos: list[dict[str, Any]] = []
        rewards: list[float] = []
        result: Any = None
        for place, row in enumerate(rows):
            with self._unseen() if place < last else nullcontext():
                result = self.env.step(row)
            infos.append(result[4])
            rewards.append(float(result[1]))
            if result[2] or result[3]:
                break
        observation, _, terminated, truncated, info = result
        if len(infos) <= last:  # a limit outside the environment, which then did not know that this was the end
            base: Any = self.unwrapped
            names = getattr(base, "pictures", ()) if isinstance(observation, Mapping) else ()
            observation = {**observation, **{name: base.picture(name) for name in names if name in observation}}
        told = _build_info(info, infos, rewards)
        if problem and told.get("fault") == "unparsed":
            observation, told = explain_invalid(observation, told, problem)
        elif surplus and "feedback" in told and not (terminated or truncated):
            remark = f"Only the first {self.size} rows of a chunk run; {surplus} dropped."
            told["feedback"] = " ".join(filter(None, (told["feedback"], remark)))
        return observation, math.fsum(rewards), terminated, truncated, told

    def _read(self, action: Any) -> tuple[list[Any], str, int]:
        """What to give to the environment one by one, what is wrong with the last of it, how many rows are too many."""
        wanted = f"a chunk must be an array of up to {self.size} rows, each {describe_box(self._single)}"
        action = as_array(action)
        if isinstance(action, np.ndarray) and (action.ndim != 2 or not len(action)):
            return [None], f"{wanted}; got the shape {tuple(action.shape)}", 0
        if not isinstance(action, (np.ndarray, list, tuple)) or not len(action):
            return [None], f"{wanted}; got {type(action).__name__}", 0
        rows: list[Any] = []
        for number, row in enumerate(action[: self.size]):
            read = read_control(row, self._single, getattr(self.unwrapped, "out_of_range", "refuse"))
            if isinstance(read, str):
                return [*rows, row], f"row {number}: {read}", 0  # the environment refuses it
            rows.append(np.array(row, dtype=np.float64) if read.clipped else read.values)  # it clips and counts itself
        return rows, "", max(0, len(action) - self.size)

    # ------------------------------------------------------------------ pictures

    def _unseen(self) -> Any:
        quiet = getattr(self.unwrapped, "without_pictures", None)
        return nullcontext() if quiet is None else quiet()

    # ------------------------------------------------------------------ gold

    def oracle(self) -> np.ndarray | None:
        """A whole correct chunk; None where the environment knows no action. Rows behind the end repeat the last."""
        base = self.unwrapped
        if self.env.action_space != base.action_space:
            raise ConfigError("the oracle's actions are changed by a wrapper inside ActionChunks; put it around")
        before, rows = base.snapshot(), []
        try:
            with self._unseen():
                while len(rows) < self.size and (row := base.oracle()) is not None:
                    rows.append(row)
                    _, _, terminated, truncated, _ = base.step(row)
                    if terminated or truncated:
                        break
        finally:
            base.restore(before)
        return np.stack(rows + rows[-1:] * (self.size - len(rows))) if rows else None


def _build_info(last: dict[str, Any], infos: list[dict[str, Any]], rewards: list[float]) -> dict[str, Any]:
    """One info for all turns of a chunk; what it does not sum up is that of the last one."""
    told = {**last, "ran": len(infos)}
    if infos and "effective" in last:
        told["effective"] = any(info["effective"] for info in infos)
    if infos and "clipped" in last:
        told["clipped"] = sum(info["clipped"] for info in infos)
    if "reward_terms" not in last:  # brief: every value has one type and shape, so that arrays can hold it
        return told
    names = dict.fromkeys(name for info in infos for name in info["reward_terms"])
    terms = {name: math.fsum(info["reward_terms"].get(name, 0.0) for info in infos) for name in names}
    return {
        **told,
        "rewards": rewards,
        "reward_terms": terms,
        "actions": [action for info in infos for action in info["actions"]],
        "feedback": " ".join(dict.fromkeys(info["feedback"] for info in infos if info["feedback"])),
    }

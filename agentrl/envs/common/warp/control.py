"""`ControlWarpEnv`: arms in many worlds that are moved by arrays of numbers, one control step a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from agentrl.core.errors import ConfigError
from agentrl.envs.common.warp.loading import torch
from agentrl.envs.common.warp.vector import Played, WarpVectorEnv, Worlds


class ControlWorlds(Worlds, Protocol):
    """A task that is done or not."""

    def goal(self) -> torch.Tensor:
        """In which worlds it is done; the batch has looked."""
        ...


class Read(NamedTuple):
    """Actions that can be carried out."""

    actions: torch.Tensor
    valid: torch.Tensor  # the rows that are as they were given
    clipped: torch.Tensor  # how many numbers of each row were out of range


class ControlWarpEnv(WarpVectorEnv):
    """Actions are tensors or arrays [num_envs, n]. A row with a NaN or an infinity, and with `out_of_range="refuse"`
    one out of range, is not carried out: its world stands still, the turn counts, `info["valid"]` is False."""

    tasks: tuple[ControlWorlds, ...]

    def __init__(
        self,
        tasks: Sequence[ControlWorlds],
        observation_space: spaces.Space,
        action_space: spaces.Box,
        *,
        max_turns: int,
        out_of_range: str,
        autoreset_mode: AutoresetMode | str,
        render_mode: str | None,
    ) -> None:
        super().__init__(tasks, observation_space, action_space, autoreset_mode=autoreset_mode, render_mode=render_mode)
        self.max_turns, self._refuses = max_turns, out_of_range == "refuse"
        self._turns = torch.zeros(self.num_envs, device=self.device, dtype=torch.int32)

    def _read(self, given: Any) -> Read:
        shape = (self.num_envs, *(self.single_action_space.shape or ()))
        try:
            actions = torch.as_tensor(given, dtype=torch.float32, device=self.device)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ConfigError(f"actions must be numbers {list(shape)}; got {type(given).__name__}") from error
        if actions.shape != shape:
            raise ConfigError(f"actions must be numbers {list(shape)}; got {list(actions.shape)}")
        valid = actions.isfinite().all(1)
        clipped = ((actions.abs() > 1).sum(1) * valid).int()
        if self._refuses:
            valid, clipped = valid & (clipped == 0), torch.zeros_like(clipped)
        return Read(torch.where(valid[:, None], actions.clamp(-1.0, 1.0), 0.0), valid, clipped)

    def _play(self, actions: Read, begin: torch.Tensor) -> Played:
        broken, done, seen = self._none.clone(), self._none.clone(), self._blank()
        for place, task in self._each():
            batch = task.batch
            with batch.working():
                before = batch.rows()
                batch.act(actions.actions[place])
                lost = batch.broken()
                batch.write(before, lost | ~actions.valid[place])
                self._begin(task, place, begin)
                batch.look()
                broken[place], done[place] = lost, task.goal()
                self._observe(task, place, seen)
            batch.join()
        broken &= ~begin
        self._turns = torch.where(begin, 0, self._turns + 1)
        terminated = done & ~begin & ~broken
        truncated = ((self._turns >= self.max_turns) | broken) & ~terminated & ~begin
        info = {"success": terminated, "valid": actions.valid | begin, "clipped": actions.clipped}
        return Played(seen, terminated.float(), terminated, truncated, broken, info)

    def _restart(self, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        self._turns = torch.where(mask, 0, self._turns)
        return super()._restart(mask)

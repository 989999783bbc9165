"""`ControlWarpEnv`: arms in many worlds that are moved by arrays of numbers, one control step a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from agentrl.core.errors import ConfigError
from agentrl.envs.common.warp.batch import Batch
from agentrl.envs.common.warp.loading import torch
from agentrl.envs.common.warp.vector import Played, Task, WarpVectorEnv, Worlds


class ControlWorlds(Worlds, Protocol):
    """Tasks that are done or not."""

    def goal(self) -> torch.Tensor:
        """Which worlds have done theirs; the batch has looked."""
        ...


class Read(NamedTuple):
    """Actions that can be carried out."""

    actions: torch.Tensor
    valid: torch.Tensor  # the rows that are as they were given
    clipped: torch.Tensor  # how many numbers of each row were out of range


class PlayedChunk(NamedTuple):
    """What a chunk of actions came to, in each world."""

    seen: dict[str, torch.Tensor]
    rewards: torch.Tensor  # of each action
    ran: torch.Tensor  # how many of them were carried out
    terminated: torch.Tensor
    truncated: torch.Tensor
    broken: torch.Tensor  # where the simulation diverged


class ControlWarpEnv(WarpVectorEnv):
    """Actions are tensors or arrays [num_envs, n]. A row with a NaN or an infinity, and with `out_of_range="refuse"`
    one out of range, is not carried out: its world stands still, the turn counts, `info["valid"]` is False."""

    def __init__(
        self,
        tasks: Sequence[Task],
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

    def play_chunk(self, given: Any, playing: np.ndarray) -> PlayedChunk:
        """Several actions in a row, [num_envs, chunk, n], in the worlds that are `playing`; what they lead to is looked
        at once, after the last. Nothing is read back from the device.

        A world stands still behind the action that ends its episode, and no episode begins by itself. A model none of
        whose worlds is playing costs nothing, and is not looked at."""
        if self.autoreset_mode != AutoresetMode.DISABLED:
            raise ConfigError('chunks need autoreset_mode="Disabled", since no episode begins within one')
        self._check_begun()
        chunk = np.shape(given)[1] if np.ndim(given) == 3 else 1
        read, found = self._read(given, chunk), self._nothing_played(chunk)
        wanted = torch.as_tensor(playing, device=self.device)
        for place, worlds in self._each(np.asarray(playing)):
            going = wanted[place]
            for number in range(chunk):
                actions, valid = read.actions[place, number], read.valid[place, number]
                lost = self._advance(worlds.batch, actions, valid & going) & going
                worlds.batch.look()
                self._turns[place] += going
                done = worlds.goal() & going & ~lost
                late = (self._turns[place] >= self.max_turns) & going & ~done
                found.rewards[place, number] = done.float()
                found.ran[place] += going
                found.terminated[place] |= done
                found.broken[place] |= lost
                found.truncated[place] |= late | lost
                going = going & ~(done | late | lost)
            self._observe(worlds, place, found.seen)
        return found

    def _nothing_played(self, chunk: int) -> PlayedChunk:
        flags = [torch.zeros_like(self._none) for _ in range(3)]
        rewards = torch.zeros((self.num_envs, chunk), device=self.device)
        return PlayedChunk(self._blank(), rewards, torch.zeros_like(self._turns), *flags)

    def _read(self, given: Any, *chunk: int) -> Read:
        shape = (self.num_envs, *chunk, *(self.single_action_space.shape or ()))
        try:
            actions = torch.as_tensor(given, dtype=torch.float32, device=self.device)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ConfigError(f"actions must be numbers {list(shape)}; got {type(given).__name__}") from error
        if actions.shape != shape:
            raise ConfigError(f"actions must be numbers {list(shape)}; got {list(actions.shape)}")
        valid = actions.isfinite().all(-1)
        clipped = ((actions.abs() > 1).sum(-1) * valid).int()
        if self._refuses:
            valid, clipped = valid & (clipped == 0), torch.zeros_like(clipped)
        return Read(torch.where(valid[..., None], actions.clamp(-1.0, 1.0), 0.0), valid, clipped)

    def _play(self, actions: Read, begin: torch.Tensor) -> Played:
        broken, done, seen = self._none.clone(), self._none.clone(), self._blank()
        for place, worlds in self._each():
            broken[place] = self._advance(worlds.batch, actions.actions[place], actions.valid[place])
            self._begin(worlds, place, begin)
            worlds.batch.look()
            done[place] = worlds.goal()
            self._observe(worlds, place, seen)
        broken &= ~begin
        self._turns = torch.where(begin, 0, self._turns + 1)
        terminated = done & ~begin & ~broken
        truncated = ((self._turns >= self.max_turns) | broken) & ~terminated & ~begin
        info = {"success": terminated, "valid": actions.valid | begin, "clipped": actions.clipped}
        return Played(seen, terminated.float(), terminated, truncated, broken, info)

    def _advance(self, batch: Batch, actions: torch.Tensor, moves: torch.Tensor) -> torch.Tensor:
        """Carry an action out in the worlds of a mask; which diverged, and stand where they stood before?"""
        before = batch.rows()
        batch.act(actions)
        lost = batch.broken()
        batch.write(before, lost | ~moves)
        return lost

    def _restart(self, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        self._turns = torch.where(mask, 0, self._turns)
        return super()._restart(mask)

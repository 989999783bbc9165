"""`WarpVectorEnv`: a vector environment whose worlds and observations stay on one device.

A family describes a model in many worlds (`Worlds`) and the tasks that they play (`Task`); tasks with the same model
share its worlds, since a batch of few costs as much as one of many. World i of the environment plays task i modulo the
number of tasks, from one of the starts that the device holds, and begins the next one by itself. What an action is and
does is a subclass's business: `control.ControlWarpEnv` moves arms by arrays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from agentrl.core.errors import ConfigError
from agentrl.envs.common.warp.batch import Batch, Rows
from agentrl.envs.common.warp.loading import torch

DTYPES = {np.dtype(np.float32): torch.float32, np.dtype(np.uint8): torch.uint8}


class Worlds(Protocol):
    """One model in `batch.count` worlds."""

    batch: Batch
    starts: Rows  # states in which episodes begin, those of all tasks

    def observe(self, name: str) -> torch.Tensor:
        """A part of the observations."""
        ...


@dataclass(frozen=True)
class Task:
    """What some worlds of a model play."""

    worlds: Any  # `Worlds`
    rows: torch.Tensor  # of the batch, those that play it
    instruction: str
    names: list[str]  # the ids of its starts
    first: int = 0  # of its starts, in those of all tasks

    @property
    def batch(self) -> Batch:
        """All worlds of the model."""
        return self.worlds.batch


class Group(NamedTuple):
    """Worlds of one model, and the rows of the environment that they are, on the device and on the processor."""

    worlds: Any
    place: torch.Tensor
    rows: np.ndarray


class Played(NamedTuple):
    """What a turn came to, in each world."""

    seen: dict[str, torch.Tensor]
    rewards: torch.Tensor
    terminated: torch.Tensor
    truncated: torch.Tensor
    broken: torch.Tensor  # where the simulation diverged
    info: dict[str, Any]


class WarpVectorEnv(VectorEnv[dict[str, torch.Tensor], Any, torch.Tensor]):
    """`tasks` side by side. Observations, rewards and flags are torch tensors on `device`; `observation_space` and
    `action_space` say what they would be as arrays.

    - A world that diverges is truncated where it was (reward 0, the last observation again), `info["fault"]` says
      "EnvFault" and `info["limit"]` "external" for it; the others go on.
    - `reset(seed=s)` chooses the starts; `options={"task": [...]}` names one for each world, of the task that the world
      plays; `options={"reset_mask": ...}` resets some of them.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        tasks: Sequence[Task],
        observation_space: spaces.Space,
        action_space: spaces.Space,
        *,
        autoreset_mode: AutoresetMode | str,
        render_mode: str | None,
    ) -> None:
        self.tasks, self.device = tuple(tasks), tasks[0].batch.device
        self.num_envs = sum(len(task.rows) for task in tasks)
        self.autoreset_mode = find_autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = observation_space, action_space
        self.observation_space = batch_space(observation_space, self.num_envs)
        self.action_space = batch_space(action_space, self.num_envs)
        self.render_mode = render_mode
        assert isinstance(observation_space, spaces.Dict)
        self._parts = {
            name: (self.num_envs, *part.shape, DTYPES[part.dtype])
            for name, part in observation_space.spaces.items()
            if isinstance(part, spaces.Box)
        }
        number = torch.arange(self.num_envs, device=self.device) % len(tasks)
        # How many starts a world's task has, and how many worlds play it: each takes the next one that nobody plays.
        self._known = torch.tensor([len(task.names) for task in tasks], device=self.device)[number]
        self._stride = torch.tensor([len(task.rows) for task in tasks], device=self.device)[number]
        self._first = torch.tensor([task.first for task in tasks], device=self.device)[number]
        self._start = torch.arange(self.num_envs, device=self.device) // len(tasks) % self._known
        self._over = self._none = torch.zeros(self.num_envs, device=self.device, dtype=torch.bool)
        self._begun = False
        self._groups = [self._group(worlds) for worlds in dict.fromkeys(task.worlds for task in tasks)]

    # ------------------------------------------------------------------ episodes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Start every world, or those of a mask."""
        options = dict(options or {})
        mask = torch.as_tensor(options.pop("reset_mask", ~self._none), device=self.device)
        if mask.shape != (self.num_envs,) or mask.dtype != torch.bool or not (self._begun or mask.all()):
            raise ConfigError(f"reset_mask must be bool [{self.num_envs}], and all True at the first reset")
        if seed is not None and not isinstance(seed, (int, np.integer)):
            raise ConfigError(f"seed must be a whole number for all worlds or None; got {seed!r}")
        if (named := options.pop("task", None)) is not None:
            self._start = torch.where(mask, self._find_starts(named), self._start)
        elif seed is not None:
            tasks, world = len(self.tasks), torch.arange(self.num_envs, device=self.device)
            offsets = torch.tensor(np.random.default_rng(seed).integers(0, 2**31, tasks), device=self.device)
            chosen = (offsets[world % tasks] + world // tasks) % self._known
            self._start = torch.where(mask, chosen, self._start)
        elif self._begun:
            self._move_on(mask)
        self._begun, self._over = True, self._over & ~mask
        told = {"instruction": np.array(self.instructions, dtype=object), "task": np.array(self.names(), dtype=object)}
        return self._restart(mask), told

    def step(
        self, actions: Any
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """An action in every world; with "NextStep" those whose episode is over begin the next one instead."""
        self._check_begun()
        actions = self._read(actions)
        begin = self._over if self.autoreset_mode == AutoresetMode.NEXT_STEP else self._none
        self._move_on(begin)
        seen, rewards, terminated, truncated, broken, info = self._play(actions, begin)
        self._over = terminated | truncated
        if bool(broken.any()):
            mask = broken.cpu().numpy()
            for name, value in (("fault", "EnvFault"), ("limit", "external")):
                info.setdefault(name, np.full(self.num_envs, None))[mask] = value
                info[f"_{name}"] = info.get(f"_{name}", mask) | mask
        if self.autoreset_mode == AutoresetMode.SAME_STEP and bool(self._over.any()):
            final = {"final_obs": seen, "final_info": dict(info)}
            info |= {**final, **{f"_{name}": self._over for name in final}}
            self._move_on(self._over)
            seen = self._restart(self._over)
        return seen, rewards, terminated, truncated, info

    def _check_begun(self) -> None:
        if self.closed or not self._begun:
            raise (ClosedEnvironmentError if self.closed else ResetNeeded)("call reset() of an open environment first")

    @abstractmethod
    def _read(self, given: Any) -> Any:
        """Actions as `_play` takes them; `ConfigError` before anything moves if there are none for each world."""

    @abstractmethod
    def _play(self, actions: Any, begin: torch.Tensor) -> Played:
        """Carry actions out, except in the worlds of a mask, which are put at their starts."""

    # ------------------------------------------------------------------ the tasks

    def _group(self, worlds: Worlds) -> Group:
        place = torch.zeros(worlds.batch.count, dtype=torch.long, device=self.device)
        for number, task in enumerate(self.tasks):
            if task.worlds is worlds:
                place[task.rows] = torch.arange(number, self.num_envs, len(self.tasks), device=self.device)
        return Group(worlds, place, place.cpu().numpy())

    def _each(self, playing: np.ndarray | None = None) -> Iterator[tuple[torch.Tensor, Any]]:
        """The worlds of every model, and which rows they are; with a mask those of which some are playing. What is
        launched inside the loop goes to their own stream, and only after the last are all of them waited for: none
        waits for the one before it."""
        for worlds, place, rows in self._groups:
            if playing is None or playing[rows].any():
                with worlds.batch.working():
                    yield place, worlds
        for group in self._groups:
            group.worlds.batch.join()

    def _move_on(self, mask: torch.Tensor) -> None:
        self._start = torch.where(mask, (self._start + self._stride) % self._known, self._start)

    def _begin(self, worlds: Worlds, place: torch.Tensor, mask: torch.Tensor) -> None:
        chosen = (self._first + self._start)[place]
        worlds.batch.write({name: rows[chosen] for name, rows in worlds.starts.items()}, mask[place])

    def _restart(self, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        """Put the worlds of a mask at their starts, and look at all."""
        seen = self._blank()
        for place, worlds in self._each():
            self._begin(worlds, place, mask)
            worlds.batch.look()
            self._observe(worlds, place, seen)
        return seen

    def _blank(self) -> dict[str, torch.Tensor]:
        return {
            name: torch.zeros(shape, dtype=dtype, device=self.device) for name, (*shape, dtype) in self._parts.items()
        }

    def _observe(self, worlds: Worlds, place: torch.Tensor, seen: Mapping[str, torch.Tensor]) -> None:
        for name, rows in seen.items():
            values = worlds.observe(name)
            rows[(place, slice(values.shape[1]))] = values  # a shorter state has zeros behind it

    def _find_starts(self, named: Any) -> torch.Tensor:
        names = [named] * self.num_envs if isinstance(named, str) else list(named)
        if len(names) != self.num_envs:
            raise ConfigError(f"task must be one for all or a list of {self.num_envs}; got {len(names)}")
        found = []
        for world, name in enumerate(names):
            task = self.tasks[world % len(self.tasks)]
            if name not in task.names:
                raise ConfigError(f"world {world} plays {task.names[0]} to {task.names[-1]}; got {name!r}")
            found.append(task.names.index(name))
        return torch.tensor(found, device=self.device)

    # ------------------------------------------------------------------ everything else

    @property
    def instructions(self) -> list[str]:
        """What each world is asked for."""
        return [self.tasks[world % len(self.tasks)].instruction for world in range(self.num_envs)]

    def look(self) -> dict[str, torch.Tensor]:
        """The observations of this moment."""
        return self._restart(self._none)

    def names(self) -> list[str]:
        """The id of the start that each world plays or played last."""
        starts = self._start.tolist()
        return [self.tasks[world % len(self.tasks)].names[start] for world, start in enumerate(starts)]

    def render(self) -> tuple[np.ndarray, ...] | None:
        """The first picture of the observation of each world, as arrays."""
        if self.render_mode is None:
            return None
        seen = self.look()
        picture = next((name for name, part in seen.items() if part.dtype == torch.uint8), None)
        if picture is None:
            raise ConfigError('render_mode="rgb_array" needs obs_mode="image"')
        return tuple(seen[picture].cpu().numpy())


def find_autoreset_mode(mode: Any) -> AutoresetMode:
    """The mode that is meant."""
    known = {one.value: one for one in AutoresetMode}
    if mode not in (*known, *AutoresetMode):
        raise ConfigError(f"autoreset_mode must be one of {list(known)}; got {mode!r}")
    return AutoresetMode(mode)

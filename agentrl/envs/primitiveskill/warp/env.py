"""PrimitiveSkill on a GPU: `gym.make_vec("agentrl/PrimitiveSkill-Place-Visual-v0", 1024,
vectorization_mode="vector_entry_point", simulator="warp")`. The same models, actions, starts, stages and rewards, in
many worlds at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from agentrl.core.arguments import whole_number
from agentrl.core.env import BRIEF_INFO
from agentrl.core.errors import ConfigError
from agentrl.envs.common.warp.loading import find_device, torch
from agentrl.envs.common.warp.vector import Played, Task, WarpVectorEnv
from agentrl.envs.primitiveskill.backend import Action, Result
from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.envs.primitiveskill.table import Table
from agentrl.envs.primitiveskill.tasks.scene import Scene
from agentrl.envs.primitiveskill.warp.worlds import Begun, Done, SkillWorlds


class SkillWarpEnv(WarpVectorEnv):
    """`num_envs` worlds of a task. `starts`: how many starts are kept on the device, the first ones of the split;
    `device`: None (the GPU), "cuda:1" or "cpu". All other arguments are `PrimitiveSkillEnv`'s, without `perturb`.

    Actions are texts, one for each world. Observations are tensors: `state`, and `image` in Visual kinds. `state` has
    x, y, z of each thing, how far each drawer is open, x, y, z of the gripper and how far its fingers are from the
    middle, all in mm; then 1 for each movable thing that is held, else 0. The text of the single environment's
    observation is `info["text"]`; with `full_info=True` the rest of its `info` is there too.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        starts: int = 50,
        device: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        full_info: bool = False,
        **kwargs: Any,
    ) -> None:
        count = whole_number("num_envs", num_envs, at_least=1)
        starts = whole_number("starts", starts, at_least=1)
        if kwargs.get("backend", "mujoco") != "mujoco" or kwargs.get("perturb") is not None:
            raise ConfigError('simulator="warp" knows backend="mujoco" and perturb=None alone')
        single = PrimitiveSkillEnv(render_mode=render_mode, **kwargs)  # refuses what is wrong, and has the spaces
        where = find_device(device)
        self._worlds = worlds = SkillWorlds(single, count, where, starts)
        task = Task(worlds, torch.arange(count, device=where), worlds.instruction, worlds.names)
        self.seats = [Seat(worlds.begun, full_info=full_info, **kwargs) for _ in range(count)]
        parts: dict[str, spaces.Space] = {"state": spaces.Box(-np.inf, np.inf, (worlds.numbers,), np.float32)}
        if single.kind == "visual":
            parts["image"] = spaces.Box(0, 255, (single.image_size, single.image_size, 3), np.uint8)
        super().__init__(
            [task], spaces.Dict(parts), single.action_space, autoreset_mode=autoreset_mode, render_mode=render_mode
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Start every world, or those of a mask."""
        seen, info = super().reset(seed=seed, options=options)
        return seen, {**info, "text": self._texts()}

    def step(
        self, actions: Any
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """A turn in every world; with "NextStep" those whose episode is over begin the next one instead."""
        seen, rewards, terminated, truncated, info = super().step(actions)
        return seen, rewards, terminated, truncated, {**info, "text": self._texts()}

    def oracle(self) -> list[str | None]:
        """One correct turn for each world; None where there is none."""
        return [seat.oracle() for seat in self.seats]

    def _texts(self) -> np.ndarray:
        return np.array([seat.text for seat in self.seats], dtype=object)

    def _read(self, given: Any) -> Sequence[Any]:
        if isinstance(given, (str, bytes)) or not hasattr(given, "__len__") or len(given) != self.num_envs:
            raise ConfigError(f"actions must be {self.num_envs} texts, one for each world; got {type(given).__name__}")
        return list(given)

    def _play(self, actions: Sequence[Any], begin: torch.Tensor) -> Played:
        worlds, batch, everyone = self._worlds, self._worlds.batch, self._groups[0].place
        fresh, seen, told = begin.tolist(), self._blank(), {}
        self._take_seats(begin)
        turns = [() if new else seat.plan(one) for seat, one, new in zip(self.seats, actions, fresh, strict=True)]
        with batch.working():
            outcomes = worlds.play(turns)
            self._begin(worlds, everyone, begin)
            batch.look()
            self._observe(worlds, everyone, seen)
        batch.join()
        results = []
        for world, (seat, action, outcome) in enumerate(zip(self.seats, actions, outcomes, strict=True)):
            results.append((0.0, False, False) if fresh[world] else seat.play(action, outcome))
            self._add_info(told, seat.info, world)
        rewards, terminated, truncated = zip(*results, strict=True)
        lost = torch.tensor([outcome is None for outcome in outcomes], device=self.device)
        told |= {name: torch.tensor(told[name], device=self.device) for name in BRIEF_INFO}
        return Played(
            seen,
            torch.tensor(rewards, device=self.device),
            torch.tensor(terminated, device=self.device),
            torch.tensor(truncated, device=self.device),
            lost,
            {**told, "text": self._texts()},
        )

    def _take_seats(self, mask: torch.Tensor) -> None:
        """Begin episodes in the worlds of a mask."""
        starts = self._start.tolist()
        for world in mask.nonzero().flatten().tolist():
            self.seats[world].begin(self.tasks[0].names[starts[world]])

    def _restart(self, mask: torch.Tensor) -> dict[str, torch.Tensor]:
        self._take_seats(mask)
        return super()._restart(mask)


class Told(Table):
    """A table that was simulated elsewhere."""

    def __init__(self) -> None:
        super().__init__("mujoco")
        self.done: deque[tuple[Result, Scene]] = deque()

    def run(self, action: Action) -> Result:
        """What it did there."""
        result, self.scene = self.done.popleft()
        return result


class Seat(PrimitiveSkillEnv):
    """The episode of one world: the single environment's rules, rewards and texts about what the batch simulated."""

    def __init__(self, begun: Sequence[Begun], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._known, self._table = begun, Told()
        self.text = ""  # of this moment
        self.info: dict[str, Any] = {}

    def begin(self, task: str) -> None:
        """Start an episode."""
        _, self.info = self.reset(options={"task": task})

    def plan(self, action: Any) -> Sequence[Action]:
        """The actions of a turn; none when the episode is over."""
        return () if self._over else self._read(action).actions

    def play(self, action: Any, done: Done | None) -> tuple[float, bool, bool]:
        """Take the turn that was simulated: reward, terminated and truncated. None: it could not be."""
        if done is None:
            self._truncated = True
            self.info = dict.fromkeys(BRIEF_INFO, False)
            return 0.0, False, True
        self._table.done.extend(done)
        _, reward, terminated, truncated, self.info = self.step(action)
        return reward, terminated, truncated

    def _begin(self, task: int) -> None:
        begun = self._known[task]
        self._number, self._attempt = task, begun.attempt
        self._table.start, self._table.scene = begun.start, begun.scene
        self._best = self.task.stage(begun.scene)

    def _observe(self) -> dict[str, Any]:
        self.text = self._text()
        return {"text": self.text}

"""What the environments of LIBERO share, whatever an action is: tasks, their simulation, and how it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any

import msgspec

from agentrl.core.env import AgentEnv
from agentrl.envs.common.control import one_of
from agentrl.envs.common.perturb import read_perturbation
from agentrl.envs.libero.bddl import read_problem
from agentrl.envs.libero.objects import model_of
from agentrl.envs.libero.package import task_file
from agentrl.envs.libero.paraphrase import paraphrase
from agentrl.envs.libero.scene import fixtures_of
from agentrl.envs.libero.simulation import Simulation
from agentrl.envs.libero.staged import REWARDS, progress, stage_terms
from agentrl.envs.libero.task_ids import Chosen, TaskIds, find_numbers, find_suite
from agentrl.envs.libero.world import suites

POSE = 7  # numbers of an object: position and quaternion


class LiberoTasks(AgentEnv[Any, Any]):
    """Goes through the tasks of a suite, or plays one of them."""

    safe_arguments = ("suite", "task", "perturb", "perturb_seed", "reward")
    _simulation: Simulation
    instruction: str = ""

    def __init__(
        self,
        *,
        perturb: str | Mapping[str, int] | None = None,
        perturb_seed: int = 0,
        reward: str = "success",
        **others: Any,
    ) -> None:
        super().__init__(**others)
        self.change = read_perturbation(perturb, perturb_seed)
        self.reward = one_of("reward", reward, REWARDS)
        self._progress = 0.0, 0.0  # at the start, and at best so far

    def _choose_tasks(self, suite: Any, task: Any) -> None:
        self.suite = find_suite(suite)
        self._ids = TaskIds(self.suite, find_numbers(self.suite, task), self.split)
        self._chosen: Chosen | None = None

    def tasks(self) -> Sequence[str]:
        """All starts of this split, the tasks in turn."""
        return self._ids

    def _find_task(self, task: Any) -> Chosen:
        found = self._ids.find(task) if isinstance(task, str) else None
        if found is None:
            raise self._unknown_task(task)
        return found

    def _begin(self, task: Chosen) -> None:
        self._simulation.begin(task)
        self._play(task)
        if self.reward == "staged":
            reached = progress(self._simulation.conditions, self._simulation.held())
            self._progress = reached, reached

    def _play(self, task: Chosen) -> None:
        self._chosen, self.instruction = task, task.instruction
        if level := self.change.level("instructions"):
            self.instruction = paraphrase(task.instruction, level, self.change.random("instructions", str(task)))

    def _reward_terms(self, success: bool) -> dict[str, float]:
        if self.reward == "success":
            return {"success": 1.0} if success else {}
        now, (first, best) = progress(self._simulation.conditions, self._simulation.held()), self._progress
        self._progress = first, max(best, now)
        return stage_terms(first, best, now, success)

    def _task(self) -> str:
        return str(self._chosen)

    def about_task(self) -> dict[str, Any]:
        """Which of the tasks it is."""
        return {} if self._chosen is None else {"group": self._chosen.instruction}

    def _save(self) -> dict[str, Any]:
        return {
            "task": self._task(),
            "place": self._index,
            "stride": self._stride,
            "progress": self._progress,
            "simulation": self._simulation.save(),
        }

    def _load(self, data: dict[str, Any]) -> None:
        saved = msgspec.convert(data, _Saved)
        chosen = self._find_task(saved.task)
        self._restore_walk(saved.place, saved.stride)
        self._simulation.load(chosen, saved.simulation)
        self._play(chosen)
        self._progress = saved.progress

    def close(self) -> None:
        """Free the simulation; a later `reset` makes another one."""
        super().close()
        self._simulation.close()


@cache
def state_size(suite: str, task: int) -> int:
    """How many numbers the poses of a task's objects and the joints of its fixtures are."""
    problem = read_problem(task_file(suite, suites()[suite][task]))
    joints = sum(len(model_of(kind).joints) for kind in fixtures_of(problem).values())
    return POSE * len(problem.objects) + joints


Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Saved(msgspec.Struct):
    task: str
    place: Annotated[int, msgspec.Meta(ge=0)]
    stride: int
    progress: tuple[Share, Share]
    simulation: dict[str, Any]

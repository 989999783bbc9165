"""`Task`: what somebody wants done on the table. A new one is a subclass with five short methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from agentrl.envs.primitiveskill.actions import Action
from agentrl.envs.primitiveskill.backend import Start
from agentrl.envs.primitiveskill.tasks.scene import Scene


class Task(ABC):
    """The things of a task, what is asked, how far it is done, and how to do it."""

    instruction: ClassVar[str]  # what the agent is told
    stage_names: ClassVar[tuple[str, ...]]  # what each stage means, for people; the last one is success

    @abstractmethod
    def draw(self, random: np.random.Generator) -> Start:
        """A start; everything random comes from `random`."""

    @abstractmethod
    def stages(self, scene: Scene) -> tuple[bool, ...]:
        """Which stages hold now, in the order of `stage_names`."""

    @abstractmethod
    def plan(self, scene: Scene) -> list[Action] | None:
        """All actions from here to success, from wherever mistakes have led; None if there is no way."""

    def stage(self, scene: Scene) -> int:
        """The highest stage that holds now; -1 if none does."""
        return max((number for number, holds in enumerate(self.stages(scene)) if holds), default=-1)

    def solved(self, scene: Scene) -> bool:
        """Does the last stage hold?"""
        return self.stage(scene) == len(self.stage_names) - 1

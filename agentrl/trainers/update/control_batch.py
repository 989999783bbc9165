"""The control batch: what a VLA policy trains on, one row a chunk.

It has the two layouts of `Batch`, and everything that reads a `Batch` reads it, the estimators of advantages and the
losses among them. What stands in the place of tokens are the log-probabilities of a chunk (`VLASpec.targets`): of each
action token, or of each action of a flow. Only actions that were carried out are among them: what was planned behind
the end of an episode earned nothing.

A *turn* of the estimators is a chunk, with the sum of its rewards, or with `credit="action"` each action, with its own.
Pictures lie in one block of memory, each once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.models.vla.spec import VLASpec
from agentrl.rollout.device_rows import Held
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.trainers.update.batch import Batch, Row

FLOW = "flow"  # as in `agentrl.policies.vla`
GIB = 2**30


@dataclass
class ControlRow(Row):
    """A chunk: what was seen before it, and what `VLA.score` needs. `ids` are the instruction's tokens."""

    numbers: Any = None  # float32 [all vectors]
    pictures: tuple[np.ndarray, ...] = ()  # uint8 [height, width, 3] of each camera
    record: Any = None  # bins, or the chain of the flow
    random_step: int = -1
    held: Held | None = None  # where all of that is instead, on the device that it was played on


class PictureBlock:
    """The pictures of some trajectories in one array, those of equal content once. The trajectories keep views of it in
    place of their own."""

    def __init__(self, trajectories: Sequence[Trajectory], most: float) -> None:
        first: dict[str, np.ndarray] = {}
        for trajectory in trajectories:
            first |= trajectory.pictures
        shapes = {picture.shape for picture in first.values()}
        if len(shapes) > 1:
            raise ConfigError(f"the pictures of an iteration must be of one size; got {sorted(shapes)}")
        self.pixels = np.empty((len(first), *next(iter(shapes), ())), np.uint8)
        if self.pixels.nbytes > most * GIB:
            raise ConfigError(memory_message(self.pixels.nbytes, most))
        places = {name: place for place, name in enumerate(first)}
        first.clear()
        for trajectory in trajectories:
            for name, picture in trajectory.pictures.items():
                self.pixels[places[name]] = picture
                trajectory.pictures[name] = self.pixels[places[name]]


def memory_message(size: float, most: float) -> str:
    """What to do about pictures that take too much."""
    return (
        f"the pictures of an iteration take {size / GIB:.2f} GiB, more than picture_memory ({most:g}): lower episodes "
        "or image_size, or raise it"
    )


class ControlBatch(Batch):
    """Chunks of many trajectories in both layouts. `cameras` are the places of the policy's cameras among the pictures
    of an observation, of each environment."""

    def __init__(
        self,
        trajectories: Sequence[Trajectory],
        spec: VLASpec,
        cameras: Mapping[str, Sequence[int]],
        first_action: int,
        *,
        credit: Literal["chunk", "action"] = "chunk",
        picture_memory: float = 4.0,
    ) -> None:
        self.spec, self.first_action, self.credit = spec, first_action, credit
        self.cameras = cameras
        self.block = PictureBlock(trajectories, picture_memory)
        super().__init__(trajectories)

    def _rows_of(self, trajectory: Trajectory) -> Sequence[Row]:
        return [self.row(trajectory, index, step) for index, step in enumerate(trajectory.steps)]

    def row(self, trajectory: Trajectory, index: int, step: Step) -> ControlRow:
        """The chunk of a step; `ConfigError` where another policy played it."""
        if step.logprobs is None or step.prompt_ids is None or len(step.logprobs) != self.spec.targets:
            raise ConfigError(f"a VLA policy learns from episodes of its own; got {trajectory.id}, whose steps differ")
        ran = ran_of(step, self.spec)
        each = self.spec.targets // self.spec.chunk
        row = self._shown(trajectory, index, step)
        row.add(0, list(range(ran * each)), step.logprobs[: ran * each], index, acted=True, version=step.version)
        if self.credit == "action":
            row.turn_ends = ([False] * (each - 1) + [True]) * ran
        return row

    def _shown(self, trajectory: Trajectory, index: int, step: Step) -> ControlRow:
        """What was seen before a chunk, and how it came about."""
        ids = step.prompt_ids or []
        if (held := held_by(trajectory)) is not None:
            return ControlRow(0, list(ids), held=held.after(index))
        cameras, vectors = self.cameras[trajectory.env_id], [step.proprio, step.state]
        row = observed(self.spec, cameras, trajectory, ids, step.images, vectors)
        if self.spec.family == "tokens":
            row.record = np.array(step.response_ids, np.int64) - self.first_action
        else:
            row.record = np.array(step.sampling[FLOW]["chain"], np.float32)
            row.random_step = int(step.sampling[FLOW]["step"])
        return row

    def turn_rewards(self, scale: float = 1.0) -> Tensor:
        """Each chunk's reward, or each action's, on its last place."""
        if self.credit == "chunk":
            return super().turn_rewards(scale)
        rewards = torch.zeros(self.token_mask.shape)
        for number, trajectory in enumerate(self.trajectories):
            earned = [reward for step in trajectory.steps for reward in action_rewards(step, ran_of(step, self.spec))]
            rewards[number, self.turn_ends[number]] = scale * torch.tensor(earned, dtype=torch.float32)
        return rewards


def observed(
    spec: VLASpec,
    cameras: Sequence[int],
    trajectory: Trajectory,
    instruction: Sequence[int],
    images: Sequence[str],
    vectors: Sequence[list[float] | None],
) -> ControlRow:
    """A row that holds an observation alone. `vectors` are proprio and state, None where there is none."""
    known: dict[str, list[float] | None] = dict(zip(("proprio", "state"), vectors, strict=True))
    parts = [known[name] for name in spec.vectors]
    if any(part is None for part in parts) or len(images) <= max(cameras, default=-1):
        raise ConfigError(f"the records of {trajectory.id} do not have all that the policy reads")
    numbers = np.array([number for part in parts for number in part or ()], np.float32)
    pictures = tuple(trajectory.pictures[images[place]] for place in cameras)
    return ControlRow(0, list(instruction), numbers=numbers, pictures=pictures)


def held_by(trajectory: Trajectory) -> Held | None:
    """The rows of an episode that was played on a device."""
    return getattr(trajectory, "held", None)


def ran_of(step: Step, spec: VLASpec) -> int:
    """How many actions of a step's chunk were carried out."""
    return min(spec.chunk, int(step.info.get("ran", spec.chunk)))


def action_rewards(step: Step, ran: int) -> list[float]:
    """The reward of each action of a chunk; what wrappers outside of `ActionChunks` paid is the last one's."""
    rewards = [float(reward) for reward in step.info.get("rewards", ())][:ran] or [0.0] * ran
    rewards[-1] += step.reward - sum(rewards)
    return rewards

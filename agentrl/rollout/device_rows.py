"""What a VLA policy saw, did and earned in many worlds, kept on the device where the worlds are.

A row is an observation with the chunk that the policy answered. The rows of an episode lie behind each other, and
behind the last chunk lies what was seen after it. All of them are allocated at once, so that an iteration cannot run
out of memory half-way, and are used again by the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.models.vla.body import Seen
from agentrl.models.vla.policy_net import Drawn
from agentrl.models.vla.spec import VLASpec
from agentrl.rollout.trajectory import Trajectory

GIB = 2**30


class DeviceRows:
    """`count` rows for a policy of this spec, and one more that takes what nobody needs. `most` is how many GiB their
    pictures may take: what is more is refused."""

    def __init__(self, spec: VLASpec, count: int, device: Any, most: float) -> None:
        side, rows = spec.picture_size, count + 1
        size = rows * len(spec.cameras) * 3 * side**2
        if size > most * GIB:
            raise ConfigError(
                f"the pictures of an iteration take {size / GIB:.2f} GiB, more than picture_memory ({most:g}): lower "
                "episodes or image_size, or raise it"
            )
        flow, shape = spec.family == "flow", (spec.chunk, spec.action_numbers)
        record = (spec.denoising_steps + 1, *shape) if flow else (spec.tokens,)

        def numbers(*shape: int, dtype: Any = torch.float32) -> Tensor:
            return torch.zeros((rows, *shape), dtype=dtype, device=device)

        self.spec, self.count, self.device, self.use = spec, count, torch.device(device), 0
        self.pictures = {name: numbers(side, side, 3, dtype=torch.uint8) for name in spec.cameras}
        self.numbers = numbers(sum(spec.vectors.values()))
        self.actions, self.logprobs = numbers(*shape), numbers(spec.targets)
        self.record, self.step = (
            numbers(*record, dtype=torch.float32 if flow else torch.long),
            numbers(dtype=torch.long),
        )
        self.rewards, self.ran = numbers(spec.chunk), numbers(dtype=torch.long)

    def observe(self, rows: Tensor, seen: Mapping[str, Tensor], worlds: Tensor) -> None:
        """Keep what some worlds show."""
        self.numbers[rows] = self.vectors(seen)[worlds]
        for name, kept in self.pictures.items():
            kept[rows] = seen[name][worlds]

    def vectors(self, seen: Mapping[str, Tensor]) -> Tensor:
        """The numbers of observations as the policy reads them."""
        parts = [seen[name] for name in self.spec.vectors]
        return torch.cat(parts, 1) if parts else torch.zeros((len(next(iter(seen.values()))), 0), device=self.device)

    def answer(self, rows: Tensor, drawn: Drawn, actions: Tensor) -> None:
        """Keep what the policy answered, and the actions that follow from it."""
        self.actions[rows], self.logprobs[rows] = actions, drawn.logprobs
        self.record[rows], self.step[rows] = drawn.record.to(self.record.dtype), drawn.step

    def seen(self, rows: Tensor, ids: Tensor, mask: Tensor) -> Seen:
        """Rows as a network reads them."""
        rows, ids, mask = (one.to(self.device) for one in (rows, ids, mask))
        return Seen(self.numbers[rows], {name: kept[rows] for name, kept in self.pictures.items()}, ids, mask)


class Held(NamedTuple):
    """A row, as long as it is there."""

    rows: DeviceRows
    row: int
    use: int  # of the rows; a later one has overwritten it

    def after(self, steps: int) -> Held:
        """That of a later step of the same episode."""
        return self._replace(row=self.row + steps)


def held_rows(held: Sequence[Held]) -> tuple[DeviceRows, Tensor]:
    """The rows of an iteration, and the numbers of some of them."""
    store = held[0].rows
    if any(one.rows is not store or one.use != store.use for one in held):
        raise ConfigError("what was seen in an earlier iteration is gone: episodes on a device are learned from once")
    return store, torch.tensor([one.row for one in held])


@dataclass(kw_only=True)
class DeviceTrajectory(Trajectory):
    """An episode whose pictures stay on the device. Its record has none, and no chain of a flow."""

    held: Held | None = field(default=None, repr=False, compare=False)  # of the first step

    def to_json(self) -> dict[str, Any]:
        """As any other."""
        data = super().to_json()
        del data["held"]
        return data

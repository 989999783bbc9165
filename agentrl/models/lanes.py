"""The tensors in which answers are generated, in sizes that serve many batches."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import torch

from agentrl.models.attention import KeyValues
from agentrl.models.scoring import Batch

CHUNK = 64  # on a GPU lengths are rounded up to a multiple of this, so that few graphs serve all batches
KEPT = 3  # times the room of the largest set of lanes: what all sets that stay in GPU memory may take together


class PromptInputs(NamedTuple):
    """What the reading of prompts reads, where a graph can find it."""

    prefix: torch.Tensor  # [prefix capacity]
    ids: torch.Tensor  # [rows, width]
    positions: torch.Tensor
    slots: torch.Tensor  # [width]


class Lanes:
    """The tensors of the rows under way; a step changes them in place."""

    def __init__(self, rows: int, steps: int, capacity: int, prefix_capacity: int, device: Any) -> None:
        def whole(*shape: int) -> torch.Tensor:
            return torch.zeros(shape, dtype=torch.long, device=device)

        self.rows, self.steps = rows, steps
        self.key_values = KeyValues(rows, capacity, prefix_capacity)
        self.mask = torch.zeros(rows, prefix_capacity + capacity, dtype=torch.bool, device=device)
        self.token, self.position, self.limits = whole(rows), whole(rows), whole(rows)
        self.done = torch.zeros(rows, dtype=torch.bool, device=device)
        self.going = torch.ones((), dtype=torch.bool, device=device)
        self.noise = torch.zeros(rows, steps, device=device)
        self.tokens, self.logprobs = whole(rows, steps), torch.zeros(rows, steps, device=device)
        self.slot, self.step = whole(1), whole(1)
        self.graphs: dict[Hashable, Any] = {}  # those used last come last
        self.runs: dict[Hashable, int] = {}
        self._prompts: PromptInputs | None = None

    @property
    def room(self) -> int:
        """Tokens whose keys and values it can hold."""
        return self.rows * self.key_values.capacity + self.key_values.prefix_capacity

    def fits(self, rows: int, steps: int, capacity: int, prefix_capacity: int) -> bool:
        """Can a batch of this size use these lanes? Up to half of them may stay empty: the rounds of a collection have
        fewer and fewer rows, and recording steps anew for each number would take longer."""
        room = self.key_values
        return (
            rows <= self.rows <= 2 * rows
            and steps <= self.steps
            and capacity <= room.capacity
            and prefix_capacity <= room.prefix_capacity
        )

    def load(self, batch: Batch, noise: torch.Tensor, limits: Sequence[int], width: int) -> None:
        """Begin with a batch whose own tokens take `width` slots; lanes beyond its rows are done at once."""
        count, prefix = len(batch.ids), self.key_values.prefix_capacity
        shared = batch.mask.shape[1] - width
        self.mask.zero_()
        self.mask[:, :shared] = True
        self.mask[:count, prefix : prefix + width] = batch.mask[:, shared:].bool()
        self.limits.zero_()
        self.limits[:count] = torch.tensor(limits, device=self.limits.device)
        self.done.copy_(self.limits == 0)
        self.position.zero_()
        self.position[:count] = batch.next_position
        self.noise[:count, : noise.shape[1]] = noise[:, : self.steps].to(self.noise.device)
        self.slot.fill_(width)
        self.step.zero_()

    def prompts(self, width: int, prefix: Sequence[int], batch: Batch) -> PromptInputs:
        """Put prompts of `width` tokens, and the prefix that they share, where they always are."""
        room, device = self.key_values, self.mask.device
        if self._prompts is None:
            prefix_room, ids, positions = (
                torch.zeros(length, dtype=torch.long, device=device)
                for length in (room.prefix_capacity, self.rows * room.capacity, self.rows * room.capacity)
            )
            self._prompts = PromptInputs(prefix_room, ids, positions, torch.arange(room.capacity, device=device))
        given, count = self._prompts, len(batch.ids)
        ids, positions = (flat[: self.rows * width].view(self.rows, width) for flat in (given.ids, given.positions))
        given.prefix[: len(prefix)] = torch.tensor(prefix, dtype=torch.long, device=device)
        ids[:count], positions[:count] = batch.ids, batch.positions
        return PromptInputs(given.prefix, ids, positions, given.slots[:width])

    def keep(self, rows: torch.Tensor) -> None:
        """Only these rows go on."""
        self.rows = len(rows)
        self.key_values.keep(rows)
        for name in ("mask", "token", "position", "limits", "done", "noise", "tokens", "logprobs"):
            setattr(self, name, getattr(self, name)[rows])


class LaneSets:
    """Lanes that stay in GPU memory with their graphs, until they are not used for long and room is needed.

    The rounds of a collection have fewer and fewer rows: if the sets for all of them stay, each records its steps once,
    not in every collection anew.
    """

    def __init__(self, device: Any) -> None:
        self.device = device
        self.kept: list[Lanes] = []  # those used last come last

    def find(self, rows: int, steps: int, capacity: int, shared: int) -> Lanes:
        """Kept lanes with room enough, or new ones of the next larger size."""
        size = (lane_count(rows), rounded_up(steps), rounded_up(capacity), rounded_up(shared))
        fitting = [lanes for lanes in self.kept if lanes.fits(*size)]
        if fitting:
            lanes = min(fitting, key=lambda lanes: lanes.rows)
            self.kept = [*(other for other in self.kept if other is not lanes), lanes]
            return lanes
        # Those of as many rows were too short: one set with room for both takes their place.
        short = [lanes for lanes in self.kept if lanes.rows == size[0]]
        rooms = [(lanes.steps, lanes.key_values.capacity, lanes.key_values.prefix_capacity) for lanes in short]
        longest, room, shared_room = (max(values) for values in zip(size[1:], *rooms, strict=True))
        self.kept = [lanes for lanes in self.kept if lanes.rows != size[0]]
        short.clear()  # their memory is free before new memory is taken
        self._make_room(size[0] * room + shared_room)
        self.kept.append(Lanes(size[0], longest, room, shared_room, self.device))
        return self.kept[-1]

    def _make_room(self, wanted: int) -> None:
        rooms = [lanes.room for lanes in self.kept]
        while rooms and sum(rooms) + wanted > KEPT * max(*rooms, wanted):
            del rooms[0], self.kept[0]


def lane_count(rows: int) -> int:
    """The next larger of 8, 12, 16, 24, 32, 48, 64, ...: at most a third of the lanes stays empty."""
    size = 8
    while size < rows:
        size = size * 3 // 2 if size & (size - 1) == 0 else size * 4 // 3
    return size


def rounded_up(length: int, chunk: int = CHUNK) -> int:
    """To a multiple of `chunk`."""
    return -(-length // chunk) * chunk

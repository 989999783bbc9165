"""Quick sampling: a shared prefix, keys and values in place, and on a GPU one captured graph for a whole step.

A step (forward pass, drawing a token, writing it down, moving on) touches fixed tensors only and never waits for the
host. On a GPU it is therefore recorded once as a CUDA graph and then replayed. A graph reads the weights where they lay
when it was recorded: trainers that change parameters *in place* (optimisers do) change what the graph computes; when
parameters get a new storage (`.to`, a swapped adapter), that is noticed and the graphs are recorded again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from agentrl.models.attention import KeyValues, reading
from agentrl.models.chat import Prompt
from agentrl.models.prefix import after_prefix, prefill, shared_length
from agentrl.models.sampling import Answer, Batch, Sampling, choose, pack

log = logging.getLogger(__name__)

CHUNK = 64  # on a GPU lengths are rounded up to a multiple of this, so that few graphs serve all batches
WARM_UP = 2  # steps that run without a graph before one is recorded: libraries set themselves up in them
AHEAD = 2  # steps that a GPU has before it when the host looks who has finished
KEPT = 2  # sets of lanes that stay in GPU memory with their graphs


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
        self.graphs: dict[Any, Any] = {}
        self.runs: dict[Any, int] = {}

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

    def keep(self, rows: torch.Tensor) -> None:
        """Only these rows go on."""
        self.rows = len(rows)
        self.key_values.keep(rows)
        for name in ("mask", "token", "position", "limits", "done", "noise", "tokens", "logprobs"):
            setattr(self, name, getattr(self, name)[rows])


class FastDecoder:
    """Samples answers with one model; keeps its lanes and graphs from one batch to the next.

    `fixed` (on a GPU) keeps shapes to a few sizes for the sake of graphs; elsewhere shapes are exact and rows that have
    finished leave. With `graphs` set to False the same steps run without being recorded.
    """

    def __init__(
        self, model: Any, pad: int, image_token: int | None, stops: Sequence[int], fixed: bool | None = None
    ) -> None:
        self.model, self.pad, self.image_token = model, pad, image_token
        self.device = model.device
        self.fixed = self.device.type == "cuda" if fixed is None else fixed
        self.graphs = self.device.type == "cuda"
        self.stops = torch.tensor(sorted(stops), device=self.device)
        self.kept: list[Lanes] = []
        self.weights: tuple[int, ...] = ()
        self.pool: Any = None

    def run(self, prompts: Sequence[Prompt], noise: torch.Tensor, limits: Sequence[int], how: Sampling) -> list[Answer]:
        """All answers, in the order of the prompts; `limits` are the most tokens each may have."""
        self._check_weights()
        lanes, logits = self._start(prompts, noise, limits)
        count, steps = len(prompts), max(limits)
        found: dict[int, Answer] = {}
        rows = torch.arange(lanes.rows, device=self.device)
        self._take(lanes, logits, how)
        watch = Watch(lanes) if self.device.type == "cuda" else None
        for step in range(1, steps):
            if watch is not None:
                if not watch.anyone_going(step):
                    break
            elif (rows := self._leave(lanes, rows, found)) is None:
                return [found[row] for row in range(count)]
            self._advance(lanes, self.width + step, how)
        self._collect(lanes, rows, torch.arange(lanes.rows), found)
        return [found[row] for row in range(count)]

    def serves(self, model: Any, stops: Sequence[int]) -> bool:
        """Is it made for this model, where it is now, and these ends of a turn?"""
        return self.model is model and self.device == model.device and self.stops.tolist() == sorted(stops)

    def release(self) -> None:
        """Give the memory of lanes and graphs back, before a trainer needs it; they come back when needed."""
        self.kept.clear()
        self.pool = None

    # ------------------------------------------------------------------ the prompts

    def _start(self, prompts: Sequence[Prompt], noise: torch.Tensor, limits: Sequence[int]) -> tuple[Lanes, Any]:
        shared = shared_length([prompt.ids for prompt in prompts], self.image_token)
        whole = pack(self.model, prompts, self.pad, self.image_token)
        rest = after_prefix(whole, shared)
        self.width = rest.ids.shape[1]
        lanes = self._lanes(len(prompts), max(limits), self.width + max(limits), shared)
        room = lanes.key_values
        room.load_prefix(prefill(self.model, prompts[0].ids[:shared]), shared)
        lanes.load(rest, noise, limits, self.width)
        room.slots = torch.arange(self.width, device=self.device)
        room.visible, room.prefix_width = self.width, shared
        logits = self._ask(lanes, rest.ids, rest.positions, prompt_mask(rest.mask, shared), rest.extra)
        room.slots, room.prefix_width = lanes.slot, room.prefix_capacity
        return lanes, logits

    def _lanes(self, rows: int, steps: int, capacity: int, shared: int) -> Lanes:
        """New lanes of exactly this size, or kept ones with room enough."""
        if not self.fixed:
            return Lanes(rows, steps, capacity, shared, self.device)
        size = (lane_count(rows), _up(steps), _up(capacity), _up(shared))
        fitting = [lanes for lanes in self.kept if lanes.fits(*size)]
        if fitting:
            return min(fitting, key=lambda lanes: lanes.rows)
        # Those of as many rows were too short: one set with room for both takes their place.
        short = [lanes for lanes in self.kept if lanes.rows == size[0]]
        rooms = [(lanes.steps, lanes.key_values.capacity, lanes.key_values.prefix_capacity) for lanes in short]
        longest, room, shared_room = (max(values) for values in zip(size[1:], *rooms, strict=True))
        self.kept = [lanes for lanes in self.kept if lanes.rows != size[0]][-(KEPT - 1) :]
        short.clear()  # their memory is free before new memory is taken
        self.kept.append(Lanes(size[0], longest, room, shared_room, self.device))
        return self.kept[-1]

    def _check_weights(self) -> None:
        """Graphs read weights by address: forget them when an address has changed."""
        places = tuple(weight.data_ptr() for weight in self.model.parameters()) if self.graphs else ()
        if places != self.weights:
            self.weights = places
            for lanes in self.kept:
                lanes.graphs.clear()

    # ------------------------------------------------------------------ one step

    def _ask(self, lanes: Lanes, ids: Any, positions: Any, mask: Any, extra: dict[str, Any]) -> torch.Tensor:
        with reading(self.model, lanes.key_values):
            return self.model(
                input_ids=ids,
                position_ids=positions,
                attention_mask=mask,
                past_key_values=lanes.key_values,
                use_cache=True,
                logits_to_keep=1,
                **extra,
            ).logits[:, -1]

    def _step(self, lanes: Lanes, how: Sampling) -> None:
        """One token more in every lane; everything in here can be recorded."""
        room = lanes.key_values
        position = lanes.position[:, None]
        if self.image_token is not None:
            position = position.expand(3, -1, -1)
        lanes.mask.index_fill_(1, lanes.slot + room.prefix_capacity, True)
        mask = lanes.mask[:, None, None, : room.prefix_capacity + room.visible]
        logits = self._ask(lanes, lanes.token[:, None], position, mask, {})
        lanes.position.add_(~lanes.done)  # finished rows stay: there may be no position after the last
        lanes.slot.add_(1)
        self._take(lanes, logits, how)

    def _take(self, lanes: Lanes, logits: torch.Tensor, how: Sampling) -> None:
        """Draw a token for each row and write it down."""
        count = len(logits)  # the prompts' logits have no rows for empty lanes
        noise = lanes.noise[:count].index_select(1, lanes.step)[:, 0]
        token, logprob = choose(logits, noise, how)
        lanes.token[:count].copy_(token)
        lanes.tokens[:count].index_copy_(1, lanes.step, token[:, None])
        lanes.logprobs[:count].index_copy_(1, lanes.step, logprob[:, None])
        lanes.step.add_(1)
        stopped = (token[:, None] == self.stops).any(dim=-1)
        lanes.done[:count].logical_or_(stopped | (lanes.limits[:count] <= lanes.step))
        lanes.going.copy_(~lanes.done.all())

    def _advance(self, lanes: Lanes, needed: int, how: Sampling) -> None:
        """A step with `needed` slots in use, from a graph where there is one."""
        room = lanes.key_values
        room.visible = min(_up(needed), room.capacity) if self.fixed else needed
        key = (room.visible, how)
        if key in lanes.graphs:
            lanes.graphs[key].replay()
            return
        lanes.runs[key] = lanes.runs.get(key, 0) + 1
        if self.graphs and lanes.runs[key] > WARM_UP:
            self._record(lanes, key, how)
            self._advance(lanes, needed, how) if key in lanes.graphs else self._step(lanes, how)
        else:
            self._step(lanes, how)

    def _record(self, lanes: Lanes, key: Any, how: Sampling) -> None:
        """Record a step; a model that cannot be recorded runs without graphs from now on."""
        if not any(kept.graphs for kept in self.kept):
            self.pool = torch.cuda.graph_pool_handle()  # a pool is gone with the last graph that used it
        graph = torch.cuda.CUDAGraph()
        try:
            # Graphs share one pool of memory: none leaves anything in it that another must not overwrite. What other
            # threads (a judge's, an environment's) do meanwhile is no part of it.
            with torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"):
                self._step(lanes, how)
            lanes.graphs[key] = graph
        except RuntimeError as error:
            log.warning("the model's step cannot be recorded as a CUDA graph, so it runs slower: %s", error)
            self.graphs = False

    # ------------------------------------------------------------------ the answers

    def _leave(self, lanes: Lanes, rows: torch.Tensor, found: dict[int, Answer]) -> torch.Tensor | None:
        """The rows that go on; None when all have finished. Rows leave when that saves a good part."""
        going = int((~lanes.done).sum())
        if going and (self.fixed or going > 0.75 * len(rows)):
            return rows
        self._collect(lanes, rows, lanes.done.nonzero()[:, 0], found)
        if not going:
            return None
        kept = (~lanes.done).nonzero()[:, 0]
        lanes.keep(kept)
        return rows[kept]

    def _collect(self, lanes: Lanes, rows: torch.Tensor, lane: torch.Tensor, found: dict[int, Answer]) -> None:
        stops, lane = self.stops.cpu().numpy(), lane.to(lanes.tokens.device)
        parts = (rows[lane], lanes.tokens[lane], lanes.logprobs[lane], lanes.limits[lane])
        row, ids, scores, limits = (part.cpu().numpy() for part in parts)
        ends = np.isin(ids, stops) & (np.arange(ids.shape[1]) < limits[:, None])
        stopped = ends.any(axis=1)
        lengths = np.where(stopped, ends.argmax(axis=1) + 1, limits)
        for index, length in enumerate(lengths.tolist()):
            said = ids[index, :length].tolist(), scores[index, :length].tolist()
            found[int(row[index])] = Answer(*said, stopped=bool(stopped[index]))


class Watch:
    """Sees when all lanes are done without letting the GPU wait: it looks at what was true `AHEAD` steps ago."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.seen = torch.ones(AHEAD, dtype=torch.bool, pin_memory=True)
        self.events = [torch.cuda.Event() for _ in range(AHEAD)]

    def anyone_going(self, step: int) -> bool:
        """Before step `step`: had any lane more to say when this was last known?"""
        place = step % AHEAD
        if step > AHEAD:
            self.events[place].synchronize()
            if not self.seen[place]:
                return False
        self.seen[place].copy_(self.lanes.going, non_blocking=True)
        self.events[place].record()
        return True


def prompt_mask(mask: torch.Tensor, shared: int) -> torch.Tensor:
    """[rows, 1, own tokens, shared + own]: causal, without padding; every token sees the prefix and itself."""
    own = mask[:, shared:].bool()
    size = own.shape[1]
    causal = torch.ones(size, size, dtype=torch.bool, device=mask.device).tril()
    # Padding looks at itself: a row of attention without any column would be NaN and spread.
    seen = (causal & own[:, None]) | torch.eye(size, dtype=torch.bool, device=mask.device)
    prefix = torch.ones(len(own), size, shared, dtype=torch.bool, device=mask.device)
    return torch.cat([prefix, seen], dim=-1)[:, None]


def lane_count(rows: int) -> int:
    """The next larger of 8, 12, 16, 24, 32, 48, 64, ...: at most a third of the lanes stays empty."""
    size = 8
    while size < rows:
        size = size * 3 // 2 if size & (size - 1) == 0 else size * 4 // 3
    return size


def _up(length: int) -> int:
    return -(-length // CHUNK) * CHUNK

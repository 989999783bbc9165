"""Quick sampling: a shared prefix, keys and values in place, and on a GPU one captured graph for a whole step.

A step (forward pass, drawing a token, writing it down, moving on) touches fixed tensors only and never waits for the
host. On a GPU it is therefore recorded once as a CUDA graph and then replayed. So is the reading of prompts, where they
are so short that a GPU would wait for the host to launch its kernels. A graph reads the weights where they lay
when it was recorded: trainers that change parameters *in place* (optimisers do) change what the graph computes; when
parameters get a new storage (`.to`, a swapped adapter), that is noticed and the graphs are recorded again.

The forward pass of a step is that of the model's modules or, where they apply, of our own kernels (`fused_steps`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad as fill

from agentrl.models.attention import KeyValues, reading
from agentrl.models.chat import Prompt
from agentrl.models.fused_steps import FusedSteps, fused_steps
from agentrl.models.sampling import Answer, Sampling, after_prefix, choose, prefill
from agentrl.models.scoring import Batch, pack, shared_length

log = logging.getLogger(__name__)

WARM_UP = 2  # steps that run without a graph before one is recorded: libraries set themselves up in them
AHEAD = 2  # steps that a GPU has before it when the host looks who has finished
# Of prompts, the same: lengths are rounded up to less, they are recorded when met again, and only where a pass over so
# many tokens takes a GPU less time than the host needs to launch it.
PROMPT_CHUNK, PROMPT_WARM_UP, PROMPT_TOKENS = 16, 1, 65_536
CHUNK = 64  # on a GPU lengths are rounded up to a multiple of this, so that few graphs serve all batches
KEPT = 3  # times the room of the largest set of lanes: what all sets that stay in GPU memory may take together
MAX_GRAPHS = 32  # of a set of lanes; prompts of ever other lengths must not fill the memory


# ---------------------------------------------------------------------- the tensors in which answers are generated


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
        self.first, self.shared = whole(rows), whole(1)  # a row's first own slot in use; tokens of the prefix
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
        self.first.fill_(width)
        self.first[:count] -= batch.mask[:, shared:].sum(1)
        self.shared.fill_(shared)
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
        for name in ("mask", "token", "position", "limits", "first", "done", "noise", "tokens", "logprobs"):
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
        wanted, rooms = size[0] * room + shared_room, [lanes.room for lanes in self.kept]
        while rooms and sum(rooms) + wanted > KEPT * max(*rooms, wanted):
            del rooms[0], self.kept[0]
        self.kept.append(Lanes(size[0], longest, room, shared_room, self.device))
        return self.kept[-1]


def lane_count(rows: int) -> int:
    """The next larger of 8, 12, 16, 24, 32, 48, 64, ...: at most a third of the lanes stays empty."""
    size = 8
    while size < rows:
        size = size * 3 // 2 if size & (size - 1) == 0 else size * 4 // 3
    return size


def rounded_up(length: int, chunk: int = CHUNK) -> int:
    """To a multiple of `chunk`."""
    return -(-length // chunk) * chunk


# ---------------------------------------------------------------------- the decoder


class FastDecoder:
    """Samples answers with one model; keeps its lanes and graphs from one batch to the next.

    `fixed` (on a GPU) keeps shapes to a few sizes for the sake of graphs; elsewhere shapes are exact and rows that have
    finished leave. With `graphs` set to False the same steps run without being recorded; with `fused` set to None, by
    the model's modules.
    """

    def __init__(
        self, model: Any, pad: int, image_token: int | None, stops: Sequence[int], fixed: bool | None = None
    ) -> None:
        self.model, self.pad, self.image_token = model, pad, image_token
        self.device = model.device
        self.fixed = self.device.type == "cuda" if fixed is None else fixed
        self.graphs = self.graphs_of_prompts = self.device.type == "cuda"
        self.norms = plain_norms(model) if self.graphs else []
        self.fused = fused_steps(model)
        self.stops = torch.tensor(sorted(stops), dtype=torch.long, device=self.device)
        self.sets = LaneSets(self.device)
        self.weights: tuple[int, ...] = ()
        self.pool: Any = None

    def run(self, prompts: Sequence[Prompt], noise: torch.Tensor, limits: Sequence[int], how: Sampling) -> list[Answer]:
        """All answers, in the order of the prompts; `limits` are the most tokens each may have."""
        # Graphs read weights by address: forget them when an address has changed.
        places = tuple(weight.data_ptr() for weight in self.model.parameters()) if self.graphs else ()
        if places != self.weights:
            self.weights = places
            for lanes in self.sets.kept:
                lanes.graphs.clear()
        with fused(self.norms):
            return self._answers(prompts, noise, limits, how)

    def _answers(self, prompts: Sequence[Prompt], noise: Any, limits: Sequence[int], how: Sampling) -> list[Answer]:
        lanes = self._start(prompts, noise, limits, how)
        count, steps = len(prompts), max(limits)
        found: dict[int, Answer] = {}
        rows = torch.arange(lanes.rows, device=self.device)
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
        self.sets.kept.clear()
        self.pool = None

    # ------------------------------------------------------------------ the prompts

    def _start(self, prompts: Sequence[Prompt], noise: torch.Tensor, limits: Sequence[int], how: Sampling) -> Lanes:
        """Read the prompts and draw the first token of each answer."""
        shared = shared_length([prompt.ids for prompt in prompts], self.image_token)
        rest = after_prefix(pack(self.model, prompts, self.pad, self.image_token), shared)
        width = rounded_up(rest.ids.shape[1], PROMPT_CHUNK)
        short = self.image_token is None and lane_count(len(prompts)) * width <= PROMPT_TOKENS
        recorded = short and self.graphs and self.graphs_of_prompts
        if recorded:
            rest = widened(rest, width, self.pad)
        self.width = rest.ids.shape[1]
        size = (len(prompts), max(limits), self.width + max(limits), shared)
        lanes = self.sets.find(*size) if self.fixed else Lanes(*size, self.device)
        lanes.load(rest, noise, limits, self.width)
        prefix = prompts[0].ids[:shared]
        if recorded and self._replay_prompts(lanes, prefix, rest, how):
            pass
        elif self.fused is not None and self.fused.can_read(rest.ids):
            ids = torch.tensor(prefix, dtype=torch.long, device=self.device)
            self._read_prompts(lanes, self.fused, (ids, rest.ids, rest.positions), how)
        else:
            room = lanes.key_values
            room.load_prefix(prefill(self.model, prefix), shared)
            room.slots, room.visible = torch.arange(self.width, device=self.device), self.width
            mask = prompt_mask(rest.mask[:, :shared].bool(), rest.mask[:, shared:].bool())
            self._take(lanes, self._ask(lanes, rest.ids, rest.positions, mask, rest.extra), how)
        lanes.key_values.slots, lanes.key_values.prefix_width = lanes.slot, lanes.key_values.prefix_capacity
        return lanes

    def _replay_prompts(self, lanes: Lanes, prefix: Sequence[int], rest: Batch, how: Sampling) -> bool:
        """Read prompts by a graph, in all lanes and with a prefix of their full capacity; False where there is none."""
        room, width = lanes.key_values, self.width
        if lanes.rows * width > PROMPT_TOKENS:
            return False
        given, prefix_room = lanes.prompts(width, prefix, rest), room.prefix_capacity

        def read() -> None:
            if self.fused is not None:
                return self._read_prompts(lanes, self.fused, given[:3], how)
            room.load_prefix(prefill(self.model, given.prefix), prefix_room)
            room.slots, room.visible = given.slots, width
            mask = prompt_mask(lanes.mask[:, :prefix_room], lanes.mask[:, prefix_room : prefix_room + width])
            self._take(lanes, self._ask(lanes, given.ids, given.positions, mask, {}), how)

        recorded, self.graphs_of_prompts = self._recorded(lanes, ("prompts", width, how), read, PROMPT_WARM_UP)
        if not recorded and self.fused is not None:
            read()  # the very same work: its kernels must be compiled before they are recorded
            return True
        return recorded

    def _read_prompts(
        self, lanes: Lanes, fused: FusedSteps, given: tuple[Tensor, Tensor, Tensor], how: Sampling
    ) -> None:
        with torch.cuda.device_of(lanes.token):  # Triton launches on the current device
            logits = fused.read(lanes, *given)
        self._take(lanes, logits, how)

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
        if self.fused is not None:
            return self._fused_step(lanes, self.fused, how)
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

    def _fused_step(self, lanes: Lanes, fused: FusedSteps, how: Sampling) -> None:
        with torch.cuda.device_of(lanes.token):  # Triton launches on the current device
            found = fused.logits(lanes, how.temperature)
            if how.greedy or (how.top_p == 1 and not how.top_k):
                return fused.draw(lanes, found, how, self.stops)
        lanes.position.add_(~lanes.done)
        lanes.slot.add_(1)
        self._take(lanes, found.logits, how)

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
        room.visible = min(rounded_up(needed), room.capacity) if self.fixed else needed
        if self.fused is not None:
            room.visible = room.capacity  # its kernels look up how much is in use: one graph serves all lengths
        step = lambda: self._step(lanes, how)  # noqa: E731
        recorded = False
        if self.graphs:
            recorded, self.graphs = self._recorded(lanes, ("step", room.visible, how), step, WARM_UP)
        if not recorded:
            step()

    def _recorded(self, lanes: Lanes, key: Hashable, work: Callable[[], None], warm_up: int) -> tuple[bool, bool]:
        """Do `work` by replaying its graph, which is recorded after `warm_up` times without one.

        Was it done, and can such work be recorded? What cannot be runs without graphs from now on.
        """
        lanes.runs[key] = lanes.runs.get(key, 0) + 1
        if key not in lanes.graphs:
            if lanes.runs[key] <= warm_up:
                return False, True
            if not self._record(lanes, key, work):
                return False, False
        lanes.graphs[key] = graph = lanes.graphs.pop(key)
        graph.replay()
        return True, True

    def _record(self, lanes: Lanes, key: Hashable, work: Callable[[], None]) -> bool:
        """Record `work`, which is not done by it; what was not used for longest is forgotten."""
        while len(lanes.graphs) >= MAX_GRAPHS:
            del lanes.graphs[next(iter(lanes.graphs))]
        if not any(kept.graphs for kept in self.sets.kept):
            self.pool = torch.cuda.graph_pool_handle()  # a pool is gone with the last graph that used it
        graph = torch.cuda.CUDAGraph()
        try:
            # Graphs share one pool of memory: none leaves anything in it that another must not overwrite. What other
            # threads (a judge's, an environment's) do meanwhile is no part of it.
            with torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"):
                work()
        except RuntimeError as error:
            log.warning("CUDA graph capture failed, generating without graphs (slower): %s", error)
            return False
        lanes.graphs[key] = graph
        return True

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


def prompt_mask(prefix: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """[rows, 1, own tokens, prefix + own] from which columns of both hold tokens: causal, without padding."""
    size = own.shape[1]
    causal = torch.ones(size, size, dtype=torch.bool, device=own.device).tril()
    # Padding looks at itself: a row of attention without any column would be NaN and spread.
    seen = (causal & own[:, None]) | torch.eye(size, dtype=torch.bool, device=own.device)
    return torch.cat([prefix[:, None].expand(-1, size, -1), seen], dim=-1)[:, None]


def widened(batch: Batch, width: int, pad: int) -> Batch:
    """With more padding on the left; the mask covers a prefix that stays in front of it."""
    more = width - batch.ids.shape[1]
    shared = batch.mask.shape[1] - batch.ids.shape[1]
    mask = torch.cat([batch.mask[:, :shared], fill(batch.mask[:, shared:], (more, 0))], dim=1)
    return replace(
        batch, ids=fill(batch.ids, (more, 0), value=pad), mask=mask, positions=fill(batch.positions, (more, 0))
    )


# ---------------------------------------------------------------------- norms in one kernel each
#
# Models write the root-mean-square norm as seven small operations, one kernel each: a quarter of all kernels of a step
# that generates one token, which takes as long as its kernels take to start.


def plain_norms(model: nn.Module) -> list[nn.Module]:
    """The modules that compute the plain norm and nothing else, found by trying one of each kind and size."""
    plain: dict[Any, bool] = {}
    found = []
    for module in model.modules():
        weight = getattr(module, "weight", None)
        if not type(module).__name__.endswith("RMSNorm") or weight is None or _epsilon(module) is None:
            continue
        kind = type(module), weight.shape
        if kind not in plain:
            rng = torch.Generator().manual_seed(0)
            states = torch.randn(4, *weight.shape, generator=rng).to(weight)
            try:
                with torch.no_grad():
                    both = module(states).float(), _norm(module, states).float()
                    plain[kind] = torch.allclose(*both, rtol=0.02, atol=0.02)
            except (RuntimeError, TypeError):  # it takes more than states, or its weight is no vector
                plain[kind] = False
        found += [module] if plain[kind] else []
    return found


@contextmanager
def fused(norms: Sequence[nn.Module]) -> Iterator[None]:
    """Inside, these modules compute in one kernel; afterwards as before."""
    for norm in norms:
        norm.forward = partial(_norm, norm)
    try:
        yield
    finally:
        for norm in norms:
            del norm.forward


def _norm(module: Any, states: Tensor) -> Tensor:
    return nn.functional.rms_norm(states, module.weight.shape, module.weight, _epsilon(module))


def _epsilon(module: nn.Module) -> float | None:
    return getattr(module, "variance_epsilon", getattr(module, "eps", None))

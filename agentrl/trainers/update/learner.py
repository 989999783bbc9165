"""The learner: policy, critic and frozen reference, their forward passes over rows, and the optimiser that moves them.

The weights that are trained are float32. Where the policy generates in another type (bf16 on a GPU) or trains adapters
(LoRA), the engine holds a copy of its own, and `publish` writes the new weights into it, in place: whatever the engine
has captured stays valid.

In a run of several processes the models are sharded (see `parallel.sharding`), except for the engine's copy, and rows
are shared out (see `parallel.rows`); every process calls every method here, in the same order.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from agentrl.core.errors import Fault
from agentrl.core.seeding import run_seed
from agentrl.models import resolve_model
from agentrl.models.chat import Prompt
from agentrl.models.float32_head import compute_head_in_float32
from agentrl.models.loading import LoadedModel, load_model
from agentrl.models.scoring import Entropy, Hidden, Reader, Scores, token_scores, upload
from agentrl.models.vla.spec import is_vla
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments.policy import CriticArguments, PolicyArguments
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.parallel.ranks import join
from agentrl.trainers.parallel.rows import Turn, assign_rows, exchange
from agentrl.trainers.parallel.sharding import Shards, whole
from agentrl.trainers.update.batch import Batch, Row, micro_batches, padding_share
from agentrl.trainers.update.critic_truth import FACTS
from agentrl.trainers.update.master_weights import ComputeCopies, uses_copies
from agentrl.trainers.update.models import load_body, make_optimiser, make_policy, merged

log = logging.getLogger(__name__)
Found = TypeVar("Found")
LossOf = Callable[[list[int]], tuple[Tensor, dict[str, Tensor]]]
CriticKind = Literal["none", "own", "shared", "head"]
FACT_WIDTH = 32  # of the layer that a critic reads facts with
HEAD_STD = 0.02  # of a random value head, as language models begin; hidden states have about unit size


class TrainingFault(Fault):
    """Training cannot continue: no loss was finite, or memory ran out."""


class NotFinite(TrainingFault):
    """A step whose loss or gradient is not finite; it has changed no weight."""


class OutOfMemory(TrainingFault):
    """Too many tokens at a time."""


class TokenBudget:
    """How many tokens a pass may read; halved when that was too much, as other programs on a GPU come and go.

    A loss is the sum of its micro-batches' parts, so smaller ones give the same step (to rounding), only slower. Where
    processes read in step (`alone` is False) one cannot go back by itself, and the fault stays a fault.
    """

    def __init__(self, tokens: int, *, alone: bool = True) -> None:
        self.tokens, self.alone = tokens, alone

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Inside, a lack of memory is an `OutOfMemory`."""
        try:
            yield
        except RuntimeError as error:
            on_gpu = isinstance(error, torch.OutOfMemoryError)
            if not on_gpu and "DefaultCPUAllocator" not in str(error):
                raise
            where, more = ("GPU memory", ", or switch gradient_checkpointing on") if on_gpu else ("memory", "")
            knob = f"lower token_budget (now {self.tokens})"
            raise OutOfMemory(f"out of {where} while training; {knob}{more}") from error

    def fit(self, lengths: Sequence[int], work: Callable[[int], Found], *, times: int = 1) -> Found:
        """`work(tokens)` for rows of these lengths; again with half as many tokens while there is something to halve.

        `work` must be able to begin anew. It may read `times` as many tokens as one with gradients.
        """
        longest = max(lengths, default=1)
        while True:
            tokens = times * self.tokens
            try:
                return work(tokens)
            except OutOfMemory:
                if not self.alone or tokens <= longest:
                    raise
            # Only here is the fault gone, and with it what its frames held of the pass that failed.
            self.tokens = -(-max(longest, min(tokens, sum(lengths)) // 2) // times)
            log.warning("memory ran out while training; from now on token_budget is %d", self.tokens)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


class Critic(nn.Module):
    """A value for every position: one linear layer on a language model's hidden states.

    It is 0 everywhere at first, or with a `seed` a random one: then its first gradients reach the body, too. Of several
    `heads` the lowest value counts, so that what one of them overrates by chance is not believed.

    With `facts` it is told so many numbers beside the hidden states (see `critic_truth`); what a small network makes of
    these is added.
    """

    def __init__(
        self,
        width: int,
        model: Any = None,
        *,
        only_reads: bool = False,
        heads: int = 1,
        seed: int | None = None,
        facts: int = 0,
    ) -> None:
        super().__init__()
        self.model = model  # None: it reads the policy's hidden states
        self.only_reads = only_reads  # ... without a gradient that would change them
        self.head = nn.Linear(width, heads)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        if seed is not None:
            nn.init.normal_(self.head.weight, std=HEAD_STD, generator=torch.Generator().manual_seed(seed))
        self.told = fact_network(facts, heads) if facts else None

    def forward(self, states: Tensor, facts: Tensor | None = None) -> Tensor:
        """`[...]` from `[..., width]` (and `[..., facts]`), in float32."""
        found = self.every_head(states, facts)
        return found[..., 0] if found.shape[-1] == 1 else found.amin(-1)

    def every_head(self, states: Tensor, facts: Tensor | None = None) -> Tensor:
        """`[..., heads]`."""
        with torch.autocast(states.device.type, enabled=False):
            found = self.head((states.detach() if self.only_reads else states).float())
            return found if self.told is None else found + self.told(facts)

    def outputs(self) -> list[nn.Parameter]:
        """The weights behind the body."""
        return [*self.head.parameters(), *(self.told.parameters() if self.told is not None else ())]


def fact_network(facts: int, heads: int) -> nn.Module:
    """One hidden layer, the same one in every run; 0 at first. Facts lie between -1 and 1: its weights are as large, so
    that it bends where they differ."""
    inner, outer = nn.Linear(facts, FACT_WIDTH), nn.Linear(FACT_WIDTH, heads)
    generator = torch.Generator().manual_seed(0)
    for weights in inner.parameters():
        nn.init.uniform_(weights, -1.0, 1.0, generator=generator)
    for weights in outer.parameters():
        nn.init.zeros_(weights)
    return nn.Sequential(inner, nn.Tanh(), outer)


class Outputs(NamedTuple):
    """The models' view of a micro-batch; `[rows, targets]` each."""

    logprobs: Tensor
    entropy: Tensor | None
    values: Tensor | None  # of the state before each token
    values_after: Tensor | None
    mask: Tensor


class Learner:
    """Policy, and where they are wanted critic and reference, with the optimiser that moves them."""

    def __init__(
        self,
        options: RunArguments,
        *,
        critic: CriticKind = "none",
        critic_lr: float = 0.0,
        critic_head_lr: float = 0.0,
        random_heads: int = 0,
        reference: bool = False,
        temperature: float = 1.0,
        total_steps: int = 0,
    ) -> None:
        self.options, self.temperature = options, temperature
        self.processes = join(options.device, options.ddp_timeout)
        self.budget = TokenBudget(options.token_budget, alone=not self.processes.distributed)
        self.shards: Shards | None = None
        self._load(critic, random_heads, reference=reference)
        self.rollout_engine: Any = None  # an engine elsewhere that generates with these weights
        self.optimiser = make_optimiser(options, self.policy, self.critic, critic_lr or options.lr, critic_head_lr)
        self.steps, self.total_steps, self.warmup = 0, total_steps, options.warmup
        self.iteration = 0  # of the run, from 0: the version of the policy that is trained
        self.write_beside_policy: list[Callable[[Path], Any]] = []  # what else goes into a checkpoint's policy folder
        self.progress: Any = SimpleNamespace(done=0)  # counts the rows that were read; a run puts its `Progress` here
        self.padding: list[float] = []
        self.trained_tokens = self.skipped_steps = 0  # since the last line of metrics

    def _load(self, critic: CriticKind, random_heads: int, *, reference: bool) -> None:
        """Read the models."""
        options, sharded = self.options, self.processes.distributed
        self.engine: Any = load_model(options.model, self.processes.device or options.device, options.dtype)
        engine = self.engine
        if options.float32_head:
            compute_head_in_float32(engine.model, engine.model.dtype)
        self.device = engine.model.device
        self.policy = make_policy(options, engine, sharded=sharded)
        self.copies = ComputeCopies(options, engine) if uses_copies(options, engine, sharded=sharded) else None
        # A padded prefix is a pass of its own: its layers would be checkpointed, or freed, before rows come back to it.
        alone = options.gradient_checkpointing or sharded
        self.reader: Any = self.copies.reader if self.copies else Reader.of(engine, share_prefix=not alone)
        self.reference = None
        if reference:  # a copy from before anything is trained, since the engine's model itself will change
            self.reference = copy.deepcopy(engine.model).requires_grad_(False).eval()
        self.critic = None
        if critic != "none":
            body = load_body(options, engine, sharded=sharded) if critic == "own" else None
            seed = run_seed(options.seed, 0, "critic") if random_heads else None
            width, heads = engine.model.config.get_text_config().hidden_size, random_heads or 1
            facts = FACTS if getattr(options, "critic_truth", False) else 0
            self.critic = Critic(width, body, only_reads=critic == "head", heads=heads, seed=seed, facts=facts)
            self.critic.to(self.device if body is None else body.device)
        self.shards = Shards(self.processes, (self.policy, self.critic, self.reference)) if sharded else None
        if self.copies:
            self.copies.add(self.policy, engine.model)
            self.copies.add(self.reference)
            self.copies.add(self.critic and self.critic.model)

    def batch(self, trajectories: Sequence[Trajectory], *, observations: bool = False) -> Batch:
        """What the algorithms read of an iteration's episodes."""
        return Batch(trajectories, observations=observations)

    def sampler(self, *, greedy: bool, seed: int, engine: LoadedModel | None = None) -> Any:
        """The policy as it generates in this process; by another copy of its weights, if that is given."""
        return self.sampling(greedy=greedy, seed=seed)(engine or self.engine)

    def sampling(self, *, greedy: bool, seed: int) -> Callable[[Any], Any]:
        """What makes that policy of a model; it can be sent to another process."""
        options = self.options
        return partial(
            HFPolicy,
            temperature=options.temperature,
            top_p=options.top_p,
            max_new_tokens=options.max_new_tokens,
            batch_size=options.generation_batch_size,
            greedy=greedy,
            seed=seed,
        )

    @property
    def exact(self) -> bool:
        """Do the weights and the type that train also generate? Recorded probabilities are the trainer's own then."""
        return self.rollout_engine is None and self.engine.model.dtype == torch.float32

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """A lack of memory and a lost process are told from other errors."""
        lost = self.processes.guard() if self.processes.distributed else contextlib.nullcontext()
        with self.budget.watched(), lost:
            yield

    @contextlib.contextmanager
    def computing(self) -> Iterator[None]:
        """`guarded`, and in bf16 where the engine generates in it and the weights are not rounded already."""
        mixed = self.engine.model.dtype == torch.bfloat16 and self.copies is None
        with self.guarded(), torch.autocast(self.device.type, torch.bfloat16, enabled=mixed):
            yield

    # ------------------------------------------------------------------ forward passes

    def outputs(
        self, rows: Sequence[Row], *, values: bool = True, entropy: Entropy = "none", only_critic: bool = False
    ) -> Outputs:
        """The policy's and the critic's view of some rows, with gradients where they are switched on.

        With `only_critic` no gradient reaches the policy, also where the critic reads the policy's hidden states.
        """
        before = after = None
        with self.computing():
            with torch.set_grad_enabled(torch.is_grad_enabled() and not only_critic):
                states, scores = self._read(self.policy, rows, entropy)
            if values and self.critic is not None:
                before, after = self._values(rows, states)
        return Outputs(scores.logprobs, scores.entropy, before, after, states.targets.mask)

    def critic_outputs(self, rows: Sequence[Row]) -> Tensor:
        """What each of the critic's heads says before each target, `[rows, targets, heads]`.

        A critic with its own body needs no pass of the policy for it.
        """
        assert self.critic is not None
        with self.computing():
            return self._values(rows, judge=self.critic.every_head)[0]

    def _read(self, model: Any, rows: Sequence[Row], entropy: Entropy = "none") -> tuple[Hidden, Scores]:
        used, compiled = self._copy_of(model), self.copies is not None and self.copies.compiled

        def read() -> tuple[Hidden, Scores]:
            states = self.reader.hidden(used, rows)
            how = {"entropy": entropy, "compiled": compiled}
            return states, token_scores(used, states.before, states.targets, self.temperature, **how)

        return self._within(model, read)

    def _values(
        self, rows: Sequence[Row], states: Hidden | None = None, judge: Callable[[Tensor], Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The critic's values before and after the targets; `states` are the policy's, which some critics read."""
        critic = self.critic
        assert critic is not None
        value, body = judge or critic, self._copy_of(critic.model)
        if states is None and body is None:
            states = self._within(self.policy, lambda: self.reader.hidden(self._copy_of(self.policy), rows))

        def values() -> tuple[Tensor, Tensor]:
            own = states if body is None else self.reader.hidden(body, rows)
            assert own is not None
            facts = () if critic.told is None else (own.targets.table(self._facts(rows)),)
            return value(own.targets.table(own.before), *facts), value(own.targets.table(own.after), *facts)

        return self._within(critic, values)

    def _facts(self, rows: Sequence[Row]) -> Tensor:
        """What the critic is told of all targets, `[all targets, facts]`."""
        told = [row.facts for row in rows if row.facts is not None]
        return upload(torch.from_numpy(np.concatenate(told)), self.device)

    def _copy_of(self, model: Any) -> Any:
        """The modules that compute for a model."""
        return model if self.copies is None else self.copies.of(model)

    def _within(self, model: Any, work: Callable[[], Found]) -> Found:
        """Do what needs a model's whole weights."""
        return work() if self.shards is None else self.shards.within(model, work)

    # ------------------------------------------------------------------ without gradients, for whole batches

    def logprobs(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of the policy as it is now; a flat CPU tensor per row."""
        return self._all(rows, lambda some: (self._read(self.policy, some)[1].logprobs,))[0]

    def reference_logprobs(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of the policy as it was at the beginning."""
        return self._all(rows, lambda some: (self._read(self.reference, some)[1].logprobs,))[0]

    def values(self, rows: Sequence[Row]) -> tuple[list[Tensor], list[Tensor]]:
        """Of the states before and after each token."""
        before, after = self._all(rows, self._values)
        return before, after

    def _all(self, rows: Sequence[Row], what: Callable[[Sequence[Row]], tuple[Tensor, ...]]) -> list[list[Tensor]]:
        sizes, lengths = [len(row.targets) for row in rows], self.reader.lengths(rows)
        found = self._compute(lengths, sizes, lambda some: what([rows[index] for index in some]))
        return [list(one) for one in zip(*found, strict=True)]

    @torch.no_grad()
    def last_values(self, prompts: Sequence[Prompt], facts: np.ndarray | None = None) -> Tensor:
        """What each head says of the states after some prompts, `[prompts, heads]`: what an episode that was cut could
        still have earned. `facts` is what the critic is told of them, where it is told anything."""
        critic = self.critic
        assert critic is not None
        model = self._copy_of(critic.model or self.policy)

        def last(some: list[int]) -> tuple[Tensor]:
            chosen = [prompts[index] for index in some]
            read = lambda: self.reader.last_hidden(model, chosen)  # noqa: E731
            states = None if critic.model else self._within(self.policy, read)
            told = None if facts is None else upload(torch.from_numpy(facts[some]), self.device)
            return (self._within(critic, lambda: critic.every_head(read() if states is None else states, told)),)

        heads = critic.head.out_features
        found = self._compute([len(prompt.ids) for prompt in prompts], [heads] * len(prompts), last)
        return torch.stack([value for (value,) in found]) if found else torch.zeros(0, heads)

    def prompt(self, trajectory: Trajectory, ids: list[int], images: Sequence[str]) -> Prompt:
        """Recorded token ids as a prompt, with some of the trajectory's pictures."""
        shown = [trajectory.pictures[name] for name in images]
        pixels, grids, _ = self.engine.encoder.pictures(shown) if shown else (None, None, [])
        return Prompt(ids, pixels, grids)

    @torch.no_grad()
    def _compute(
        self, lengths: Sequence[int], sizes: Sequence[int], work: Callable[[list[int]], Sequence[Tensor]]
    ) -> list[list[Tensor]]:
        """`work` of all rows, in micro-batches: for every row its tensors, of `sizes[row]` float32 numbers each.

        `work(rows)` gives tensors whose first dimension are those rows and whose second has at least as many numbers.
        """

        def compute(tokens: int) -> list[list[Tensor]]:
            given, found = [], dict[int, list[Tensor]]()
            turns, owners, _ = self._micro_batches(lengths, tokens)
            for turn in turns:  # all are launched before one is waited for
                with self.computing():
                    given.append(work(turn.rows))
            for turn, tensors in zip(turns, given, strict=True):
                numbers = [tensor.float().cpu() for tensor in tensors]
                if turn.counts:
                    found |= {row: [n[place, : sizes[row]] for n in numbers] for place, row in enumerate(turn.rows)}
            if owners:
                exchange(self.processes, owners, sizes, found, len(given[0]) if given else 0)
            return [found[row] for row in range(len(lengths))]

        return self.budget.fit(lengths, compute, times=2)  # without gradients twice the tokens fit

    def _micro_batches(self, lengths: Sequence[int], tokens: int) -> tuple[list[Turn], list[list[int]], float]:
        """What this process reads, which rows each of several processes reads, and the share of padding in all."""
        batched = partial(micro_batches, budget=tokens, packed=self.reader.packed)
        padding = partial(padding_share, packed=self.reader.packed)
        if self.processes.distributed:
            return assign_rows(self.processes, lengths, batched, padding)
        batches = batched(lengths)
        return [Turn(batch, True) for batch in batches], [], padding(lengths, batches)

    # ------------------------------------------------------------------ moving the weights

    def step(self, rows: Sequence[Row], loss_of: LossOf) -> dict[str, float]:
        """One optimiser step on `rows`; its metrics.

        `loss_of(indices)` gives a micro-batch's part of the loss and of the metrics: parts add up to the whole, except
        for metrics called `..._max`. Where a loss or gradient is not finite, that is `NotFinite` and no weight changes.
        """
        lengths = self.reader.lengths(rows)
        padding, metrics = self.budget.fit(lengths, lambda tokens: self._gradients(lengths, tokens, loss_of))
        self.padding.append(padding)
        self.trained_tokens += sum(len(row.ids) for row in rows)
        if not math.isfinite(metrics["loss"]):
            raise NotFinite(f"the loss is {metrics['loss']}; no weight was changed by it")
        if self.shards is not None and not any(row.images for row in rows):
            self.shards.clear_vision_gradients()
        with self.guarded():
            parts = [[p for p in group["params"] if p.grad is not None] for group in self.optimiser.param_groups]
            # Policy and critic are clipped apart: a critic far off must not silence the policy.
            limit = self.options.max_grad_norm
            clip = [nn.utils.clip_grad_norm_(part, limit) if part else torch.zeros(()) for part in parts]
            norms = [float(norm if self.shards is None else whole(norm)) for norm in clip]
            if not all(map(math.isfinite, norms)):
                raise NotFinite(f"a gradient norm is {norms}; no weight was changed by it")
            for group in self.optimiser.param_groups:
                group["lr"] = group["peak"] * self.rate()
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
            if self.copies:
                self.copies.refresh()
        self.steps += 1
        return metrics | {"grad_norm": norms[0]}

    def _gradients(self, lengths: Sequence[int], tokens: int, loss_of: LossOf) -> tuple[float, dict[str, float]]:
        """Those of the whole loss, in micro-batches of `tokens`; the share of padding, and the metrics."""
        turns, _, padding = self._micro_batches(lengths, tokens)
        parts: list[dict[str, Tensor]] = []
        self.optimiser.zero_grad(set_to_none=True)
        if self.copies:
            self.copies.forget_gradients()
        if self.shards:
            self.shards.forget()  # what an attempt that ran out of memory left
        for turn in turns:
            self.progress.done += len(turn.rows)
            with self.computing():
                loss, metrics = loss_of(turn.rows)
            with self.guarded():
                (self.shards.anchored(loss, turn.counts) if self.shards else loss).backward()
                if self.copies:
                    self.copies.collect_gradients()
            if turn.counts:
                parts.append({**metrics, "loss": loss.detach()})
        with self.guarded():  # what micro-batches found is fetched at once: each look waits for the GPU
            tensors = [torch.as_tensor(x, dtype=torch.double, device=self.device) for p in parts for x in p.values()]
            numbers = iter(torch.stack(tensors).tolist() if tensors else [])
        own = [{name: next(numbers) for name in part} for part in parts]
        everyone = self.processes.gather(own) if self.processes.distributed else [own]
        return padding, sum_metrics([one for each in everyone for one in each])

    def rate(self) -> float:
        """The share of the peak learning rates that holds for the next step."""
        warm = min(1.0, (self.steps + 1) / self.warmup) if self.warmup else 1.0
        done = min(1.0, max(0.0, (self.steps - self.warmup) / max(1, self.total_steps - self.warmup)))
        if self.options.schedule == "linear":
            return warm * (1 - done)
        if self.options.schedule == "cosine":
            return warm * 0.5 * (1 + math.cos(math.pi * done))
        return warm

    @torch.no_grad()
    def publish(self) -> None:
        """Let the rollout engine generate with the new weights."""
        if self.copies:
            self.copies.refresh()
        elif self.engine.model is not self.policy:
            targets = dict(self.engine.model.named_parameters())
            with self.processes.guard():
                for name, weight in merged(self.policy, targets):
                    targets[name].copy_(weight)
        if self.rollout_engine is not None:
            self.rollout_engine.follow(self)


def sum_metrics(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """Metrics of micro-batches as those of the whole."""
    found: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            largest = name.endswith("_max")
            found[name] = max(found.get(name, value), value) if largest else found.get(name, 0.0) + value
    return found


def learner_class(args: RunArguments) -> type[Learner]:
    """A language model's learner, or that of a VLA policy."""
    if not is_vla(resolve_model(args.model)):
        return Learner
    from agentrl.trainers.update.control_learner import ControlLearner

    return ControlLearner


def make_learner(args: PolicyArguments) -> Learner:
    """Policy, critic where the algorithm has one, and the reference where there is a KL to it."""
    with_critic = isinstance(args, CriticArguments)
    return learner_class(args)(
        args,
        critic=args.critic if with_critic else "none",
        critic_lr=args.critic_lr if with_critic else 0.0,
        critic_head_lr=args.critic_head_lr if with_critic else 0.0,
        reference=args.kl_coef > 0,
        temperature=args.temperature,
        total_steps=args.iterations * (args.epochs + (args.critic_epochs if with_critic else 0)) * args.minibatches,
    )

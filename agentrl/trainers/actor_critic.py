"""The models of a training run: the policy, its critic and the frozen reference, and their forward passes over rows.

The weights that are trained are float32. Where the policy generates in another type (bf16 on a GPU) or trains adapters
(LoRA), the engine holds a copy of its own, and `publish` writes the new weights into it, in place: whatever the engine
has captured stays valid.

In a run of several processes the models are sharded (see `sharding`), except for the engine's copy, and rows are shared
out (see `data_parallel`); every process calls every method here, in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentrl.models.chat import Prompt
from agentrl.models.float32_head import compute_head_in_float32
from agentrl.models.loading import load_model
from agentrl.models.scoring import Entropy, Hidden, Scores, token_scores
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments import RunArguments
from agentrl.trainers.batch import Row
from agentrl.trainers.data_parallel import compute_rows
from agentrl.trainers.distributed import join
from agentrl.trainers.lora import merged
from agentrl.trainers.model_building import CriticKind, frozen_copy, make_critic, make_policy
from agentrl.trainers.sharding import Shards
from agentrl.trainers.token_budget import TokenBudget
from agentrl.trainers.working_copy import WorkingCopies


class Outputs(NamedTuple):
    """The models' view of a micro-batch; `[rows, targets]` each."""

    logprobs: Tensor
    entropy: Tensor | None
    values: Tensor | None  # of the state before each token
    values_after: Tensor | None
    mask: Tensor


class ActorCritic:
    """Policy, and where they are wanted critic and reference."""

    def __init__(
        self,
        options: RunArguments,
        *,
        critic: CriticKind,
        reference: bool,
        temperature: float,
        random_heads: int = 0,
    ) -> None:
        self.options, self.temperature = options, temperature
        self.processes = join(options.device, options.peer_timeout)
        sharded = self.processes.distributed
        self.budget = TokenBudget(options.token_budget, alone=not sharded)
        self.engine = load_model(options.model, self.processes.device or options.device, options.dtype)
        if options.float32_head:
            compute_head_in_float32(self.engine.model, self.engine.model.dtype)
        self.device = self.engine.model.device
        self.policy = make_policy(options, self.engine, sharded=sharded)
        self.copies = WorkingCopies(options, self.engine, sharded=sharded)
        self.reader = self.copies.reader
        self.reference = frozen_copy(self.engine.model) if reference else None  # before anything is trained
        self.critic = make_critic(critic, options, self.engine, sharded=sharded, random_heads=random_heads)
        self.shards = Shards(self.processes, (self.policy, self.critic, self.reference))
        self.copies.add(self.policy, self.engine.model)
        self.copies.add(self.reference)
        self.copies.add(self.critic and self.critic.model)
        self.rollout_engine: Any = None  # an engine elsewhere that generates with these weights

    @property
    def exact(self) -> bool:
        """Do the weights and the type that train also generate? Recorded probabilities are the trainer's own then."""
        return self.rollout_engine is None and self.engine.model.dtype == torch.float32

    @contextlib.contextmanager
    def computing(self) -> Iterator[None]:
        """`guarded`, and in bf16 where the engine generates in it and the weights are not rounded already."""
        mixed = self.engine.model.dtype == torch.bfloat16 and not self.copies.used
        with self.guarded(), torch.autocast(self.device.type, torch.bfloat16, enabled=mixed):
            yield

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """A lack of memory and a lost process are told from other errors."""
        with self.budget.watched(), self.processes.guard():
            yield

    def outputs(
        self, rows: Sequence[Row], *, values: bool = True, entropy: Entropy = "none", only_critic: bool = False
    ) -> Outputs:
        """The policy's and the critic's view of some rows, with gradients where they are switched on.

        With `only_critic` no gradient reaches the policy, also where the critic reads the policy's hidden states.
        """
        before = after = None
        with self.computing():
            with torch.set_grad_enabled(torch.is_grad_enabled() and not only_critic):
                states, scores = self._read(self.policy, rows, entropy=entropy)
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

    def _read(self, model: Any, rows: Sequence[Row], *, entropy: Entropy = "none") -> tuple[Hidden, Scores]:
        computing = self.copies.of(model)

        def read() -> tuple[Hidden, Scores]:
            states = self.reader.hidden(computing, rows)
            how = {"entropy": entropy, "compiled": self.copies.compiled}
            return states, token_scores(computing, states.before, states.targets, self.temperature, **how)

        return self.shards.within(model, read)

    def _values(
        self,
        rows: Sequence[Row],
        states: Hidden | None = None,
        judge: Callable[[Tensor], Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """The critic's values before and after the targets; `states` are the policy's, which some critics read."""
        critic, reader = self.critic, self.reader
        assert critic is not None
        value = judge or critic
        policy, body = self.copies.of(self.policy), self.copies.of(critic.model)
        if states is None and body is None:
            states = self.shards.within(self.policy, lambda: reader.hidden(policy, rows))

        def values() -> tuple[Tensor, Tensor]:
            own = states if body is None else reader.hidden(body, rows)
            assert own is not None
            return value(own.targets.table(own.before)), value(own.targets.table(own.after))

        return self.shards.within(critic, values)

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
    def last_values(self, prompts: Sequence[Prompt]) -> Tensor:
        """Of the states after some prompts: what an episode that was cut could still have earned."""
        critic, reader = self.critic, self.reader
        assert critic is not None
        model = self.copies.of(critic.model or self.policy)

        def last(some: list[int]) -> tuple[Tensor]:
            chosen = [prompts[index] for index in some]
            read = lambda: reader.last_hidden(model, chosen)  # noqa: E731
            states = None if critic.model else self.shards.within(self.policy, read)
            judge = lambda: critic(read() if states is None else states)  # noqa: E731
            return (self.shards.within(critic, judge)[:, None],)

        found = self._compute([len(prompt.ids) for prompt in prompts], [1] * len(prompts), last)
        return torch.cat([value for (value,) in found]) if found else torch.zeros(0)

    @torch.no_grad()
    def _compute(
        self, lengths: Sequence[int], sizes: Sequence[int], work: Callable[[list[int]], Sequence[Tensor]]
    ) -> list[list[Tensor]]:
        def computed(some: list[int]) -> Sequence[Tensor]:
            with self.computing():
                return work(some)

        def compute(tokens: int) -> list[list[Tensor]]:
            return compute_rows(self.processes, lengths, tokens, sizes, computed, packed=self.reader.packed)

        return self.budget.fit(lengths, compute, times=2)  # without gradients twice the tokens fit

    @torch.no_grad()
    def publish(self) -> None:
        """Let the rollout engine generate with the new weights."""
        self.copies.refresh()
        if self.engine.model is not self.policy and not self.copies.used:
            targets = dict(self.engine.model.named_parameters())
            with self.processes.guard():
                for name, weight in merged(self.policy, targets):
                    targets[name].copy_(weight)
        if self.rollout_engine is not None:
            self.rollout_engine.follow(self)


def final_prompt(models: ActorCritic, trajectory: Trajectory) -> Prompt:
    """What the policy would have been asked next."""
    steps = trajectory.steps if trajectory.prompt_style == "conversation" else []
    names = [name for step in steps for name in step.images] + trajectory.final_images
    shown = [trajectory.pictures[name] for name in names]
    pixels, grids, _ = models.engine.encoder.pictures(shown) if shown else (None, None, [])
    return Prompt(trajectory.final_prompt_ids or [], pixels, grids)

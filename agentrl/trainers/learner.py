"""The models of a training run: the policy, its critic, the frozen reference, and the optimiser that moves them.

The weights that are trained are float32. Where the policy generates in another type (bf16 on a GPU) or trains adapters
(LoRA), the engine holds a copy of its own, and `publish` writes the new weights into it, in place: whatever the engine
has captured stays valid.

In a run of several processes the models are spread over them (`agentrl.trainers.sharding`), except for the engine's
copy: every process generates with whole weights. All processes call every method here, in the same order.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError
from agentrl.policies.chat import Prompt
from agentrl.policies.engine import load_engine
from agentrl.trainers.adapters import merged, with_adapters
from agentrl.trainers.dealing import deal, spread
from agentrl.trainers.distributed import join
from agentrl.trainers.forward import Hidden, Reader, Scores, check_head, target_mask, token_scores
from agentrl.trainers.memory import TokenBudget, TrainingFault
from agentrl.trainers.muon import Muon, is_inner_matrix
from agentrl.trainers.rows import Row
from agentrl.trainers.sharding import Entry, shard, whole

CriticKind = Literal["none", "own", "shared", "head"]
LossOf = Callable[[list[int]], tuple[Tensor, dict[str, Tensor]]]


class ModelOptions(Protocol):
    """The part of a trainer's arguments that concerns models and optimisation."""

    model: str
    device: str
    dtype: Any
    lr: float
    schedule: Any
    warmup: int
    weight_decay: float
    optimiser: Any
    word_lr: float
    max_grad_norm: float
    token_budget: int
    lora_rank: int
    lora_alpha: float
    gradient_checkpointing: bool
    seed: int
    peer_timeout: float


class Outputs(NamedTuple):
    """What the models say about a micro-batch; `[rows, targets]` each."""

    logprobs: Tensor
    entropy: Tensor | None
    values: Tensor | None  # of the state before each token
    values_after: Tensor | None
    mask: Tensor


class Critic(nn.Module):
    """A value for every position: one linear layer on a language model's hidden states, 0 everywhere at first."""

    def __init__(self, width: int, model: Any = None, *, only_reads: bool = False) -> None:
        super().__init__()
        self.model = model  # None: it reads the policy's hidden states
        self.only_reads = only_reads  # ... without a gradient that would change them
        self.head = nn.Linear(width, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, states: Tensor) -> Tensor:
        """`[...]` from `[..., width]`, in float32."""
        with torch.autocast(states.device.type, enabled=False):
            return self.head((states.detach() if self.only_reads else states).float())[..., 0]


class Learner:
    """Policy, critic and reference with their optimiser."""

    def __init__(
        self,
        options: ModelOptions,
        *,
        critic: CriticKind = "none",
        critic_lr: float = 0.0,
        reference: bool = False,
        temperature: float = 1.0,
        total_steps: int = 0,
    ) -> None:
        self.options, self.temperature, self.total_steps = options, temperature, total_steps
        self.team = join(options.device, options.peer_timeout)
        self.budget = TokenBudget(options.token_budget, alone=not self.team.together)
        self.engine = load_engine(options.model, self.team.device or options.device, options.dtype)
        self.policy = self._trainable()
        self.device = self.engine.model.device
        if not check_head(self.policy, self.policy.config.get_text_config().vocab_size):
            raise ConfigError(f"{type(self.policy).__name__} changes its logits after the output layer; not supported")
        # A layer in pieces is let go behind its forward pass, but a shared prefix comes back to it.
        one_pass = options.gradient_checkpointing or self.team.together
        self.reader = Reader.of(self.engine, share_prefix=not one_pass)
        # The reference must be what the policy was before training, so it is made first.
        self.reference = _frozen(self.engine.model) if reference else None
        self.critic = self._make_critic(critic)
        self.critic_lr = critic_lr or options.lr
        self._entries = self._sharded() if self.team.together else {}
        self._anchors: list[Tensor] = []
        self.optimiser = self._make_optimiser()
        self.steps = 0
        self.follower: Any = None  # an engine elsewhere that plays with these weights; see `players`
        self.padding: list[float] = []
        self.trained_tokens = 0

    # ------------------------------------------------------------------ building

    def _trainable(self) -> Any:
        """The float32 model that is trained: the engine's own where that is one already."""
        options = self.options
        model = self.engine.model
        if model.dtype != torch.float32 or options.lora_rank or self.team.together:
            model = load_engine(options.model, self._nursery(), "float32").model
        if options.lora_rank:
            model = with_adapters(model, options.lora_rank, options.lora_alpha or 2 * options.lora_rank, options.seed)
        return _ready_to_train(model, gradient_checkpointing=options.gradient_checkpointing)

    def _nursery(self) -> str:
        """Where a model is loaded: what will be spread needs no room for the whole of it on a GPU."""
        return "cpu" if self.team.together else str(self.engine.model.device)

    def _sharded(self) -> dict[int, Entry]:
        """Spread the models over the processes; their doors."""
        mesh, models = self.team.mesh, (self.policy, self.critic, self.reference)
        with self.team.guard():
            return {id(model): shard(model, mesh) for model in models if model is not None}

    def _make_critic(self, kind: CriticKind) -> Critic | None:
        if kind == "none":
            return None
        width = self.policy.config.get_text_config().hidden_size
        if kind in ("shared", "head"):
            return Critic(width, only_reads=kind == "head").to(self.device)
        own = load_engine(self.options.model, self._nursery(), "float32").model
        own = _ready_to_train(own, gradient_checkpointing=self.options.gradient_checkpointing)
        return Critic(width, own).to(own.device)

    def _make_optimiser(self) -> torch.optim.Optimizer:
        trained = {name: p for name, p in self.policy.named_parameters() if p.requires_grad}
        common: dict[str, Any] = {"weight_decay": self.options.weight_decay, "fused": True}
        critic = [] if self.critic is None else [_group(list(self.critic.parameters()), self.critic_lr)]
        if self.options.optimiser == "adamw":
            # One fused kernel for all weights; the output layer of an own critic has no gradient and is passed over.
            return torch.optim.AdamW([_group(list(trained.values()), self.options.lr), *critic], **common)
        output = self.policy.get_output_embeddings().weight
        inner = [p for name, p in trained.items() if is_inner_matrix(name, p, output)]
        chosen = {id(p) for p in inner}
        rest = [p for p in trained.values() if id(p) not in chosen]
        lr = self.options.lr
        groups = [_group(inner, lr, orthogonal=True), _group(rest, self.options.word_lr * lr, orthogonal=False)]
        return Muon([*groups, *({**group, "orthogonal": False} for group in critic)], **common)

    # ------------------------------------------------------------------ reading

    @contextlib.contextmanager
    def _computing(self) -> Iterator[None]:
        """bf16 where the engine generates in it."""
        mixed = self.engine.model.dtype == torch.bfloat16
        with self._memory(), torch.autocast(self.device.type, torch.bfloat16, enabled=mixed):
            yield

    @contextlib.contextmanager
    def _memory(self) -> Iterator[None]:
        """A lack of memory is told from other errors, in every process."""
        with self.budget.watched(), self.team.guard():
            yield

    def _within(self, module: Any, work: Callable[[], Any]) -> Any:
        """Do what needs a module's weights: where they are in pieces, behind its door."""
        if id(module) not in self._entries:
            return work()
        found, anchor = self._entries[id(module)](work)
        self._anchors += [] if anchor is None else [anchor]
        return found

    def outputs(
        self, rows: Sequence[Row], *, values: bool = True, entropy: bool = False, only_critic: bool = False
    ) -> Outputs:
        """The policy's and the critic's view of some rows, with gradients where they are switched on.

        With `only_critic` no gradient reaches the policy, also where the critic reads the policy's hidden states.
        """
        with self._computing():
            with torch.set_grad_enabled(torch.is_grad_enabled() and not only_critic):
                states, scores = self._within(self.policy, lambda: self._read(self.policy, rows, entropy))
            before = after = None
            if values and self.critic is not None:
                before, after = self._within(self.critic, lambda: self._judge(rows, states))
        return Outputs(scores.logprobs, scores.entropy, before, after, target_mask(rows).to(self.device))

    @torch.no_grad()
    def look(self, rows: Sequence[Row], what: Callable[[Sequence[Row]], tuple[Tensor, ...]]) -> list[list[Tensor]]:
        """`what` of all rows in batches, without gradients: for each of its tensors, a flat CPU tensor per row."""
        sizes = [len(row.targets) for row in rows]
        found = self._spread([len(row.ids) for row in rows], sizes, lambda some: what([rows[index] for index in some]))
        return [list(one) for one in zip(*found, strict=True)]

    def _spread(
        self, lengths: Sequence[int], sizes: Sequence[int], work: Callable[[list[int]], Sequence[Tensor]]
    ) -> list[list[Tensor]]:
        def computed(some: list[int]) -> Sequence[Tensor]:
            with self._computing():
                return work(some)

        # Without gradients twice the tokens fit.
        return self.budget.fit(lengths, lambda tokens: spread(self.team, lengths, tokens, sizes, computed), times=2)

    def logprobs(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of the policy as it is now."""
        return self.look(rows, lambda some: (self._scores(self.policy, some).logprobs,))[0]

    def reference_logprobs(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of the policy as it was at the beginning."""
        return self.look(rows, lambda some: (self._scores(self.reference, some).logprobs,))[0]

    def values(self, rows: Sequence[Row]) -> tuple[list[Tensor], list[Tensor]]:
        """Of the states before and after each token."""
        critic = self.critic
        assert critic is not None

        def both(some: Sequence[Row]) -> tuple[Tensor, Tensor]:
            own = critic.model is not None
            states = None if own else self._within(self.policy, lambda: self.reader.hidden(self.policy, some))
            return self._within(critic, lambda: self._judge(some, states))

        before, after = self.look(rows, both)
        return before, after

    @torch.no_grad()
    def last_values(self, prompts: Sequence[Prompt]) -> Tensor:
        """Of the states behind some prompts: what an episode that was cut could still have earned."""
        critic = self.critic
        assert critic is not None
        model, reader = critic.model or self.policy, self.reader.last_hidden

        def last(some: list[int]) -> tuple[Tensor]:
            chosen = [prompts[index] for index in some]
            states = None if critic.model else self._within(model, lambda: reader(model, chosen))
            return (self._within(critic, lambda: critic(reader(model, chosen) if states is None else states))[:, None],)

        lengths = [len(prompt.ids) for prompt in prompts]
        found = self._spread(lengths, [1] * len(prompts), last)
        return torch.cat([value for (value,) in found]) if found else torch.zeros(0)

    def _scores(self, model: Any, rows: Sequence[Row]) -> Scores:
        return self._within(model, lambda: self._read(model, rows, False)[1])

    def _read(self, model: Any, rows: Sequence[Row], entropy: bool) -> tuple[Hidden, Scores]:
        states = self.reader.hidden(model, rows)
        return states, token_scores(model, states.before, rows, self.temperature, entropy=entropy)

    def _judge(self, rows: Sequence[Row], states: Hidden | None) -> tuple[Tensor, Tensor]:
        """The critic's values before and after the targets; `states` are the policy's, which some critics read."""
        critic = self.critic
        assert critic is not None
        own = states if critic.model is None else self.reader.hidden(critic.model, rows)
        assert own is not None
        return critic(own.before), critic(own.after)

    # ------------------------------------------------------------------ moving

    def step(self, rows: Sequence[Row], loss_of: LossOf) -> dict[str, float]:
        """One optimiser step on `rows`: `loss_of(indices)` gives a micro-batch's part of the loss and its figures.

        Figures come back as means weighted by target tokens, those called `..._max` as the largest. A loss or gradient
        that is no number stops the run before any weight has changed. Several processes share the rows.
        """
        lengths = [len(row.ids) for row in rows]
        padding, figures = self.budget.fit(lengths, lambda tokens: self._gradients(rows, tokens, loss_of))
        self.padding.append(padding)
        self.trained_tokens += sum(lengths)
        _check_loss(figures["loss"])
        if not any(row.images for row in rows):
            self._leave_towers()
        with self.team.guard():
            figures["grad_norm"] = self._move()
        return figures

    def _gradients(self, rows: Sequence[Row], budget: int, loss_of: LossOf) -> tuple[float, dict[str, float]]:
        """Those of the whole loss, in micro-batches of `budget` tokens; the share of padding, and the figures."""
        plan = deal(self.team, [len(row.ids) for row in rows], budget)
        found: list[tuple[float, dict[str, float]]] = []
        self.optimiser.zero_grad(set_to_none=True)
        self._anchors.clear()  # of a try that failed
        tokens = sum(len(row.targets) for row in rows)
        for batch, counts in plan.turns:
            with self._computing():
                loss, metrics = loss_of(batch)
            if not self.team.together:
                _check_loss(loss.item())
            with self._memory():
                self._anchored(loss, counts).backward()
            if counts:
                share = sum(len(rows[index].targets) for index in batch) / tokens
                values = {**metrics, "loss": loss.detach() / share}
                found.append((share, {name: float(value) for name, value in values.items()}))
        return plan.padding, mean_figures([one for other in self.team.gather(found) for one in other])

    def _anchored(self, loss: Tensor, counts: bool) -> Tensor:
        """The loss with a way back through all that was computed; for company only, it is worth nothing."""
        anchors, self._anchors = self._anchors, []
        return sum(anchors, loss if counts else 0.0 * loss)

    def _leave_towers(self) -> None:
        """Where no process saw a picture, an anchor's 0 is no gradient: momentum must not move what nobody used."""
        for entry in self._entries.values():
            for parameter in entry.tower():
                parameter.grad = None

    def _move(self) -> float:
        parts = [[p for p in group["params"] if p.grad is not None] for group in self.optimiser.param_groups]
        # Policy and critic are clipped apart: a critic far off must not silence the policy.
        clip = [
            nn.utils.clip_grad_norm_(part, self.options.max_grad_norm) if part else torch.zeros(()) for part in parts
        ]
        norms = [float(whole(norm)) for norm in clip]
        if not all(map(math.isfinite, norms)):
            raise TrainingFault(f"a gradient norm is {norms}; no weight was changed by it")
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * self.rate()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.steps += 1
        return norms[0]

    def rate(self) -> float:
        """The share of the peak learning rates that holds for the next step."""
        warm = min(1.0, (self.steps + 1) / self.options.warmup) if self.options.warmup else 1.0
        rest = max(1, self.total_steps - self.options.warmup)
        done = min(1.0, max(0.0, (self.steps - self.options.warmup) / rest))
        if self.options.schedule == "linear":
            return warm * (1 - done)
        if self.options.schedule == "cosine":
            return warm * 0.5 * (1 + math.cos(math.pi * done))
        return warm

    @torch.no_grad()
    def publish(self) -> None:
        """Let the engine generate with the new weights."""
        if self.engine.model is not self.policy:
            targets = dict(self.engine.model.named_parameters())
            with self.team.guard():
                for name, weight in merged(self.policy, targets):
                    targets[name].copy_(weight)
        if self.follower is not None:
            self.follower.follow(self)


def mean_figures(found: Sequence[tuple[float, dict[str, float]]]) -> dict[str, float]:
    """Figures of parts of a batch as figures of the whole; each part comes with its share."""
    figures: dict[str, float] = {}
    for share, values in found:
        for name, value in values.items():
            largest = name.endswith("_max")
            figures[name] = max(figures.get(name, value), value) if largest else figures.get(name, 0.0) + share * value
    return figures


def _check_loss(loss: float) -> None:
    if not math.isfinite(loss):
        raise TrainingFault(f"the loss is {loss}; no weight was changed by it")


def _group(parameters: list[nn.Parameter], peak: float, **more: Any) -> dict[str, Any]:
    """Parameters that move together; `peak` is the learning rate that the schedule takes its share of."""
    return {"params": parameters, "peak": peak, "lr": peak, **more}


def _frozen(model: Any) -> Any:
    """A copy that nobody trains; the engine's model itself will change."""
    return copy.deepcopy(model).requires_grad_(False).eval()


def _ready_to_train(model: Any, *, gradient_checkpointing: bool) -> Any:
    """Without dropout: a probability ratio compares what was played with what is trained, and must begin at 1."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            setattr(module, "attention_dropout", 0.0)  # noqa: B010 (modules declare their attributes to be tensors)
    if gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    return model.train()  # transformers checkpoint gradients in this mode only

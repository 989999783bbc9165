"""The models of a training run: the policy, its critic, the frozen reference, and the optimiser that moves them.

The weights that are trained are float32. Where the policy generates in another type (bf16 on a GPU) or trains adapters
(LoRA), the engine holds a copy of its own, and `publish` writes the new weights into it, in place: whatever the engine
has captured stays valid.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError, Fault
from agentrl.policies.chat import Prompt
from agentrl.policies.engine import load_engine
from agentrl.trainers.forward import Hidden, Reader, Scores, check_head, target_mask, token_scores
from agentrl.trainers.muon import OTHERS, Muon, is_inner_matrix
from agentrl.trainers.rows import Row, micro_batches, padding_share

CriticKind = Literal["none", "own", "shared", "head"]


class TrainingFault(Fault):
    """Training cannot go on: a loss that is no number, memory that ran out."""


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
    max_grad_norm: float
    token_budget: int
    lora_rank: int
    lora_alpha: float
    gradient_checkpointing: bool
    seed: int


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
        self.engine = load_engine(options.model, options.device, options.dtype)
        self.policy = self._trainable()
        self.device = self.policy.device
        if not check_head(self.policy, self.policy.config.get_text_config().vocab_size):
            raise ConfigError(f"{type(self.policy).__name__} changes its logits after the output layer; not supported")
        self.reader = Reader.of(self.engine, share_prefix=not options.gradient_checkpointing)
        # The reference must be what the policy was before training, so it is made first.
        self.reference = _frozen(self.engine.model) if reference else None
        self.critic = self._make_critic(critic)
        self.critic_lr = critic_lr or options.lr
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
        if model.dtype != torch.float32 or options.lora_rank:
            model = load_engine(options.model, str(model.device), "float32").model
        if options.lora_rank:
            model = with_adapters(model, options.lora_rank, options.lora_alpha or 2 * options.lora_rank, options.seed)
        return _ready_to_train(model, gradient_checkpointing=options.gradient_checkpointing)

    def _make_critic(self, kind: CriticKind) -> Critic | None:
        if kind == "none":
            return None
        width = self.policy.config.get_text_config().hidden_size
        if kind in ("shared", "head"):
            return Critic(width, only_reads=kind == "head").to(self.device)
        own = load_engine(self.options.model, str(self.device), "float32").model
        own = _ready_to_train(own, gradient_checkpointing=self.options.gradient_checkpointing)
        return Critic(width, own).to(self.device)

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
        groups = [_group(inner, lr, orthogonal=True), _group(rest, OTHERS * lr, orthogonal=False)]
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
        """A lack of memory says what to turn."""
        try:
            yield
        except torch.OutOfMemoryError as error:
            raise TrainingFault(
                f"out of GPU memory while training; lower token_budget (now {self.options.token_budget}), "
                "or switch gradient_checkpointing on"
            ) from error
        except RuntimeError as error:
            if "DefaultCPUAllocator" not in str(error):
                raise
            raise TrainingFault(
                f"out of memory while training; lower token_budget (now {self.options.token_budget})"
            ) from error

    def outputs(
        self, rows: Sequence[Row], *, values: bool = True, entropy: bool = False, only_critic: bool = False
    ) -> Outputs:
        """The policy's and the critic's view of some rows, with gradients where they are switched on.

        With `only_critic` no gradient reaches the policy, also where the critic reads the policy's hidden states.
        """
        with self._computing():
            with torch.set_grad_enabled(torch.is_grad_enabled() and not only_critic):
                states = self.reader.hidden(self.policy, rows)
            scores = token_scores(self.policy, states.before, rows, self.temperature, entropy=entropy)
            before = after = None
            if values and self.critic is not None:
                own = states if self.critic.model is None else self.reader.hidden(self.critic.model, rows)
                before, after = self.critic(own.before), self.critic(own.after)
        return Outputs(scores.logprobs, scores.entropy, before, after, target_mask(rows).to(self.device))

    @torch.no_grad()
    def look(self, rows: Sequence[Row], what: Callable[[Sequence[Row]], tuple[Tensor, ...]]) -> list[list[Tensor]]:
        """`what` of all rows in batches, without gradients: for each of its tensors, a flat CPU tensor per row."""
        found: list[list[Tensor]] = [[] for _ in rows]
        for batch in micro_batches([len(row.ids) for row in rows], 2 * self.options.token_budget):
            with self._computing():
                tensors = [tensor.float().cpu() for tensor in what([rows[index] for index in batch])]
            for place, index in enumerate(batch):
                found[index] = [tensor[place, : len(rows[index].targets)] for tensor in tensors]
        return [list(one) for one in zip(*found, strict=True)]

    def logprobs(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of the policy as it is now."""
        return self.look(rows, lambda some: (self._scores(self.policy, some).logprobs,))[0]

    def reference_logprobs(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of the policy as it was at the beginning."""
        return self.look(rows, lambda some: (self._scores(self.reference, some).logprobs,))[0]

    def values(self, rows: Sequence[Row]) -> tuple[list[Tensor], list[Tensor]]:
        """Of the states before and after each token."""
        assert self.critic is not None
        critic = self.critic

        def both(some: Sequence[Row]) -> tuple[Tensor, Tensor]:
            states: Hidden = self.reader.hidden(critic.model or self.policy, some)
            return critic(states.before), critic(states.after)

        before, after = self.look(rows, both)
        return before, after

    @torch.no_grad()
    def last_values(self, prompts: Sequence[Prompt]) -> Tensor:
        """Of the states behind some prompts: what an episode that was cut could still have earned."""
        assert self.critic is not None
        found = torch.zeros(len(prompts))
        for batch in micro_batches([len(prompt.ids) for prompt in prompts], 2 * self.options.token_budget):
            with self._computing():
                model = self.critic.model or self.policy
                found[batch] = self.critic(self.reader.last_hidden(model, [prompts[i] for i in batch])).float().cpu()
        return found

    def _scores(self, model: Any, rows: Sequence[Row]) -> Scores:
        return token_scores(model, self.reader.hidden(model, rows).before, rows, self.temperature)

    # ------------------------------------------------------------------ moving

    def step(self, rows: Sequence[Row], loss_of: Callable[[list[int]], tuple[Tensor, dict[str, Tensor]]]) -> dict:
        """One optimiser step on `rows`: `loss_of(indices)` gives a micro-batch's part of the loss and its figures.

        Figures come back as means weighted by target tokens. A loss or gradient that is no number stops the run before
        any weight has changed.
        """
        lengths = [len(row.ids) for row in rows]
        batches = micro_batches(lengths, self.options.token_budget)
        self.padding.append(padding_share(lengths, batches))
        self.trained_tokens += sum(lengths)
        figures: dict[str, float] = {}
        self.optimiser.zero_grad(set_to_none=True)
        whole = sum(len(row.targets) for row in rows)
        for batch in batches:
            with self._computing():
                loss, metrics = loss_of(batch)
            if not bool(torch.isfinite(loss)):
                raise TrainingFault(f"the loss is {loss.item()}; no weight was changed by it")
            with self._memory():
                loss.backward()
            share = sum(len(rows[index].targets) for index in batch) / whole
            for name, value in {**metrics, "loss": loss.detach() / share}.items():
                figures[name] = figures.get(name, 0.0) + share * float(value)
        figures["grad_norm"] = self._move()
        return figures

    def _move(self) -> float:
        parts = [[p for p in group["params"] if p.grad is not None] for group in self.optimiser.param_groups]
        # Policy and critic are clipped apart: a critic far off must not silence the policy.
        norms = [float(nn.utils.clip_grad_norm_(part, self.options.max_grad_norm)) if part else 0.0 for part in parts]
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
            fresh = merged_weights(self.policy)
            for name, parameter in self.engine.model.named_parameters():
                parameter.copy_(fresh[name])
        if self.follower is not None:
            self.follower.follow(self)


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


# ---------------------------------------------------------------------- adapters


def with_adapters(model: Any, rank: int, alpha: float, seed: int) -> Any:
    """Low-rank adapters in every linear layer of the language model; nothing else is trained."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError as error:
        from agentrl.core.errors import MissingExtra

        raise MissingExtra("peft", "train") from error
    scale: Any = alpha  # declared a whole number, used as any
    config = LoraConfig(r=rank, lora_alpha=scale, target_modules=r".*\.(q|k|v|o|gate|up|down)_proj", lora_dropout=0.0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            model = inject_adapter_in_model(config, model)
        except ValueError as error:  # none of its layers has such a name
            raise ConfigError(f"lora_rank: {type(model).__name__} has no layers that adapters fit: {error}") from error
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora_" in name)
    return model


def merged_weights(model: Any) -> dict[str, Tensor]:
    """Weights by their ordinary names, adapters added in."""
    weights = {}
    for name, module in model.named_modules():
        adapted = hasattr(module, "lora_A") and hasattr(module, "get_delta_weight")
        for part, parameter in module.named_parameters(recurse=False):
            weights[f"{name}.{part}"] = parameter.data
        if adapted:
            base = module.get_base_layer()
            delta = sum(module.get_delta_weight(adapter) for adapter in module.active_adapters)
            weights[f"{name}.weight"] = base.weight.data + delta
            if base.bias is not None:
                weights[f"{name}.bias"] = base.bias.data
    return {name: value for name, value in weights.items() if ".lora_" not in name and ".base_layer." not in name}

"""The models of a training run and their optimiser: loaded, made ready to train, put into parameter groups."""

from __future__ import annotations

import copy
from typing import Any, Literal

import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import run_seed
from agentrl.models.float32_head import compute_head_in_float32
from agentrl.models.loading import LoadedModel, load_model
from agentrl.models.scoring import check_head
from agentrl.trainers.arguments import RunArguments
from agentrl.trainers.lora import with_adapters
from agentrl.trainers.muon import Muon, is_inner_matrix

CriticKind = Literal["none", "own", "shared", "head"]
HEAD_STD = 0.02  # of a random value head, as language models begin; hidden states have about unit size


class Critic(nn.Module):
    """A value for every position: one linear layer on a language model's hidden states.

    It is 0 everywhere at first, or with a `seed` a random one: then its first gradients reach the body, too. Of several
    `heads` the lowest value counts, so that what one of them overrates by chance is not believed.
    """

    def __init__(
        self, width: int, model: Any = None, *, only_reads: bool = False, heads: int = 1, seed: int | None = None
    ) -> None:
        super().__init__()
        self.model = model  # None: it reads the policy's hidden states
        self.only_reads = only_reads  # ... without a gradient that would change them
        self.head = nn.Linear(width, heads)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        if seed is not None:
            nn.init.normal_(self.head.weight, std=HEAD_STD, generator=torch.Generator().manual_seed(seed))

    def forward(self, states: Tensor) -> Tensor:
        """`[...]` from `[..., width]`, in float32."""
        found = self.every_head(states)
        return found[..., 0] if found.shape[-1] == 1 else found.amin(-1)

    def every_head(self, states: Tensor) -> Tensor:
        """`[..., heads]`."""
        with torch.autocast(states.device.type, enabled=False):
            return self.head((states.detach() if self.only_reads else states).float())


def make_policy(options: RunArguments, engine: LoadedModel, *, sharded: bool) -> Any:
    """The float32 model that is trained: the engine's own where that is one already.

    A model that will be sharded is loaded on the CPU: there need be no room for the whole of it on one GPU.
    """
    model = engine.model
    if model.dtype != torch.float32 or options.lora_rank or sharded:
        model = load_model(options.model, _loading_device(engine, sharded), "float32").model
        if options.float32_head:
            compute_head_in_float32(model, engine.model.dtype)
    if options.lora_rank:
        model = with_adapters(model, options.lora_rank, options.lora_alpha or 2 * options.lora_rank, options.seed)
    _check_finite(model, options.model)
    model = ready_to_train(model, gradient_checkpointing=options.gradient_checkpointing)
    if not check_head(model, model.config.get_text_config().vocab_size):
        raise ConfigError(f"{type(model).__name__} changes its logits after the output layer; not supported")
    return model


def _check_finite(model: Any, name: str) -> None:
    """Weights that are not numbers would train to nothing, and fail far from their cause."""
    for parameter, weights in model.named_parameters():
        if not bool(torch.isfinite(weights).all()):
            raise ConfigError(f"the weights of the model {name} must be finite; {parameter} holds NaN or infinity")


def make_critic(
    kind: CriticKind, options: RunArguments, engine: LoadedModel, *, sharded: bool, random_heads: int = 0
) -> Critic | None:
    """A critic with a body of its own, or a head for the policy's; one that is 0, or `random_heads` that are not."""
    if kind == "none":
        return None
    width = engine.model.config.get_text_config().hidden_size
    seed = run_seed(options.seed, 0, "critic") if random_heads else None
    heads: dict[str, Any] = {"heads": random_heads or 1, "seed": seed}
    if kind in ("shared", "head"):
        return Critic(width, only_reads=kind == "head", **heads).to(engine.model.device)
    body = load_model(options.model, _loading_device(engine, sharded), "float32").model
    body = ready_to_train(body, gradient_checkpointing=options.gradient_checkpointing)
    return Critic(width, body, **heads).to(body.device)


def frozen_copy(model: Any) -> Any:
    """The reference: a copy that is not trained, since the engine's model itself will change."""
    return copy.deepcopy(model).requires_grad_(False).eval()


def make_optimiser(
    options: RunArguments, policy: Any, critic: Critic | None, critic_lr: float, head_lr: float = 0.0
) -> torch.optim.Optimizer:
    """AdamW, or Muon for the policy's matrices; `peak` is the learning rate that the schedule takes its share of."""
    trained = {name: p for name, p in policy.named_parameters() if p.requires_grad}
    common: dict[str, Any] = {"weight_decay": options.weight_decay, "fused": True}
    lr = options.lr
    critics = [] if critic is None else _critic_groups(critic, critic_lr, head_lr)
    if options.optimiser == "adamw":
        # One fused kernel for all weights; the output layer of an own critic has no gradient and is passed over.
        return torch.optim.AdamW([_group(list(trained.values()), lr), *critics], **common)
    output = policy.get_output_embeddings().weight
    inner = [p for name, p in trained.items() if is_inner_matrix(name, p, output)]
    chosen = {id(p) for p in inner}
    rest = [p for p in trained.values() if id(p) not in chosen]
    groups = [_group(inner, lr, orthogonal=True), _group(rest, options.embedding_lr * lr, orthogonal=False)]
    return Muon([*groups, *({**group, "orthogonal": False} for group in critics)], **common)


def _critic_groups(critic: Critic, lr: float, head_lr: float) -> list[dict[str, Any]]:
    """The whole critic, or its body and its head apart; either way what has no body is a head."""
    head = list(critic.head.parameters())
    if not head_lr or critic.model is None:
        return [_group(list(critic.parameters()), head_lr or lr)]
    return [_group(list(critic.model.parameters()), lr), _group(head, head_lr)]


def _loading_device(engine: LoadedModel, sharded: bool) -> str:
    return "cpu" if sharded else str(engine.model.device)


def _group(parameters: list[nn.Parameter], peak: float, **more: Any) -> dict[str, Any]:
    return {"params": parameters, "peak": peak, "lr": peak, **more}


def ready_to_train(model: Any, *, gradient_checkpointing: bool) -> Any:
    """Without dropout: a probability ratio compares what was sampled with what is trained, and must begin at 1."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            setattr(module, "attention_dropout", 0.0)  # noqa: B010 (modules declare their attributes to be tensors)
    if gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    return model.train()  # transformers checkpoint gradients in this mode only

"""The models of a training run and their optimiser: loaded, made ready to train, put into parameter groups."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.models.float32_head import compute_head_in_float32
from agentrl.models.loading import LoadedModel, load_model
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.parallel.sharding import whole
from agentrl.trainers.update.muon import Muon, is_inner_matrix


def make_policy(options: RunArguments, engine: LoadedModel, *, sharded: bool) -> Any:
    """The float32 model that is trained: the engine's own where that is one already.

    A model that will be sharded is loaded on the CPU: there need be no room for the whole of it on one GPU.
    """
    model = engine.model
    if model.dtype != torch.float32 or options.lora_rank or sharded:
        model = load_model(options.model, "cpu" if sharded else str(model.device), "float32").model
        if options.float32_head:
            compute_head_in_float32(model, engine.model.dtype)
    if options.lora_rank:
        model = with_adapters(model, options.lora_rank, options.lora_alpha or 2 * options.lora_rank, options.seed)
    for name, weights in model.named_parameters():  # NaN would train to nothing, and fail far from its cause
        if not bool(torch.isfinite(weights).all()):
            raise ConfigError(f"the weights of the model {options.model} must be finite; {name} holds NaN or infinity")
    model = ready_to_train(model, gradient_checkpointing=options.gradient_checkpointing)
    if not check_head(model, model.config.get_text_config().vocab_size):
        raise ConfigError(f"{type(model).__name__} changes its logits after the output layer; not supported")
    return model


def check_head(model: Any, vocabulary: int) -> bool:
    """Are the model's logits its output layer applied to its last hidden states, and nothing more?"""
    ids = torch.arange(8, device=model.device)[None] % vocabulary
    with torch.no_grad():
        plain = model.get_output_embeddings()(model.base_model(input_ids=ids, use_cache=False).last_hidden_state)
        return bool(torch.allclose(plain, model(input_ids=ids, use_cache=False).logits, atol=1e-3, rtol=1e-3))


def load_body(options: RunArguments, engine: LoadedModel, *, sharded: bool) -> Any:
    """The body of a critic that has one of its own: the policy's model once more."""
    body = load_model(options.model, "cpu" if sharded else str(engine.model.device), "float32").model
    return ready_to_train(body, gradient_checkpointing=options.gradient_checkpointing)


def make_optimiser(
    options: RunArguments, policy: Any, critic: Any, critic_lr: float, critic_head_lr: float = 0.0
) -> torch.optim.Optimizer:
    """AdamW, or Muon for the policy's matrices; `peak` is the learning rate that the schedule takes its share of."""

    def group(parameters: list[nn.Parameter], peak: float, **more: Any) -> dict[str, Any]:
        return {"params": parameters, "peak": peak, "lr": peak, **more}

    trained = {name: p for name, p in policy.named_parameters() if p.requires_grad}
    common: dict[str, Any] = {"weight_decay": options.weight_decay, "fused": True}
    critics = []
    if critic is not None and critic_head_lr and critic.model is not None:
        body, head = list(critic.model.parameters()), critic.outputs()
        critics = [group(body, critic_lr), group(head, critic_head_lr)]
    elif critic is not None:  # all of it at one rate; a critic without a body is a head
        critics = [group(list(critic.parameters()), critic_head_lr or critic_lr)]
    if options.optimiser == "adamw":
        # One fused kernel for all weights; the output layer of an own critic has no gradient and is passed over.
        return torch.optim.AdamW([group(list(trained.values()), options.lr), *critics], **common)
    output = policy.get_output_embeddings().weight
    inner = [p for name, p in trained.items() if is_inner_matrix(name, p, output)]
    chosen = {id(p) for p in inner}
    rest = [p for p in trained.values() if id(p) not in chosen]
    groups = [group(inner, options.lr, orthogonal=True)]
    groups += [group(rest, options.embedding_lr * options.lr, orthogonal=False)]
    return Muon([*groups, *({**one, "orthogonal": False} for one in critics)], **common)


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


# ---------------------------------------------------------------------- low-rank adapters


def with_adapters(model: Any, rank: int, alpha: float, seed: int) -> Any:
    """Low-rank adapters in every linear layer of the language model; nothing else is trained."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError as error:
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


def merged(model: Any, wanted: Container[str]) -> Iterator[tuple[str, Tensor]]:
    """Weights by their ordinary names, whole and with adapters added in, one at a time."""
    for name, module in model.named_modules():
        adapted = hasattr(module, "lora_A") and hasattr(module, "get_delta_weight")
        source = module.get_base_layer() if adapted else module
        for part, parameter in source.named_parameters(recurse=False):
            if f"{name}.{part}" not in wanted:
                continue
            weight = whole(parameter.data)
            if adapted and part == "weight":
                ups, downs = (
                    [whole(kind[own].weight.data) for own in module.active_adapters]
                    for kind in (module.lora_B, module.lora_A)
                )
                scales = [module.scaling[own] for own in module.active_adapters]
                weight = weight + sum((b @ a) * scale for b, a, scale in zip(ups, downs, scales, strict=True))
            yield f"{name}.{part}", weight

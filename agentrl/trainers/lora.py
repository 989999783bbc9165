"""Low-rank adapters: trained in place of a model's own weights, and added to them where the whole is needed."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import torch
from torch import Tensor

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.trainers.sharding import whole


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
            if f"{name}.{part}" in wanted:
                weight = whole(parameter.data)
                yield f"{name}.{part}", weight + _delta(module) if adapted and part == "weight" else weight


def _delta(module: Any) -> Tensor:
    """What the adapters of a layer add to its weight."""
    pairs = [(module.lora_B[name].weight.data, module.lora_A[name].weight.data) for name in module.active_adapters]
    scales = [module.scaling[name] for name in module.active_adapters]
    return sum((whole(up) @ whole(down)) * scale for (up, down), scale in zip(pairs, scales, strict=True))  # pyright: ignore

"""Low-rank adapters as peft saves them, merged into the weights they belong to."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular

PLACE = re.compile(r"base_model\.model\.extractor_list\.(\d+)\.model\.(.+)\.lora_([AB])\.weight")
# What would need other formulas than ours; absent or empty in DreamSim's adapters.
UNKNOWN = ("use_dora", "alpha_pattern", "rank_pattern", "fan_in_fan_out", "modules_to_save", "megatron_config")


def merge_adapter(folder: Path, backbones: Sequence[nn.Module]) -> None:
    """Add `factor * B A` to each adapted weight; every tensor must find its place and every backbone be adapted."""
    factor, halves = _factor(folder), _halves(folder)
    for index, backbone in enumerate(backbones):
        if not any(place[0] == index for place in halves):
            raise ConfigError(f"the adapter in {folder} has nothing for backbone {index}")
        parameters = dict(backbone.named_parameters())
        for (owner, path), parts in halves.items():
            if owner == index:
                _merge(parameters.get(f"{path}.weight"), parts, factor, f"{folder}: {path} of backbone {index}")
    if strangers := [place for place in halves if place[0] >= len(backbones)]:
        raise ConfigError(f"the adapter in {folder} is for a backbone {strangers[0][0]} that there is not")


def _merge(weight: Tensor | None, parts: dict[str, Tensor], factor: float, where: str) -> None:
    if weight is None or set(parts) != {"A", "B"}:
        raise ConfigError(f"{where}: the adapter's halves A and B and a weight must be there, all three")
    down, up = parts["A"].float().flatten(1), parts["B"].float().flatten(1)
    if up.shape[1] != down.shape[0] or up.shape[0] * down.shape[1] != weight.numel() or up.shape[0] != len(weight):
        raise ConfigError(f"{where}: an adapter of {tuple(up.shape)} and {tuple(down.shape)} for {tuple(weight.shape)}")
    with torch.no_grad():
        weight += factor * (up @ down).reshape(weight.shape)


def _factor(folder: Path) -> float:
    path = folder / "adapter_config.json"
    try:
        settings = msgspec.json.decode(read_regular(path), type=dict[str, Any])
        rank, alpha = int(settings["r"]), float(settings["lora_alpha"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} must be the configuration of an adapter; got {error!r}") from error
    if rank < 1 or not math.isfinite(alpha):
        raise ConfigError(f"{path} has r={rank} and lora_alpha={alpha}")
    for name in UNKNOWN:
        if settings.get(name):
            raise ConfigError(f"{path} uses {name}, which no published DreamSim adapter does")
    return alpha / (math.sqrt(rank) if settings.get("use_rslora") else rank)


def _halves(folder: Path) -> dict[tuple[int, str], dict[str, Tensor]]:
    halves: dict[tuple[int, str], dict[str, Tensor]] = {}
    for name, tensor in _tensors(folder).items():
        if (found := PLACE.fullmatch(name)) is None:
            raise ConfigError(f"the adapter in {folder} has a tensor {name!r}, which belongs to no low-rank adapter")
        halves.setdefault((int(found[1]), found[2]), {})[found[3]] = tensor
    return halves


def _tensors(folder: Path) -> dict[str, Tensor]:
    if (path := folder / "adapter_model.safetensors").is_file():
        from safetensors.torch import load_file as load
    elif (path := folder / "adapter_model.bin").is_file():
        load = read_weights
    else:
        raise ConfigError(f"{folder} has neither adapter_model.safetensors nor adapter_model.bin")
    try:
        return load(path)
    except ConfigError:
        raise
    except Exception as error:  # safetensors has exceptions of its own
        raise ConfigError(f"{path} cannot be read as weights: {error}") from error


def read_weights(path: Path) -> Any:
    """A torch file of tensors; code in it is never run."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises half a dozen kinds for damaged and for hostile files
        raise ConfigError(f"{path} cannot be read as weights: {str(error)[:200] or type(error).__name__}") from error

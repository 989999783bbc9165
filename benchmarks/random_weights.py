"""Folders in the published formats of DINOv2 and DreamSim, with random weights of any size.

Their scores mean nothing. They show that loading works and how quick the models are, without the real files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import save_file
from torch import Tensor

from agentrl.judges.similarity.dino import quiet_transformers
from agentrl.judges.similarity.dreamsim_files import VARIANTS

PATCHES = {"dino_vitbase16": 16, "clip_vitb16": 16, "clip_vitb32": 32, "dinov2_vitb14": 14, "synclr_vit_b_16": 16}
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Sizes:
    """How large a vision transformer is; by default as small as it can be."""

    width: int = 64
    hidden: int = 128
    depth: int = 2
    projected: int = 24
    rank: int = 4


BASE = Sizes(width=768, hidden=3072, depth=12, projected=512, rank=16)  # the published ones


def write_dreamsim(folder: Path, variant: str = "ensemble", sizes: Sizes | None = None, seed: int = 0) -> Path:
    """All files of a DreamSim model, as its archive and torch.hub leave them in a folder."""
    sizes, chance = sizes or Sizes(), _chance(seed)
    backbones = VARIANTS[variant].backbones
    for backbone in backbones:
        path = folder / backbone.places[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        state: dict[str, Any] = _random(_backbone_shapes(path.name, sizes), chance)
        if _is_clip(path.name):  # in its publisher's wrapping
            state = {"state_dict": state}
        elif "synclr" in path.name:
            state = {"model": {f"module.visual.{name}": tensor for name, tensor in state.items()}, "epoch": 1}
        torch.save(state, path)
    _write_adapter(folder / VARIANTS[variant].adapter, len(backbones), sizes, chance)
    return folder


def write_dino(folder: Path, sizes: Sizes | None = None, seed: int = 0) -> Path:
    """A DINOv2 model as Hugging Face stores it."""
    from transformers import Dinov2Config, Dinov2Model

    sizes = sizes or Sizes()
    config = Dinov2Config(
        hidden_size=sizes.width,
        num_hidden_layers=sizes.depth,
        num_attention_heads=sizes.width // 64,
        mlp_ratio=sizes.hidden // sizes.width,
        image_size=518,
        patch_size=14,
    )
    with torch.device("meta"):  # made without numbers: making them up would move the global random state
        model = Dinov2Model(config)
    numbers = _random({name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}, _chance(seed))
    model.load_state_dict(numbers, assign=True)
    with quiet_transformers():
        model.save_pretrained(folder)  # under the names of the published files, which are not those in memory
    return folder


def _chance(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _random(shapes: Shapes, chance: torch.Generator) -> dict[str, Tensor]:
    """About 1 where numbers are multiplied, about 0 elsewhere, and small enough not to blow up."""
    around = {name: float(name.endswith(("norm.weight", "norm1.weight", "norm2.weight"))) for name in shapes}
    return {name: torch.randn(shape, generator=chance) * 0.1 + around[name] for name, shape in shapes.items()}


def _is_clip(file: str) -> bool:
    return "clip_vitb" in file


def _backbone_shapes(file: str, sizes: Sizes) -> Shapes:
    width, hidden, patch = sizes.width, sizes.hidden, next(size for name, size in PATCHES.items() if name in file)
    grid = 37 if "dinov2" in file else 224 // patch  # DINOv2 was trained on larger pictures
    shapes: Shapes = {"cls_token": (1, 1, width), "pos_embed": (1, 1 + grid**2, width)}
    shapes |= {"patch_embed.proj.weight": (width, 3, patch, patch), "patch_embed.proj.bias": (width,)}
    shapes |= {"norm.weight": (width,), "norm.bias": (width,)}
    block: Shapes = {"attn.qkv.weight": (3 * width, width), "attn.qkv.bias": (3 * width,)}
    block |= {"attn.proj.weight": (width, width), "attn.proj.bias": (width,)}
    block |= {"mlp.fc1.weight": (hidden, width), "mlp.fc1.bias": (hidden,)}
    block |= {"mlp.fc2.weight": (width, hidden), "mlp.fc2.bias": (width,)}
    block |= {f"norm{i}.{part}": (width,) for i in (1, 2) for part in ("weight", "bias")}
    block |= {"ls1.gamma": (width,), "ls2.gamma": (width,)} if "dinov2" in file else {}
    for index in range(sizes.depth):
        shapes |= {f"blocks.{index}.{name}": shape for name, shape in block.items()}
    if "dinov2" in file:
        shapes["mask_token"] = (1, width)
    if _is_clip(file):
        shapes |= {"pos_drop.weight": (width,), "pos_drop.bias": (width,), "proj": (width, sizes.projected)}
    return shapes


def _write_adapter(folder: Path, backbones: int, sizes: Sizes, chance: torch.Generator) -> None:
    """A low-rank adapter of every attention, as peft saves it."""
    places = [
        f"base_model.model.extractor_list.{backbone}.model.blocks.{block}.attn.qkv"
        for backbone in range(backbones)
        for block in range(sizes.depth)
    ]
    shapes: Shapes = {f"{place}.lora_A.weight": (sizes.rank, sizes.width) for place in places}
    shapes |= {f"{place}.lora_B.weight": (3 * sizes.width, sizes.rank) for place in places}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(_random(shapes, chance), folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": sizes.rank, "lora_alpha": 2.0 * sizes.rank, "lora_dropout": 0.3}
    settings |= {"bias": "none", "target_modules": ["qkv"]}
    (folder / "adapter_config.json").write_bytes(msgspec.json.encode(settings))

"""DreamSim (Fu, Tamir, Sundaram et al. 2023) from a local folder of its published checkpoints, version 0.2.

The folder is the `cache_dir` of the package `dreamsim`, but the package is not needed: it wants torchvision, and it
runs code that torch.hub downloads. Backbones and adapters are read by code of our own; nothing is downloaded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.files import read_regular
from agentrl.judges.similarity.dreamsim_files import VARIANTS, Backbone, Files, find_files
from agentrl.judges.similarity.network import NetworkScorer
from agentrl.judges.similarity.preparation import CLIP, IMAGENET, Preparation, normalised
from agentrl.judges.similarity.scorer import Pair, Size

PREPARATION = Preparation(resize=(224, 224))


class DreamSimSimilarity(NetworkScorer):
    """`1 - distance` of DreamSim, kept within [0, 1]. Raw: a blank drawing scores above 0.

    `variant` is "ensemble" (DINO, CLIP and OpenCLIP together: the DreamSim of most papers) or one of the single models.
    """

    kind = "dreamsim"
    blank_by_default = False

    def __init__(
        self,
        folder: str,
        *,
        variant: str = "ensemble",
        device: str = "auto",
        threads: int | None = None,
        batch_size: int = 16,
        cache_mb: float = 64,
        above_blank: bool = False,
    ) -> None:
        shared = {"batch_size": batch_size, "cache_mb": cache_mb, "above_blank": above_blank}
        super().__init__(device=device, threads=threads, **shared)
        if variant not in VARIANTS:
            hint = did_you_mean(variant, VARIANTS) if isinstance(variant, str) else ""
            raise ConfigError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}.{hint}")
        if not isinstance(folder, (str, Path)) or not str(folder):
            raise ConfigError(f"folder must be the path of DreamSim's checkpoints; got {folder!r}")
        self.variant, self.folder = variant, Path(folder).expanduser()
        self.arguments = {"folder": str(self.folder), "variant": variant, **self.arguments}
        self.model = DreamSimModel(find_files(self.folder, variant)).to(self.device)

    @property
    def name(self) -> str:
        """The single models are measures of their own."""
        return super().name if self.variant == "ensemble" else f"{super().name}_{self.variant}"

    def _size(self, pair: Pair) -> Size:
        return 224, 224

    def _fit(self, picture: np.ndarray, size: Size) -> np.ndarray:
        return PREPARATION.fit(picture)

    def _embed(self, pictures: np.ndarray) -> Tensor:
        return self.model(pictures, self.device)

    def _compare(self, targets: Tensor, drawings: Tensor) -> Tensor:
        return 1 - functional.cosine_similarity(targets, drawings, dim=-1)


# ---------------------------------------------------------------------- the network

SYNCLR_PREFIX = "module.visual."


class DreamSimModel(nn.Module):
    """Pictures to the vectors whose cosines DreamSim's distance is made of."""

    def __init__(self, files: Files) -> None:
        super().__init__()
        self.kinds = [backbone for backbone, _ in files.backbones]
        loaded = [load_backbone(backbone, path) for backbone, path in files.backbones]
        self.backbones = nn.ModuleList(model for model, _ in loaded)
        for index, (_, projection) in enumerate(loaded):
            self.register_buffer(f"projection{index}", projection)
        merge_adapter(files.adapter, list(self.backbones))
        self.eval().requires_grad_(False)

    def forward(self, pictures: np.ndarray, device: torch.device) -> Tensor:
        """uint8 [n, 224, 224, 3] -> [n, features]."""
        seen = []
        for index, kind in enumerate(self.kinds):
            backbone: Any = self.backbones[index]
            tokens = backbone(normalised(pictures, CLIP if kind.clip else IMAGENET, device))
            if kind.feature == "cls":
                tokens = tokens[:, 0]  # as the last block leaves it, without the final normalisation
            elif kind.feature == "embedding":
                tokens = backbone.norm(tokens[:, 0]) @ self.get_buffer(f"projection{index}")
            seen.append(tokens)
        joined = torch.cat(seen, dim=-1)
        joined = joined - joined.mean(dim=-1, keepdim=True)
        joined = joined / joined.norm(dim=-1, keepdim=True)
        if self.kinds[0].feature != "patches":
            return joined
        return torch.cat([joined[:, 0], joined[:, 1:].mean(dim=1)], dim=-1)


def load_backbone(backbone: Backbone, path: Path) -> tuple[VisionTransformer, Tensor | None]:
    """The transformer in a checkpoint, and the projection after it where the feature is an embedding."""
    loaded = read_weights(path)
    for key in ("state_dict", "model"):  # the wrappings that the different publishers use
        if isinstance(loaded, Mapping) and isinstance(loaded.get(key), Mapping):
            loaded = loaded[key]
    if not isinstance(loaded, Mapping) or not all(isinstance(tensor, Tensor) for tensor in loaded.values()):
        raise ConfigError(f"{path} holds no state dict")
    prefix = SYNCLR_PREFIX if all(name.startswith(SYNCLR_PREFIX) for name in loaded) else ""
    state = {name.removeprefix(prefix): tensor for name, tensor in loaded.items()}
    projection = state.pop("proj", None)
    if backbone.feature == "embedding" and projection is None:
        raise ConfigError(f"{path} has no projection (proj)")
    try:
        epsilon = 1e-5 if backbone.clip else 1e-6
        model = VisionTransformer(state, quick_gelu=backbone.quick_gelu, epsilon=epsilon)
    except (KeyError, RuntimeError, ValueError, IndexError) as error:
        raise ConfigError(f"{path} is not the vision transformer it should be: {str(error)[:300]}") from error
    return model, projection.float() if projection is not None else None


# ---------------------------------------------------------------------- low-rank adapters, as peft saves them

PLACE = re.compile(r"base_model\.model\.extractor_list\.(\d+)\.model\.(.+)\.lora_([AB])\.weight")
# What would need other formulas than ours; absent or empty in DreamSim's adapters.
UNKNOWN = ("use_dora", "alpha_pattern", "rank_pattern", "fan_in_fan_out", "modules_to_save", "megatron_config")


def merge_adapter(folder: Path, backbones: Sequence[nn.Module]) -> None:
    """Add `factor * B A` to each adapted weight; every tensor must find its place and every backbone be adapted."""
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
    factor = alpha / (math.sqrt(rank) if settings.get("use_rslora") else rank)
    halves = _halves(folder)
    for index, backbone in enumerate(backbones):
        if not any(place[0] == index for place in halves):
            raise ConfigError(f"the adapter in {folder} has nothing for backbone {index}")
        parameters = dict(backbone.named_parameters())
        for (owner, place), parts in halves.items():
            if owner == index:
                where, weight = f"{folder}: {place} of backbone {index}", parameters.get(f"{place}.weight")
                if weight is None or set(parts) != {"A", "B"}:
                    raise ConfigError(f"{where}: lora_A, lora_B and the weight they adapt must all be there")
                down, up = parts["A"].float().flatten(1), parts["B"].float().flatten(1)
                shapes = f"{tuple(up.shape)} and {tuple(down.shape)} for {tuple(weight.shape)}"
                fits = up.shape[1] == down.shape[0] and up.shape[0] == len(weight)
                if not fits or up.shape[0] * down.shape[1] != weight.numel():
                    raise ConfigError(f"{where}: an adapter of {shapes}")
                with torch.no_grad():
                    weight += factor * (up @ down).reshape(weight.shape)
    if strangers := [place for place in halves if place[0] >= len(backbones)]:
        raise ConfigError(f"the adapter in {folder} is for backbone {strangers[0][0]}; the model has {len(backbones)}")


def _halves(folder: Path) -> dict[tuple[int, str], dict[str, Tensor]]:
    """(backbone, path of a weight) -> the two factors A and B of what is added to it."""
    if (path := folder / "adapter_model.safetensors").is_file():
        from safetensors.torch import load_file as load
    elif (path := folder / "adapter_model.bin").is_file():
        load = read_weights
    else:
        raise ConfigError(f"{folder} has neither adapter_model.safetensors nor adapter_model.bin")
    try:
        tensors = load(path)
    except ConfigError:
        raise
    except Exception as error:  # safetensors has exceptions of its own
        raise ConfigError(f"{path} cannot be read as weights: {error}") from error
    halves: dict[tuple[int, str], dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if (found := PLACE.fullmatch(name)) is None:
            raise ConfigError(f"the adapter in {folder} has a tensor {name!r}, which belongs to no low-rank adapter")
        halves.setdefault((int(found[1]), found[2]), {})[found[3]] = tensor
    return halves


def read_weights(path: Path) -> Any:
    """A torch file of tensors; code in it is never run."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises half a dozen kinds for damaged and for hostile files
        raise ConfigError(f"{path} cannot be read as weights: {str(error)[:200] or type(error).__name__}") from error


# ---------------------------------------------------------------------- the vision transformer of all backbones
#
# Its parameters are named as in the published checkpoints of DreamSim's backbones, and its sizes are read off them.

HEAD = 64  # the width of an attention head in all of these models


class QuickGELU(nn.Module):
    """CLIP's own approximation of GELU."""

    def forward(self, x: Tensor) -> Tensor:
        """Element by element."""
        return x * torch.sigmoid(1.702 * x)


class Attention(nn.Module):
    """Every token looks at all tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = width // HEAD
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """[n, tokens, width] -> the same."""
        n, count, width = tokens.shape
        query, key, value = self.qkv(tokens).view(n, count, 3, self.heads, HEAD).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value)
        return self.proj(seen.transpose(1, 2).reshape(n, count, width))


class Perceptron(nn.Module):
    """Each token by itself."""

    def __init__(self, width: int, hidden: int, quick_gelu: bool) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.act = QuickGELU() if quick_gelu else nn.GELU()

    def forward(self, tokens: Tensor) -> Tensor:
        """[n, tokens, width] -> the same."""
        return self.fc2(self.act(self.fc1(tokens)))


class Scale(nn.Module):
    """DINOv2's learned factor on what a layer adds."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, tokens: Tensor) -> Tensor:
        """Channel by channel."""
        return tokens * self.gamma


class Block(nn.Module):
    """One layer: attention, then the perceptron, each added to what was there."""

    def __init__(self, width: int, hidden: int, quick_gelu: bool, scaled: bool, epsilon: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        self.attn, self.mlp = Attention(width), Perceptron(width, hidden, quick_gelu)
        self.ls1, self.ls2 = (Scale(width) if scaled else nn.Identity() for _ in range(2))

    def forward(self, tokens: Tensor) -> Tensor:
        """[n, tokens, width] -> the same."""
        tokens = tokens + self.ls1(self.attn(self.norm1(tokens)))
        return tokens + self.ls2(self.mlp(self.norm2(tokens)))


class VisionTransformer(nn.Module):
    """Pictures cut into patches; a class token stands before them."""

    def __init__(self, state: Mapping[str, Tensor], *, quick_gelu: bool = False, epsilon: float = 1e-6) -> None:
        super().__init__()
        width, channels, patch, _ = state["patch_embed.proj.weight"].shape
        if width % HEAD:
            raise ValueError(f"the width must be a multiple of {HEAD}; got {width}")
        depth = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("blocks."))
        hidden, scaled = state["blocks.0.mlp.fc1.weight"].shape[0], "blocks.0.ls1.gamma" in state
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(channels, width, patch, stride=patch)})
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(state["pos_embed"].shape))
        # CLIP normalises before the first block; the checkpoints keep that under this name.
        self.pos_drop = nn.LayerNorm(width, epsilon) if "pos_drop.weight" in state else nn.Identity()
        self.blocks = nn.ModuleList(Block(width, hidden, quick_gelu, scaled, epsilon) for _ in range(depth))
        self.norm = nn.LayerNorm(width, epsilon)
        self.load_state_dict({name: tensor for name, tensor in state.items() if name != "mask_token"})

    def forward(self, pixels: Tensor) -> Tensor:
        """[n, 3, height, width] -> the last block's tokens, not normalised: [n, 1 + patches, width]."""
        patches = self.patch_embed["proj"](pixels)
        tokens = torch.cat([self.cls_token.expand(len(pixels), -1, -1), patches.flatten(2).transpose(1, 2)], dim=1)
        tokens = self.pos_drop(tokens + self._positions(patches.shape[2], patches.shape[3]))
        for block in self.blocks:
            tokens = block(tokens)
        return tokens

    def _positions(self, rows: int, columns: int) -> Tensor:
        """The learned positions; stretched over another grid when the picture's is not the one of training."""
        first, others = self.pos_embed[:, :1], self.pos_embed[:, 1:]
        side = math.isqrt(others.shape[1])
        if rows == columns == side:
            return self.pos_embed
        grid = others.reshape(1, side, side, -1).permute(0, 3, 1, 2)
        # A tenth too many, rounded down again: how DINO and DINOv2 guard against rounding. It moves the values a
        # little, so the same must be done here.
        factor = ((rows + 0.1) / side, (columns + 0.1) / side)
        grid = functional.interpolate(grid, scale_factor=factor, mode="bicubic")
        return torch.cat([first, grid.permute(0, 2, 3, 1).flatten(1, 2)], dim=1)

"""Which files each published DreamSim model consists of, and where they are to be had."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentrl.core.errors import ConfigError

RELEASES = "https://github.com/ssundaram21/dreamsim/releases/download"
Feature = Literal["cls", "embedding", "patches"]


@dataclass(frozen=True)
class Backbone:
    """One pretrained model: `places` in the folder where its weights may lie, best first, and how it is read."""

    places: tuple[str, ...]
    feature: Feature = "cls"
    clip: bool = False  # trained with CLIP's colours and normalised with its epsilon
    quick_gelu: bool = False
    source: str | None = None  # where to get it, when DreamSim's own archive does not hold it


@dataclass(frozen=True)
class Variant:
    """One DreamSim model: backbones side by side, and the folder of the adapter that was trained on them."""

    backbones: tuple[Backbone, ...]
    adapter: str
    archive: str


@dataclass(frozen=True)
class Files:
    """A model whose files are all there."""

    backbones: tuple[tuple[Backbone, Path], ...]
    adapter: Path


def _dino(feature: Feature) -> Backbone:
    # The archive's own dino_vitb16_pretrain.pth holds only the head that was cut off; torch.hub keeps the model here.
    source = "https://dl.fbaipublicfiles.com/dino/dino_vitbase16_pretrain/dino_vitbase16_pretrain.pth"
    places = ("checkpoints/dino_vitbase16_pretrain.pth", "dino_vitbase16_pretrain.pth")
    return Backbone(places, feature, source=source)


def _dinov2(feature: Feature) -> Backbone:
    source = "https://dl.fbaipublicfiles.com/dinov2/dinov2_vitb14/dinov2_vitb14_pretrain.pth"
    return Backbone(("checkpoints/dinov2_vitb14_pretrain.pth", "dinov2_vitb14_pretrain.pth"), feature, source=source)


def _clip(patch: int) -> Backbone:
    return Backbone((f"clip_vitb{patch}_pretrain.pth.tar",), "embedding", clip=True, quick_gelu=True)


def _open_clip(patch: int) -> Backbone:
    return Backbone((f"open_clip_vitb{patch}_pretrain.pth.tar",), "embedding", clip=True)


def _archive(version: str, name: str) -> str:
    return f"{RELEASES}/{version}-checkpoints/dreamsim_{name}_checkpoint.zip"


VARIANTS = {
    "ensemble": Variant((_dino("cls"), _clip(16), _open_clip(16)), "ensemble_lora", _archive("v0.2.0", "ensemble")),
    "dino_vitb16": Variant((_dino("cls"),), "dino_vitb16_single_lora", _archive("v0.2.0", "dino_vitb16")),
    "clip_vitb32": Variant((_clip(32),), "clip_vitb32_single_lora", _archive("v0.2.0", "clip_vitb32")),
    "open_clip_vitb32": Variant(
        (_open_clip(32),), "open_clip_vitb32_single_lora", _archive("v0.2.0", "open_clip_vitb32")
    ),
    "dinov2_vitb14": Variant((_dinov2("cls"),), "dinov2_vitb14_single_lora", _archive("v0.2.1", "dinov2_vitb14")),
    "synclr_vitb16": Variant(
        (Backbone(("synclr_vit_b_16.pth",)),), "synclr_vitb16_single_lora", _archive("v0.2.1", "synclr_vitb16")
    ),
    "dino_vitb16_patch": Variant(
        (_dino("patches"),), "dino_vitb16_patch_lora", _archive("v0.2.1", "dino_vitb16_patch")
    ),
    "dinov2_vitb14_patch": Variant(
        (_dinov2("patches"),), "dinov2_vitb14_patch_lora", _archive("v0.2.1", "dinov2_vitb14_patch")
    ),
}


def find_files(folder: Path, name: str) -> Files:
    """All files of a variant; `ConfigError` with everything that is missing and where to get each."""
    variant = VARIANTS[name]
    if not folder.is_dir():
        raise ConfigError(f"folder {folder} does not exist; unpack {variant.archive} into it")
    missing, found = [], []
    for backbone in variant.backbones:
        path = next((folder / place for place in backbone.places if (folder / place).is_file()), None)
        if path is None:
            missing.append(f"{backbone.places[0]} (from {backbone.source or variant.archive})")
        else:
            found.append((backbone, path))
    adapter = folder / variant.adapter
    for wanted in (("adapter_config.json",), ("adapter_model.safetensors", "adapter_model.bin")):
        if not any((adapter / file).is_file() for file in wanted):
            missing.append(f"{variant.adapter}/{' or '.join(wanted)} (from {variant.archive})")
    if missing:
        raise ConfigError(f"folder {folder} lacks files of DreamSim {name!r}: {', '.join(missing)}")
    return Files(tuple(found), adapter)

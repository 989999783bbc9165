"""DreamSim's network: backbones with their adapters, and one vector made of what they see."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError
from agentrl.judges.similarity.adapter import merge_adapter, read_weights
from agentrl.judges.similarity.dreamsim_files import Backbone, Files
from agentrl.judges.similarity.preparation import CLIP, IMAGENET, normalised
from agentrl.judges.similarity.vit import VisionTransformer

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
            pixels = normalised(pictures, CLIP if kind.clip else IMAGENET, device)
            seen.append(self._features(index, kind, self.backbones[index](pixels)))
        joined = _centred(torch.cat(seen, dim=-1))
        if self.kinds[0].feature != "patches":
            return joined
        return torch.cat([joined[:, 0], joined[:, 1:].mean(dim=1)], dim=-1)

    def _features(self, index: int, kind: Backbone, tokens: Tensor) -> Tensor:
        if kind.feature == "patches":
            return tokens
        if kind.feature == "cls":
            return tokens[:, 0]  # as the last block leaves it, without the final normalisation
        backbone: Any = self.backbones[index]
        return backbone.norm(tokens[:, 0]) @ self.get_buffer(f"projection{index}")


def _centred(vectors: Tensor) -> Tensor:
    vectors = vectors - vectors.mean(dim=-1, keepdim=True)
    return vectors / vectors.norm(dim=-1, keepdim=True)


def load_backbone(backbone: Backbone, path: Path) -> tuple[VisionTransformer, Tensor | None]:
    """The transformer in a checkpoint, and the projection after it where the feature is an embedding."""
    state = _state(read_weights(path), path)
    projection = state.pop("proj", None)
    if backbone.feature == "embedding" and projection is None:
        raise ConfigError(f"{path} has no projection (proj)")
    try:
        epsilon = 1e-5 if backbone.clip else 1e-6
        model = VisionTransformer(state, quick_gelu=backbone.quick_gelu, epsilon=epsilon)
    except (KeyError, RuntimeError, ValueError, IndexError) as error:
        raise ConfigError(f"{path} is not the vision transformer it should be: {str(error)[:300]}") from error
    return model, projection.float() if projection is not None else None


def _state(loaded: Any, path: Path) -> dict[str, Tensor]:
    """The tensors by name, out of the wrappings that the different publishers use."""
    for key in ("state_dict", "model"):
        if isinstance(loaded, Mapping) and isinstance(loaded.get(key), Mapping):
            loaded = loaded[key]
    if not isinstance(loaded, Mapping) or not all(isinstance(tensor, Tensor) for tensor in loaded.values()):
        raise ConfigError(f"{path} holds no state dict")
    if loaded and all(name.startswith(SYNCLR_PREFIX) for name in loaded):
        return {name.removeprefix(SYNCLR_PREFIX): tensor for name, tensor in loaded.items()}
    return dict(loaded)

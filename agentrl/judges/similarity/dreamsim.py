"""DreamSim (Fu, Tamir, Sundaram et al. 2023) from a local folder of its published checkpoints, version 0.2.

The folder is the `cache_dir` of the package `dreamsim`, but the package is not needed: it wants torchvision, and it
runs code that torch.hub downloads. Backbones and adapters are read by code of our own; nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.judges.similarity.dreamsim_files import VARIANTS, find_files
from agentrl.judges.similarity.dreamsim_model import DreamSimModel
from agentrl.judges.similarity.network import NetworkScorer
from agentrl.judges.similarity.pictures import Pair, Size
from agentrl.judges.similarity.preparation import Preparation

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
        self.model = DreamSimModel(find_files(self.folder, variant)).to(self.device)

    @property
    def name(self) -> str:
        """The single models are measures of their own."""
        return super().name if self.variant == "ensemble" else f"{super().name}_{self.variant}"

    def _arguments(self) -> dict[str, Any]:
        return {"folder": str(self.folder), "variant": self.variant, **super()._arguments()}

    def _size(self, pair: Pair) -> Size:
        return 224, 224

    def _fit(self, picture: np.ndarray, size: Size) -> np.ndarray:
        return PREPARATION.fit(picture)

    def _embed(self, pictures: np.ndarray) -> Tensor:
        return self.model(pictures, self.device)

    def _compare(self, targets: Tensor, drawings: Tensor) -> Tensor:
        return 1 - functional.cosine_similarity(targets, drawings, dim=-1)

"""How a picture is made ready for a vision transformer: size, crop, and the colours it was trained with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from PIL import Image
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.judges.similarity.scorer import Size

Triple = tuple[float, float, float]
IMAGENET: tuple[Triple, Triple] = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLIP: tuple[Triple, Triple] = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True)
class Preparation:
    """`resize` is (height, width), or the length of the shorter side; then the middle `crop` of it, if any."""

    resize: Size | int
    crop: Size | None = None
    resample: Image.Resampling = Image.Resampling.BICUBIC
    colours: tuple[Triple, Triple] = IMAGENET

    def fit(self, picture: np.ndarray) -> np.ndarray:
        """The picture at the size that the model takes, uint8 still."""
        height, width = picture.shape[:2]
        if isinstance(self.resize, int):
            longer = int(self.resize * max(height, width) / min(height, width))
            height, width = (self.resize, longer) if height <= width else (longer, self.resize)
        else:
            height, width = self.resize
        if (height, width) != picture.shape[:2]:
            image = Image.fromarray(np.ascontiguousarray(picture))
            picture = np.asarray(image.resize((width, height), self.resample))
        if self.crop is not None:
            top, left = (height - self.crop[0]) // 2, (width - self.crop[1]) // 2
            picture = picture[top : top + self.crop[0], left : left + self.crop[1]]
        return picture


def normalised(pictures: np.ndarray, colours: tuple[Triple, Triple], device: torch.device) -> Tensor:
    """uint8 [n, height, width, 3] -> float [n, 3, height, width], centred and scaled as in training."""
    pixels = torch.from_numpy(pictures).to(device).permute(0, 3, 1, 2).float() / 255
    mean, deviation = (torch.tensor(triple, device=device).view(1, 3, 1, 1) for triple in colours)
    return ((pixels - mean) / deviation).contiguous()


def preparation_of(folder: Path, otherwise: Preparation) -> Preparation:
    """What the folder's preprocessor_config.json says; `otherwise` where there is none."""
    path = folder / "preprocessor_config.json"
    if not path.is_file():
        return otherwise
    try:
        settings: dict[str, Any] = msgspec.json.decode(path.read_bytes())
        if not settings.get("do_resize", True):
            raise ValueError("pictures of any size (do_resize false) cannot be compared in batches")
        size = settings["size"]
        resize = int(size["shortest_edge"]) if "shortest_edge" in size else (int(size["height"]), int(size["width"]))
        crop = None
        if settings.get("do_center_crop", False):
            crop = (int(settings["crop_size"]["height"]), int(settings["crop_size"]["width"]))
        room = (resize, resize) if isinstance(resize, int) else resize
        if min(room) < 1 or (crop is not None and not (1 <= crop[0] <= room[0] and 1 <= crop[1] <= room[1])):
            raise ValueError(f"crop_size {crop} does not fit into size {size}")
        if crop is None and isinstance(resize, int):
            raise ValueError("pictures of any shape (shortest_edge without a crop) cannot be compared in batches")
        colours = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        if settings.get("do_normalize", True):
            colours = _triple(settings["image_mean"]), _triple(settings["image_std"])
        if min(colours[1]) <= 0:
            raise ValueError("image_std must be above zero")
        return Preparation(resize, crop, Image.Resampling(int(settings.get("resample", 3))), colours)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} describes preprocessing that is not supported: {error!r}") from error


def _triple(values: Any) -> Triple:
    red, green, blue = (float(value) for value in values)
    return red, green, blue

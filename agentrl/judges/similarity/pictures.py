"""Pictures as scorers receive them: checked, brought to one size, known again by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.errors import ConfigError

Pair = tuple[np.ndarray, np.ndarray]
Size = tuple[int, int]


def check_pairs(pairs: Sequence[Pair]) -> None:
    """Wrong pictures are the caller's mistake and are named by their pair; nothing is guessed."""
    for index, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ConfigError(f"pair {index}: a pair must be (target, drawing); got {type(pair).__name__}")
        for picture in pair:
            _check(index, picture)


def _check(index: int, picture: Any) -> None:
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8:
        raise ConfigError(
            f"pair {index}: a picture must be a uint8 array; got {getattr(picture, 'dtype', type(picture))}"
        )
    if picture.ndim != 3 or picture.shape[2] != 3 or 0 in picture.shape:
        raise ConfigError(f"pair {index}: a picture must be [height, width, 3]; got {picture.shape}")


def common_size(pair: Pair, at_most: int, at_least: int = 1) -> Size:
    """The larger height and width of both, scaled down to `at_most` pixels on the longer side."""
    height, width = (max(pair[0].shape[axis], pair[1].shape[axis]) for axis in (0, 1))
    scale = min(1.0, at_most / max(height, width))
    return max(at_least, round(height * scale)), max(at_least, round(width * scale))


def fit(picture: np.ndarray, size: Size) -> np.ndarray:
    """The picture at a size of its own or another; the array itself where nothing is to be done."""
    if picture.shape[:2] == size:
        return picture
    image = Image.fromarray(np.ascontiguousarray(picture))
    # reducing_gap: whole factors are taken out by averaging first, twice as quick and hardly different
    return np.asarray(image.resize((size[1], size[0]), Image.Resampling.BILINEAR, reducing_gap=1.0))


def content_hash(picture: np.ndarray) -> bytes:
    """Equal for equal pictures only, whatever memory they lie in."""
    found = hashlib.sha256(b"%d,%d," % picture.shape[:2])
    found.update(np.ascontiguousarray(picture).data)
    return found.digest()


def white(size: Size) -> np.ndarray:
    """The blank drawing."""
    return np.full((*size, 3), 255, np.uint8)

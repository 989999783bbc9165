"""How alike two pictures are, without any model: `resolve("scorer", "msssim")`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.errors import ConfigError
from agentrl.core.arguments import whole_number

# Multi-scale structural similarity (Wang, Simoncelli, Bovik 2003): weights from fine to coarse, and its constants.
WEIGHTS = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])
WINDOW, SIGMA = 11, 1.5
LUMINANCE, CONTRAST = 0.01**2, 0.03**2  # for pixels between 0 and 1
MAX_BATCH_PIXELS = 500_000  # bounds the memory of one pass
Pair = tuple[np.ndarray, np.ndarray]


class MultiScaleSimilarity:
    """Multi-scale structural similarity of colour pictures: 1 for equal ones, towards 0 for unrelated ones.

    Computed in each colour channel and averaged. Pictures of different sizes are both brought to the larger width and
    height; above `max_side` pixels, both are scaled down. Small pictures use as many scales as fit. It compares
    structure pixel by pixel: a shifted copy scores low, and it knows nothing of what a picture shows.
    """

    def __init__(self, max_side: int = 256) -> None:
        self.max_side = whole_number("max_side", max_side, at_least=8, at_most=4096)

    def score_pairs(self, pairs: Sequence[Pair]) -> list[float]:
        """A similarity in [0, 1] for each pair of uint8 pictures [height, width, 3]."""
        groups: dict[tuple[int, int], list[int]] = {}
        sizes = [self._common_size(index, pair) for index, pair in enumerate(pairs)]
        for index, size in enumerate(sizes):
            groups.setdefault(size, []).append(index)
        scores = np.zeros(len(pairs))
        for size, members in groups.items():
            step = max(1, MAX_BATCH_PIXELS // (size[0] * size[1]))
            for start in range(0, len(members), step):
                part = members[start : start + step]
                first, second = (np.stack([_fit(pairs[i][side], size) for i in part]) for side in (0, 1))
                scores[part] = multi_scale_similarity(first, second)
        return scores.tolist()

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this scorer again."""
        return {"kind": "msssim", "max_side": self.max_side}

    def _common_size(self, index: int, pair: Pair) -> tuple[int, int]:
        for picture in pair:
            _check(index, picture)
        height, width = (max(pair[0].shape[axis], pair[1].shape[axis]) for axis in (0, 1))
        scale = min(1.0, self.max_side / max(height, width))
        return max(1, round(height * scale)), max(1, round(width * scale))


def multi_scale_similarity(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n, height, width, channels] in [0, 1] twice -> [n] in [0, 1]."""
    scales = _scales(min(first.shape[1:3]))
    weights = WEIGHTS[:scales] / WEIGHTS[:scales].sum()
    result = np.ones((first.shape[0], first.shape[3]))
    for level, weight in enumerate(weights):
        luminance, structure = _similarity(first, second)
        # Anticorrelated structure is as bad as none; a negative number has no fractional power.
        result *= np.clip(structure, 0, 1) ** weight
        if level == scales - 1:
            result *= np.clip(luminance, 0, 1) ** weight
        else:
            first, second = _halve(first), _halve(second)
    return np.clip(result.mean(axis=1), 0, 1)


def _scales(side: int) -> int:
    """As many scales as leave a window's width of pixels on the coarsest, at least one."""
    fitting = 1
    while fitting < len(WEIGHTS) and side // 2**fitting >= WINDOW:
        fitting += 1
    return fitting


def _similarity(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The luminance and the contrast-structure terms of one scale, averaged over the picture: [n, channels] each."""
    mean_1, mean_2 = _blur(first), _blur(second)
    variance_1 = np.maximum(_blur(first * first) - mean_1 * mean_1, 0)
    variance_2 = np.maximum(_blur(second * second) - mean_2 * mean_2, 0)
    covariance = _blur(first * second) - mean_1 * mean_2
    # min: rounding must not make the covariance exceed what the variances allow, or equal pictures exceed 1
    covariance = np.minimum(covariance, (variance_1 + variance_2) / 2)
    luminance = (2 * mean_1 * mean_2 + LUMINANCE) / (mean_1 * mean_1 + mean_2 * mean_2 + LUMINANCE)
    structure = (2 * covariance + CONTRAST) / (variance_1 + variance_2 + CONTRAST)
    return luminance.mean(axis=(1, 2)), structure.mean(axis=(1, 2))


def _blur(pictures: np.ndarray) -> np.ndarray:
    """A Gaussian window over rows and columns, only where it fits; narrower for tiny pictures."""
    for axis in (1, 2):
        size = min(WINDOW, pictures.shape[axis])
        offsets = np.arange(size) - (size - 1) / 2
        window = np.exp(-0.5 * (offsets / SIGMA) ** 2)
        window = (window / window.sum()).astype(pictures.dtype)
        length = pictures.shape[axis] - size + 1
        slices = (pictures[:, i : i + length] if axis == 1 else pictures[:, :, i : i + length] for i in range(size))
        pictures = np.sum([part * weight for part, weight in zip(slices, window, strict=True)], axis=0)
    return pictures


def _halve(pictures: np.ndarray) -> np.ndarray:
    """Means of two by two pixels; a last odd row or column is left out."""
    height, width = pictures.shape[1] // 2 * 2, pictures.shape[2] // 2 * 2
    even = pictures[:, :height, :width]
    return (even[:, ::2, ::2] + even[:, 1::2, ::2] + even[:, ::2, 1::2] + even[:, 1::2, 1::2]) / 4


def _fit(picture: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    if picture.shape[:2] != size:
        image = Image.fromarray(np.ascontiguousarray(picture))
        picture = np.asarray(image.resize((size[1], size[0]), Image.Resampling.BILINEAR))
    return picture.astype(np.float64) / 255


def _check(index: int, picture: Any) -> None:
    """Wrong pictures are the caller's mistake and are named; nothing is guessed."""
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8:
        raise ConfigError(f"pair {index}: a picture is a uint8 array, not {getattr(picture, 'dtype', type(picture))}")
    if picture.ndim != 3 or picture.shape[2] != 3 or 0 in picture.shape:
        raise ConfigError(f"pair {index}: a picture is [height, width, 3], not {picture.shape}")

"""Multi-scale structural similarity (Wang, Simoncelli, Bovik 2003) in numpy.

Quick enough for a reward: what concerns one picture alone is computed once for a target that comes back, numbers are
float32, and the Gaussian window is applied by small band matrices, which BLAS multiplies faster than numpy adds slices.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

# Weights from fine to coarse, the window and the constants of the paper.
WEIGHTS = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])
WINDOW, SIGMA = 11, 1.5
LUMINANCE, CONTRAST = np.float32(0.01**2), np.float32(0.03**2)  # for pixels between 0 and 1
BLOCK = 32  # outputs of one band matrix: larger ones multiply more zeros, smaller ones are more calls


class Level(NamedTuple):
    """One scale of one picture: [channels, height, width] of pixels, and what the window makes of them."""

    pixels: np.ndarray
    mean: np.ndarray
    square: np.ndarray  # the mean squared
    variance: np.ndarray


class Structure:
    """One picture at all its scales."""

    def __init__(self, levels: list[Level]) -> None:
        self.levels = levels
        self.nbytes = sum(array.nbytes for level in levels for array in level)


def structure_of(picture: np.ndarray) -> Structure:
    """What can be said about one picture, uint8 [height, width, channels], before it is compared."""
    pixels = np.ascontiguousarray(picture.transpose(2, 0, 1)).astype(np.float32)
    pixels *= np.float32(1 / 255)
    levels = [_level(pixels)]
    for _ in range(_scales(min(picture.shape[:2])) - 1):
        pixels = _halve(pixels)
        levels.append(_level(pixels))
    return Structure(levels)


def structural_similarity(first: Structure, second: Structure) -> float:
    """1 for equal pictures, towards 0 for unrelated ones; the mean over the channels."""
    weights = WEIGHTS[: len(first.levels)] / WEIGHTS[: len(first.levels)].sum()
    result = np.ones(len(first.levels[0].pixels))
    for one, other, weight in zip(first.levels, second.levels, weights, strict=True):
        product = one.mean * other.mean
        # Anticorrelated structure is as bad as none; a negative number has no fractional power.
        result *= np.clip(_contrast_structure(one, other, product), 0, 1) ** weight
    result *= np.clip(_luminance(one, other, product), 0, 1) ** weight  # of the coarsest scale only
    return float(np.clip(result.mean(), 0, 1))


def _scales(side: int) -> int:
    """As many scales as leave a window's width of pixels on the coarsest, at least one."""
    fitting = 1
    while fitting < len(WEIGHTS) and side // 2**fitting >= WINDOW:
        fitting += 1
    return fitting


def _level(pixels: np.ndarray) -> Level:
    channels = len(pixels)
    both = np.empty((2 * channels, *pixels.shape[1:]), np.float32)  # blurred together: half the calls
    both[:channels] = pixels
    np.multiply(pixels, pixels, out=both[channels:])
    blurred = _blur(both)
    mean, variance = blurred[:channels], blurred[channels:]
    square = mean * mean
    variance -= square
    return Level(pixels, mean, square, variance)


def _contrast_structure(one: Level, other: Level, product: np.ndarray) -> np.ndarray:
    covariance = _blur(one.pixels * other.pixels)
    covariance -= product
    variances = one.variance + other.variance
    covariance *= 2
    # min: rounding must not make the covariance exceed what the variances allow, or equal pictures exceed 1
    np.minimum(covariance, variances, out=covariance)
    covariance += CONTRAST
    variances += CONTRAST
    covariance /= variances
    return covariance.reshape(len(covariance), -1).mean(axis=1)


def _luminance(one: Level, other: Level, product: np.ndarray) -> np.ndarray:
    ratio = (2 * product + LUMINANCE) / (one.square + other.square + LUMINANCE)
    return ratio.reshape(len(ratio), -1).mean(axis=1)


def _blur(planes: np.ndarray) -> np.ndarray:
    """A Gaussian window over rows and columns, only where it fits; narrower for tiny pictures."""
    channels, height, width = planes.shape
    tall, wide = min(WINDOW, height), min(WINDOW, width)
    rows = np.empty((channels, height - tall + 1, width), np.float32)
    for start in range(0, rows.shape[1], BLOCK):
        count = min(BLOCK, rows.shape[1] - start)
        np.matmul(_band(tall, count), planes[:, start : start + count + tall - 1], out=rows[:, start : start + count])
    both = np.empty((channels, rows.shape[1], width - wide + 1), np.float32)
    for start in range(0, both.shape[2], BLOCK):
        count = min(BLOCK, both.shape[2] - start)
        part = rows[:, :, start : start + count + wide - 1]
        np.matmul(part, _band(wide, count).T, out=both[:, :, start : start + count])
    return both


@lru_cache(maxsize=512)
def _band(size: int, count: int) -> np.ndarray:
    """[count, count + size - 1]: each row the window, one pixel further on."""
    offsets = np.arange(size) - (size - 1) / 2
    window = np.exp(-0.5 * (offsets / SIGMA) ** 2)
    band = np.zeros((count, count + size - 1), np.float32)
    for row in range(count):
        band[row, row : row + size] = window / window.sum()
    return band


def _halve(planes: np.ndarray) -> np.ndarray:
    """Means of two by two pixels; a last odd row or column is left out."""
    height, width = planes.shape[1] // 2 * 2, planes.shape[2] // 2 * 2
    columns = planes[:, :height, 0:width:2] + planes[:, :height, 1:width:2]
    return (columns[:, ::2] + columns[:, 1::2]) * np.float32(0.25)

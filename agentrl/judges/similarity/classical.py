"""Similarity without any model: structure, edges, colours and a fixed mix of the three. Only numpy and pillow."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageChops

from agentrl.core.arguments import whole_number
from agentrl.judges.similarity.scorer import FeatureScorer, Pair, Size, common_size

MIX = {"structure": 0.5, "edges": 0.25, "colours": 0.25}


class ClassicalScorer(FeatureScorer):
    """What the measures without a model share. Pictures of different sizes are both brought to the larger width and
    height; above `max_side` pixels, both are scaled down."""

    def __init__(self, max_side: int, batch_size: int, cache_mb: float, above_blank: bool) -> None:
        super().__init__(batch_size=batch_size, cache_mb=cache_mb, above_blank=above_blank)
        self.max_side = whole_number("max_side", max_side, at_least=8, at_most=4096)
        self.arguments = {"max_side": self.max_side}

    def _size(self, pair: Pair) -> Size:
        return common_size(pair, at_most=self.max_side)


class MultiScaleSimilarity(ClassicalScorer):
    """Multi-scale structural similarity of colour pictures: 1 for equal ones, towards 0 for unrelated ones.

    Computed in each colour channel and averaged. Small pictures use as many scales as fit. It compares structure pixel
    by pixel: a shifted copy scores low, and it knows nothing of what a picture shows. Raw by default, and symmetric
    then: on white paper, a blank drawing scores well above 0.
    """

    kind = "msssim"
    blank_by_default = False

    def __init__(
        self, max_side: int = 256, *, batch_size: int = 16, cache_mb: float = 64, above_blank: bool = False
    ) -> None:
        super().__init__(max_side, batch_size, cache_mb, above_blank)

    def _features(self, pictures: list[np.ndarray]) -> list[Structure]:
        return [structure_of(picture) for picture in pictures]

    def _distances(self, targets: list[Structure], drawings: list[Structure]) -> np.ndarray:
        return np.array([1.0 - structural_similarity(*pair) for pair in zip(targets, drawings, strict=True)])


class EdgeSimilarity(ClassicalScorer):
    """F1 of edges: an edge counts as found when the other picture has one within `tolerance` pixels.

    It sees where outlines are and nothing of what colour they enclose.
    """

    kind = "edges"

    def __init__(
        self,
        max_side: int = 256,
        *,
        tolerance: int = 2,
        batch_size: int = 16,
        cache_mb: float = 64,
        above_blank: bool = True,
    ) -> None:
        super().__init__(max_side, batch_size, cache_mb, above_blank)
        self.tolerance = whole_number("tolerance", tolerance, at_least=0, at_most=32)
        self.arguments["tolerance"] = self.tolerance

    def _features(self, pictures: list[np.ndarray]) -> list[Edges]:
        return [Edges(picture, self.tolerance) for picture in pictures]

    def _distances(self, targets: list[Edges], drawings: list[Edges]) -> np.ndarray:
        return np.array([edge_distance(*pair) for pair in zip(targets, drawings, strict=True)])


class ColourSimilarity(ClassicalScorer):
    """Colours and their amounts, wherever they are: how little of the picture must be repainted, and how little far.

    White paper that both pictures have counts for nothing.
    """

    kind = "colours"

    def __init__(
        self, max_side: int = 256, *, batch_size: int = 16, cache_mb: float = 16, above_blank: bool = True
    ) -> None:
        super().__init__(max_side, batch_size, cache_mb, above_blank)

    def _features(self, pictures: list[np.ndarray]) -> list[Colours]:
        return [Colours(picture) for picture in pictures]

    def _distances(self, targets: list[Colours], drawings: list[Colours]) -> np.ndarray:
        return np.array([colour_distance(*pair) for pair in zip(targets, drawings, strict=True)])


class Sight:
    """All that the mix looks at in one picture."""

    def __init__(self, picture: np.ndarray, tolerance: int) -> None:
        self.structure, self.edges, self.colours = structure_of(picture), Edges(picture, tolerance), Colours(picture)
        self.nbytes = self.structure.nbytes + self.edges.nbytes + self.colours.nbytes


class ClassicalSimilarity(ClassicalScorer):
    """The default where there is no torch: half structure, a quarter edges, a quarter colours (`MIX`).

    The three distances are mixed and the mix is measured from the blank drawing up. Compared at 112 pixels unless told
    otherwise, which is enough for icons and several times quicker than 224.
    """

    kind = "classical"

    def __init__(
        self,
        max_side: int = 112,
        *,
        tolerance: int = 1,
        batch_size: int = 16,
        cache_mb: float = 64,
        above_blank: bool = True,
    ) -> None:
        super().__init__(max_side, batch_size, cache_mb, above_blank)
        self.tolerance = whole_number("tolerance", tolerance, at_least=0, at_most=32)
        self.arguments["tolerance"] = self.tolerance

    def _features(self, pictures: list[np.ndarray]) -> list[Sight]:
        return [Sight(picture, self.tolerance) for picture in pictures]

    def _distances(self, targets: list[Sight], drawings: list[Sight]) -> np.ndarray:
        mixed = [
            MIX["structure"] * (1.0 - structural_similarity(one.structure, other.structure))
            + MIX["edges"] * edge_distance(one.edges, other.edges)
            + MIX["colours"] * colour_distance(one.colours, other.colours)
            for one, other in zip(targets, drawings, strict=True)
        ]
        return np.array(mixed)


# ---------------------------------------------------------------------- structure
#
# Multi-scale structural similarity (Wang, Simoncelli, Bovik 2003). Quick enough for a reward: what concerns one
# picture alone is computed once for a target that comes back, numbers are float32, and the Gaussian window is applied
# by small band matrices, which BLAS multiplies faster than numpy adds slices.

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
    # As many scales as leave a window's width of pixels on the coarsest, at least one.
    while len(levels) < len(WEIGHTS) and min(picture.shape[:2]) // 2 ** len(levels) >= WINDOW:
        # Means of two by two pixels; a last odd row or column is left out.
        height, width = pixels.shape[1] // 2 * 2, pixels.shape[2] // 2 * 2
        columns = pixels[:, :height, 0:width:2] + pixels[:, :height, 1:width:2]
        pixels = (columns[:, ::2] + columns[:, 1::2]) * np.float32(0.25)
        levels.append(_level(pixels))
    return Structure(levels)


def structural_similarity(first: Structure, second: Structure) -> float:
    """1 for equal pictures, towards 0 for unrelated ones; the mean over the channels."""
    weights = WEIGHTS[: len(first.levels)] / WEIGHTS[: len(first.levels)].sum()
    result = np.ones(len(first.levels[0].pixels))
    for one, other, weight in zip(first.levels, second.levels, weights, strict=True):
        product = one.mean * other.mean
        covariance = _blur(one.pixels * other.pixels)
        covariance -= product
        variances = one.variance + other.variance
        covariance *= 2
        # min: rounding must not make the covariance exceed what the variances allow, or equal pictures exceed 1
        np.minimum(covariance, variances, out=covariance)
        covariance += CONTRAST
        variances += CONTRAST
        covariance /= variances
        structure = covariance.reshape(len(covariance), -1).mean(axis=1)
        # Anticorrelated structure is as bad as none; a negative number has no fractional power.
        result *= np.clip(structure, 0, 1) ** weight
    luminance = (2 * product + LUMINANCE) / (one.square + other.square + LUMINANCE)  # of the coarsest scale only
    result *= np.clip(luminance.reshape(len(luminance), -1).mean(axis=1), 0, 1) ** weight
    return float(np.clip(result.mean(), 0, 1))


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


# ---------------------------------------------------------------------- edges

# A step in any colour channel that counts as an edge: pale yellow on white does, a smooth gradient does not.
STEP = 16


class Edges:
    """The edge pixels of one picture, and the pixels near them."""

    def __init__(self, picture: np.ndarray, tolerance: int) -> None:
        self.at = edge_map(picture)
        self.near = widen(self.at, tolerance)
        self.count = int(np.count_nonzero(self.at))
        self.nbytes = self.at.nbytes + self.near.nbytes


def edge_map(picture: np.ndarray) -> np.ndarray:
    """Where a pixel differs from its right or lower neighbour, bool [height + 1, width + 1].

    The paper around the picture is white: a picture filled to its borders has its edges there.
    """
    height, width, _ = picture.shape
    framed = np.full((3, height + 2, width + 2), 255, np.uint8)
    framed[:, 1:-1, 1:-1] = picture.transpose(2, 0, 1)
    here, right, below = framed[:, :-1, :-1], framed[:, :-1, 1:], framed[:, 1:, :-1]
    steps = np.maximum(_apart(here, right), _apart(here, below))
    return steps.max(axis=0) >= STEP


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The difference of unsigned numbers, without overflow."""
    return np.maximum(one, other) - np.minimum(one, other)


def widen(mask: np.ndarray, reach: int) -> np.ndarray:
    """What lies within `reach` pixels, along rows and columns and diagonally."""
    wide = mask.copy()
    for step in range(1, reach + 1):
        wide[step:] |= mask[:-step]
        wide[:-step] |= mask[step:]
    both = wide.copy()
    for step in range(1, reach + 1):
        both[:, step:] |= wide[:, :-step]
        both[:, :-step] |= wide[:, step:]
    return both


def edge_distance(one: Edges, other: Edges) -> float:
    """One minus the F1 of edges that have an edge of the other picture near them; 0 where neither has any.

    An edge pixel vouches for one of the other picture: scribbling everywhere is near every edge and right nowhere.
    """
    if not one.count and not other.count:
        return 0.0
    matched = min(np.count_nonzero(one.at & other.near), np.count_nonzero(other.at & one.near))
    return 1.0 - 2 * matched / (one.count + other.count)


# ---------------------------------------------------------------------- colours

# Besides red, green and blue alone: their differences, without which red and green dots would equal yellow and black.
OPPONENTS = (0.5, -0.5, 0, 127.5, 0, 0.5, -0.5, 127.5, -0.5, 0, 0.5, 127.5)
NEARLY_WHITE = 250


class Colours:
    """How the pixels of one picture are spread along six axes of colour, and how many are background."""

    def __init__(self, picture: np.ndarray) -> None:
        image = Image.fromarray(np.ascontiguousarray(picture))
        counts = image.histogram() + image.convert("RGB", OPPONENTS).histogram()
        pixels = picture.shape[0] * picture.shape[1]
        self.spread = np.cumsum(np.array(counts, np.float64).reshape(6, 256), axis=1) / pixels
        red, green, blue = image.split()
        darkest = ImageChops.darker(ImageChops.darker(red, green), blue).histogram()
        self.white = sum(darkest[NEARLY_WHITE:]) / pixels
        self.nbytes = self.spread.nbytes


def colour_distance(one: Colours, other: Colours) -> float:
    """How far colours must be moved on average, 0 for the same colours, 1 for black against white.

    White that both pictures have counts for nothing: the average is over the rest, so that a small icon on much paper
    is compared by its own colours.
    """
    rest = 1.0 - min(one.white, other.white)
    if rest <= 0:
        return 0.0
    moved = np.abs(one.spread - other.spread).sum(axis=1) / 255
    # Black against white is seen along the first three axes alone, red and green for yellow and black along the others.
    return float(min(1.0, max(moved[:3].mean(), moved[3:].mean()) / rest))

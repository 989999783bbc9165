"""Similarity without any model: structure, edges, colours and a fixed mix of the three. Only numpy and pillow."""

from __future__ import annotations

from typing import Any

import numpy as np

from agentrl.core.arguments import whole_number
from agentrl.judges.similarity.colours import Colours, colour_distance
from agentrl.judges.similarity.edges import Edges, edge_distance
from agentrl.judges.similarity.pictures import Pair, Size, common_size
from agentrl.judges.similarity.scorer import FeatureScorer
from agentrl.judges.similarity.structure import Structure, structural_similarity, structure_of

MIX = {"structure": 0.5, "edges": 0.25, "colours": 0.25}


class ClassicalScorer(FeatureScorer):
    """What the measures without a model share. Pictures of different sizes are both brought to the larger width and
    height; above `max_side` pixels, both are scaled down."""

    def __init__(self, max_side: int, batch_size: int, cache_mb: float, above_blank: bool) -> None:
        super().__init__(batch_size=batch_size, cache_mb=cache_mb, above_blank=above_blank)
        self.max_side = whole_number("max_side", max_side, at_least=8, at_most=4096)

    def _size(self, pair: Pair) -> Size:
        return common_size(pair, at_most=self.max_side)

    def _arguments(self) -> dict[str, Any]:
        return {"max_side": self.max_side}


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

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "tolerance": self.tolerance}

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

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "tolerance": self.tolerance}

    def _features(self, pictures: list[np.ndarray]) -> list[Sight]:
        return [Sight(picture, self.tolerance) for picture in pictures]

    def _distances(self, targets: list[Sight], drawings: list[Sight]) -> np.ndarray:
        return np.array([_mixed_distance(*pair) for pair in zip(targets, drawings, strict=True)])


def _mixed_distance(one: Sight, other: Sight) -> float:
    return (
        MIX["structure"] * (1.0 - structural_similarity(one.structure, other.structure))
        + MIX["edges"] * edge_distance(one.edges, other.edges)
        + MIX["colours"] * colour_distance(one.colours, other.colours)
    )

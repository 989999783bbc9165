"""What all similarity scorers share: batches, remembered targets, and scores measured from the blank drawing up.

A scorer of this kind turns one picture into features and two lots of features into a distance. The first picture of a
pair is the *target*: its features are kept, as the same target comes back every turn and in every episode of a group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agentrl.core.arguments import number_from_zero, whole_number
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.judges.similarity.memory import Memory
from agentrl.judges.similarity.pictures import Pair, Size, check_pairs, common_size, content_hash, fit, white

# A target this near to the blank picture has nothing to be measured from: dividing would only magnify rounding.
NOTHING_DRAWN = 1e-4


class Target(NamedTuple):
    """What is remembered of a target: its features and its distance from the blank drawing."""

    features: Any
    blank: float


class FeatureScorer(ABC):
    """Scores in [0, 1] from distances between features.

    `above_blank=True` measures from the blank (white) drawing up: `clip(1 - d / d_blank, 0, 1)`, so that drawing
    nothing scores 0. A target that is itself blank is scored by `clip(1 - d, 0, 1)`, as is everything with
    `above_blank=False`.
    """

    kind: ClassVar[str]
    blank_by_default: ClassVar[bool] = True

    def __init__(self, *, batch_size: int, cache_mb: float, above_blank: bool) -> None:
        self.batch_size = whole_number("batch_size", batch_size, at_least=1)
        self.cache_mb = number_from_zero("cache_mb", cache_mb)
        if not isinstance(above_blank, bool):
            raise ConfigError(f"above_blank must be true or false; got {above_blank!r}")
        self.above_blank = above_blank
        self.memory = Memory(int(self.cache_mb * 2**20))

    @property
    def name(self) -> str:
        """What metrics call these scores; measured otherwise than by default, they have another name."""
        if self.above_blank == self.blank_by_default:
            return self.kind
        return f"{self.kind}_above_blank" if self.above_blank else f"{self.kind}_raw"

    def score_pairs(self, pairs: Sequence[Pair]) -> list[float]:
        """A similarity in [0, 1] for each (target, drawing), both uint8 [height, width, 3]."""
        check_pairs(pairs)
        groups: dict[Size, list[int]] = {}
        for index, pair in enumerate(pairs):
            groups.setdefault(self._size(pair), []).append(index)
        scores = [0.0] * len(pairs)
        for size, members in groups.items():
            for start in range(0, len(members), self.batch_size):
                part = members[start : start + self.batch_size]
                for index, score in zip(part, self._score_batch([pairs[i] for i in part], size), strict=True):
                    scores[index] = score
        return scores

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this scorer again."""
        shared = {"batch_size": self.batch_size, "cache_mb": self.cache_mb, "above_blank": self.above_blank}
        return {"kind": self.kind, **self._arguments(), **shared}

    # ------------------------------------------------------------------ what a kind says

    @abstractmethod
    def _arguments(self) -> dict[str, Any]:
        """The arguments of this kind alone, for the spec."""

    def _size(self, pair: Pair) -> Size:
        """The height and width at which a pair is compared."""
        return common_size(pair, at_most=256)

    def _fit(self, picture: np.ndarray, size: Size) -> np.ndarray:
        return fit(picture, size)

    @abstractmethod
    def _features(self, pictures: list[np.ndarray]) -> list[Any]:
        """The features of each of several pictures of one size; each knows its `nbytes`."""

    @abstractmethod
    def _distances(self, targets: list[Any], drawings: list[Any]) -> np.ndarray:
        """How far each drawing is from its target: 0 for equal ones."""

    # ------------------------------------------------------------------ one batch

    def _score_batch(self, pairs: list[Pair], size: Size) -> list[float]:
        targets = self._targets([target for target, _ in pairs], size)
        drawings = self._features([self._fit(drawing, size) for _, drawing in pairs])
        distances = self._checked_distances([target.features for target in targets], drawings)
        return [self._score(d, target.blank) for d, target in zip(distances, targets, strict=True)]

    def _score(self, distance: float, blank: float) -> float:
        scale = blank if self.above_blank and blank > NOTHING_DRAWN else 1.0
        return min(1.0, max(0.0, 1.0 - distance / scale))

    def _targets(self, pictures: list[np.ndarray], size: Size) -> list[Target]:
        """Remembered, or computed now: each different picture once, all of them together."""
        keys = [(size, content_hash(picture)) for picture in pictures]
        found: dict[Any, Target] = {}
        missing: dict[Any, np.ndarray] = {}
        for key, picture in zip(keys, pictures, strict=True):
            if key in found or key in missing:
                continue
            if (known := self.memory.get(key)) is not None:
                found[key] = known
            else:
                missing[key] = picture
        if missing:
            new = self._new_targets([self._fit(picture, size) for picture in missing.values()], size)
            for key, target in zip(missing, new, strict=True):
                self.memory.put(key, target, target.features.nbytes)
                found[key] = target
        return [found[key] for key in keys]

    def _new_targets(self, pictures: list[np.ndarray], size: Size) -> list[Target]:
        features = self._features(pictures)
        if not self.above_blank:
            return [Target(one, 1.0) for one in features]
        blanks = self._checked_distances(features, [self._blank(size)] * len(features))
        return [Target(one, blank) for one, blank in zip(features, blanks, strict=True)]

    def _blank(self, size: Size) -> Any:
        if (known := self.memory.get(size)) is None:
            [known] = self._features([white(size)])
            self.memory.put(size, known, known.nbytes)
        return known

    def _checked_distances(self, targets: list[Any], drawings: list[Any]) -> list[float]:
        distances = np.asarray(self._distances(targets, drawings), np.float64)
        if not np.isfinite(distances).all():
            raise JudgeFault(f"{self.name} computed a distance that is not a finite number")
        return distances.tolist()

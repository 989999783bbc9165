"""What all similarity scorers share: batches, remembered targets, and scores measured from the blank drawing up.

A scorer of this kind turns one picture into features and two lots of features into a distance. The first picture of a
pair is the *target*: its features are kept, as the same target comes back every turn and in every episode of a group.
"""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from PIL import Image

from agentrl.core.arguments import number_from_zero, whole_number
from agentrl.core.errors import ConfigError, JudgeFault

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
        self.arguments: dict[str, Any] = {}  # of this kind alone, for the spec
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
                targets = self._targets([pairs[i][0] for i in part], size)
                drawings = self._features([self._fit(pairs[i][1], size) for i in part])
                distances = self._checked_distances([target.features for target in targets], drawings)
                for index, target, distance in zip(part, targets, distances, strict=True):
                    scale = target.blank if self.above_blank and target.blank > NOTHING_DRAWN else 1.0
                    scores[index] = min(1.0, max(0.0, 1.0 - distance / scale))
        return scores

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this scorer again."""
        shared = {"batch_size": self.batch_size, "cache_mb": self.cache_mb, "above_blank": self.above_blank}
        return {"kind": self.kind, **self.arguments, **shared}

    # ------------------------------------------------------------------ what a kind says

    @abstractmethod
    def _size(self, pair: Pair) -> Size:
        """The height and width at which a pair is compared."""

    def _fit(self, picture: np.ndarray, size: Size) -> np.ndarray:
        return fit(picture, size)

    @abstractmethod
    def _features(self, pictures: list[np.ndarray]) -> list[Any]:
        """The features of each of several pictures of one size; each knows its `nbytes`."""

    @abstractmethod
    def _distances(self, targets: list[Any], drawings: list[Any]) -> np.ndarray:
        """How far each drawing is from its target: 0 for equal ones."""

    # ------------------------------------------------------------------ one batch

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
            features = self._features([self._fit(picture, size) for picture in missing.values()])
            blanks = [1.0] * len(features)
            if self.above_blank:
                if (blank := self.memory.get(size)) is None:
                    [blank] = self._features([white(size)])
                    self.memory.put(size, blank, blank.nbytes)
                blanks = self._checked_distances(features, [blank] * len(features))
            for key, *target in zip(missing, features, blanks, strict=True):
                found[key] = Target(*target)
                self.memory.put(key, found[key], found[key].features.nbytes)
        return [found[key] for key in keys]

    def _checked_distances(self, targets: list[Any], drawings: list[Any]) -> list[float]:
        distances = np.asarray(self._distances(targets, drawings), np.float64)
        if not np.isfinite(distances).all():
            raise JudgeFault(f"{self.name} computed a distance that is not a finite number")
        return distances.tolist()


class Memory:
    """A least-recently-used store bounded by the size of what it holds. Safe to use from several threads."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self.hits = self.misses = 0
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Any | None:
        """What was stored under `key`, now the most recent; None where there is nothing."""
        with self._lock:
            if (entry := self._entries.get(key)) is None:
                self.misses += 1
                return None
            self.hits += 1
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Store; the oldest entries go. A value larger than the whole store is not kept at all."""
        with self._lock:
            if key in self._entries:
                self.held -= self._entries.pop(key)[1]
            if size > self.limit:
                return
            self._entries[key] = value, size
            self.held += size
            while self.held > self.limit:
                self.held -= self._entries.popitem(last=False)[1][1]


Pair = tuple[np.ndarray, np.ndarray]
Size = tuple[int, int]


def check_pairs(pairs: Sequence[Pair]) -> None:
    """Wrong pictures are the caller's mistake and are named by their pair; nothing is guessed."""
    for index, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ConfigError(f"pair {index}: a pair must be (target, drawing); got {type(pair).__name__}")
        for picture in pair:
            if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8:
                found = getattr(picture, "dtype", type(picture))
                raise ConfigError(f"pair {index}: a picture must be a uint8 array; got {found}")
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

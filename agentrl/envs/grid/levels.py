"""Pools of levels: which levels exist, which split owns them, and the order in which a seed walks through them.

Everything here is reproducible for ever: the only randomness is SplitMix64, an integer hash, so no library update can
move a level to another seed or, worse, from the test split into the training split.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from agentrl.core.cache import cache_dir, cached_arrays, on_forget
from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.core.seeding import splitmix64, splitmix64_int
from agentrl.core.slow import notify_if_slow

POOL_FORMAT = 1  # part of the cache's file names: raise it when the content of pools changes


def content_hash(grids: np.ndarray) -> np.ndarray:
    """One uint64 for each grid of uint8 [n, height, width]."""
    flat = grids.reshape(len(grids), grids.shape[1] * grids.shape[2]).astype(np.uint64)
    weights = splitmix64(np.arange(flat.shape[1], dtype=np.uint64)) | np.uint64(1)
    with np.errstate(over="ignore"):
        return splitmix64((flat * weights).sum(axis=1, dtype=np.uint64))


def shuffled(grids: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same levels in an order decided by their content."""
    order = np.argsort(content_hash(grids), kind="stable")
    return grids[order], lengths[order]


def owned(layouts: np.ndarray, split: str) -> np.ndarray:
    """Which layouts belong to a split: bool [n]."""
    return split_of(layouts) == SPLITS.index(split)


def split_of(layouts: np.ndarray) -> np.ndarray:
    """0 (train, half of all), 1 (dev, a quarter) or 2 (test, a quarter) for each layout.

    Equal for a layout and its rotations and reflections, so that a test level is never a training level turned round.
    """
    symmetric = [layouts, layouts[:, :, ::-1]]
    hashes = [content_hash(np.rot90(grid, turns, (1, 2))) for grid in symmetric for turns in range(4)]
    return np.array([0, 0, 1, 2])[splitmix64(np.minimum.reduce(hashes)) % np.uint64(4)]


@dataclass(frozen=True, eq=False)
class LevelPool:
    """Distinct levels of one split: grids of symbol codes [n, height, width] and shortest solution lengths [n]."""

    grids: np.ndarray
    lengths: np.ndarray

    def __len__(self) -> int:
        return len(self.grids)

    def first(self, count: int | None) -> LevelPool:
        """The pool of the first levels alone (None: this one)."""
        return self if count is None else LevelPool(self.grids[:count], self.lengths[:count])

    def walk(self, key: int) -> tuple[int, int]:
        """First index and stride of a key's walk: `(first + k * stride) % n` visits every level before repeating."""
        n = len(self)
        first, stride = splitmix64_int(key) % n, splitmix64_int(key ^ 0x5DEECE66D) % n
        while math.gcd(stride, n) != 1:
            stride = (stride + 1) % n
        return first, stride


def spelled(codes: np.ndarray, symbols: str) -> list[str]:
    """Rows of symbols from a grid of their codes."""
    text = codes.astype(np.uint8).tobytes().translate(symbols.encode("ascii").ljust(256)).decode("ascii")
    width = codes.shape[1]
    return [text[start : start + width] for start in range(0, len(text), width)]


class LevelNames(Sequence[str]):
    """The task ids of a pool, spelled only when looked at: rows of symbols joined by "/"."""

    def __init__(self, pool: LevelPool, symbols: str) -> None:
        self._pool, self._symbols = pool, symbols

    def __len__(self) -> int:
        return len(self._pool)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return "/".join(spelled(self._pool.grids[index], self._symbols))


# A generator yields batches (grids, lengths) of one split's levels; it ends when there are no more to be had.
Batches = Iterator[tuple[np.ndarray, np.ndarray]]
PATIENCE = 32  # stale batches in a row before a stream counts as exhausted
STALE = 0.05  # a batch is stale when fewer of its levels are new


def take_levels(batches: Batches, count: int | None) -> dict[str, np.ndarray]:
    """The first `count` distinct levels (None: all) in the order of the stream."""
    seen: set[int] = set()
    grids, lengths, stale = [], [], 0
    for batch_grids, batch_lengths in batches:
        fresh = []
        for i, key in enumerate(content_hash(batch_grids).tolist()):
            if key not in seen:
                seen.add(key)
                fresh.append(i)
        grids.append(batch_grids[fresh])
        lengths.append(batch_lengths[fresh])
        stale = 0 if len(fresh) > STALE * len(batch_grids) else stale + 1
        if (count is not None and len(seen) >= count) or stale >= PATIENCE:
            break
    return {"grids": np.concatenate(grids)[:count], "lengths": np.concatenate(lengths)[:count]}


_POOLS: dict[str, LevelPool] = {}  # what this process has loaded already
on_forget.append(_POOLS.clear)


def level_pool(
    game: str,
    parameters: dict[str, Any],
    split: str,
    count: int | None,
    generate: Callable[[], Batches],
    sound: Callable[[np.ndarray], np.ndarray],
) -> LevelPool:
    """The pool of a game's parameters and split: from memory, from the cache, or made now.

    Levels of the cache are played only if all of them are `sound`: compiled code runs on them.
    """
    key = json.dumps([POOL_FORMAT, game, parameters, split, count], sort_keys=True)
    if key not in _POOLS:
        name = "levels/" + hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        place = f"the {split} levels of {game} {json.dumps(parameters)}"
        usable = partial(_usable, size=parameters["size"], sound=sound)
        with notify_if_slow(f"making {place}, once; they are kept in {cache_dir()}"):
            pool = LevelPool(**cached_arrays(name, lambda: take_levels(generate(), count), usable))
        if not len(pool):
            raise ConfigError(
                f"no {game} level has these properties: {json.dumps(parameters)}. "
                "Widen min_solution..max_solution, enlarge the size, or take fewer holes or boxes."
            )
        while len(_POOLS) >= 16:
            _POOLS.pop(next(iter(_POOLS)))
        _POOLS[key] = pool
    return _POOLS[key]


def _usable(arrays: dict[str, np.ndarray], size: int, sound: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether these are the arrays of a `LevelPool` of boards of this size."""
    if arrays.keys() != {"grids", "lengths"}:
        return False
    grids, lengths = arrays["grids"], arrays["lengths"]
    shapes = grids.shape == (len(lengths), size, size) and lengths.ndim == 1
    return shapes and grids.dtype == np.uint8 and lengths.dtype.kind in "iu" and bool(sound(grids).all())

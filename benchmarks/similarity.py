"""`agentrl bench similarity`: pairs of pictures compared per second by each similarity scorer.

On a processor, seconds are those of the processor: what one core does, whatever else the machine is doing. On a GPU
they are those of the clock. DINO and DreamSim are measured with random weights of the published sizes, as their speed
does not depend on what the weights are.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import agentrl
from agentrl.core import measure
from agentrl.core.errors import ConfigError
from agentrl.core.specs import resolve
from agentrl.judges.similarity.default import stlpips_weights
from agentrl.judges.similarity.scorer import Pair
from benchmarks import judge

SIDE = 224
CLASSICAL = ("msssim", "edges", "colours", "classical")
LARGE = ("dino", "dreamsim")  # hundreds of megabytes of weights, seconds a pair on one core
PAIRS = {"cpu": {"stlpips": 2, "dino": 2, "dreamsim": 1}, "cuda": {"stlpips": 128, "dino": 128, "dreamsim": 128}}


def run(quick: bool = False) -> dict[str, Any]:
    """Time the scorers; there is no peer to compare with."""
    return {
        "schema": 1,
        "name": "similarity",
        "machine": measure.machine(),
        "threads": 1,
        "results": similarity_cases(quick),
        "peers": {},
        "ratios": [],
        "pass": True,
    }


def similarity_cases(quick: bool = False) -> list[dict[str, Any]]:
    """Rows of results for every scorer that can run here; the large models only when there is time for them."""
    seconds, repeats = (0.1, 1) if quick else (1.0, 5)
    rows = []
    for kind in CLASSICAL:
        rows.append(_row({"kind": kind}, "cpu", seconds, repeats))
        rows.append(_row({"kind": kind}, "cpu", seconds, repeats, new_targets=True))
    for device in _devices():
        if stlpips_weights():
            rows.append(_row({"kind": "stlpips"}, device, seconds, repeats))
            rows.append(_row({"kind": "stlpips"}, device, seconds, repeats, new_targets=True))
        for kind in () if quick else LARGE:
            with _random_folder(kind) as folder:
                rows.append(_row({"kind": kind, "folder": str(folder)}, device, seconds, min(repeats, 3)))
    return rows


def comparing(spec: dict[str, Any], pairs: Sequence[Pair]) -> Callable[[], int]:
    """Score all pairs with the scorer of a spec; says how many."""
    scorer = resolve("scorer", spec)

    def work() -> int:
        if len(scorer.score_pairs(pairs)) != len(pairs):
            raise AssertionError("a pair has no score")
        return len(pairs)

    return work


@lru_cache(maxsize=4)
def picture_pairs(count: int, side: int = SIDE) -> tuple[Pair, ...]:
    """Drawings of coloured shapes, eight for each target, as a group of episodes makes them."""
    if count < 1 or side < 8:
        raise ConfigError("count must be at least 1 and side at least 8")
    chance = np.random.default_rng(7)
    targets = [_shapes(chance, side) for _ in range((count + 7) // 8)]
    return tuple((targets[index // 8], _shapes(chance, side)) for index in range(count))


def _shapes(chance: np.random.Generator, side: int) -> np.ndarray:
    picture = np.full((side, side, 3), 255, np.uint8)
    rows, columns = np.mgrid[:side, :side]
    for _ in range(6):
        row, column, reach = chance.integers((0, 0, side // 16), (side, side, side // 4)).tolist()
        inside = (rows - row) ** 2 + (columns - column) ** 2 < reach**2
        if chance.random() < 0.5:
            inside = (abs(rows - row) < reach) & (abs(columns - column) < reach // 2 + 1)
        picture[inside] = chance.integers(0, 256, 3)
    return picture


def _devices() -> list[str]:
    if importlib.util.find_spec("torch") is None:
        return []
    import torch

    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def _case(kind: str, device: str, new_targets: bool) -> str:
    return f"{kind} on {'one core' if device == 'cpu' else device}, {'new' if new_targets else 'known'} targets"


def _row(spec: dict[str, Any], device: str, seconds: float, repeats: int, new_targets: bool = False) -> dict[str, Any]:
    kind = spec["kind"]
    if new_targets:
        spec = {**spec, "cache_mb": 0}
    if kind not in CLASSICAL:
        spec = {**spec, "device": device, "threads": 1 if device == "cpu" else None, "batch_size": 64}
    work = comparing(spec, picture_pairs(PAIRS[device].get(kind, 32)))
    rates = judge.rates if device == "cpu" else measure.rates
    impl = f"agentrl {kind}" + (" (random weights)" if kind in LARGE else "")
    found = rates(work, seconds, repeats)
    return measure.result(
        _case(kind, device, new_targets), impl, agentrl.__version__, found, "pairs/s", obs="image", px=SIDE
    )


@contextmanager
def _random_folder(kind: str) -> Iterator[Path]:
    from benchmarks import random_weights

    with tempfile.TemporaryDirectory() as place:
        write = random_weights.write_dino if kind == "dino" else random_weights.write_dreamsim
        yield write(Path(place), sizes=random_weights.BASE)

"""Random numbers by name: what an episode draws in a turn follows from their names, not from who else is playing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

# Steele, Lea and Flood's SplitMix64: a counter that grows by an odd constant, and a function that scrambles it.
STRIDE = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def named_noise(seed: int, names: Sequence[str], width: int) -> np.ndarray:
    """`[names, width]` numbers in [0, 1) in float32; a row depends on the seed and its own name only."""
    digests = [hashlib.blake2b(f"{seed}/{name}".encode("utf-8", "replace"), digest_size=8).digest() for name in names]
    begin = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)[:, None]
    x = begin + np.arange(1, width + 1, dtype=np.uint64) * STRIDE
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    x ^= x >> np.uint64(31)
    return (x >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)

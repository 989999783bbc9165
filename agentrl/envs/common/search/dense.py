"""Search by the meaning of texts: vectors of all documents, compared one by one, and rankings joined into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from agentrl.core.cache import cached_arrays
from agentrl.envs.common.search.encoders import Encoder

AT_ONCE = 512  # documents
PLACES = 6  # of similarities: where a sum is cut for speed, equal vectors differ beyond
RANK_CONSTANT = 60  # of reciprocal rank fusion, as its authors chose it (Cormack, Clarke and Buettcher, 2009)


class DenseIndex:
    """The vectors of documents, kept in the cache under `name` and the model's digest."""

    def __init__(
        self,
        name: str,
        encoder: Encoder,
        texts: Callable[[], Iterable[str]],
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> None:
        def build() -> dict[str, np.ndarray]:
            found, batch = [], []
            for text in texts():
                batch.append(text)
                if len(batch) == AT_ONCE:
                    found.append(encoder.encode(batch).astype(np.float16))
                    batch = []
                    if progress is not None:
                        progress("embedding", len(found) * AT_ONCE, None)
            found.append(encoder.encode(batch).astype(np.float16))
            return {"vectors": np.concatenate(found)}

        self._encoder = encoder
        stored = cached_arrays(f"{name}-{encoder.digest}", build)["vectors"]
        self._vectors = np.ascontiguousarray(stored, np.float32)

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, query: str, k: int) -> list[int]:
        """The numbers of the k nearest documents, nearest first; of equally near ones the smaller number first."""
        near = np.round(self._vectors @ self._encoder.encode([query])[0], PLACES)
        k = min(k, len(near))
        if k == 0:
            return []
        least = np.partition(near, len(near) - k)[len(near) - k]
        best = np.flatnonzero(near >= least).tolist()
        return sorted(best, key=lambda number: (-near[number], number))[:k]


def fused(rankings: Sequence[Sequence[int]], constant: int = RANK_CONSTANT) -> list[int]:
    """One ranking out of several, by the sum of 1 / (constant + rank); of equal sums the first seen first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (constant + rank)
    return sorted(scores, key=lambda number: -scores[number])

"""What scorers with a neural network share: device, threads, batches on the device, faults."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from torch import Tensor

from agentrl.judges.similarity.device import chosen_device, chosen_threads, computing
from agentrl.judges.similarity.scorer import FeatureScorer


class NetworkScorer(FeatureScorer):
    """A picture's features are one vector, kept on the device."""

    def __init__(
        self, *, device: str, threads: int | None, batch_size: int, cache_mb: float, above_blank: bool
    ) -> None:
        super().__init__(batch_size=batch_size, cache_mb=cache_mb, above_blank=above_blank)
        self.device, self.threads = chosen_device(device), chosen_threads(threads)
        self._asked_device = device

    def _arguments(self) -> dict[str, Any]:
        return {"device": self._asked_device, "threads": self.threads}

    @abstractmethod
    def _embed(self, pictures: np.ndarray) -> Tensor:
        """uint8 [n, height, width, 3] -> [n, features] on the device."""

    @abstractmethod
    def _compare(self, targets: Tensor, drawings: Tensor) -> Tensor:
        """The distances of n pairs of vectors."""

    def _features(self, pictures: list[np.ndarray]) -> list[Tensor]:
        with computing(self.name, self.threads):
            # clone: a row that is only a view would keep its whole batch in memory as long as it is remembered
            return [row.clone() for row in self._embed(np.stack(pictures))]

    def _distances(self, targets: list[Tensor], drawings: list[Tensor]) -> np.ndarray:
        with computing(self.name, self.threads):
            # one by one: stacking would copy megabytes for nothing, and a batch must give what single pairs give
            found = [
                self._compare(target[None], drawing[None]) for target, drawing in zip(targets, drawings, strict=True)
            ]
            return np.array([float(distance) for distance in found])

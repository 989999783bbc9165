"""What scorers with a neural network share: device, threads, batches on the device, faults."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.judges.similarity.scorer import FeatureScorer


class NetworkScorer(FeatureScorer):
    """A picture's features are one vector, kept on the device."""

    def __init__(
        self, *, device: str, threads: int | None, batch_size: int, cache_mb: float, above_blank: bool
    ) -> None:
        super().__init__(batch_size=batch_size, cache_mb=cache_mb, above_blank=above_blank)
        self.device, self.threads = chosen_device(device), chosen_threads(threads)
        self.arguments = {"device": device, "threads": self.threads}

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


# ---------------------------------------------------------------------- device and threads


def chosen_device(device: Any) -> torch.device:
    """A GPU for "auto" where there is one; a device that is not there is the user's mistake."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ConfigError(f'device must be "auto", "cpu" or "cuda"; got {device!r}') from error
    if found.type not in ("cpu", "cuda"):
        raise ConfigError(f'device must be "auto", "cpu" or "cuda"; got {device!r}')
    if found.type == "cuda" and (not torch.cuda.is_available() or (found.index or 0) >= torch.cuda.device_count()):
        raise ConfigError(f'device {device!r} is not available; use "cpu" or "auto"')
    return found


def chosen_threads(threads: Any) -> int | None:
    """How many threads to use on a processor; None leaves it to torch."""
    return None if threads is None else whole_number("threads", threads, at_least=1, at_most=1024)


@contextmanager
def computing(name: str, threads: int | None) -> Iterator[None]:
    """Inference with that number of threads; an exception in it becomes a `JudgeFault`, never a score."""
    before = torch.get_num_threads()
    try:
        if threads is not None and threads != before:
            torch.set_num_threads(threads)  # of the whole process: put back below
        with torch.inference_mode():
            yield
    except RuntimeError as error:  # out of memory, a lost GPU
        raise JudgeFault(f"{name} inference failed: {error}") from error
    finally:
        if threads is not None and threads != before:
            torch.set_num_threads(before)

"""What every way of reaching vLLM can do, and the words they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agentrl.core.errors import EngineFault

INSIDE = Path(__file__).with_name("inside")  # modules of the engine's own interpreter
PROFILING = "Error in memory profiling"  # vLLM's words: it takes the memory it measures for its own


class EngineLost(EngineFault):
    """The engine died, hangs or cannot be reached: another one may do better."""


class MemoryUnsettled(EngineFault):
    """Another program gave GPU memory back while the engine measured how much there is; a second start may do."""


def start_fault(message: str) -> EngineFault:
    """What a start that failed is called, by what vLLM said."""
    if PROFILING not in message:
        return EngineFault(message)
    why = "another program gave GPU memory back while vLLM measured how much is free"
    return MemoryUnsettled(f"{why}; start it when the GPU's other programs have settled. {message}")


@dataclass(frozen=True)
class Request:
    """A prompt of token ids and how it is to be answered, in vLLM's own words."""

    ids: list[int]  # one token stands for each picture
    sampling: dict[str, Any]
    images: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Reply:
    """The tokens of one answer, its stop token included."""

    ids: list[int]
    logprobs: list[float]
    stopped: bool
    versions: list[str]  # of the weights that produced it; one, unless weights changed half-way
    prompt_ids: list[int] | None  # as the engine read it, pictures at full length; None where it does not say


class Backend(Protocol):
    """One engine. `EngineLost` where it is gone, any other `EngineFault` where it refuses."""

    restartable: bool

    def start(self) -> int:
        """Start it unless it runs, and say how many tokens it can read."""
        ...

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """Answer all requests."""
        ...

    def score(self, requests: Sequence[Request], temperature: float) -> list[list[float]]:
        """The log-probability of every token of each prompt but its first, and of the answer's."""
        ...

    def load(self, ticket: str, version: str) -> None:
        """Take all weights from a file or from shared memory while nothing is being answered, and forget what the old
        ones computed."""
        ...

    def sleep(self) -> None:
        """Leave the GPU's memory to others, until `wake`."""
        ...

    def wake(self) -> None:
        """Get ready to answer again."""
        ...

    def stop(self) -> None:
        """End it, however it is; `start` makes another."""
        ...

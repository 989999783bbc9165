"""When memory runs out while training: read fewer tokens at a time, or name the option to change."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import torch

from agentrl.core.errors import Fault

log = logging.getLogger(__name__)
Found = TypeVar("Found")


class TrainingFault(Fault):
    """Training cannot continue: a loss that is not finite, memory that ran out."""


class OutOfMemory(TrainingFault):
    """Too many tokens at a time."""


class TokenBudget:
    """How many tokens a pass may read; halved when that was too much.

    A loss is the sum of its micro-batches' parts, so smaller ones give the same step (to rounding), only slower. What
    else lives on a GPU may come and go: a run of hours should not end because of it. Where processes read in step
    (`alone` is False) one of them cannot go back by itself, and the fault stays a fault.
    """

    def __init__(self, tokens: int, *, alone: bool = True) -> None:
        self.tokens, self.alone = tokens, alone

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Inside, a lack of memory is an `OutOfMemory`."""
        knob = f"lower token_budget (now {self.tokens})"
        try:
            yield
        except torch.OutOfMemoryError as error:
            raise OutOfMemory(
                f"out of GPU memory while training; {knob}, or switch gradient_checkpointing on"
            ) from error
        except RuntimeError as error:
            if "DefaultCPUAllocator" not in str(error):
                raise
            raise OutOfMemory(f"out of memory while training; {knob}") from error

    def fit(self, lengths: Sequence[int], work: Callable[[int], Found], *, times: int = 1) -> Found:
        """`work(tokens)` for rows of these lengths; again with half as many tokens while there is something to halve.

        `work` must be able to begin anew. It may read `times` as many tokens as one with gradients.
        """
        longest = max(lengths, default=1)
        while True:
            tokens = times * self.tokens
            try:
                return work(tokens)
            except OutOfMemory:
                if not self.alone or tokens <= longest:
                    raise
            # Only here is the fault gone, and with it what its frames held of the pass that failed.
            self.tokens = -(-max(longest, min(tokens, sum(lengths)) // 2) // times)
            log.warning("memory ran out while training; from now on token_budget is %d", self.tokens)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()

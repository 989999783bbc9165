"""Where a model computes, and with how many threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, JudgeFault


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
        raise ConfigError(f'device {device!r} is not there; "cpu" always is, "auto" takes what there is')
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
        raise JudgeFault(f"{name} could not compute: {error}") from error
    finally:
        if threads is not None and threads != before:
            torch.set_num_threads(before)

"""The processes of one training run, one for each GPU (or, with gloo, any number on processors).

`torchrun` starts them, or `agentrl train --processes N` on one machine. They all run the same program on the same data:
each plays its share of the episodes, then all have all of them; each reads its share of the rows, then all have all
results. So every statistic of a batch (whitening, groups, the number of tokens a loss is divided by) is
computed by the very code that runs alone, and only gradients and weights travel in pieces (see `parallel.sharding`).

What they tell each other is JSON or plain arrays. An error that one of them meets at a place where all meet is raised
by all; a process that dies or hangs ends the others with a `ProcessFault`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist

from agentrl.core.errors import AgentRLError, ConfigError, Fault
from agentrl.models.loading import chosen_device

Found = TypeVar("Found")
MEETING = "AGENTRL_MEETING"  # a file through which processes of one machine find each other, set by `--processes`
SIGNS = ("closed by peer", "timed out", "timeout", "connection re", "broken pipe", "gloo", "nccl")  # of a lost process


class ProcessFault(Fault):
    """Another process of the run has ended, or has not answered in time."""


class ProcessGroup:
    """This process among the others of its run; a run in one process is a group of one that never communicates."""

    def __init__(self, rank: int = 0, size: int = 1, device: str = "", *, distributed: bool = False) -> None:
        self.rank, self.size, self.device, self.distributed = rank, size, device, distributed

    @property
    def is_main(self) -> bool:
        """Whether this process writes the files and reports to the user."""
        return self.rank == 0

    @property
    def mesh(self) -> Any:
        """Where the weights of this run are spread."""
        return dist.device_mesh.init_device_mesh(torch.device(self.device).type, (self.size,))

    # ------------------------------------------------------------------ communication

    def gather_bytes(self, blob: bytes) -> list[bytes]:
        """What every process gave, in the order of their ranks."""
        if not self.distributed:
            return [blob]
        with self.guard():
            size = torch.tensor([len(blob)])
            sizes = [torch.zeros_like(size) for _ in range(self.size)]
            dist.all_gather(sizes, size)
            widest = max(int(one) for one in sizes)
            mine = torch.zeros(widest, dtype=torch.uint8)
            mine[: len(blob)] = torch.from_numpy(np.frombuffer(bytearray(blob), dtype=np.uint8))
            found = [torch.zeros_like(mine) for _ in range(self.size)]
            if widest:
                dist.all_gather(found, mine)
        return [one.numpy().tobytes()[: int(length)] for one, length in zip(found, sizes, strict=True)]

    def gather(self, value: Any) -> list[Any]:
        """The same for anything that JSON can hold (and NaN)."""
        if not self.distributed:
            return [value]
        return [json.loads(blob) for blob in self.gather_bytes(json.dumps(value).encode())]

    def everywhere(self, work: Callable[[], Found], encode: Callable[[Found], bytes]) -> list[bytes]:
        """Do `work` everywhere and share what came of it; an error of one is raised by all."""
        found, problem = None, None
        try:
            found = work()
        except AgentRLError as error:
            problem = error
        told = self.gather(None if problem is None else {"kind": type(problem).__name__, "detail": str(problem)})
        if problem is not None:
            raise problem
        known, waiting = {}, [AgentRLError]
        while waiting:
            kind = waiting.pop()
            known[kind.__name__] = kind
            waiting += kind.__subclasses__()
        for rank, one in enumerate(told):
            if one is not None:  # the error that another process met, in this one
                try:
                    error = known.get(one["kind"], Fault)(one["detail"])
                except TypeError:  # an error with arguments of its own
                    error = Fault(f"process {rank}: {one['detail']}")
                raise error
        assert found is not None
        return self.gather_bytes(encode(found))

    def on_main(self, work: Callable[[], Any]) -> Any:
        """Let the main process do `work`; all get what it returns, as JSON types, or raise what it raised."""
        if not self.distributed:
            return work()
        blobs = self.everywhere(lambda: [work() if self.is_main else None], lambda found: json.dumps(found[0]).encode())
        return json.loads(blobs[0])

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Inside, a process that was lost is a `ProcessFault`."""
        try:
            yield
        except (RuntimeError, ValueError) as error:
            if not self.distributed or isinstance(error, AgentRLError) or not is_lost(error):
                raise
            raise ProcessFault(
                "another process of this run has ended or does not answer (its own message says why); "
                f"resume from the last checkpoint. {' '.join(str(error).split())[:200]}"
            ) from error


def is_lost(error: BaseException) -> bool:
    """Whether this error of torch means that another process is no longer there."""
    text = str(error).lower()
    return isinstance(error, dist.DistError) or any(sign in text for sign in SIGNS)


# ---------------------------------------------------------------------- joining


_joined: ProcessGroup | None = None


def join(device: str = "auto", timeout: float = 1800.0) -> ProcessGroup:
    """The group that this process was started in; found once, and the same from then on.

    `timeout` is how long it waits for the others, here and whenever they meet.
    """
    global _joined
    if _joined is not None and dist.is_initialized():
        return _joined
    if not started_together():
        return ProcessGroup()
    rank, size = _number("RANK"), _number("WORLD_SIZE")
    if not 0 <= rank < size:
        raise ConfigError(f"RANK must be below WORLD_SIZE, not {rank} of {size}; start the processes with torchrun")
    place = local_device(device, _number("LOCAL_RANK", rank))
    group = ProcessGroup(rank, size, place, distributed=True)
    # Weights travel by nccl between GPUs; what the processes tell each other is on the CPU in any case.
    backend = "gloo" if place == "cpu" else "cpu:gloo,cuda:nccl"
    options: dict[str, Any] = {"rank": rank, "world_size": size, "timeout": timedelta(seconds=timeout)}
    if MEETING in os.environ:
        options["store"] = dist.FileStore(os.environ[MEETING], size)  # pyright: ignore[reportPrivateImportUsage]
    with group.guard():
        dist.init_process_group(backend, **options)
    _joined = group
    return group


def started_together() -> bool:
    """Whether this process was started as one of several, by torchrun or `--processes`. (One of one counts.)"""
    named = {"RANK", "WORLD_SIZE"} <= os.environ.keys()
    return named and (MEETING in os.environ or {"MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys())


def leave() -> None:
    """The end of the last run of this process."""
    global _joined
    if _joined is not None and dist.is_initialized():
        dist.destroy_process_group()
    _joined = None


def local_device(device: str, local_rank: int) -> str:
    """Every process of a machine has a GPU of its own, or all compute on its processors."""
    chosen = chosen_device(device)
    if chosen == "cpu":
        return chosen
    if chosen != "cuda":
        raise ConfigError(f"device {device!r}: with several processes it must be cuda, and each takes a GPU of its own")
    if local_rank >= torch.cuda.device_count():
        raise ConfigError(f"{local_rank + 1} processes need as many GPUs; here are {torch.cuda.device_count()}")
    torch.cuda.set_device(local_rank)
    return f"cuda:{local_rank}"


def _number(name: str, otherwise: int | None = None) -> int:
    text = os.environ.get(name, "" if otherwise is None else str(otherwise))
    if not text.isdecimal():
        raise ConfigError(f"the environment variable {name} must be a whole number, not {text!r}")
    return int(text)

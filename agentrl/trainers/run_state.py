"""What a run remembers besides its weights: the part of a checkpoint that `state.json` holds."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Annotated, Any

import msgspec

from agentrl.core.files import open_regular
from agentrl.trainers.monitor import Monitor

Count = Annotated[int, msgspec.Meta(ge=0)]


class RunState(msgspec.Struct, kw_only=True):
    """After an iteration; of several processes it is the main one's, with the collectors of all."""

    algorithm: str = ""
    step: Count = 0
    episodes: Count
    calls: Count
    watch: dict[str, Any]
    collector: dict[str, Any]
    collectors: list[dict[str, Any]] = []  # of the other processes
    memory: dict[str, Any] = {}  # the algorithm's own
    metrics_bytes: Count
    metrics_sha256: str = ""  # of that many bytes; states of earlier versions have none

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> RunState:
        """Read what `to_json` gave; `ValueError` or `msgspec.ValidationError` where a field is missing or wrong."""
        state = msgspec.convert(content, cls)
        Monitor.from_json(state.watch)
        return state

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return msgspec.to_builtins(self)

    def memory_of(self, rank: int) -> dict[str, Any]:
        """The collector's for one of as many processes as there are now."""
        memories = [self.collector, *self.collectors]
        return memories[rank % len(memories)]


def measured(path: Path) -> dict[str, Any]:
    """How much of a metrics file there is, and its hash, once it is on the disk."""
    if not path.exists():
        return {"metrics_bytes": 0, "metrics_sha256": _hash(b"")}
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        return {"metrics_bytes": os.fstat(file.fileno()).st_size, "metrics_sha256": _hash(file.read())}


def cut_metrics(path: Path, state: RunState) -> str | None:
    """Forget the lines after the checkpoint: they will be written again. What is wrong with those before, if anything.

    Metrics decide nothing, so damage to them does not cost the run an iteration.
    """
    if not path.exists():
        return f"{path.name} is missing; it begins anew" if state.metrics_bytes else None
    with open_regular(path) as file:
        known = file.read(state.metrics_bytes)
    whole = len(known) == state.metrics_bytes and state.metrics_sha256 in ("", _hash(known))
    # Half a line would spoil the next one, too.
    os.truncate(path, len(known) if whole else known.rfind(b"\n") + 1)
    return None if whole else f"lines of {path.name} before iteration {state.step + 1} are damaged or missing"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

"""Rollouts in several processes: each plays some episodes, then all have all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from agentrl.rollout.collect import Collection, Collector, OnTrajectory, Start
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import picture_names
from agentrl.trainers.parallel.ranks import ProcessGroup

HEAD = 8  # bytes that say how long the JSON is


def collect_distributed(
    processes: ProcessGroup, collector: Collector, starts: Sequence[Start], advance: OnTrajectory | None = None
) -> Collection:
    """Play every start in one of the processes; the records come back in the order of the starts, to every process.

    Groups stay whole on one process. `seconds` are those of the process that was busiest. `advance` is called for each
    episode of this process as it ends.
    """
    mine = own_starts(starts, processes.rank, processes.size)
    return shared(processes, lambda: (mine, collector.collect([starts[index] for index in mine], advance)))


def shared(processes: ProcessGroup, play: Callable[[], tuple[Sequence[int], Collection]]) -> Collection:
    """What `play` gives in each process (records, and the place of each), to every process in the order of places."""
    if not processes.distributed:
        return play()[1]
    parts = [unpacked(blob) for blob in processes.everywhere(play, lambda found: packed(*found))]
    records = sorted((pair for _, pairs in parts for pair in pairs), key=lambda pair: pair[0])
    facts = [fact for fact, _ in parts]
    busiest = max((fact["seconds"] for fact in facts), key=lambda seconds: sum(seconds.values()))
    return Collection(
        trajectories=[trajectory for _, trajectory in records],
        seconds=busiest,
        faults=sum(fact["faults"] for fact in facts),
        retries=sum(fact["retries"] for fact in facts),
    )


def own_starts(starts: Sequence[Start], rank: int, size: int) -> list[int]:
    """The places of the starts that a process plays: every `size`-th group, or start where there are no groups."""
    named = [(start.group_id or f"#{index}", index) for index, start in enumerate(starts)]
    groups = [[index for _, index in members] for _, members in groupby(named, key=lambda pair: pair[0])]
    return [index for group in groups[rank::size] for index in group]


def packed(places: Sequence[int], found: Collection) -> bytes:
    """Records and their pictures as bytes; each picture once."""
    pictures: dict[str, np.ndarray] = {}
    for trajectory in found.trajectories:
        pictures |= {name: np.ascontiguousarray(one) for name, one in trajectory.pictures.items()}
    head = {
        "records": [[place, one.to_json()] for place, one in zip(places, found.trajectories, strict=True)],
        "pictures": [[name, one.dtype.str, one.shape] for name, one in pictures.items()],
        "seconds": found.seconds,
        "faults": found.faults,
        "retries": found.retries,
    }
    text = json.dumps(head).encode()
    return b"".join([len(text).to_bytes(HEAD, "big"), text, *(one.tobytes() for one in pictures.values())])


def unpacked(blob: bytes) -> tuple[dict[str, Any], list[tuple[int, Trajectory]]]:
    """Inverse of `packed`: the facts, and each record with its place."""
    length = int.from_bytes(blob[:HEAD], "big")
    facts, offset = json.loads(blob[HEAD : HEAD + length]), HEAD + length
    pictures = {}
    for name, kind, shape in facts.pop("pictures"):
        count = int(np.prod(shape))
        pictures[name] = np.frombuffer(blob, np.dtype(kind), count, offset).reshape(shape)
        offset += pictures[name].nbytes
    records = []
    for place, data in facts.pop("records"):
        trajectory = Trajectory.from_json(data)
        trajectory.pictures = {name: pictures[name] for name in picture_names(trajectory) if name in pictures}
        records.append((place, trajectory))
    return facts, records

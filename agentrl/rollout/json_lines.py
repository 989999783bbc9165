"""Trajectories as JSON lines: what a run writes while it lasts.

A line is one whole trajectory, so a run that is killed loses at most the line it was writing. Secrets are taken out on
the way to the file.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular
from agentrl.core.secrecy import scrub, secrets_in
from agentrl.rollout.trajectory import Trajectory, pack

log = logging.getLogger(__name__)

MAX_NAMED = 5  # damaged lines that are logged: a file of something else would name every line of it


def encode(trajectory: Trajectory) -> bytes:
    """One line without secrets."""
    return to_line(without_secrets(pack(trajectory.to_json()))) + b"\n"


def without_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """A trajectory's JSON as it may be written to a file."""
    secrets = list(secrets_in(data["spec"]))
    # In the spec a name tells a secret; elsewhere names are an environment's data (a page may well show a "token").
    return {**scrub(data, secrets, names=False), "spec": scrub(data["spec"], secrets)}


def to_line(value: Any) -> bytes:
    """JSON on one line of ASCII; half characters are kept as escapes, NaN is refused."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def from_line(line: bytes | str) -> Any:
    """Inverse of `to_line`; `ValueError` on anything that is not JSON, NaN included."""
    return json.loads(line, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not allowed in JSON")


class JsonLines:
    """Iterates over the trajectories of a file. Lines that cannot be read are skipped; `damaged` lists (line, reason).

    `on_damaged`, where given, gets each such line as it is.
    """

    def __init__(self, path: str | os.PathLike[str], on_damaged: Callable[[bytes], Any] | None = None) -> None:
        self.path, self.on_damaged = Path(path), on_damaged
        self.damaged: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[Trajectory]:
        self.damaged = []
        try:
            with open_regular(self.path) as file:
                for number, line in enumerate(file, 1):
                    if not line.strip():
                        continue
                    try:
                        trajectory = Trajectory.from_json(from_line(line))
                    except (ValueError, RecursionError) as error:
                        self.damaged.append((number, str(error)))
                        if len(self.damaged) <= MAX_NAMED:
                            log.warning("%s: skipping line %d: %s", self.path, number, error)
                        if self.on_damaged is not None:
                            self.on_damaged(line)
                    else:
                        yield trajectory
        except OSError as error:
            raise ConfigError(f"cannot read trajectories: {error}") from error

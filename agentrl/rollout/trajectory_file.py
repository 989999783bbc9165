"""Trajectories on disk: one JSON object a line, pictures beside them as `images/<hash>.png`.

Files that are closed for good may have become parquet (`agentrl.rollout.parquet`); readers take both, by suffix.
A line is written and flushed in one go, so a run that is killed loses at most the line it was writing. The reader
passes over such a half line and says so; the writer never appends to it. Secrets are taken out on the way.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.secrecy import scrub, secrets_in
from agentrl.rollout.token_deltas import pack
from agentrl.rollout.trajectory import Trajectory

log = logging.getLogger(__name__)

PICTURE_NAME = re.compile(r"[0-9a-f]{32}")  # nothing that a file system reads as a path


def images_folder(path: Path) -> Path:
    """Where the pictures of a trajectory file are: beside it, or beside the `trajectories` folder of a run."""
    parent = path.absolute().parent
    return (parent.parent if parent.name == "trajectories" else parent) / "images"


class TrajectoryWriter:
    """Appends trajectories to a file; use as a context manager or close it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.images = images_folder(self.path)
        self._stored: set[str] = set()
        if is_parquet(self.path):
            raise ConfigError(f"{self.path}: while a run lasts its trajectories are JSON lines; choose a .jsonl file")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "ab")  # noqa: SIM115 (closed by close)
            self._begin_on_a_new_line()
        except OSError as error:
            raise ConfigError(f"cannot write trajectories: {error}; choose another place") from error

    def _begin_on_a_new_line(self) -> None:
        with open(self.path, "rb") as old:
            first = old.readline(1 << 16)
            if first.strip() and not first.lstrip().startswith(b"{"):
                self._file.close()
                raise ConfigError(f"{self.path} holds something else than trajectories; it was left alone")
            size = old.seek(0, io.SEEK_END)
            if size and (old.seek(size - 1), old.read(1))[1] != b"\n":
                self._file.write(b"\n")  # the half line of a run that was killed stays what it is

    def write(self, trajectory: Trajectory) -> None:
        """Pictures first, so that no line ever names one that is not there."""
        for name, picture in trajectory.pictures.items():
            self._store(name, picture)
        self._file.write(encode(trajectory))
        self._file.flush()

    def _store(self, name: str, picture: np.ndarray) -> None:
        if name in self._stored:
            return
        path = picture_path(self.images, name)
        if not path.exists():
            buffer = io.BytesIO()
            Image.fromarray(picture).save(buffer, "PNG")
            write_atomically(path, buffer.getvalue())
        self._stored.add(name)

    def close(self) -> None:
        """May be called twice."""
        self._file.close()

    def __enter__(self) -> TrajectoryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def encode(trajectory: Trajectory) -> bytes:
    """One line without secrets."""
    return to_line(without_secrets(pack(trajectory.to_json()))) + b"\n"


def without_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """A trajectory's JSON as it may be written down."""
    secrets = list(secrets_in(data["spec"]))
    # In the spec a name tells a secret; elsewhere names are somebody's data (a page may well show a "token").
    return {**scrub(data, secrets, names=False), "spec": scrub(data["spec"], secrets)}


def to_line(value: Any) -> bytes:
    """JSON on one line of ASCII; half characters are kept as escapes, NaN is refused."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def from_line(line: bytes | str) -> Any:
    """Inverse of `to_line`; a `ValueError` on anything that is no JSON, NaN included."""
    return json.loads(line, parse_constant=_no_number)


def is_parquet(path: Path) -> bool:
    """Is this, by its name, the file of a closed run?"""
    return path.suffix == ".parquet"


class TrajectoryReader:
    """Iterates over a file. Lines that cannot be read are passed over; `damaged` holds (line number, why).

    `on_damaged`, where given, gets each such line as it is. A damaged parquet file is a `ConfigError` as a whole.
    """

    def __init__(self, path: str | os.PathLike[str], on_damaged: Callable[[bytes], Any] | None = None) -> None:
        self.path = Path(path)
        self.images = images_folder(self.path)
        self.on_damaged = on_damaged
        self.damaged: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[Trajectory]:
        self.damaged = []
        if is_parquet(self.path):
            from agentrl.rollout.parquet import iterate_parquet  # which itself reads JSON lines through this class

            yield from iterate_parquet(self.path)
            return
        try:
            with open(self.path, "rb") as file:
                yield from self._lines(file)
        except OSError as error:
            raise ConfigError(f"cannot read trajectories: {error}") from error

    def _lines(self, file: Iterable[bytes]) -> Iterator[Trajectory]:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                trajectory = Trajectory.from_json(from_line(line))
            except (ValueError, RecursionError) as error:
                self.damaged.append((number, str(error)))
                log.warning("%s, line %d is passed over: %s", self.path, number, error)
                if self.on_damaged is not None:
                    self.on_damaged(line)
            else:
                yield trajectory

    def picture(self, name: str) -> np.ndarray:
        """The pixels behind a hash of this file."""
        try:
            with Image.open(picture_path(self.images, name)) as picture:
                return np.asarray(picture)
        except OSError as error:
            raise ConfigError(f"the picture {name} cannot be read: {error}") from error


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def read_trajectories(path: str | os.PathLike[str]) -> list[Trajectory]:
    """All readable trajectories of a file, JSON lines or parquet; `ConfigError` if there is none."""
    reader = TrajectoryReader(path)
    found = list(reader)
    if not found:
        why = f": line {reader.damaged[0][0]}: {reader.damaged[0][1]}" if reader.damaged else ""
        raise ConfigError(f"there is no trajectory in {path}{why}")
    return found


def write_trajectories(path: str | os.PathLike[str], trajectories: Iterable[Trajectory], images: Path) -> None:
    """A whole file at once, in place of an older one; pictures are copied from `images` where they are not there.

    The suffix decides: `.parquet`, or else JSON lines.
    """
    target = Path(path)
    copied = _with_pictures(trajectories, images, images_folder(target))
    try:
        if is_parquet(target):
            from agentrl.rollout.parquet import write_parquet

            write_parquet(target, copied)
        else:
            write_atomically(target, b"".join(encode(trajectory) for trajectory in copied))
    except OSError as error:
        raise ConfigError(f"cannot write trajectories: {error}; choose another place") from error


def _with_pictures(trajectories: Iterable[Trajectory], source: Path, target: Path) -> Iterator[Trajectory]:
    for trajectory in trajectories:
        for name in picture_names(trajectory):
            _copy_picture(name, source, target)
        yield trajectory


def _copy_picture(name: str, source: Path, target: Path) -> None:
    place, original = picture_path(target, name), picture_path(source, name)
    if not place.exists() and original.exists():
        write_atomically(place, original.read_bytes())


def picture_names(trajectory: Trajectory) -> set[str]:
    """The hashes of all pictures of a trajectory."""
    return {name for step in trajectory.steps for name in step.images} | set(trajectory.final_images)


def picture_path(folder: Path, name: Any) -> Path:
    """The file of a picture; a name that is no hash (a hostile file could hold a path) is refused."""
    if not isinstance(name, str) or not PICTURE_NAME.fullmatch(name):
        raise ConfigError(f"{name!a} is not the hash of a picture")
    return folder / f"{name}.png"

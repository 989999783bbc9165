"""Trajectories on disk: `TrajectoryWriter` and `TrajectoryReader`; pictures lie beside the file as `images/<hash>.png`.

While a run lasts a file holds JSON lines (`agentrl.rollout.json_lines`); a closed one may have become parquet
(`agentrl.rollout.parquet`). Readers take both, by suffix. A line is written and flushed in one go. The reader skips the
half line of a run that was killed and logs it; the writer never appends to it.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular, read_regular
from agentrl.rollout.json_lines import JsonLines, encode
from agentrl.rollout.parquet import iterate_parquet, write_parquet
from agentrl.rollout.trajectory import Trajectory

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
            raise ConfigError(f"{self.path}: trajectories are written as JSON lines; choose a .jsonl file")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and not self.path.is_file():  # opening a pipe would wait for its reader
                raise OSError(errno.EINVAL, "not a regular file", str(self.path))
            self._file = open(self.path, "ab")  # noqa: SIM115 (closed by close)
            with open(self.path, "rb") as old:
                first = old.readline(1 << 16)
                if first.strip() and not first.lstrip().startswith(b"{"):
                    self._file.close()
                    raise ConfigError(f"{self.path} holds no trajectories; it was left unchanged")
                size = old.seek(0, io.SEEK_END)
                if size and (old.seek(size - 1), old.read(1))[1] != b"\n":
                    self._file.write(b"\n")  # the half line of a run that was killed stays what it is
        except OSError as error:
            raise ConfigError(f"cannot write trajectories: {error}; choose another place") from error

    def write(self, trajectory: Trajectory) -> None:
        """Pictures first, so that no line ever names one that is not there."""
        for name, picture in trajectory.pictures.items():
            if name in self._stored:
                continue
            path = picture_path(self.images, name)
            if not path.exists():
                buffer = io.BytesIO()
                Image.fromarray(picture).save(buffer, "PNG")
                write_atomically(path, buffer.getvalue())
            self._stored.add(name)
        self._file.write(encode(trajectory))
        self._file.flush()

    def close(self) -> None:
        """May be called twice."""
        self._file.close()

    def __enter__(self) -> TrajectoryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def is_parquet(path: Path) -> bool:
    """Is this, by its name, the file of a closed run?"""
    return path.suffix == ".parquet"


class TrajectoryReader:
    """Iterates over a file, JSON lines or parquet by its suffix.

    Of JSON lines, those that cannot be read are skipped: `damaged` lists (line number, reason). A damaged parquet file
    is a `ConfigError` as a whole.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.images = images_folder(self.path)
        self._lines = JsonLines(self.path)

    @property
    def damaged(self) -> list[tuple[int, str]]:
        """Lines of the last iteration that could not be read."""
        return self._lines.damaged

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(iterate_parquet(self.path) if is_parquet(self.path) else self._lines)

    def picture(self, name: str) -> np.ndarray:
        """The pixels of a picture, by its hash."""
        try:
            with open_picture(self.images, name) as picture:
                return np.asarray(picture)
        except OSError as error:
            raise ConfigError(f"the picture {name} cannot be read: {error}") from error


def read_trajectories(path: str | os.PathLike[str]) -> list[Trajectory]:
    """All readable trajectories of a file, JSON lines or parquet; `ConfigError` if there is none."""
    reader = TrajectoryReader(path)
    found = list(reader)
    if not found:
        why = f": line {reader.damaged[0][0]}: {reader.damaged[0][1]}" if reader.damaged else ""
        raise ConfigError(f"no trajectory in {path}{why}")
    return found


def with_pictures(path: str | os.PathLike[str]) -> Iterator[Trajectory]:
    """The trajectories of a file; the pictures that their steps show are read, too."""
    reader = TrajectoryReader(path)
    for trajectory in reader:
        trajectory.pictures = {name: reader.picture(name) for step in trajectory.steps for name in step.images}
        yield trajectory


def write_trajectories(path: str | os.PathLike[str], trajectories: Iterable[Trajectory], images: Path) -> None:
    """A whole file at once, in place of an older one; pictures are copied from `images` where they are not there.

    The suffix decides: `.parquet`, or else JSON lines.
    """
    target = Path(path)
    copied = _copy_pictures(trajectories, images, images_folder(target))
    try:
        if is_parquet(target):
            write_parquet(target, copied)
        else:
            write_atomically(target, b"".join(encode(trajectory) for trajectory in copied))
    except OSError as error:
        raise ConfigError(f"cannot write trajectories: {error}; choose another place") from error


def _copy_pictures(trajectories: Iterable[Trajectory], source: Path, target: Path) -> Iterator[Trajectory]:
    for trajectory in trajectories:
        for name in picture_names(trajectory):
            copy, original = picture_path(target, name), picture_path(source, name)
            if not copy.exists() and original.exists():
                write_atomically(copy, read_regular(original))
        yield trajectory


def picture_names(trajectory: Trajectory) -> set[str]:
    """The hashes of all pictures of a trajectory."""
    return {name for step in trajectory.steps for name in step.images} | set(trajectory.final_images)


def picture_path(folder: Path, name: Any) -> Path:
    """The file of a picture; a name that is no hash (a hostile file could hold a path) is refused."""
    if not isinstance(name, str) or not PICTURE_NAME.fullmatch(name):
        raise ConfigError(f"{name!a} is not the hash of a picture")
    return folder / f"{name}.png"


@contextmanager
def open_picture(folder: Path, name: Any) -> Iterator[Image.Image]:
    """A picture by its hash. Only as PNG, which is what is written: other formats have decoders that run programs."""
    with open_regular(picture_path(folder, name)) as file, Image.open(file, formats=("PNG",)) as picture:
        yield picture

"""Frames of the videos of a LeRobotDataset, by ffmpeg."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError, MissingExtra


class VideoFrames:
    """Reads videos from front to back: episodes of a data set follow one another in a file."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._frames: Any = None
        self._next, self._size = 0, (0, 0)

    def read(self, path: Path, first: int, count: int) -> Iterator[np.ndarray]:
        """`count` frames from `first` on, uint8 [height, width, 3]."""
        if path != self._path or first < self._next:
            self._open(path)
        for _ in range(first - self._next):
            self._take()
        for _ in range(count):
            width, height = self._size
            yield np.frombuffer(self._take(), np.uint8).reshape(height, width, 3)

    def _open(self, path: Path) -> None:
        try:
            import imageio_ffmpeg
        except ImportError as error:
            raise MissingExtra("imageio-ffmpeg", "record") from error
        if not path.is_file():
            raise ConfigError(f"the video {path} is missing")
        # Every frame once, whatever its time says.
        self._frames = imageio_ffmpeg.read_frames(str(path), output_params=["-fps_mode", "passthrough"])
        try:
            self._size = next(self._frames)["source_size"]
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"the video {path} cannot be read: {error}") from error
        self._path, self._next = path, 0

    def _take(self) -> bytes:
        try:
            frame = next(self._frames)
        except (StopIteration, OSError, RuntimeError) as error:
            raise ConfigError(f"the video {self._path} ends before frame {self._next}, or cannot be read") from error
        self._next += 1
        return frame

"""Frames of the videos of a LeRobotDataset, by ffmpeg."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np

from agentrl.core.errors import ConfigError, MissingExtra


class VideoFrames:
    """Reads videos from front to back: episodes of a data set follow one another in a file."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._frames: Generator[np.ndarray, None, None] | None = None
        self._next = 0

    def read(self, path: Path, first: int, count: int) -> Iterator[np.ndarray]:
        """`count` frames from `first` on, uint8 [height, width, 3]."""
        if self._frames is None or path != self._path or first < self._next:
            self.close()
            self._path, self._frames, self._next = path, decoded(path), 0
        for number in range(self._next, first + count):
            frame = next(self._frames, None)
            if frame is None:
                raise ConfigError(f"the video {path} ends before frame {number}, or cannot be read")
            self._next = number + 1
            if number >= first:
                yield frame

    def close(self) -> None:
        """End ffmpeg, if it runs."""
        if self._frames is not None:
            self._frames.close()
        self._frames = None


def decoded(path: Path) -> Generator[np.ndarray, None, None]:
    """Every frame of a video once, whatever its time says."""
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingExtra("imageio-ffmpeg", "record") from error
    if not path.is_file():
        raise ConfigError(f"the video {path} is missing")
    # As what it must be: a file that calls itself a play list could name others, and addresses.
    source = ["-protocol_whitelist", "file,pipe", "-f", "mov", "-i", f"file:{path}"]
    frames = ["-fps_mode", "passthrough", "-f", "image2pipe", "-c:v", "ppm", "-"]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "quiet", "-nostdin", *source, *frames]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ffmpeg:
        assert ffmpeg.stdout is not None
        while ffmpeg.stdout.readline().strip() == b"P6":  # then width, height, the highest value and the pixels
            width, height = map(int, ffmpeg.stdout.readline().split())
            ffmpeg.stdout.readline()
            pixels = ffmpeg.stdout.read(3 * width * height)
            yield np.frombuffer(pixels, np.uint8).reshape(height, width, 3)

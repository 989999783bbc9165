"""Frames to moving pictures: GIF through `agentrl.core.gif`, MP4 through imageio and ffmpeg."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image

from agentrl.core.errors import MissingExtra
from agentrl.core.gif import encode_gif, same_size

LAST_FRAME_SECONDS = 2.0  # the result stays on the screen for a moment


def require_mp4() -> None:
    """`MissingExtra` unless MP4 can be written here; called before the first episode, not after it."""
    if any(importlib.util.find_spec(module) is None for module in ("imageio", "imageio_ffmpeg")):
        raise MissingExtra("imageio[ffmpeg]", "record")


def encode_png(picture: np.ndarray) -> bytes:
    """A uint8 picture as PNG."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return buffer.getvalue()


def decode_png(data: bytes) -> Image.Image:
    """The picture back, in RGB."""
    return Image.open(io.BytesIO(data)).convert("RGB")


def gif(frames: Sequence[bytes], fps: float) -> bytes:
    """PNG frames as a looping GIF."""
    return encode_gif([decode_png(frame) for frame in frames], 1 / fps, LAST_FRAME_SECONDS)


def mp4(frames: Sequence[bytes], fps: float) -> bytes:
    """PNG frames as H.264 in MP4."""
    require_mp4()
    import imageio.v2 as imageio

    arrays: list[ArrayLike] = [
        _even(np.asarray(picture)) for picture in same_size([decode_png(frame) for frame in frames])
    ]
    arrays += [arrays[-1]] * max(0, round(fps * LAST_FRAME_SECONDS) - 1)
    with TemporaryDirectory() as folder:  # ffmpeg writes to a name, not to memory
        path = Path(folder) / "film.mp4"
        imageio.mimwrite(path, arrays, fps=fps, macro_block_size=1, ffmpeg_log_level="error")
        return path.read_bytes()


def _even(picture: np.ndarray) -> np.ndarray:
    """The last row or column twice where needed: common players want even sizes."""
    return np.pad(picture, ((0, picture.shape[0] % 2), (0, picture.shape[1] % 2), (0, 0)), mode="edge")

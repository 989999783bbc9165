"""Frames to moving pictures: GIF through pillow, MP4 through imageio and ffmpeg."""

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

LAST_FRAME_SECONDS = 2.0  # the result stays on the screen for a moment


def require_mp4() -> None:
    """`MissingExtra` unless MP4 can be written here; asked before the first episode, not after it."""
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
    pictures = _same_size(frames)
    durations = [round(1000 / fps)] * (len(pictures) - 1) + [round(1000 * LAST_FRAME_SECONDS)]
    buffer = io.BytesIO()
    first, *rest = pictures
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return buffer.getvalue()


def mp4(frames: Sequence[bytes], fps: float) -> bytes:
    """PNG frames as H.264 in MP4."""
    require_mp4()
    import imageio.v2 as imageio

    arrays: list[ArrayLike] = [_even(np.asarray(picture)) for picture in _same_size(frames)]
    arrays += [arrays[-1]] * max(0, round(fps * LAST_FRAME_SECONDS) - 1)
    with TemporaryDirectory() as folder:  # ffmpeg writes to a name, not to memory
        path = Path(folder) / "film.mp4"
        imageio.mimwrite(path, arrays, fps=fps, macro_block_size=1, ffmpeg_log_level="error")
        return path.read_bytes()


def _same_size(frames: Sequence[bytes]) -> list[Image.Image]:
    """Decoded frames on a canvas that fits the largest (pages of a web site differ in height)."""
    pictures = [decode_png(frame) for frame in frames]
    size = (max(picture.width for picture in pictures), max(picture.height for picture in pictures))
    return [picture if picture.size == size else _on_canvas(picture, size) for picture in pictures]


def _on_canvas(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    canvas = Image.new("RGB", size, "white")
    canvas.paste(picture, (0, 0))
    return canvas


def _even(picture: np.ndarray) -> np.ndarray:
    """The last row or column twice where needed: common players want even sizes."""
    return np.pad(picture, ((0, picture.shape[0] % 2), (0, picture.shape[1] % 2), (0, 0)), mode="edge")

"""Pictures as an animated GIF that runs in a loop."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image

LAST_SECONDS = 2.5  # the result stays on the screen for a moment before the film starts again
PAPER = "#ffffff"


def encode_gif(pictures: Sequence[Image.Image], seconds: float, last_seconds: float = LAST_SECONDS) -> bytes:
    """The bytes of a GIF that shows each picture for `seconds` and the last one for `last_seconds`."""
    pictures = same_size(pictures)
    durations = [round(1000 * seconds)] * (len(pictures) - 1) + [round(1000 * last_seconds)]
    palette = _palette(pictures)
    first, *rest = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=True)
    return buffer.getvalue()


def same_size(pictures: Sequence[Image.Image]) -> list[Image.Image]:
    """The pictures in RGB on a canvas that fits the largest (pages of a web site differ in height)."""
    size = (max(picture.width for picture in pictures), max(picture.height for picture in pictures))
    found = []
    for picture in pictures:
        if picture.size != size:
            canvas = Image.new("RGB", size, PAPER)
            canvas.paste(picture, (0, 0))
            picture = canvas
        found.append(picture.convert("RGB"))
    return found


def _palette(pictures: Sequence[Image.Image]) -> Image.Image:
    """One palette for the whole film: colours that shift from frame to frame would flicker.

    Maximum coverage keeps rare colours (a small figure on a large floor), which median cut gives away.
    """
    chosen = pictures[:: max(1, len(pictures) // 8)]
    sheet = Image.new("RGB", (pictures[0].width, pictures[0].height * len(chosen)))
    for index, picture in enumerate(chosen):
        sheet.paste(picture, (0, index * picture.height))
    return sheet.quantize(255, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)

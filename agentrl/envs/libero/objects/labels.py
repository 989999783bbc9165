"""Printed labels: a colour, bands, and words in the largest letters that fit."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np


class Label(NamedTuple):
    """What is printed on a package."""

    words: tuple[str, ...]  # lines
    paper: str  # colours such as "#ffcc00"
    ink: str
    band: str = ""  # colour of stripes at the upper and lower edge; empty: none
    spot: str = ""  # colour of a round spot behind the words; empty: none
    repeat: int = 1  # times around a can or bottle


@cache
def picture(label: Label, width: int = 128, height: int = 128) -> np.ndarray:
    """uint8 [height, width, 3]."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), label.paper)
    pen = ImageDraw.Draw(image)
    if label.band:
        pen.rectangle((0, 0, width, height // 8), fill=label.band)
        pen.rectangle((0, height - height // 8, width, height), fill=label.band)
    part = width // label.repeat
    for number in range(label.repeat):
        left = number * part
        if label.spot:
            pen.ellipse((left + part * 0.08, height * 0.2, left + part * 0.92, height * 0.8), fill=label.spot)
        _write(pen, label, left, part, height)
    return np.asarray(image).copy()


def _write(pen: Any, label: Label, left: int, width: int, height: int) -> None:
    if not label.words:
        return
    row = height * (0.56 if label.band or label.spot else 0.8) / len(label.words)
    size = row
    font = _font(size)
    while size > 5 and max(font.getlength(words) for words in label.words) > width * 0.88:
        size -= 1
        font = _font(size)
    top = height / 2 - row * (len(label.words) - 1) / 2
    for number, words in enumerate(label.words):
        place = (left + width / 2, top + number * row)
        pen.text(place, words, fill=label.ink, font=font, anchor="mm", stroke_width=1 if size > 14 else 0)


def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)

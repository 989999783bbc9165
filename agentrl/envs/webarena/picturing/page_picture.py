"""`PagePicture`: the picture that an agent sees, of a fixed size: which part of a page, how large, and with numbered
marks, a frame around everything that can be acted on, and a tag with its id."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.backend import VIEWPORT, Backend, Box, View
from agentrl.envs.webarena.picturing.paper import Colour

PARTS = ("viewport", "full")
SCREENS = 4  # that a picture of the full page has room for
_BEYOND = (236, 238, 241)  # below the end of a page
_SEEN = (120, 126, 134)  # lines around what is in view
FRAME = 2  # pixels
_SIZE = 13  # of the numbers
_number_font = lru_cache(16)(ImageFont.load_default)
_GOLDEN = 0.381966  # neighbours get hues that are far apart
_MAX_TRIED = 400  # marks whose places are chosen with care
_DIFFERENT, _LITTLE = 24, 12  # in brightness; pixels of a tag that may cover something
Rectangle = tuple[int, int, int, int]  # left, top, right, bottom


def colour_of_mark(number: int) -> Colour:
    """The colour of the mark with this number; dark enough for white figures."""
    hue, level = (number * _GOLDEN) % 1.0, (0.55, 0.72, 0.42)[number % 3]
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.95, level)
    return round(red * 255), round(green * 255), round(blue * 255)


def draw_marks(picture: np.ndarray, view: View, top: int, scale: float) -> np.ndarray:
    """The picture with marks. It begins `top` pixels below the beginning of the page and is scaled by `scale`."""
    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    wide, high = image.size
    boxes: list[Rectangle] = []
    down = view.scroll - top
    for number, element in enumerate(view.labels):
        lines = (view.boxes[element], *view.further.get(element, ()))
        frames = [_framed(line, down, scale, wide, high) for line in lines]
        for frame in frames:  # a link that goes on in the next line has two
            draw.rectangle(frame, outline=colour_of_mark(number), width=FRAME)
        boxes.append(frames[0])
    tags = _Tags(picture[:, :, 1], boxes, max(9, round(_SIZE * scale**0.5)))
    for number in range(len(boxes)):  # over all frames: numbers must be readable
        tags.draw(draw, number)
    return np.asarray(image)


def _framed(box: Box, down: int, scale: float, wide: int, high: int) -> Rectangle:
    """The frame around a box, within the picture."""
    left, upper = int(box.left * scale) - 1, int((box.top + down) * scale) - 1
    right, lower = int((box.left + box.width) * scale), int((box.top + down + box.height) * scale)
    left, upper = max(0, min(left, wide - 2)), max(0, min(upper, high - 2))
    return left, upper, max(left + 1, min(right, wide - 1)), max(upper + 1, min(lower, high - 1))


class _Tags:
    """Finds places for numbers where they cover neither each other, nor what is to be read, nor other frames."""

    def __init__(self, shade: np.ndarray, boxes: list[Rectangle], size: int) -> None:
        self._shade, self._boxes, self._size = shade.astype(np.int16), boxes, size
        self._number_font = _number_font(size)
        self._frames, self._taken = np.array(boxes).reshape(-1, 4), np.zeros((len(boxes), 4), int)

    def draw(self, draw: ImageDraw.ImageDraw, number: int) -> None:
        """Write the number of a frame at its best place."""
        text = str(number)
        width, height = round(draw.textlength(text, self._number_font)) + 5, self._size + 1
        corners = _places(self._boxes[number], width, height)
        place = self._best(number, [(x, y, x + width, y + height) for x, y in corners])
        self._taken[number] = place
        draw.rectangle(place, fill=colour_of_mark(number))
        draw.text((place[0] + 3, place[1] + height / 2), text, (255, 255, 255), self._number_font, anchor="lm")

    def _best(self, number: int, places: list[Rectangle]) -> Rectangle:
        high, wide = self._shade.shape
        inside = [place for place in places if place[0] >= 0 and place[1] >= 0 and place[2] < wide and place[3] < high]
        if number >= _MAX_TRIED:
            return inside[0] if inside else places[0]
        costs: list[int] = []
        for place in inside:
            others = _overlaps(self._frames, place) - _overlaps(self._frames[number : number + 1], place)
            overlaps = _overlaps(self._taken[:number], place)
            # Pixels that are not like their surroundings: letters, lines, pictures.
            under = self._shade[place[1] : place[3], place[0] : place[2]]
            covered = int(np.count_nonzero(abs(under - under[-1, -1]) > _DIFFERENT))
            costs.append(1_000 * overlaps + 300 * others + covered)
            if costs[-1] <= _LITTLE:
                return place
        return inside[costs.index(min(costs))] if costs else places[0]


def _places(box: Rectangle, width: int, height: int) -> Iterator[tuple[int, int]]:
    """Where a tag may stand, best first: above its frame, at its right end, beside it, below it."""
    left, top, right, bottom = box
    above = top - height if top >= height else 0
    if top >= height - 4:
        yield left, above
        yield right - width, above
    yield right - width - 3, top + 3
    yield left - width, top
    yield right, top
    yield left, bottom
    yield left, top


def _overlaps(rectangles: np.ndarray, place: Rectangle) -> int:
    """How many rectangles have something in common with this one."""
    left, top, right, bottom = place
    beside = (rectangles[:, 0] >= right) | (rectangles[:, 2] <= left)
    return int(np.count_nonzero(~(beside | (rectangles[:, 1] >= bottom) | (rectangles[:, 3] <= top))))


class PagePicture:
    """Takes pictures of a back end's active tab; the newest is kept as long as the view is the same."""

    def __init__(self, part: str = "viewport", marks: bool = True, image_size: int | None = None) -> None:
        if part not in PARTS:
            raise ConfigError(f"picture must be one of {', '.join(PARTS)}; got {part!r}")
        self.part, self.marks = part, bool(marks)
        width, height = VIEWPORT[0], VIEWPORT[1] * (SCREENS if part == "full" else 1)
        longest = max(width, height)
        if image_size is not None:
            whole_number("image_size", image_size, at_least=64, at_most=longest)
        self._scale = 1.0 if image_size is None else image_size / longest
        self.width, self.height = round(width * self._scale), round(height * self._scale)
        self._room = height
        self._kept: tuple[View, np.ndarray] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}  # a view belongs to its process

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of every picture."""
        return self.height, self.width, 3

    @property
    def explanation(self) -> str:
        """What an agent is told about it."""
        part = "the page" if self.part == "full" else "the part of the page that is in view"
        marked = "; what you can act on has a frame with its id" if self.marks else ""
        return f"You see {part} as a picture{marked}."

    def take(self, backend: Backend) -> np.ndarray:
        """The picture of this moment, uint8; nobody else holds it."""
        view = backend.view()
        if self._kept is None or self._kept[0] is not view:
            self._kept = (view, self._taken(backend, view))
        return self._kept[1].copy()

    def forget(self) -> None:
        """Keep no picture."""
        self._kept = None

    def in_view(self, point: tuple[float, float], view: View) -> tuple[float, float]:
        """A point of the picture as one of the viewport."""
        left, top = (place / self._scale for place in point)
        return left, top + self._top(view) - view.scroll

    def _top(self, view: View) -> int:
        """Where on the page the picture begins; a page that it has no room for is shown around what is in view."""
        if self.part != "full":
            return view.scroll
        return max(0, min(view.scroll - view.viewport[1], view.height - self._room))

    def _taken(self, backend: Backend, view: View) -> np.ndarray:
        top = self._top(view)
        height = min(self._room, max(view.height, view.viewport[1]) - top)
        picture = backend.picture(top, height)[:height, : view.viewport[0]]
        if picture.shape[0] < self._room:
            paper = np.full((self._room, view.viewport[0], 3), _BEYOND, np.uint8)
            paper[: picture.shape[0]] = picture
            picture = paper
        if self.part == "full":
            picture = picture.copy()
            start = view.scroll - top
            for line in (start, start + view.viewport[1] - 2):  # above and below what is in view
                picture[max(0, line) : max(0, line) + 2] = _SEEN
        if self._scale != 1.0:
            picture = np.asarray(Image.fromarray(picture).resize((self.width, self.height), Image.Resampling.BOX))
        return draw_marks(picture, view, top, self._scale) if self.marks else picture

"""`PagePicture`: the picture that an agent sees, of a fixed size: which part of a page, how large, with marks?"""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.browsing.backend import Backend
from agentrl.envs.webarena.browsing.view import VIEWPORT, View
from agentrl.envs.webarena.picturing.marks import draw_marks

PARTS = ("viewport", "full")
SCREENS = 4  # that a picture of the full page has room for
_BEYOND = (236, 238, 241)  # below the end of a page
_SEEN = (120, 126, 134)  # lines around what is in view


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

    def take(self, backend: Backend) -> np.ndarray:
        """The picture of this moment, uint8; nobody else holds it."""
        view = backend.view()
        if self._kept is None or self._kept[0] is not view:
            self._kept = (view, self._taken(backend, view))
        return self._kept[1].copy()

    def forget(self) -> None:
        """Keep no picture."""
        self._kept = None

    def _taken(self, backend: Backend, view: View) -> np.ndarray:
        top = self._top(view)
        height = min(self._room, max(view.height, view.viewport[1]) - top)
        picture = backend.picture(top, height)[:height, : view.viewport[0]]
        if picture.shape[0] < self._room:
            paper = np.full((self._room, view.viewport[0], 3), _BEYOND, np.uint8)
            paper[: picture.shape[0]] = picture
            picture = paper
        if self.part == "full":
            picture = _with_lines(picture, view.scroll - top, view.viewport[1])
        if self._scale != 1.0:
            picture = np.asarray(Image.fromarray(picture).resize((self.width, self.height), Image.Resampling.BOX))
        return draw_marks(picture, view, top, self._scale) if self.marks else picture

    def _top(self, view: View) -> int:
        """Where the picture begins: a page that it has no room for is shown around what is in view."""
        if self.part == "viewport":
            return view.scroll
        return max(0, min(view.scroll - view.viewport[1], view.height - self._room))


def _with_lines(picture: np.ndarray, start: int, height: int) -> np.ndarray:
    """Lines above and below what is in view."""
    picture = picture.copy()
    for line in (start, start + height - 2):
        picture[max(0, line) : max(0, line) + 2] = _SEEN
    return picture

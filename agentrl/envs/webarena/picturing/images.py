"""The pictures on a page: asked for at their sites, decoded, kept."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from io import BytesIO

from PIL import Image

from agentrl.envs.webarena.picturing.vector import draw_svg

MAX_FILE = 5_000_000  # bytes
MAX_PICTURE = 4_000_000  # pixels
_KEPT = 200
Fetch = Callable[[str], tuple[str, bytes]]  # an address -> the type of its contents, and the contents


class Images:
    """The pictures of one episode, by address and size. `fetch` asks a site."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._kept: OrderedDict[tuple[str, int, int], Image.Image | None] = OrderedDict()

    def get(self, url: str, width: int, height: int) -> Image.Image | None:
        """A picture in this size; None if there is none, or it cannot be shown."""
        key = url, width, height
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = self._kept[key] = self._load(url, width, height)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all pictures."""
        self._kept.clear()

    def _load(self, url: str, width: int, height: int) -> Image.Image | None:
        if not (0 < width * height <= MAX_PICTURE):
            return None
        kind, data = self._fetch(url)
        if not data or len(data) > MAX_FILE:
            return None
        if kind.startswith("image/svg"):
            return draw_svg(data, width, height)
        return _decoded(data, width, height)


def _decoded(data: bytes, width: int, height: int) -> Image.Image | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(BytesIO(data), formats=["PNG", "JPEG", "GIF", "WEBP"])
        if picture.size[0] * picture.size[1] > MAX_PICTURE:
            return None
        picture = picture.convert("RGBA" if "A" in picture.getbands() or "transparency" in picture.info else "RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombWarning, Image.DecompressionBombError):
        return None
    return picture if picture.size == (width, height) else picture.resize((width, height), Image.Resampling.BILINEAR)

"""What the drawing process runs: cairosvg, with everything taken away that drawing does not need.

Only the worker imports this module. The gate has already checked what arrives here; this is the second wall: nothing is
fetched, no file is opened, no connection made, nothing is written, even if the renderer were talked into it.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from functools import lru_cache
from typing import Any, NoReturn

# Modules may still be loaded late, for example a codec.
CODE = (".py", ".pyc", ".so")
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "urllib.")
# A little of everything, so that what is loaded at first use is loaded before the doors close.
EXAMPLE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><style>.a{fill:red}</style>
<defs><linearGradient id="g"><stop offset="1" stop-color="red"/></linearGradient>
<pattern id="p" width="1" height="1"><path d="M0 0h1"/></pattern>
<mask id="m"><rect width="9" height="9" fill="#fff"/></mask></defs>
<rect class="a" width="4" height="4" mask="url(#m)"/><rect width="4" height="4" fill="url(#g)" stroke="url(#p)"/>
<text x="1" y="8" font-size="4">ab</text></svg>"""


class Drawer:
    """Draws checked SVG text on white, always at the size that the caller chooses."""

    def __init__(self) -> None:
        from cairosvg.parser import Tree
        from cairosvg.surface import PNGSurface
        from PIL import Image

        self._tree, self._surface, self._image = Tree, PNGSurface, Image
        steady_fonts()
        self.draw(EXAMPLE, 16)
        gc.collect()
        gc.freeze()  # modules stay for good; the collector need not look through them after every few pictures
        lock_down()

    def draw(self, code: str, size: int) -> bytes:
        """The picture's rows of red, green and blue bytes."""
        tree = self._tree(bytestring=code.encode("utf-8"), url_fetcher=refuse_to_fetch)
        surface = self._surface(tree, None, 96, output_width=size, output_height=size, background_color="white")
        pixels: Any = surface.cairo
        pixels.flush()
        # Nothing is transparent on a white ground; the fourth byte of each pixel is left out.
        order = "BGRX" if sys.byteorder == "little" else "XRGB"
        picture = self._image.frombuffer("RGB", (size, size), pixels.get_data(), "raw", order, pixels.get_stride(), 1)
        return picture.tobytes()

    def processor_seconds(self) -> float:
        """How long this process has worked so far; for benchmarks."""
        return time.process_time()


def steady_fonts() -> None:
    """Make a text look the same whatever was drawn before it.

    A font is looked up at its first use and then kept, and rules such as "no hinting below 8 pixels" apply at the size
    of that first use. So every font is first used here, at one size.
    """
    import cairocffi as cairo

    @lru_cache(maxsize=64)
    def first_use(family: str, slant: int, weight: int) -> object:
        font = cairo.ScaledFont(cairo.ToyFontFace(family, slant, weight), cairo.Matrix(16, 0, 0, 16))
        font.extents()
        return font

    select = cairo.Context.select_font_face

    def select_font_face(self: cairo.Context, family: str = "", slant: int = 0, weight: int = 0) -> None:
        first_use(family, slant, weight)
        select(self, family, slant, weight)

    cairo.Context.select_font_face = select_font_face


def refuse_to_fetch(url: str, kind: str) -> NoReturn:
    """The renderer asks this for everything that is not in the document."""
    raise PermissionError(f"nothing may be fetched: {url[:200]!a}")


def lock_down() -> None:
    """From here on this process opens and starts nothing; there is no way back."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, mode = arguments[0], arguments[1]
        if not (isinstance(path, str) and path.endswith(CODE) and mode in ("r", "rb", None)):
            raise PermissionError(f"no file may be opened: {path!a}")
    elif event.startswith(FORBIDDEN):
        raise PermissionError(f"{event} is not allowed here")

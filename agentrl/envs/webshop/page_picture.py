"""A page as a picture, drawn with Pillow: no browser, some milliseconds, the same on every machine.

A page that is too long is written in smaller type, in steps; what does not fit even then is cut, and a line says how
much is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agentrl.envs.common.catalogue.photos import photo
from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.pages import BUY, DONE, ITEM, RESULTS, SEARCH, Page, Part

UNITS = 800
Colour = tuple[int, int, int]
INK, PALE, LINE, PAPER = (32, 36, 42), (98, 106, 116), (208, 214, 222), (255, 255, 255)
ACCENT, WASH, NOTE = (24, 92, 122), (234, 242, 246), (255, 248, 226)
LINE_HEIGHT = 1.28  # of the size of the type
MAX_PER_WORD = 400  # characters: no line of a page holds more
MARGIN = 20
INNER = UNITS - 2 * MARGIN
BOTTOM = UNITS - 14
PRICE: Colour = (164, 52, 24)
GOOD: Colour = (28, 122, 72)
TYPE_STEPS = (17.0, 15.0, 13.0, 11.0)  # of sub pages
CHIP_STEPS = (15.0, 13.0, 11.5, 10.0)  # of options
Find = Callable[[str], Product | None]


class Canvas:
    """Positions and sizes are in units; type is drawn at its final size, so that it is crisp at every scale."""

    def __init__(self, pixels: int) -> None:
        self.pixels, self.scale = pixels, pixels / UNITS
        self.image = Image.new("RGB", (pixels, pixels), PAPER)
        self.pen = ImageDraw.Draw(self.image)

    def px(self, units: float) -> int:
        """Units in pixels."""
        return round(units * self.scale)

    def text(self, x: float, y: float, text: str, size: float, colour: Colour = INK, bold: bool = False) -> None:
        """One line, its upper left corner at (x, y)."""
        if mask := line_mask(text, size * self.scale, max(1, self.px(1)) if bold else 0):
            self.image.paste(colour, (self.px(x), self.px(y)), mask)

    def width(self, text: str, size: float) -> float:
        """Units that a line takes."""
        return length_of(text, size * self.scale) / self.scale

    def lines(self, text: str, size: float, width: float) -> list[str]:
        """A text in lines no wider than `width`; a word that is too long by itself is cut."""
        return wrapped(text, size * self.scale, width * self.scale)

    def paragraph(
        self, x: float, y: float, text: str, size: float, width: float, most: int = 99, colour: Colour = INK
    ) -> float:
        """A wrapped text of at most `most` lines; where it ends, in units."""
        lines = self.lines(text, size, width)
        if len(lines) > most:
            lines = [*lines[: most - 1], shortened(lines[most - 1], size * self.scale, width * self.scale)]
        for number, line in enumerate(lines):
            self.text(x, y + number * size * LINE_HEIGHT, line, size, colour)
        return y + len(lines) * size * LINE_HEIGHT

    def frame(
        self, x: float, y: float, width: float, height: float, fill: Colour | None, edge: Colour | None = LINE
    ) -> None:
        """A box with round corners."""
        box = (self.px(x), self.px(y), self.px(x + width), self.px(y + height))
        thickness = max(1, self.px(1.2)) if edge else 0
        self.pen.rounded_rectangle(box, self.px(6), fill, edge, thickness)

    def button(self, x: float, y: float, label: str, size: float = 15, *, strong: bool = False) -> float:
        """A button; where its right edge is, in units."""
        width, height = self.width(label, size) + 1.5 * size, size * 1.95
        self.frame(x, y, width, height, ACCENT if strong else WASH, ACCENT if strong else (150, 180, 194))
        self.text(x + 0.75 * size, y + 0.42 * size, label, size, PAPER if strong else ACCENT)
        return x + width

    def paste(self, picture: Image.Image, x: float, y: float) -> None:
        """A picture of its own size in pixels."""
        self.image.paste(picture, (self.px(x), self.px(y)))


@lru_cache(maxsize=256)
def font_of(pixels: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The type that comes with Pillow, so that pages look the same on every machine."""
    return ImageFont.load_default(max(1.0, pixels))


@lru_cache(maxsize=2_048)
def line_mask(text: str, pixels: float, twice: int = 0) -> Image.Image | None:
    """Where a line leaves ink, kept because pages repeat theirs: setting type is most of the work of a page.

    `twice` draws it once more, this many pixels to the right: only the regular weight is the same everywhere.
    """
    text, font = text[:MAX_PER_WORD], font_of(pixels)
    right, bottom = font.getbbox(text)[2:]
    if right <= 0 or bottom <= 0:
        return None
    mask = Image.new("L", (ceil(right) + twice + 1, ceil(bottom) + 1))
    pen = ImageDraw.Draw(mask)
    for shift in {0, twice}:
        pen.text((shift, 0), text, 255, font)
    return mask


@lru_cache(maxsize=1 << 15)
def length_of(text: str, pixels: float) -> float:
    """Pixels that a line takes."""
    return font_of(pixels).getlength(text)


@lru_cache(maxsize=2_048)
def _wrapped(text: str, pixels: float, width: float) -> tuple[str, ...]:
    space, lines, line, used = length_of(" ", pixels), [], "", 0.0
    for word in text.split():
        if len(word) > 30 and length_of(word[:MAX_PER_WORD], pixels) > width:
            word = shortened(word, pixels, width)
        long = length_of(word, pixels)
        if line and used + space + long > width:
            lines.append(line)
            line, used = word, long
        else:
            line, used = (f"{line} {word}", used + space + long) if line else (word, long)
    return tuple([*lines, line] if line else lines)


def wrapped(text: str, pixels: float, width: float) -> list[str]:
    """The lines of a text; only so much of an endless one is looked at as any page could show."""
    return list(_wrapped(text[:20_000], pixels, width))


def shortened(text: str, pixels: float, width: float) -> str:
    """The beginning of a line, with dots, so that it fits."""
    text = text[:MAX_PER_WORD]
    while text and length_of(f"{text}...", pixels) > width:
        text = text[: len(text) - max(1, len(text) // 16)]
    return f"{text}..."


def page_picture(page: Page, pixels: int, find: Find) -> np.ndarray:
    """The page as uint8 [pixels, pixels, 3]; `find` gives products by their ids."""
    return _drawn(page, pixels, find).copy()


@lru_cache(maxsize=16)  # observation and rendering ask for the same page, and an invalid action leaves it standing
def _drawn(page: Page, pixels: int, find: Find) -> np.ndarray:
    canvas = Canvas(pixels)
    if page.kind == SEARCH:
        canvas.text((UNITS - canvas.width("WebShop", 54)) / 2, 170, "WebShop", 54, ACCENT, bold=True)
        y = _wish(canvas, page, 270) + 26
        canvas.frame(MARGIN + 60, y, 510, 44, PAPER, (140, 150, 160))
        canvas.text(MARGIN + 76, y + 12, "search[words]", 17, (150, 156, 164))
        canvas.button(MARGIN + 584, y + 4, "Search", 18.5, strong=True)
    else:
        draw = {RESULTS: _results, ITEM: _item, DONE: _done}.get(page.kind, _sub_page)
        draw(canvas, page, find)
    return np.array(canvas.image)


def _texts(page: Page, kind: str) -> list[str]:
    return [part.text for part in page.parts if part.kind == kind]


def _first(page: Page, kind: str) -> str:
    return next(iter(_texts(page, kind)), "")


def _top(canvas: Canvas, page: Page) -> float:
    """The bar with the shop's name and the wish below it; where the page goes on."""
    canvas.pen.rectangle((0, 0, canvas.pixels, canvas.px(40)), ACCENT)
    canvas.text(MARGIN, 9, "WebShop", 20, PAPER, bold=True)
    return _wish(canvas, page, 50)


def _wish(canvas: Canvas, page: Page, y: float) -> float:
    goal = _first(page, "goal")
    size = next((size for size in (17.0, 15.0, 13.0) if len(canvas.lines(goal, size, INNER - 28)) <= 3), 12.0)
    shown = min(6, len(canvas.lines(goal, size, INNER - 28)))
    height = 30 + shown * size * LINE_HEIGHT
    canvas.frame(MARGIN, y, INNER, height, NOTE, (232, 212, 150))
    canvas.text(MARGIN + 14, y + 6, "Instruction:", 13, PALE)
    canvas.paragraph(MARGIN + 14, y + 23, goal, size, INNER - 28, 6)
    return y + height + 10


def _buttons(canvas: Canvas, labels: Sequence[str], y: float, x: float = MARGIN) -> float:
    for label in labels:
        x = canvas.button(x, y, label, strong=label == BUY) + 10
    return x


# ---------------------------------------------------------------------- pages


def _results(canvas: Canvas, page: Page, find: Find) -> None:
    y = _top(canvas, page)
    buttons = _texts(page, "button")
    x = _buttons(canvas, buttons[:1], y)
    canvas.text(x + 8, y + 6, _first(page, "heading"), 15, PALE)
    _buttons(canvas, buttons[1:], y, UNITS - MARGIN - (170 if len(buttons) > 2 else 84))
    y += 40
    products = [page.parts[place : place + 3] for place, part in enumerate(page.parts) if part.kind == "product"]
    if not products:
        canvas.text(MARGIN, y + 20, "Nothing is shown on this page.", 17, PALE)
    height = (BOTTOM - y) / 5
    for number, parts in enumerate(products):
        row, column = divmod(number, 2)
        _card(canvas, parts, MARGIN + column * (INNER / 2 + 5), y + row * height, INNER / 2 - 5, height - 8, find)


def _card(canvas: Canvas, parts: Sequence[Part], x: float, y: float, width: float, height: float, find: Find) -> None:
    """A product among the results."""
    asin, title, price = (part.text for part in parts)
    canvas.frame(x, y, width, height, PAPER)
    side = height - 14
    if product := find(asin):
        canvas.paste(photo(product, canvas.px(side)), x + 7, y + 7)
    left, room = x + side + 18, width - side - 28
    canvas.text(left, y + 7, asin, 15, ACCENT)
    canvas.text(x + width - 10 - canvas.width(price, 13), y + 8, price, 13, PRICE)
    size = next((size for size in (13.5, 12.5, 11.5) if len(canvas.lines(title, size, room)) <= 5), 11.0)
    canvas.paragraph(left, y + 29, title, size, room, max(1, int((height - 33) / (size * LINE_HEIGHT))))


def _item(canvas: Canvas, page: Page, find: Find) -> None:
    y = _top(canvas, page)
    buttons = _texts(page, "button")
    _buttons(canvas, buttons[:2], y)
    y += 42
    title, price, rating = _first(page, "title"), _first(page, "price"), _first(page, "rating")
    chosen = next((part.text for name, part in _options(page) if part and part.chosen and name == "color"), "")
    if product := find(page.asin):
        canvas.paste(photo(product, canvas.px(190), chosen), MARGIN, y)
    left, room = MARGIN + 210, INNER - 210
    size = next((size for size in (21.0, 18.0, 16.0) if len(canvas.lines(title, size, room)) <= 4), 14.0)
    below = canvas.paragraph(left, y, title, size, room, 7)
    canvas.text(left, below + 10, price, 20, PRICE, bold=True)
    canvas.text(left, below + 40, rating, 15, PALE)
    _all_options(canvas, page, max(y + 204, below + 66), BOTTOM - 44)
    _buttons(canvas, buttons[2:], BOTTOM - 32)


def _options(page: Page) -> list[tuple[str, Part | None]]:
    """(name, None) for each option, followed by (name, part) for each of its values."""
    found: list[tuple[str, Part | None]] = []
    name = ""
    for part in page.parts:
        if part.kind == "option_name":
            name = part.text
            found.append((name, None))
        elif part.kind == "option":
            found.append((name, part))
    return found


def _all_options(canvas: Canvas, page: Page, top: float, bottom: float) -> None:
    options = _options(page)
    for size in CHIP_STEPS:
        placed, end = _chips(canvas, options, top, size)
        if end <= bottom:
            break
    shown = [chip for chip in placed if chip[1] + 2 * size <= bottom or end <= bottom]
    if len(shown) < len(placed):
        shown = [chip for chip in shown if chip[1] + 3.8 * size <= bottom]
        canvas.text(MARGIN, bottom - 1.5 * size, f"{len(placed) - len(shown)} more do not fit here.", size, PALE)
    for x, y, name, part in shown:
        if part is None:
            canvas.text(x, y, name, size, PALE)
            continue
        lines = canvas.lines(part.text, size, INNER - 1.3 * size)
        text, edge = lines[0] if lines else "", ACCENT if part.chosen else (150, 160, 170)
        canvas.frame(x, y, canvas.width(text, size) + 1.3 * size, 1.8 * size, ACCENT if part.chosen else PAPER, edge)
        canvas.text(x + 0.65 * size, y + 0.36 * size, text, size, PAPER if part.chosen else INK)


Chip = tuple[float, float, str, Part | None]


def _chips(canvas: Canvas, options: list[tuple[str, Part | None]], y: float, size: float) -> tuple[list[Chip], float]:
    """Where names and values go, row by row, and where the last row ends."""
    placed: list[Chip] = []
    x, row = float(MARGIN), 2.15 * size
    y -= row
    for name, part in options:
        if part is None:
            x, y = float(MARGIN), y + row
            placed.append((x, y, name, None))
            y += 1.35 * size
            continue
        width = min(canvas.width(part.text[:MAX_PER_WORD], size) + 1.3 * size, INNER)
        if x > MARGIN and x + width > UNITS - MARGIN:
            x, y = float(MARGIN), y + row
        placed.append((x, y, name, part))
        x += width + 0.5 * size
    return placed, y + row


def _sub_page(canvas: Canvas, page: Page, find: Find) -> None:
    y = _top(canvas, page)
    _buttons(canvas, _texts(page, "button"), y)
    canvas.text(MARGIN, y + 46, page.kind.capitalize(), 21, ACCENT, bold=True)
    y += 82
    texts = _texts(page, "line") or ["Nothing is written here."]
    for size in TYPE_STEPS:
        lines = [line for text in texts for line in [*canvas.lines(text, size, INNER), ""]]
        room = int((BOTTOM - y) / (size * LINE_HEIGHT))
        if len(lines) - 1 <= room:
            break
    else:
        missing = len(lines) - room
        lines = [*lines[: room - 1], f"... {missing} more lines do not fit here."]
    for number, line in enumerate(lines):
        canvas.text(MARGIN, y + number * size * LINE_HEIGHT, line, size)


def _done(canvas: Canvas, page: Page, find: Find) -> None:
    canvas.pen.rectangle((0, 0, canvas.pixels, canvas.px(40)), ACCENT)
    canvas.text(MARGIN, 9, "WebShop", 20, PAPER, bold=True)
    heading, score = _first(page, "heading"), _first(page, "score")
    canvas.text((UNITS - canvas.width(heading, 30)) / 2, 100, heading, 30, ACCENT, bold=True)
    canvas.frame(MARGIN + 60, 170, INNER - 120, 300, PAPER, LINE)
    options = _texts(page, "value")[2]
    if product := find(page.asin):
        canvas.paste(photo(product, canvas.px(160)), MARGIN + 84, 194)
    canvas.text(MARGIN + 264, 194, page.asin, 18, ACCENT, bold=True)
    canvas.paragraph(MARGIN + 264, 224, _first(page, "bought"), 16, 360, 6)
    canvas.paragraph(MARGIN + 84, 380, options, 15, INNER - 170, 4, PALE)
    canvas.frame(MARGIN + 60, 500, INNER - 120, 130, WASH, None)
    label = _texts(page, "label")[2]
    canvas.text((UNITS - canvas.width(label, 18)) / 2, 516, label, 18, PALE)
    shown = f"{float(score):.4g}"
    colour = GOOD if float(score) == 1.0 else PRICE
    canvas.text((UNITS - canvas.width(shown, 56)) / 2, 548, shown, 56, colour, bold=True)

"""A page as a picture, drawn with Pillow: no browser, some milliseconds, the same on every machine.

A page that is too long is written in smaller type, in steps; what does not fit even then is cut, and a line says how
much is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from agentrl.envs.webshop.pages import BUY, DONE, ITEM, RESULTS, SEARCH, Page, Part
from agentrl.envs.webshop.photos import photo
from agentrl.envs.webshop.product import Product
from agentrl.envs.webshop.sheet import (
    ACCENT,
    INK,
    LINE,
    LINE_HEIGHT,
    MOST_OF_A_WORD,
    NOTE,
    PALE,
    PAPER,
    UNITS,
    WASH,
    Colour,
    Sheet,
)

MARGIN = 20
INNER = UNITS - 2 * MARGIN
BOTTOM = UNITS - 14
PRICE: Colour = (164, 52, 24)
GOOD: Colour = (28, 122, 72)
TYPE_STEPS = (17.0, 15.0, 13.0, 11.0)  # of sub pages
CHIP_STEPS = (15.0, 13.0, 11.5, 10.0)  # of options
Find = Callable[[str], Product | None]


def page_picture(page: Page, pixels: int, find: Find) -> np.ndarray:
    """The page as uint8 [pixels, pixels, 3]; `find` gives products by their ids."""
    return _drawn(page, pixels, find).copy()


@lru_cache(maxsize=16)  # observation and rendering ask for the same page, and an invalid action leaves it standing
def _drawn(page: Page, pixels: int, find: Find) -> np.ndarray:
    sheet = Sheet(pixels)
    draw = {SEARCH: _search, RESULTS: _results, ITEM: _item, DONE: _done}.get(page.kind, _sub_page)
    draw(sheet, page, find)
    return np.array(sheet.image)


def _texts(page: Page, *kinds: str) -> list[str]:
    return [part.text for part in page.parts if part.kind in kinds]


def _first(page: Page, kind: str) -> str:
    return next(iter(_texts(page, kind)), "")


def _top(sheet: Sheet, page: Page) -> float:
    """The bar with the shop's name and the wish below it; where the page goes on."""
    sheet.pen.rectangle((0, 0, sheet.pixels, sheet.px(40)), ACCENT)
    sheet.text(MARGIN, 9, "WebShop", 20, PAPER, bold=True)
    return _wish(sheet, page, 50)


def _wish(sheet: Sheet, page: Page, y: float) -> float:
    goal = _first(page, "goal")
    size = next((size for size in (17.0, 15.0, 13.0) if len(sheet.lines(goal, size, INNER - 28)) <= 3), 12.0)
    shown = min(6, len(sheet.lines(goal, size, INNER - 28)))
    height = 30 + shown * size * LINE_HEIGHT
    sheet.frame(MARGIN, y, INNER, height, NOTE, (232, 212, 150))
    sheet.text(MARGIN + 14, y + 6, "Instruction:", 13, PALE)
    sheet.paragraph(MARGIN + 14, y + 23, goal, size, INNER - 28, 6)
    return y + height + 10


def _buttons(sheet: Sheet, labels: Sequence[str], y: float, x: float = MARGIN) -> float:
    for label in labels:
        x = sheet.button(x, y, label, strong=label == BUY) + 10
    return x


# ---------------------------------------------------------------------- pages


def _search(sheet: Sheet, page: Page, find: Find) -> None:
    sheet.text((UNITS - sheet.width("WebShop", 54)) / 2, 170, "WebShop", 54, ACCENT, bold=True)
    y = _wish(sheet, page, 270) + 26
    sheet.frame(MARGIN + 60, y, 510, 44, PAPER, (140, 150, 160))
    sheet.text(MARGIN + 76, y + 12, "search[words]", 17, (150, 156, 164))
    sheet.button(MARGIN + 584, y + 4, "Search", 18.5, strong=True)


def _results(sheet: Sheet, page: Page, find: Find) -> None:
    y = _top(sheet, page)
    buttons = _texts(page, "button")
    x = _buttons(sheet, buttons[:1], y)
    sheet.text(x + 8, y + 6, _first(page, "heading"), 15, PALE)
    _buttons(sheet, buttons[1:], y, UNITS - MARGIN - (170 if len(buttons) > 2 else 84))
    y += 40
    products = [page.parts[place : place + 3] for place, part in enumerate(page.parts) if part.kind == "product"]
    if not products:
        sheet.text(MARGIN, y + 20, "Nothing is shown on this page.", 17, PALE)
    height = (BOTTOM - y) / 5
    for number, parts in enumerate(products):
        row, column = divmod(number, 2)
        _card(sheet, parts, MARGIN + column * (INNER / 2 + 5), y + row * height, INNER / 2 - 5, height - 8, find)


def _card(sheet: Sheet, parts: Sequence[Part], x: float, y: float, width: float, height: float, find: Find) -> None:
    asin, title, price = (part.text for part in parts)
    sheet.frame(x, y, width, height, PAPER)
    side = height - 14
    if product := find(asin):
        sheet.paste(photo(product, sheet.px(side)), x + 7, y + 7)
    left, room = x + side + 18, width - side - 28
    sheet.text(left, y + 7, asin, 15, ACCENT)
    sheet.text(x + width - 10 - sheet.width(price, 13), y + 8, price, 13, PRICE)
    size = next((size for size in (13.5, 12.5, 11.5) if len(sheet.lines(title, size, room)) <= 5), 11.0)
    sheet.paragraph(left, y + 29, title, size, room, max(1, int((height - 33) / (size * LINE_HEIGHT))))


def _item(sheet: Sheet, page: Page, find: Find) -> None:
    y = _top(sheet, page)
    buttons = _texts(page, "button")
    _buttons(sheet, buttons[:2], y)
    y += 42
    title, price, rating = _first(page, "title"), _first(page, "price"), _first(page, "rating")
    chosen = next((part.text for name, part in _options(page) if part and part.chosen and name == "color"), "")
    if product := find(page.asin):
        sheet.paste(photo(product, sheet.px(190), chosen), MARGIN, y)
    left, room = MARGIN + 210, INNER - 210
    size = next((size for size in (21.0, 18.0, 16.0) if len(sheet.lines(title, size, room)) <= 4), 14.0)
    below = sheet.paragraph(left, y, title, size, room, 7)
    sheet.text(left, below + 10, price, 20, PRICE, bold=True)
    sheet.text(left, below + 40, rating, 15, PALE)
    _all_options(sheet, page, max(y + 204, below + 66), BOTTOM - 44)
    _buttons(sheet, buttons[2:], BOTTOM - 32)


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


def _all_options(sheet: Sheet, page: Page, top: float, bottom: float) -> None:
    options = _options(page)
    for size in CHIP_STEPS:
        placed, end = _chips(sheet, options, top, size)
        if end <= bottom:
            break
    shown = [chip for chip in placed if chip[1] + 2 * size <= bottom or end <= bottom]
    if len(shown) < len(placed):
        shown = [chip for chip in shown if chip[1] + 3.8 * size <= bottom]
        sheet.text(MARGIN, bottom - 1.5 * size, f"{len(placed) - len(shown)} more do not fit here.", size, PALE)
    for x, y, name, part in shown:
        if part is None:
            sheet.text(x, y, name, size, PALE)
        else:
            _chip(sheet, x, y, part, size)


Chip = tuple[float, float, str, Part | None]


def _chips(sheet: Sheet, options: list[tuple[str, Part | None]], y: float, size: float) -> tuple[list[Chip], float]:
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
        width = min(sheet.width(part.text[:MOST_OF_A_WORD], size) + 1.3 * size, INNER)
        if x > MARGIN and x + width > UNITS - MARGIN:
            x, y = float(MARGIN), y + row
        placed.append((x, y, name, part))
        x += width + 0.5 * size
    return placed, y + row


def _chip(sheet: Sheet, x: float, y: float, part: Part, size: float) -> None:
    shown = sheet.lines(part.text, size, INNER - 1.3 * size)
    text = shown[0] if shown else ""
    width = sheet.width(text, size) + 1.3 * size
    sheet.frame(x, y, width, 1.8 * size, ACCENT if part.chosen else PAPER, ACCENT if part.chosen else (150, 160, 170))
    sheet.text(x + 0.65 * size, y + 0.36 * size, text, size, PAPER if part.chosen else INK)


def _sub_page(sheet: Sheet, page: Page, find: Find) -> None:
    y = _top(sheet, page)
    _buttons(sheet, _texts(page, "button"), y)
    sheet.text(MARGIN, y + 46, page.kind.capitalize(), 21, ACCENT, bold=True)
    y += 82
    texts = _texts(page, "line") or ["Nothing is written here."]
    for size in TYPE_STEPS:
        lines = [line for text in texts for line in [*sheet.lines(text, size, INNER), ""]]
        room = int((BOTTOM - y) / (size * LINE_HEIGHT))
        if len(lines) - 1 <= room:
            break
    else:
        missing = len(lines) - room
        lines = [*lines[: room - 1], f"... {missing} more lines do not fit here."]
    for number, line in enumerate(lines):
        sheet.text(MARGIN, y + number * size * LINE_HEIGHT, line, size)


def _done(sheet: Sheet, page: Page, find: Find) -> None:
    sheet.pen.rectangle((0, 0, sheet.pixels, sheet.px(40)), ACCENT)
    sheet.text(MARGIN, 9, "WebShop", 20, PAPER, bold=True)
    heading, score = _first(page, "heading"), _first(page, "score")
    sheet.text((UNITS - sheet.width(heading, 30)) / 2, 100, heading, 30, ACCENT, bold=True)
    sheet.frame(MARGIN + 60, 170, INNER - 120, 300, PAPER, LINE)
    options = _texts(page, "value")[2]
    if product := find(page.asin):
        sheet.paste(photo(product, sheet.px(160)), MARGIN + 84, 194)
    sheet.text(MARGIN + 264, 194, page.asin, 18, ACCENT, bold=True)
    sheet.paragraph(MARGIN + 264, 224, _first(page, "bought"), 16, 360, 6)
    sheet.paragraph(MARGIN + 84, 380, options, 15, INNER - 170, 4, PALE)
    sheet.frame(MARGIN + 60, 500, INNER - 120, 130, WASH, None)
    label = _texts(page, "label")[2]
    sheet.text((UNITS - sheet.width(label, 18)) / 2, 516, label, 18, PALE)
    shown = f"{float(score):.4g}"
    colour = GOOD if float(score) == 1.0 else PRICE
    sheet.text((UNITS - sheet.width(shown, 56)) / 2, 548, shown, 56, colour, bold=True)

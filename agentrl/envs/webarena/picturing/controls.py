"""Form fields as Chromium draws them, with what they hold."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.browsing.font import text_width
from agentrl.envs.webarena.browsing.forms import option_text, options_of
from agentrl.envs.webarena.browsing.style import Style
from agentrl.envs.webarena.browsing.text import run_of
from agentrl.envs.webarena.picturing.looks import WHITE, look_of
from agentrl.envs.webarena.picturing.paper import Area, Paper

_ACCENT, _EDGE, _HINT, _ARROW = (0, 117, 255), (118, 118, 118), (117, 117, 117), (0, 0, 0)
_BUTTONS = {"submit": "Submit", "reset": "Reset", "button": ""}
_MAX_LENGTH = 20_000  # characters of a field that are looked at


def paint_control(paper: Paper, element: Any, style: Style, area: Area, value: str) -> None:
    """What is in a field; check boxes and radio buttons as a whole."""
    kind = (element.get("type") or "text").lower() if element.tag == "input" else element.tag
    if kind in ("checkbox", "radio"):
        _check(paper, area, kind == "radio", bool(value))
        return
    left, top, right, bottom = area
    inner = Area(
        left + round(style.left), top + round(style.border_top), right - round(style.right),
        bottom - round(style.border_bottom),
    )  # fmt: skip
    clip, paper.clip = paper.clip, inner.cut(paper.clip)
    if kind == "textarea":
        _paragraph(paper, element, style, inner._replace(top=top + round(style.top)), value)
    elif kind == "select":
        _list(paper, element, style, inner, value)
    else:
        _line(paper, element, style, inner, kind, value)
    paper.clip = clip
    if kind == "select" and element.get("multiple") is None:
        _arrow(paper, right, (top + bottom) // 2)


def _check(paper: Paper, area: Area, is_radio: bool, checked: bool) -> None:
    size = area.right - area.left
    radius = size / 2 if is_radio else 2.5
    paper.fill(area, _ACCENT if checked and not is_radio else WHITE, radius)
    paper.frame(area, _ACCENT if checked else _EDGE, 1, radius)
    if checked and is_radio:
        paper.fill(area.inset(max(1, size // 4 - 1)), _ACCENT, size)
    elif checked and area.cut(paper.clip) == area:
        x, y = area.left, area.top - paper.top
        points = [(0.2, 0.52), (0.42, 0.73), (0.8, 0.28)]
        paper.draw.line([(x + right * size, y + down * size) for right, down in points], WHITE, max(1, size // 8))


def _arrow(paper: Paper, right: int, middle: int) -> None:
    if Area(right - 17, middle - 4, right - 5, middle + 4).cut(paper.clip) != (
        right - 17,
        middle - 4,
        right - 5,
        middle + 4,
    ):
        return
    y = middle - paper.top
    paper.draw.line([(right - 16, y - 2), (right - 12, y + 2), (right - 8, y - 2)], _ARROW, 2)


def _line(paper: Paper, element: Any, style: Style, inner: Area, kind: str, value: str) -> None:
    """The text of a field with one line, or what it asks for where it is empty."""
    colour = look_of(style).text
    text = value[:_MAX_LENGTH]
    if kind == "password":
        text = "\u2022" * min(len(text), 200)
    elif kind in _BUTTONS:
        text = element.get("value") or _BUTTONS[kind]
    if not text:
        text, colour = (element.get("placeholder") or "")[:_MAX_LENGTH], _HINT
    high = style.font_ascent + style.font_descent
    x = float(inner.left)
    if kind in _BUTTONS:
        x += max(0.0, (inner.right - inner.left - text_width(text) * style.scale) / 2)
    paper.write(text, style.font_size, x, (inner.top + inner.bottom - high) / 2, colour)


def _list(paper: Paper, element: Any, style: Style, inner: Area, value: str) -> None:
    """The chosen option; several lines of a list that shows more."""
    options = options_of(element)
    high = style.font_ascent + style.font_descent
    x, colour = inner.left + 4.0, look_of(style).text
    if element.get("multiple") is None:
        chosen = next((option for option in options if _sent(option) == value), options[0] if options else None)
        if chosen is not None:
            paper.write(option_text(chosen)[:200], style.font_size, x, (inner.top + inner.bottom - high) / 2, colour)
        return
    for number, option in enumerate(options[:50]):
        paper.write(option_text(option)[:200], style.font_size, x, inner.top + 2 + number * (high + 1), colour)


def _sent(option: Any) -> str:
    value = option.get("value")
    return option_text(option) if value is None else value


def _paragraph(paper: Paper, element: Any, style: Style, inner: Area, value: str) -> None:
    """The text of a field with several lines."""
    colour = look_of(style).text
    text = value[:_MAX_LENGTH]
    if not text:
        text, colour = (element.get("placeholder") or "")[:_MAX_LENGTH], _HINT
    limit = (inner.right - inner.left) / style.scale if style.scale else 0.0
    y = float(inner.top) + (style.line - style.font_ascent - style.font_descent) / 2
    for row in text.splitlines():
        for line in _wrapped(row, limit):
            if y >= inner.bottom:
                return
            paper.write(line, style.font_size, inner.left, y, colour)
            y += style.line


def _wrapped(row: str, limit: float) -> list[str]:
    """A row in lines that are at most this wide, in thousandths of the font size."""
    lines, line, used = [], "", 0.0
    for word, width, space in run_of(row).words:
        gap = " " if space and line else ""
        wanted = used + width + text_width(gap)
        if line and wanted > limit:
            lines.append(line)
            line, used = word, float(width)
        else:
            line, used = line + gap + word, wanted
    return [*lines, line]

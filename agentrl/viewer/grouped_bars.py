"""Bars side by side for each of some categories, with intervals: how conditions differ, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentrl.core.html import safe
from agentrl.rollout.statistics import Interval
from agentrl.viewer.canvas import COLOURS, Look, chart_svg, legend, nice_ticks, plot_top, tick_text

LEFT, RIGHT, BOTTOM = 54.0, 14.0, 56.0
LETTER = 6.6  # the approximate width of a letter under a category


@dataclass(frozen=True)
class Bar:
    """One bar: its height, the interval drawn on it, and what it says when pointed at."""

    value: float
    bounds: Interval | None = None
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """The bars of one colour, one for each category; None where there is nothing to show."""

    label: str
    bars: Sequence[Bar | None]
    colour: int = 0


def grouped_bars(categories: Sequence[str], series: Sequence[Bars], look: Look) -> str:
    """A group of bars for each category; "" where there is not a single bar."""
    shown = [one for one in series if any(bar is not None for bar in one.bars)]
    if not categories or not shown:
        return ""
    signs, rows = legend([(one.label, one.colour, False) for one in shown], look)
    frame = _Frame(look, plot_top(rows), len(categories), len(shown), _highest(shown, look))
    parts = [frame.axes(), *(frame.category(place, name) for place, name in enumerate(categories))]
    for row, one in enumerate(shown):
        named = zip(categories, one.bars, strict=True)
        parts += [frame.bar(place, row, one, name, bar) for place, (name, bar) in enumerate(named) if bar is not None]
    return chart_svg(look, signs + "".join(parts))


def _highest(series: Sequence[Bars], look: Look) -> float:
    bars = [bar for one in series for bar in one.bars if bar is not None]
    tops = [max(bar.value, bar.bounds[1] if bar.bounds else 0.0) for bar in bars]
    return max([*tops, look.limits[1] if look.limits else 0.0]) or 1.0


@dataclass(frozen=True)
class _Frame:
    look: Look
    top: float
    categories: int
    rows: int
    highest: float

    def y(self, value: float) -> float:
        return self.floor - value / self.highest * (self.floor - self.top)

    @property
    def floor(self) -> float:
        return self.look.height - BOTTOM

    @property
    def group(self) -> float:
        """The width that a category has."""
        return (self.look.width - LEFT - RIGHT) / self.categories

    def axes(self) -> str:
        end, parts = self.look.width - RIGHT, []
        for tick in nice_ticks(0.0, self.highest, about=4):
            y = self.y(tick)
            kind = "zero" if tick == 0 else "axis"
            parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick" x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">')
            parts.append(f"{tick_text(tick, self.look.percent)}</text>")
        middle = (LEFT + end) / 2
        parts.append(f'<text class="tick" x="{middle:.1f}" y="{self.look.height - 6}" text-anchor="middle">')
        return "".join(parts) + f"{safe(self.look.x_name)}</text>"

    def category(self, place: int, name: str) -> str:
        """Its name in one or two lines."""
        middle, most = LEFT + (place + 0.5) * self.group, max(4, int(self.group / LETTER))
        lines = two_lines(name, most)
        return "".join(
            f'<text class="tick" x="{middle:.1f}" y="{self.floor + 16 + 14 * row:.1f}" text-anchor="middle">'
            f"{safe(line)}</text>"
            for row, line in enumerate(lines)
        )

    def bar(self, place: int, row: int, series: Bars, category: str, bar: Bar) -> str:
        width = min(44.0, self.group * 0.8 / self.rows)
        x = LEFT + (place + 0.5) * self.group + (row - self.rows / 2) * width
        top, height = self.y(bar.value), max(1.0, self.floor - self.y(bar.value))
        said = f"{series.label}, {category}: {tick_text(round(bar.value, 4), self.look.percent)}"
        said += f" ({bar.note})" if bar.note else ""
        frame = f'x="{x + 1:.1f}" y="{min(top, self.floor - 1):.1f}" width="{width - 2:.1f}" height="{height:.1f}"'
        drawn = f'<rect class="fill c{series.colour % COLOURS}" {frame}><title>{safe(said)}</title></rect>'
        return drawn + self._whisker(x + width / 2, bar.bounds)

    def _whisker(self, x: float, bounds: Interval | None) -> str:
        if bounds is None:
            return ""
        low, high = (self.y(bound) for bound in bounds)
        tips = f"M{x - 3:.1f} {low:.1f}h6M{x - 3:.1f} {high:.1f}h6"
        return f'<path class="whisker" d="M{x:.1f} {low:.1f}V{high:.1f}{tips}"/>'


def two_lines(name: str, most: int) -> list[str]:
    """A name in at most two lines of so many letters; what does not fit is cut."""
    if len(name) <= most:
        return [name]
    space = name.rfind(" ", 0, most + 1)
    first, rest = (name[:space], name[space + 1 :]) if space > 0 else (name[:most], name[most:])
    return [first, rest if len(rest) <= most else rest[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"]

"""Charts as SVG text: lines with bands, stacked bars. Colours come from the style sheet, so both themes work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentrl.core.html import safe
from agentrl.rollout.statistics import Interval
from agentrl.viewer.canvas import COLOURS, Look, chart_svg, legend, nice_ticks, plot_top, tick_text

MAX_POINTS = 240  # of one line: more would not be visible, and pages must stay small
Point = tuple[float, float]
Band = tuple[float, float, float]  # x, low, high


@dataclass(frozen=True)
class Series:
    """One line. `band` is drawn behind it; `marks` shows the single points, for lines with few of them."""

    label: str
    points: Sequence[Point]
    band: Sequence[Band] = ()
    colour: int = 0
    dashed: bool = False
    marks: bool = False


# ---------------------------------------------------------------------- scales


@dataclass(frozen=True)
class _Frame:
    look: Look
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    top: float
    left: float = 54.0
    bottom: float = 40.0
    right: float = 14.0

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.look.width - self.left - self.right)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.floor - (value - low) / (high - low) * (self.floor - self.top)

    @property
    def floor(self) -> float:
        return self.look.height - self.bottom

    def axes(self) -> str:
        """Grid lines, numbers, the name of the x axis, and a line for every alarm."""
        low, high = self.x_range
        end, parts = self.look.width - self.right, []
        for tick in nice_ticks(*self.y_range, about=4):
            y = self.y(tick)
            kind = "zero" if abs(tick) < 1e-12 else "axis"
            parts.append(f'<line class="{kind}" x1="{self.left}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>')
            label = tick_text(tick, self.look.percent)
            parts.append(f'<text class="tick" x="{self.left - 7}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        for tick in nice_ticks(low, high, about=max(2, self.look.width // 85)):
            if abs(tick - round(tick)) > 1e-9:  # iterations and episodes are counted: there is no half one
                continue
            x = self.x(tick)
            anchor = "end" if x > end - 12 else "middle"
            parts.append(f'<text class="tick" x="{x:.1f}" y="{self.floor + 16:.1f}" text-anchor="{anchor}">')
            parts.append(f"{tick_text(tick)}</text>")
        for alarm in self.look.alarms:
            if low <= alarm <= high:
                x = self.x(alarm)
                parts.append(f'<line class="alarm-line" x1="{x:.1f}" x2="{x:.1f}" y1="{self.top}" y2="{self.floor}">')
                parts.append(f"<title>a warning at {safe(self.look.x_name)} {tick_text(alarm)}</title></line>")
        middle = (self.left + end) / 2
        name = f'<text class="tick" x="{middle:.1f}" y="{self.look.height - 6}" text-anchor="middle">'
        return "".join(parts) + f"{name}{safe(self.look.x_name)}</text>"


def _spread(values: Sequence[float], limits: tuple[float, float] | None) -> tuple[float, float]:
    """A range that holds all values with a little air, and the limits."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - (abs(low) * 0.1 or 0.5), high + (abs(high) * 0.1 or 0.5)
    air = 0.05 * (high - low)
    # Air must not carry a quantity that is never negative below zero.
    low, high = (low - air if low < 0 or low > air else 0.0), high + air
    if limits is not None:  # they are air enough
        low, high = min(low, limits[0]), max(min(high, max(values, default=0.0)), limits[1])
    return low, high


# ---------------------------------------------------------------------- lines


def line_chart(series: Sequence[Series], look: Look) -> str:
    """Lines over a common x axis; "" where there is not a single point."""
    shown = [thinned(one) for one in series if one.points]
    if not shown:
        return ""
    xs = [x for one in shown for x, _ in one.points]
    ys = [y for one in shown for _, y in one.points] + [y for one in shown for _, *pair in one.band for y in pair]
    signs, rows = legend([(one.label, one.colour, one.dashed) for one in shown], look)
    first, last = (min(xs), max(xs)) if max(xs) > min(xs) else (xs[0] - 0.5, xs[0] + 0.5)
    frame = _Frame(look, (first, last), _spread(ys, look.limits), top=plot_top(rows))
    bands = []
    for one in shown:
        if len(one.band) > 1:
            upper = [f"{frame.x(x):.1f} {frame.y(high):.1f}" for x, _, high in one.band]
            lower = [f"{frame.x(x):.1f} {frame.y(low):.1f}" for x, low, _ in reversed(one.band)]
            bands.append(f'<path class="band fill c{one.colour % COLOURS}" d="M{"L".join([*upper, *lower])}Z"/>')
    lines = "".join(_line(one, frame) for one in shown)
    return chart_svg(look, signs + frame.axes() + "".join(bands) + lines)


def thinned(series: Series) -> Series:
    """At most `MAX_POINTS` points: neighbours are averaged."""
    size = -(-len(series.points) // MAX_POINTS)
    if size <= 1:
        return series
    points = [_mean(series.points[i : i + size]) for i in range(0, len(series.points), size)]
    band = [_mean(series.band[i : i + size]) for i in range(0, len(series.band), size)]
    return Series(series.label, points, band, series.colour, series.dashed, series.marks)  # pyright: ignore[reportArgumentType]


def _mean(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(math.fsum(column) / len(rows) for column in zip(*rows, strict=True))


def _line(series: Series, frame: _Frame) -> str:
    colour = f"c{series.colour % COLOURS}"
    places = [(frame.x(x), frame.y(y)) for x, y in series.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dashed = " dashed" if series.dashed else ""
    parts = [f'<path class="line {colour}{dashed}" d="M{path}"/>'] if len(places) > 1 else []
    if series.marks or len(places) == 1:
        for (x, y), (at, value) in zip(places, series.points, strict=True):
            said = f"{safe(series.label)}, {safe(frame.look.x_name)} {tick_text(at)}: "
            said += tick_text(round(value, 4), frame.look.percent)
            place = f'cx="{x:.1f}" cy="{y:.1f}" r="3.6"'
            parts.append(f'<circle class="mark fill {colour}" {place}><title>{said}</title></circle>')
    return "".join(parts)


# ---------------------------------------------------------------------- bars


def stacked_bars(xs: Sequence[float], layers: Mapping[str, Sequence[float]], look: Look) -> str:
    """One bar for each x, made of the layers' values (never negative), in order; "" where all is nought."""
    if not xs or not any(value > 0 for layer in layers.values() for value in layer):
        return ""
    size = -(-len(xs) // (MAX_POINTS // 3))
    xs, layers = _binned(xs, size), {name: _binned(layer, size) for name, layer in layers.items()}
    heights = [math.fsum(max(0.0, layer[i]) for layer in layers.values()) for i in range(len(xs))]
    named = [(name, colour, False) for colour, (name, layer) in enumerate(layers.items()) if any(layer)]
    signs, rows = legend(named, look)
    # A few bars stay narrow: wide ones would reach far beyond the first and the last x.
    half = (xs[-1] - xs[0]) / max(16, 2 * (len(xs) - 1)) or 0.5
    frame = _Frame(look, (xs[0] - half, xs[-1] + half), (0.0, max(heights) * 1.05), top=plot_top(rows))
    width = max(1.0, (frame.x(xs[0] + half) - frame.x(xs[0] - half)) * 0.86)
    bars = []
    for i, x in enumerate(xs):
        below = 0.0
        for colour, (name, layer) in enumerate(layers.items()):
            if (value := layer[i]) > 0:
                top, base = frame.y(below + value), frame.y(below)
                place = f'x="{frame.x(x) - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{base - top:.1f}"'
                shown = tick_text(round(value, 3), look.percent)
                said = f"{safe(name)}, {safe(look.x_name)} {tick_text(x)}: {shown}"
                bars.append(f'<rect class="fill c{colour % COLOURS}" {place}><title>{said}</title></rect>')
                below += value
    return chart_svg(look, signs + frame.axes() + "".join(bars))


def _binned(values: Sequence[float], size: int) -> list[float]:
    parts = (values[i : i + size] for i in range(0, len(values), size))
    return [math.fsum(part) / len(part) for part in parts]


def share_bar(values: Mapping[str, float], look: Look, show: Callable[[float], str]) -> str:
    """One bar across: how a total divides; "" where there is nothing to divide."""
    total = math.fsum(value for value in values.values() if value > 0)
    if total <= 0:
        return ""
    named = [
        (f"{name} {show(value)} ({value / total:.0%})", colour, False)
        for colour, (name, value) in enumerate(values.items())
        if value > 0.0005 * total
    ]
    signs, rows = legend(named, look)
    x, top, parts = 10.0, plot_top(rows), []
    for colour, value in enumerate(values.values()):
        width = max(0.0, value) / total * (look.width - 20)
        place = f'x="{x:.1f}" y="{top}" width="{width:.1f}" height="26"'
        parts.append(f'<rect class="fill c{colour % COLOURS}" {place}/>')
        x += width
    return chart_svg(Look(look.title, look.width, top + 40), signs + "".join(parts))


# ---------------------------------------------------------------------- bars side by side

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
    bars = [bar for one in shown for bar in one.bars if bar is not None]
    tops = [max(bar.value, bar.bounds[1] if bar.bounds else 0.0) for bar in bars]
    highest = max([*tops, look.limits[1] if look.limits else 0.0]) or 1.0
    frame = _Groups(look, plot_top(rows), len(categories), len(shown), highest)
    parts = [frame.axes(), *(frame.category(place, name) for place, name in enumerate(categories))]
    for row, one in enumerate(shown):
        named = zip(categories, one.bars, strict=True)
        parts += [frame.bar(place, row, one, name, bar) for place, (name, bar) in enumerate(named) if bar is not None]
    return chart_svg(look, signs + "".join(parts))


@dataclass(frozen=True)
class _Groups:
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
        if bar.bounds is not None:
            low, high = (self.y(bound) for bound in bar.bounds)
            x += width / 2
            tips = f"M{x - 3:.1f} {low:.1f}h6M{x - 3:.1f} {high:.1f}h6"
            drawn += f'<path class="whisker" d="M{x:.1f} {low:.1f}V{high:.1f}{tips}"/>'
        return drawn


def two_lines(name: str, most: int) -> list[str]:
    """A name in at most two lines of so many letters; what does not fit is cut."""
    if len(name) <= most:
        return [name]
    space = name.rfind(" ", 0, most + 1)
    first, rest = (name[:space], name[space + 1 :]) if space > 0 else (name[:most], name[most:])
    return [first, rest if len(rest) <= most else rest[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"]

"""Charts as SVG text: lines with bands, stacked bars. Colours come from the style sheet, so both themes work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentrl.core.html import safe
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
            parts.append(f'<text class="tick" x="{x:.1f}" y="{self.floor + 16:.1f}" {_anchor(x, end)}>')
            parts.append(f"{tick_text(tick)}</text>")
        for alarm in self.look.alarms:
            if low <= alarm <= high:
                x = self.x(alarm)
                parts.append(f'<line class="alarm-line" x1="{x:.1f}" x2="{x:.1f}" y1="{self.top}" y2="{self.floor}">')
                parts.append(f"<title>a warning at {safe(self.look.x_name)} {tick_text(alarm)}</title></line>")
        middle = (self.left + end) / 2
        name = f'<text class="tick" x="{middle:.1f}" y="{self.look.height - 6}" text-anchor="middle">'
        return "".join(parts) + f"{name}{safe(self.look.x_name)}</text>"


def _anchor(x: float, end: float) -> str:
    return 'text-anchor="end"' if x > end - 12 else 'text-anchor="middle"'


def _spread(values: Sequence[float], limits: tuple[float, float] | None) -> tuple[float, float]:
    """A range that holds all values with a little air, and the limits."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - (abs(low) * 0.1 or 0.5), high + (abs(high) * 0.1 or 0.5)
    air = 0.05 * (high - low)
    # Air must not carry a quantity that is never negative below zero.
    low, high = (low - air if low < 0 or low > air else 0.0), high + air
    return (low, high) if limits is None else (min(low, limits[0]), max(min(high, values_top(values)), limits[1]))


def values_top(values: Sequence[float]) -> float:
    """The largest value itself: where limits are given, they are air enough."""
    return max(values, default=0.0)


# ---------------------------------------------------------------------- lines


def line_chart(series: Sequence[Series], look: Look) -> str:
    """Lines over a common x axis; "" where there is not a single point."""
    shown = [thinned(one) for one in series if one.points]
    if not shown:
        return ""
    xs = [x for one in shown for x, _ in one.points]
    ys = [y for one in shown for _, y in one.points] + [y for one in shown for _, *pair in one.band for y in pair]
    signs, rows = legend([(one.label, one.colour, one.dashed) for one in shown], look)
    frame = _Frame(look, _x_range(xs), _spread(ys, look.limits), top=plot_top(rows))
    body = "".join(_band(one, frame) for one in shown) + "".join(_line(one, frame) for one in shown)
    return chart_svg(look, signs + frame.axes() + body)


def _x_range(xs: Sequence[float]) -> tuple[float, float]:
    low, high = min(xs), max(xs)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


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


def _band(series: Series, frame: _Frame) -> str:
    if len(series.band) < 2:
        return ""
    upper = [f"{frame.x(x):.1f} {frame.y(high):.1f}" for x, _, high in series.band]
    lower = [f"{frame.x(x):.1f} {frame.y(low):.1f}" for x, low, _ in reversed(series.band)]
    return f'<path class="band fill c{series.colour % COLOURS}" d="M{"L".join([*upper, *lower])}Z"/>'


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


@dataclass
class _Stack:
    below: float = 0.0
    parts: list[str] = field(default_factory=list)


def stacked_bars(xs: Sequence[float], layers: Mapping[str, Sequence[float]], look: Look) -> str:
    """One bar for each x, made of the layers' values (never negative), in order; "" where all is nought."""
    if not xs or not any(value > 0 for layer in layers.values() for value in layer):
        return ""
    size = -(-len(xs) // (MAX_POINTS // 3))
    xs, layers = _binned(xs, size), {name: _binned(layer, size) for name, layer in layers.items()}
    heights = [math.fsum(max(0.0, layer[i]) for layer in layers.values()) for i in range(len(xs))]
    named = [(name, colour, False) for colour, (name, layer) in enumerate(layers.items()) if any(layer)]
    signs, rows = legend(named, look)
    half = (xs[-1] - xs[0]) / max(1, len(xs) - 1) / 2 or 0.5
    frame = _Frame(look, (xs[0] - half, xs[-1] + half), (0.0, max(heights) * 1.05), top=plot_top(rows))
    width = max(1.0, (frame.x(xs[0] + half) - frame.x(xs[0] - half)) * 0.86)
    bars = "".join(_bar(x, {name: layer[i] for name, layer in layers.items()}, frame, width) for i, x in enumerate(xs))
    return chart_svg(look, signs + frame.axes() + bars)


def _binned(values: Sequence[float], size: int) -> list[float]:
    parts = (values[i : i + size] for i in range(0, len(values), size))
    return [math.fsum(part) / len(part) for part in parts]


def _bar(x: float, values: Mapping[str, float], frame: _Frame, width: float) -> str:
    stack = _Stack()
    for colour, (name, value) in enumerate(values.items()):
        if value > 0:
            top, base = frame.y(stack.below + value), frame.y(stack.below)
            place = f'x="{frame.x(x) - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{base - top:.1f}"'
            size = tick_text(round(value, 3), frame.look.percent)
            said = f"{safe(name)}, {safe(frame.look.x_name)} {tick_text(x)}: {size}"
            stack.parts.append(f'<rect class="fill c{colour % COLOURS}" {place}><title>{said}</title></rect>')
            stack.below += value
    return "".join(stack.parts)


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

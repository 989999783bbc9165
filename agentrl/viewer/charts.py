"""Charts as SVG text: lines with bands, stacked bars. Colours come from the style sheet, so both themes work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentrl.viewer.report import figure_style, safe

COLOURS = 8
MOST_POINTS = 240  # of one line: more than that nobody can see, and pages must stay small
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


@dataclass(frozen=True)
class Look:
    """The frame of a chart, in its own units; `limits` are what the y axis shows at least."""

    title: str
    width: int = 520
    height: int = 280
    x_name: str = "iteration"
    limits: tuple[float, float] | None = None
    percent: bool = False
    alarms: Sequence[float] = ()  # x where something was warned about
    legend: bool = True


# ---------------------------------------------------------------------- scales


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, about as many as asked for."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((size * factor for factor in (1, 2, 2.5, 5) if size * factor >= rough), size * 10)
    first = math.ceil(low / step - 1e-9)
    # Counted, not added up: 0.1 three times is not 0.3.
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(value: float, percent: bool = False) -> str:
    """A short number for an axis: 0.25, 12k, 3e-06, 40 %."""
    if percent:
        return f"{100 * value:.4g} %".replace("-", "\N{MINUS SIGN}")
    size = abs(value)
    if size >= 1e6:
        text = f"{value / 1e6:.4g}M"
    elif size >= 1e4:
        text = f"{value / 1e3:.4g}k"
    else:
        text = f"{0.0 if size < 1e-12 else value:.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


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
    legend, rows = _legend([(one.label, one.colour, one.dashed) for one in shown], look)
    frame = _Frame(look, _x_range(xs), _spread(ys, look.limits), top=34.0 + 18.0 * rows)
    body = "".join(_band(one, frame) for one in shown) + "".join(_line(one, frame) for one in shown)
    return _svg(look, legend + frame.axes() + body)


def _x_range(xs: Sequence[float]) -> tuple[float, float]:
    low, high = min(xs), max(xs)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def thinned(series: Series) -> Series:
    """At most `MOST_POINTS` points: neighbours are averaged."""
    size = -(-len(series.points) // MOST_POINTS)
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
    size = -(-len(xs) // (MOST_POINTS // 3))
    xs, layers = _binned(xs, size), {name: _binned(layer, size) for name, layer in layers.items()}
    heights = [math.fsum(max(0.0, layer[i]) for layer in layers.values()) for i in range(len(xs))]
    named = [(name, colour, False) for colour, (name, layer) in enumerate(layers.items()) if any(layer)]
    legend, rows = _legend(named, look)
    half = (xs[-1] - xs[0]) / max(1, len(xs) - 1) / 2 or 0.5
    frame = _Frame(look, (xs[0] - half, xs[-1] + half), (0.0, max(heights) * 1.05), top=34.0 + 18.0 * rows)
    width = max(1.0, (frame.x(xs[0] + half) - frame.x(xs[0] - half)) * 0.86)
    bars = "".join(_bar(x, {name: layer[i] for name, layer in layers.items()}, frame, width) for i, x in enumerate(xs))
    return _svg(look, legend + frame.axes() + bars)


def _binned(values: Sequence[float], size: int) -> list[float]:
    parts = (values[i : i + size] for i in range(0, len(values), size))
    return [math.fsum(part) / len(part) for part in parts]


def _bar(x: float, values: Mapping[str, float], frame: _Frame, width: float) -> str:
    stack = _Stack()
    for colour, (name, value) in enumerate(values.items()):
        if value > 0:
            top, base = frame.y(stack.below + value), frame.y(stack.below)
            place = f'x="{frame.x(x) - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{base - top:.1f}"'
            said = f"{safe(name)}, {safe(frame.look.x_name)} {tick_text(x)}: {tick_text(round(value, 3))}"
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
    legend, rows = _legend(named, look)
    x, top, parts = 10.0, 40 + 18 * rows, []
    for colour, value in enumerate(values.values()):
        width = max(0.0, value) / total * (look.width - 20)
        place = f'x="{x:.1f}" y="{top}" width="{width:.1f}" height="26"'
        parts.append(f'<rect class="fill c{colour % COLOURS}" {place}/>')
        x += width
    return _svg(Look(look.title, look.width, top + 40), legend + "".join(parts))


# ---------------------------------------------------------------------- the whole


def _legend(entries: Sequence[tuple[str, int, bool]], look: Look) -> tuple[str, int]:
    """Names with their colours in rows under the title, and how many rows."""
    if not look.legend:
        return "", 0
    x, row, parts = 10.0, 0, []
    for label, colour, dashed in entries:
        length = 36 + 7 * len(label)  # a letter is about so wide; nobody can measure it here
        if x > 10 and x + length > look.width:
            x, row = 10.0, row + 1
        y = 40 + 18 * row
        kind = f"line c{colour % COLOURS}" + (" dashed" if dashed else "")
        parts.append(f'<path class="{kind}" d="M{x:.1f} {y - 4}h16"/><text class="soft" x="{x + 21:.1f}" y="{y}">')
        parts.append(f"{safe(label)}</text>")
        x += length
    return "".join(parts), row + 1


def _svg(look: Look, body: str) -> str:
    frame = f'viewBox="0 0 {look.width} {look.height}" role="img" aria-label="{safe(look.title)}"'
    return f'<svg {frame}><text class="title" x="10" y="19">{safe(look.title)}</text>{body}</svg>'


def standalone(svg: str, look: Look) -> str:
    """A chart of this module as a file of its own, with its style and a background."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{look.width}" height="{look.height}" '
    paper = f'<rect class="paper" width="{look.width}" height="{look.height}" rx="8"/>'
    opening, _, rest = svg.removeprefix("<svg ").partition(">")
    return f"{head}{opening}><style>{figure_style()}</style>{paper}{rest}\n"

"""A dot plot: one row a label, dots with their intervals across, for figures that lines would lay on each other."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentrl.core.html import safe
from agentrl.viewer.canvas import (
    COLOURS,
    Look,
    chart_svg,
    legend_places,
    legend_rows,
    nice_ticks,
    plot_top,
    tick_text,
)

ROW, LANE, FOOT = 32, 12, 40  # height of a row, from one dot of a row to the next, and of what is under the rows
AIR = 22  # right of the highest tick: half of its number, and a little
LETTER, MARGIN = 7, 32  # the width of a letter, about, and of what is around a label
LINE = 14  # from one line of a label to the next
Range = tuple[float, float]


@dataclass(frozen=True)
class Dot:
    """A figure with its interval; `singles` are what it was pooled from, `start` is where it came from."""

    value: float
    interval: Range
    singles: Sequence[float] = ()
    start: float | None = None


@dataclass(frozen=True)
class DotRow:
    """A label and its dots by the name of their kind; it may lack some."""

    label: str
    dots: Mapping[str, Dot]


def dot_chart(
    rows: Sequence[DotRow], kinds: Sequence[str], look: Look, *, single: str = "single", start: str = "start"
) -> str:
    """Rows from top to bottom, as high as they need; "" where there is not a single dot.

    `kinds` gives the dots of a row their order and colour. A start that all rows share is a line through all of them.
    `single` and `start` are what the legend calls such marks.
    """
    shown = [row for row in rows if row.dots]
    if not shown:
        return ""
    present = {kind: colour for colour, kind in enumerate(kinds) if any(kind in row.dots for row in shown)}
    signs, top = _legend(shown, present, look, (single, start))
    labels = MARGIN + LETTER * max(len(row.label) for row in shown)
    plot = _Plot(replace(look, height=top + ROW * len(shown) + FOOT), present, _range(shown), top, labels)
    body = ""
    for index, row in enumerate(shown):
        body += _label(row.label, index, plot)
        body += "".join(_dot(row, kind, index, plot) for kind in present if kind in row.dots)
    return chart_svg(plot.look, signs + _axes(len(shown), plot) + _starts(shown, plot) + body)


# ---------------------------------------------------------------------- scales


@dataclass(frozen=True)
class _Plot:
    look: Look
    colours: Mapping[str, int]  # of the kinds that occur, from the top of a row to its bottom
    x_range: Range
    top: int
    labels: float

    @property
    def left(self) -> float:
        return min(self.labels, 0.45 * self.look.width)

    @property
    def right(self) -> float:
        return self.look.width - AIR

    @property
    def floor(self) -> int:
        return self.look.height - FOOT

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, index: int, kind: str) -> float:
        lane = list(self.colours).index(kind) - (len(self.colours) - 1) / 2
        return self.middle(index) + LANE * lane

    def middle(self, index: int) -> float:
        return self.top + ROW * (index + 0.5)


def _range(rows: Sequence[DotRow]) -> Range:
    """From a round number below everything to one above everything."""
    dots = [dot for row in rows for dot in row.dots.values()]
    starts = [dot.start for dot in dots if dot.start is not None]
    values = [x for dot in dots for x in (dot.value, *dot.interval, *dot.singles)] + starts
    low, high = min(values), max(values)
    if high <= low:
        low, high = low - (abs(low) * 0.1 or 0.5), high + (abs(high) * 0.1 or 0.5)
    ticks = nice_ticks(low, high, about=8)
    step = ticks[1] - ticks[0]
    return math.floor(low / step + 1e-6) * step, math.ceil(high / step - 1e-6) * step


def _axes(count: int, plot: _Plot) -> str:
    """A line and a number for every tick, a faint line between rows, the name of the axis."""
    parts = []
    for tick in nice_ticks(*plot.x_range, about=8):
        x = plot.x(tick)
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{plot.top}" y2="{plot.floor}"/>')
        text = tick_text(tick, plot.look.percent)
        parts.append(f'<text class="tick" x="{x:.1f}" y="{plot.floor + 16}" text-anchor="middle">{text}</text>')
    for index in range(count + 1):
        y = plot.top + ROW * index
        parts.append(f'<line class="axis" x1="10" x2="{plot.right:.1f}" y1="{y}" y2="{y}"/>')
    middle = (plot.left + plot.right) / 2
    name = f'<text class="tick" x="{middle:.1f}" y="{plot.look.height - 6}" text-anchor="middle">'
    return "".join(parts) + f"{name}{safe(plot.look.x_name)}</text>"


# ---------------------------------------------------------------------- rows


def _label(label: str, index: int, plot: _Plot) -> str:
    """On one line, or on two; longer ones end with an ellipsis and are whole in the title."""
    most = int((plot.left - MARGIN) / LETTER)
    lines = textwrap.wrap(label, most, max_lines=2, placeholder="\N{HORIZONTAL ELLIPSIS}")
    top = plot.middle(index) + 4.5 - LINE * (len(lines) - 1) / 2
    places = [f'x="{plot.left - 12:.1f}" y="{top + LINE * number:.1f}"' for number in range(len(lines))]
    end = f"<title>{safe(label)}</title></text>"
    return "".join(
        f'<text {place} text-anchor="end">{safe(line)}{end}' for place, line in zip(places, lines, strict=True)
    )


def _dot(row: DotRow, kind: str, index: int, plot: _Plot) -> str:
    """The interval behind, the dot before it, single marks on the side where no other dot is."""
    dot, y, colour = row.dots[kind], plot.y(index, kind), plot.colours[kind]
    low, high = (plot.x(bound) for bound in dot.interval)
    side = -1 if y <= plot.middle(index) else 1
    singles = "".join(
        f'<path class="line single c{colour % COLOURS}" d="M{plot.x(value):.1f} {y + 4.5 * side:.1f}v{4.5 * side}"/>'
        for value in dot.singles
    )
    percent = plot.look.percent
    ends = " to ".join(tick_text(round(bound, 3), percent) for bound in dot.interval)
    said = f"{safe(row.label)}, {safe(kind)}: {tick_text(round(dot.value, 3), percent)} ({ends})"
    line = f'<path class="line c{colour % COLOURS}" d="M{low:.1f} {y:.1f}H{high:.1f}"/>'
    return f"<g>{line}{singles}{_sign(plot.x(dot.value), y, colour)}<title>{said}</title></g>"


def _sign(x: float, y: float, colour: int) -> str:
    """A circle or, for every second colour, a diamond: kinds must differ without colours too."""
    kind = f'class="mark fill c{colour % COLOURS}"'
    if colour % 2 == 0:
        return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="4.4"/>'
    return f'<path {kind} d="M{x - 5.4:.1f} {y:.1f}l5.4 -5.4l5.4 5.4l-5.4 5.4Z"/>'


def shared_start(rows: Sequence[DotRow], kind: str) -> float | None:
    """Where all dots of a kind come from; None where they differ or one does not say."""
    starts = [row.dots[kind].start for row in rows if kind in row.dots]
    first = starts[0] if starts else None
    same = first is not None and all(start is not None and math.isclose(start, first) for start in starts)
    return first if same else None


def _starts(rows: Sequence[DotRow], plot: _Plot) -> str:
    parts = []
    for kind, colour in plot.colours.items():
        ink = f"c{colour % COLOURS}"
        if (start := shared_start(rows, kind)) is not None:
            parts.append(f'<path class="line start {ink}" d="M{plot.x(start):.1f} {plot.top}V{plot.floor}"/>')
            continue
        for index, row in enumerate(rows):
            if kind in row.dots and (start := row.dots[kind].start) is not None:
                place = f"M{plot.x(start):.1f} {plot.y(index, kind) - 5:.1f}v10"
                parts.append(f'<path class="line start {ink}" d="{place}"/>')
    return "".join(parts)


# ---------------------------------------------------------------------- the legend


def _legend(rows: Sequence[DotRow], kinds: Mapping[str, int], look: Look, marks: tuple[str, str]) -> tuple[str, int]:
    """Its signs and texts, and where the plot begins; it names only what is there."""
    if not look.legend:
        return "", plot_top(0)
    dots = [dot for row in rows for dot in row.dots.values()]
    single = any(dot.singles for dot in dots)
    start = any(dot.start is not None for dot in dots)
    labels = [*kinds, *([marks[0]] if single else []), *([marks[1]] if start else [])]
    signs = [f'<path class="line c{ink % COLOURS}" d="M0 -4h16"/>{_sign(8, -4, ink)}' for ink in kinds.values()]
    signs += ['<path class="line single c7" d="M8 -7v6"/>'] if single else []
    signs += ['<path class="line start c7" d="M8 -10v12"/>'] if start else []
    places = legend_places(labels, look.width)
    parts = [
        f'<g transform="translate({x:.1f} {y})">{sign}<text class="soft" x="21">{safe(label)}</text></g>'
        for label, sign, (x, y) in zip(labels, signs, places, strict=True)
    ]
    return "".join(parts), plot_top(legend_rows(places)) - 8  # here the numbers are under the plot

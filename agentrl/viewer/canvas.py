"""What all charts have in common: their frame, round numbers, legends, and a file around them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agentrl.core.html import safe, style_sheet

COLOURS = 8
LEGEND_TOP, LEGEND_ROW = 40, 18  # the line the first row of a legend stands on, and from row to row


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


# ---------------------------------------------------------------------- numbers


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


# ---------------------------------------------------------------------- the whole


def legend(entries: Sequence[tuple[str, int, bool]], look: Look) -> tuple[str, int]:
    """Names with their colours in rows under the title, and how many rows."""
    if not look.legend:
        return "", 0
    places, parts = legend_places([label for label, _, _ in entries], look.width), []
    for (label, colour, dashed), (x, y) in zip(entries, places, strict=True):
        kind = f"line c{colour % COLOURS}" + (" dashed" if dashed else "")
        parts.append(f'<path class="{kind}" d="M{x:.1f} {y - 4}h16"/><text class="soft" x="{x + 21:.1f}" y="{y}">')
        parts.append(f"{safe(label)}</text>")
    return "".join(parts), legend_rows(places)


def legend_places(labels: Sequence[str], width: float) -> list[tuple[float, int]]:
    """Where the sign of each label begins, and the line its text stands on: in rows under the title."""
    x, y, places = 10.0, LEGEND_TOP, []
    for label in labels:
        length = 36 + 7.7 * len(label)  # the approximate width of a letter: fonts cannot be measured here
        if x > 10 and x + length > width:
            x, y = 10.0, y + LEGEND_ROW
        places.append((x, y))
        x += length
    return places


def legend_rows(places: Sequence[tuple[float, int]]) -> int:
    """How many rows a legend has."""
    return len({y for _, y in places})


def plot_top(rows: int) -> int:
    """Where the plot begins under a legend of `rows` rows: the number of the highest grid line needs air above it."""
    return LEGEND_TOP + LEGEND_ROW * (rows - 1) + 22 if rows else 34


def chart_style() -> str:
    """What a page with charts adds to its style sheet."""
    return style_sheet("charts", "agentrl.viewer")


def chart_svg(look: Look, body: str) -> str:
    """A chart under its title, in the units of `look`."""
    frame = f'viewBox="0 0 {look.width} {look.height}" role="img" aria-label="{safe(look.title)}"'
    return f'<svg {frame}><text class="title" x="10" y="19">{safe(look.title)}</text>{body}</svg>'


def standalone(svg: str) -> str:
    """A chart of this module as a file of its own, as large as it is, with its style and a background."""
    opening, _, rest = svg.removeprefix("<svg ").partition(">")
    width, height = opening.split('"')[1].split()[2:]  # of the view box, which comes first
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    paper = f'<rect class="paper" width="{width}" height="{height}" rx="8"/>'
    return f"{head}{opening}><style>{style_sheet('colours')}{chart_style()}</style>{paper}{rest}\n"

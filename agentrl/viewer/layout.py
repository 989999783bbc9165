"""How charts stand on a page: across it or side by side, and twice where a small screen needs another shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentrl.core.html import percent, safe
from agentrl.viewer.canvas import Look
from agentrl.viewer.task_groups import Share


def wide(title: str, **changes: Any) -> Look:
    """The look of a chart across the whole page."""
    return Look(title, **{"width": 1080, "height": 340, **changes})


def small(title: str, **changes: Any) -> Look:
    """The look of one of many."""
    return Look(title, **{"width": 340, "height": 200, **changes})


def in_two_sizes(draw: Callable[[Look], str], look: Look) -> str:
    """A chart twice: the style sheet shows the one that can be read on the screen."""
    large, narrow = draw(look), draw(replace(look, width=340, height=240))
    return f'<div class="large">{large}</div><div class="narrow">{narrow}</div>' if large else ""


def charts(drawn: Sequence[str], *, many: bool = False, across: str = "") -> str:
    """Charts in cards, the one `across` first; "" where there is none."""
    single = [f'<div class="card">{chart}</div>' for chart in drawn if chart]
    if len(single) == 1 and not across:
        single.append("<div></div>")  # else the only chart would be as wide as the page, and twice as large
    cards = (f'<div class="card full">{across}</div>' if across else "") + "".join(single)
    return f'<div class="{"charts small" if many else "charts"}">{cards}</div>' if cards else ""


# ---------------------------------------------------------------------- tables


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1, kind: str = "tight") -> str:
    """A card with a table; cells are HTML, the first `texts` columns hold text and the others figures. Where `kind` is
    "tight" names of columns may take several lines, where it is "wrapped" texts may."""
    if not rows:
        return ""
    names = "".join(f"<th{_figure(place >= texts)}>{safe(name)}</th>" for place, name in enumerate(head))
    body = "\n".join(
        "<tr>" + "".join(f"<td{_figure(place >= texts)}>{cell}</td>" for place, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    rows_of = f"<thead><tr>{names}</tr></thead><tbody>\n{body}\n</tbody>"
    return f'<div class="card wide"><table class="{kind}">{rows_of}</table></div>'


def facts_table(facts: Mapping[str, str]) -> str:
    """Names and what they stand for, side by side; what is not known has no row."""
    return table([], [[safe(name), safe(text, 400)] for name, text in facts.items() if text], texts=2, kind="wrapped")


def _figure(figure: bool) -> str:
    return ' class="figure"' if figure else ""


def share_cell(share: Share) -> str:
    """A rate with its interval; a dash where there is nothing to count."""
    if not share.of:
        return "-"
    low, high = share.interval or (0.0, 1.0)
    return f'{percent(share.rate)}<span class="range">{100 * low:.0f} to {100 * high:.0f}</span>'


def change_cell(before: Share, after: Share) -> str:
    """How much a rate rose, in percentage points."""
    if not before.of or not after.of:
        return "-"
    points = round(100 * (after.rate - before.rate), 1) + 0.0
    return f"{points:+.1f}".replace("-", "\N{MINUS SIGN}")

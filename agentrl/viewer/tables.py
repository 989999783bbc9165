"""Tables of a report."""

from __future__ import annotations

from collections.abc import Sequence

from agentrl.core.html import percent, safe
from agentrl.viewer.task_groups import Share


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

"""How charts stand on a page: across it or side by side, and twice where a small screen needs another shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agentrl.viewer.canvas import Look


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

"""One episode as one HTML file; `agentrl.core.html` writes it and makes hostile text harmless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentrl.core.html import data_url, number_signed, page, safe

STYLE = """
.moment { display: grid; grid-template-columns: 13rem 1fr; gap: 1.2rem; padding: 1rem 0; }
.moment { border-top: 1px solid var(--line); }
.moment > div { min-width: 0; }
.moment h2 { font-size: .95rem; margin: 0 0 .5rem; }
.moment img { width: 100%; height: auto; border-radius: 6px; image-rendering: pixelated; }
.moment pre { margin: 0 0 .6rem; unicode-bidi: isolate; max-height: 24rem; overflow: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: 0 0 .8rem; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { .moment { grid-template-columns: 1fr; } }
"""


def episode_page(title: str, facts: Mapping[str, Any], moments: Sequence[Mapping[str, Any]]) -> str:
    """The HTML of an episode: `facts` at the top, then a section for each moment."""
    sections = [_facts(facts), *(_moment(number, moment) for number, moment in enumerate(moments))]
    return page(title, "", sections, style=STYLE)


def _moment(number: int, moment: Mapping[str, Any]) -> str:
    if moment["action"] is None:
        heading, action, facts = "Start", "", {}
    else:
        heading, action = f"Turn {number}", _text("action", moment["action"])
        terms = ", ".join(f"{name} {number_signed(value)}" for name, value in moment["terms"].items())
        facts = {"reward": number_signed(moment["reward"]), "terms": terms}
    facts |= {"feedback": moment["feedback"], **moment["flags"]}
    return (
        f'<section class="moment"><div><img alt="{heading}" src="{data_url(moment["png"])}"></div>\n'
        f"<div><h2>{heading}</h2>{action}{_text('observation', moment['text'])}{_facts(facts)}</div></section>"
    )


def _text(kind: str, text: str) -> str:
    # The line break after <pre> is not part of the text; without it a text's own first one would be swallowed.
    return f'<pre class="{kind}">\n{safe(text, None)}</pre>' if text else ""


def _facts(facts: Mapping[str, Any]) -> str:
    rows = [
        f"<dt>{safe(str(name))}</dt><dd{_colour(value)}>{safe(_say(value))}</dd>"
        for name, value in facts.items()
        if value is not None and value != ""
    ]
    return f"<dl>{''.join(rows)}</dl>" if rows else ""


def _say(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _colour(value: Any) -> str:
    return f' class="{"gain" if value else "loss"}"' if isinstance(value, bool) else ""

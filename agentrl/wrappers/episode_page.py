"""One episode as one HTML file that needs nothing else: pictures inside, no script, no request.

What a model wrote is hostile. It stands in the page as escaped text, and a content-security policy forbids everything
but this page's own style sheet (by hash) and pictures in data URIs.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# Characters that hide or turn round what stands beside them: bidirectional marks and control codes.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 62rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.35rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: .95rem; margin: 0 0 .5rem; }
section { display: grid; grid-template-columns: 13rem 1fr; gap: 1.2rem; padding: 1rem 0; border-top: 1px solid #8885; }
section > div { min-width: 0; }
img { width: 100%; height: auto; border-radius: 6px; image-rendering: pixelated; }
pre { margin: 0 0 .6rem; padding: .5rem .7rem; border-radius: 6px; background: #8881; white-space: pre-wrap;
  overflow-wrap: anywhere; unicode-bidi: isolate; max-height: 24rem; overflow: auto; font-size: .85rem; }
pre.action { background: #3b82f622; border-left: 3px solid #3b82f6; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: 0 0 .8rem; font-size: .9rem; }
dt { opacity: .65; } dd { margin: 0; overflow-wrap: anywhere; }
.good { color: #15803d; } .bad { color: #b91c1c; }
@media (prefers-color-scheme: dark) { .good { color: #4ade80; } .bad { color: #f87171; } }
@media (max-width: 40rem) { section { grid-template-columns: 1fr; } }
"""


def episode_page(title: str, facts: Mapping[str, Any], pages: Sequence[Mapping[str, Any]]) -> str:
    """The HTML of an episode: `facts` at the top, then a section for each moment."""
    style_hash = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{style_hash}'; base-uri 'none'; form-action 'none'"
    moments = "\n".join(_moment(number, page) for number, page in enumerate(pages))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_safe(title)}</title>\n<style>{STYLE}</style></head>\n"
        f"<body><h1>{_safe(title)}</h1>\n{_facts(facts)}\n{moments}\n</body></html>\n"
    )


def _moment(number: int, page: Mapping[str, Any]) -> str:
    picture = base64.b64encode(page["png"]).decode()
    heading = "Start" if page["action"] is None else f"Turn {number}"
    texts = "" if page["action"] is None else _text("action", page["action"])
    facts = {} if page["action"] is None else {"reward": _number(page["reward"]), **_terms(page["terms"])}
    facts |= {"feedback": page["feedback"], **page["flags"]}
    return (
        f'<section><div><img alt="{heading}" src="data:image/png;base64,{picture}"></div>\n'
        f"<div><h2>{heading}</h2>{texts}{_text('observation', page['text'])}{_facts(facts)}</div></section>"
    )


def _text(kind: str, text: str) -> str:
    # The line break behind <pre> is not part of the text; without it a text's own first one would be swallowed.
    return f'<pre class="{kind}">\n{_safe(text)}</pre>' if text else ""


def _safe(text: str) -> str:
    """Text that can only be read: escaped for HTML, with nothing invisible in it."""
    return escape(_INVISIBLE.sub(lambda mark: f"\\u{ord(mark.group()):04x}", text))


def _terms(terms: Mapping[str, float]) -> dict[str, str]:
    return {"terms": ", ".join(f"{name} {_number(value)}" for name, value in terms.items())}


def _number(value: float) -> str:
    return f"{value:+.4g}"


def _facts(facts: Mapping[str, Any]) -> str:
    rows = [
        f"<dt>{_safe(str(name))}</dt><dd{_colour(value)}>{_safe(_say(value))}</dd>"
        for name, value in facts.items()
        if value is not None and value != ""
    ]
    return f"<dl>{''.join(rows)}</dl>" if rows else ""


def _say(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _colour(value: Any) -> str:
    return f' class="{"good" if value else "bad"}"' if isinstance(value, bool) else ""

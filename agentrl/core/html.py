"""HTML pages in one file: pictures inside, no script, no request, readable offline.

Everything an environment or a model wrote is escaped, and the page's content security policy forbids scripts, outside
resources and any style but its own: hostile text can at worst look odd.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import unicodedata
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError

MAX_TEXT = 4000  # characters of one text; a whole web page would drown a report


@cache
def style_sheet(name: str, package: str = "agentrl.core") -> str:
    """The text of a `.css` file of the package; `colours` and `page` are the ones every page has."""
    return files(package).joinpath(f"{name}.css").read_text(encoding="utf-8")


def page(title: str, intro: str, sections: Sequence[str], footer: str = "", *, style: str = "") -> str:
    """The whole document.

    `title`, `intro` and `footer` are plain text, `sections` are HTML, `style` is added to the page's own style sheet.
    """
    style = style_sheet("colours") + style_sheet("page") + style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    opening = f'<p class="soft">{safe(intro)}</p>\n' if intro else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{safe(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{safe(title)}</h1>
{opening}{chr(10).join(sections)}
<footer>{safe(footer)}</footer>
</main>
</body>
</html>
"""


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page whole or not at all; `ConfigError` where that is impossible."""
    try:
        write_atomically(Path(path), text.encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot write the report: {error}") from error
    return Path(path)


# ---------------------------------------------------------------------- parts of a page


def section(title: str, *content: str) -> str:
    """A headed part of the page; `content` is HTML."""
    return f"<section>\n<h2>{safe(title)}</h2>\n" + "\n".join(content) + "\n</section>"


def details(summary: str, text: str) -> str:
    """Text that opens on a click."""
    return f"<details><summary>{safe(summary)}</summary><pre>{safe(text)}</pre></details>"


def picture_url(picture: np.ndarray) -> str:
    """A uint8 picture as a PNG inside the page."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(buffer, "PNG", optimize=True)
    return data_url(buffer.getvalue())


def data_url(data: bytes, kind: str = "png") -> str:
    """An encoded picture, PNG or GIF, as the address an `img` tag shows."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


# ---------------------------------------------------------------------- text and numbers


def safe(text: str, longest: int | None = MAX_TEXT) -> str:
    """Text of any origin, as HTML that shows it and does nothing else; None as `longest` keeps all of it."""
    return escape("".join(map(_visible, text if longest is None else clip(text, longest))))


def clip(text: str, longest: int = MAX_TEXT) -> str:
    """The beginning of a text, and how much was left out."""
    return text if len(text) <= longest else f"{text[:longest]} ... ({len(text) - longest} more characters)"


def _visible(char: str) -> str:
    """Characters that hide or turn round what stands beside them are spelled out: control codes, directional marks."""
    if char in "\n\t" or char.isprintable() or unicodedata.category(char) == "Zs":
        return char
    return f"\\u{ord(char):04x}"


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def number(value: float | None) -> str:
    """Two decimals and a real minus sign; a dash where there is none."""
    return "-" if value is None else f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def number_signed(value: float) -> str:
    """+1.5 or -0.1, with a real minus sign."""
    return f"{value:+.4g}".replace("-", "\N{MINUS SIGN}")

"""The page's whole HTML, in view or not."""

from __future__ import annotations

import re

from lxml import html

from agentrl.envs.webarena.browsing.view import View
from agentrl.envs.webarena.observing.texts import under_header

# Inside attributes and scripts "<" may stand unescaped; a picture's mark or a chat marker there must not be one.
_MARKS = re.compile(r"<(?=image\s*/?>|\|)", re.IGNORECASE)


def raw_html(view: View, *, header: bool = False) -> str:
    """The document as it came. What was typed is not in it, as in a page's source."""
    text = str(html.tostring(view.root, encoding="unicode", method="html", with_tail=False))
    return under_header(view, _MARKS.sub("&lt;", text), header)

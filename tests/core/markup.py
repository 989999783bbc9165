"""Hostile text, and a parser that finds what a page would do with it."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'</pre></style>\x00\x1b[2J\u202e"


class Tags(HTMLParser):
    """Every start tag with its attributes; complains about tags that do not close in order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

"""A safe subset of Markdown, for everything that people write."""

from __future__ import annotations

import re

from markupsafe import Markup

# Code, a link, a mention.
_INLINE = re.compile(
    r"`([^`\n]+)`|\[([^\]\n]{1,200})\]\((https?://[^\s)]{1,400}|/[^\s)]{0,400})\)|(?<![\w/@.])@([A-Za-z0-9](?:[\w.-]{0,60}\w)?)"
)
_ITEM = re.compile(r"(?:[*-]|[0-9]{1,3}\.) +(.*)")


def markdown(text: str) -> Markup:
    """Headings, paragraphs, lists, code, links and mentions; everything else is shown as it was written."""
    parts: list[Markup] = []
    blocks = re.split(r"(?m)^```[^\n]*\n(.*?)(?:^```\s*$|\Z)", text.replace("\r\n", "\n"), flags=re.DOTALL)
    for number, block in enumerate(blocks):
        parts += [Markup("<pre>{}</pre>").format(block.rstrip("\n"))] if number % 2 else _blocks(block)
    return Markup("\n").join(parts)


def _blocks(text: str) -> list[Markup]:
    found: list[Markup] = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines: list[str] = []
        for line in block.split("\n"):
            heading = re.fullmatch(r"(#{1,4}) +(.+)", line)
            if heading:
                found += _paragraph(lines)
                lines = []
                level = min(len(heading[1]) + 1, 4)
                found.append(Markup(f"<h{level}>{{}}</h{level}>").format(_inline(heading[2])))
            else:
                lines.append(line)
        found += _paragraph(lines)
    return found


def _paragraph(lines: list[str]) -> list[Markup]:
    found: list[Markup] = []
    plain: list[str] = []
    items: list[Markup] = []
    for line in [*lines, ""]:
        item = _ITEM.fullmatch(line.strip())
        if item:
            items.append(Markup("<li>• {}</li>").format(_inline(item[1])))
            continue
        if items:
            found += [_text(plain), Markup("<ul>{}</ul>").format(Markup("").join(items))]
            plain, items = [], []
        plain.append(line)
    return [part for part in [*found, _text(plain)] if part]


def _text(lines: list[str]) -> Markup:
    text = "\n".join(lines).strip()
    return Markup("<p>{}</p>").format(_inline(text)) if text else Markup("")


def _inline(text: str) -> Markup:
    parts: list[Markup | str] = []
    end = 0
    for found in _INLINE.finditer(text):
        parts.append(text[end : found.start()])
        code, label, url, name = found.groups()
        if code is not None:
            parts.append(Markup("<code>{}</code>").format(code))
        elif url is not None:
            parts.append(Markup('<a href="{}">{}</a>').format(url, label))
        else:
            parts.append(Markup('<a href="/{0}">@{0}</a>').format(name))
        end = found.end()
    return Markup("").join([*parts, text[end:]]).replace("\n", Markup("<br>"))

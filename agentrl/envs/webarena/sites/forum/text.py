"""Texts on their way to a page: members' texts as safe HTML, titles as parts of addresses."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from agentrl.envs.webarena.sites import formats

SLUG_LENGTH = 60
_MARKS = re.compile(
    r"\[(?P<text>[^\[\]\n]{1,200})\]\((?P<target>(?:https?://|/(?!/))[^\s()<>\"']{0,500})\)"
    r"|(?P<bare>https?://[^\s<>()\"']{1,500}[^\s<>()\"'.,:;!?])"
    r"|\*\*(?P<strong>[^*\n]{1,300})\*\*"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """A field of a form without what no page can show (control characters, halves of characters)."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def rich(text: str) -> Markup:
    """The Markdown that members use most: paragraphs, lists, quotes, headings, links and strong words."""
    return Markup("\n").join(_block(block) for block in re.split(r"\n\s*\n", text.strip("\n")) if block.strip())


def _block(block: str) -> Markup:
    lines = block.split("\n")
    if all(line.startswith(("- ", "* ")) for line in lines):
        return Markup("<ul>{}</ul>").format(
            Markup("").join(Markup("<li>{}</li>").format(_inline(x[2:])) for x in lines)
        )
    if all(line.startswith(">") for line in lines):
        return Markup("<blockquote>{}</blockquote>").format(_lines([line[1:].strip() for line in lines]))
    if len(lines) == 1 and (heading := re.match(r"#{1,4} +", block)):
        return Markup("<h3>{}</h3>").format(_inline(block[heading.end() :]))
    return Markup("<p>{}</p>").format(_lines(lines))


def _lines(lines: list[str]) -> Markup:
    return Markup("<br>").join(_inline(line) for line in lines)


def _inline(line: str) -> Markup:
    done, parts = 0, []
    for found in _MARKS.finditer(line):
        text, target, bare, strong = found.group("text", "target", "bare", "strong")
        parts.append(escape(line[done : found.start()]))
        if strong:
            parts.append(Markup("<strong>{}</strong>").format(strong))
        else:
            parts.append(Markup('<a href="{}">{}</a>').format(bare or target, bare or text))
        done = found.end()
    return Markup("").join([*parts, escape(line[done:])])


def slug(title: str) -> str:
    """The title as part of an address: "It's 8/10" -> "it-s-8-10", cut at the end of a word."""
    words = formats.slug(title[:400])
    if len(words) > SLUG_LENGTH:
        words = words[: SLUG_LENGTH + 1].rpartition("-")[0] or words[:SLUG_LENGTH]
    return words or "-"


def host(url: str) -> str:
    """The host of an address, as shown behind the title of a link."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_web_address(url: str) -> bool:
    """Is this an address that a link may lead to?"""
    return bool(re.fullmatch(r"(https?://[^\s<>\"']+|/submission_images/[\w-]+\.svg)", url)) and (
        url.startswith("/") or bool(host(url))
    )


def count(number: int, noun: str) -> str:
    """ "1 comment", "2 comments", "No comments"."""
    return f"{number or 'No'} {noun}{'' if number == 1 else 's'}"

"""What the modes share: clean strings, the lines above a page, a walk through the tree without recursion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agentrl.envs.webarena.backend import View
from agentrl.envs.webarena.layout.document import option_value

UNSEEN = frozenset({"script", "style", "template", "noscript"})  # what they hold is no text of the page
MAX_ADDRESS = 300
# "<" before any of these could begin a tag: the mark of a picture, the end of a chat message.
_TAG_LIKE = re.compile(r"<(?=[A-Za-z/|!?_])")


def squeezed(text: str | None, longest: int | None = None) -> str:
    """The text with single spaces, cut with "..." where it is too long."""
    if not text:
        return ""
    # A field may hold a megabyte: of words that are cut anyway only the first ones are looked at.
    clean = " ".join(text.split() if longest is None else text.split(None, longest)[: longest + 1])
    return clean if longest is None or len(clean) <= longest else clean[: max(longest - 3, 1)].rstrip() + "..."


def harmless(text: str) -> str:
    """The text without anything that could pass for a tag; "a < b" stays."""
    return _TAG_LIKE.sub("&lt;", text) if "<" in text else text


def written(text: str) -> str:
    """The text without what UTF-8 cannot hold (a field may contain half a surrogate pair)."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def header(view: View) -> str:
    """The open tabs and the address, as WebArena's prompts show them."""
    tabs = " | ".join(
        f"Tab {number}{' (current)' if number == view.active else ''}: {squeezed(tab.title, 100)}"
        for number, tab in enumerate(view.tabs)
    )
    return harmless(f"{tabs}\nURL: {squeezed(view.url, MAX_ADDRESS)}")


def under_header(view: View, text: str, with_header: bool) -> str:
    """The page below its tabs and address, if these are wanted, and below the reason why it could not be shown."""
    lines = [header(view)] if with_header else []
    if view.error:
        lines.append(harmless(f"This page could not be shown: {squeezed(view.error, 300)}"))
    return written("\n".join([*lines, text]))


def walk(root: Any) -> Iterator[tuple[bool, Any]]:
    """Every element twice: (True, element) where it begins, (False, element) where it ends. Comments come once, as
    (False, comment): their tails are text of the page."""
    stack: list[Any] = []
    for node in root.iter():
        parent = node.getparent()
        while stack and stack[-1] is not parent:
            yield False, stack.pop()
        if isinstance(node.tag, str):
            stack.append(node)
            yield True, node
        else:
            yield False, node
    while stack:
        yield False, stack.pop()


def chosen_option(select: Any, view: View) -> Any:
    """The <option> that a <select> shows; None if it has none."""
    value = view.values.get(select)
    first = None
    for option in select.iter("option"):
        if value is not None and option_value(option) == value:
            return option
        first = option if first is None else first
    return first

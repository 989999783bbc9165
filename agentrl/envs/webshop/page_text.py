"""A page as text: its strings joined by `[SEP]`, or rich text with one string a line and marked buttons."""

from __future__ import annotations

from collections.abc import Sequence

from agentrl.envs.webshop.pages import SEPARATOR, SHOWN_BLANK, Page


def page_text(page: Page) -> str:
    """The strings of a page, in order."""
    return SEPARATOR.join([*(part.text for part in page.wish), page.body.text])


def page_rich_text(page: Page) -> str:
    """One string a line; what can be clicked between marks, which tell what was clicked already; options indented, a
    remark for each option chosen."""
    lines: list[str] = []
    remarks: list[str] = []
    for part in page.parts:
        if part.kind == "option" and part.chosen:
            lines.append(f"  [clicked button] {part.text} [clicked button_]")
            remarks.insert(0, f"You have clicked {part.text}.")
        elif part.kind == "option":
            lines.append(f"  [button] {part.text} [button_]")
        elif part.kind == "product":
            button = "clicked button" if part.text in page.opened else "button"
            lines += ["", f"[{button}] {part.text} [{button}_]"]
        elif part.kind == "button":
            lines.append(f"[button] {part.text} [button_]")
        elif part.text or part.kind in SHOWN_BLANK:
            lines.append(part.text)
    return "\n".join(remarks + lines) + "\n"


def with_history(current: str, observations: Sequence[str], actions: Sequence[str], seen: int, done: int) -> str:
    """Earlier observations and actions before the current text, oldest first: up to `seen` and `done` of them."""
    pieces = [current]
    for back in range(1, max(seen, done) + 1):
        if back <= min(done, len(actions)):
            pieces.append(actions[-back])
        if back <= min(seen, len(observations)):
            pieces.append(observations[-back])
    return SEPARATOR.join(reversed(pieces))

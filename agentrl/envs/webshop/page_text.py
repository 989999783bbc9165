"""A page as text: its strings joined by `[SEP]`, or rich text with one string a line and marked buttons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

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


MAX_LENGTH = 13_000  # characters: of a longer prompt the history is left out
PICTURE = "<image>"
SEARCH_FORM = "search[<your query>]"
REPLY_FORM = "<think>...</think><action>...</action>"
HOW = (
    "First think about where you are and which of these actions brings the right purchase closer, between <think> and "
    "</think>. Then write one action between <action> and </action>."
)


class Past(NamedTuple):
    """What is remembered of earlier steps, oldest first; the last entries belong to the last step."""

    pages: Sequence[str] = ()
    actions: Sequence[str] = ()


def quoted_page(page: Page) -> str:
    """The strings of a page below the wish, each between quotation marks."""
    return SEPARATOR.join([f"'{part.text}'" for part in page.body.parts])


def admissible_actions(page: Page) -> list[str]:
    """What can be done on a page. The button of the search bar is left out: it needs words."""
    searches = [SEARCH_FORM] if page.has_search_bar else []
    return searches + [f"click[{name}]" for name in page.clickables() if name != "search"]


def step_prompt(wish: str, shown: str, actions: Iterable[str], past: Past, taken: int, most: int) -> str:
    """The prompt of the step after `taken` steps; `shown` is the page in words, or `PICTURE` where it is drawn."""
    listed = "\n".join(f"'{action}'," for action in actions)
    head = f"You are shopping online for somebody who wants this: {wish}\n"
    story = _story(past, taken)
    here = f"This is step {taken + 1} of {most}. You see: "
    rest = f"\nThe admissible actions are:\n[\n{listed}\n]\n{HOW}"
    if len(head) + len(story) + len(here) + len(shown) + len(rest) > MAX_LENGTH:
        story = ""
    return _unpictured(head + story + here) + shown + _unpictured(rest)


def _story(past: Past, taken: int) -> str:
    """The remembered steps, each with what was seen and done there as far as it is remembered."""
    backwards = zip_longest(reversed(past.pages), reversed(past.actions))
    lines: list[str] = []
    for back, (page, action) in enumerate(backwards):
        number = taken - back
        seen = [] if page is None else [f"Observation {number}: '{page}'"]
        done = [] if action is None else [f"Action {number}: '{action}'"]
        lines.insert(0, f"[{', '.join(seen + done)}]")
    if not lines:
        return ""
    return f"You have taken {taken} step(s) so far; the last {len(lines)}:\n" + "\n".join(lines) + "\n"


def _unpictured(text: str) -> str:
    """Without anything that would count as a picture's place."""
    return text.replace(PICTURE, "(image)")

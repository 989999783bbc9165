"""The prompt of one step in verl-agent's layout: the wish, the last pages and actions, the page, the actions it admits.

Every step stands on its own. The layout and its tags are verl-agent's; the sentences are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from agentrl.envs.webshop.pages import SEPARATOR, Page

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

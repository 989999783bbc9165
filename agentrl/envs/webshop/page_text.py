"""What an agent reads: a page as text, earlier pages before it, and prompts.

Text joins a page's strings by `[SEP]`; rich text has one string a line and marks buttons. `step_prompt` is the prompt
of one step in verl-agent's layout, which stands on its own: the wish, the last pages and actions, the page, the
actions it admits. The layout and its tags are verl-agent's; the sentences are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from agentrl.core.parsing import quote
from agentrl.envs.webshop.pages import PREV, SEPARATOR, SHOWN_BLANK, Page

MAX_LENGTH = 13_000  # characters: of a longer prompt the history is left out
PICTURE = "<image>"
SEARCH_FORM = "search[<your query>]"
REPLY_FORM = "<think>...</think><action>...</action>"
HOW = (
    "First think about where you are and which of these actions brings the right purchase closer, between <think> and "
    "</think>. Then write one action between <action> and </action>."
)
SYSTEM_PROMPT = (
    "You are shopping online for somebody. The instruction says what they want: find a product that fits, choose the "
    "options they ask for, and buy it. You are paid {paid} the kind of product, every attribute and option asked for, "
    "and the price limit.\n"
    "You see {page}. Each turn do one thing: search[words] searches the shop, on any page; click[something] clicks a "
    "button, a product id or an option value that is on the page, such as click[next >], click[b0abcdefgh] or "
    "click[large]. The descriptions and features of a product tell more about it. click[buy now] buys the open product "
    "with the options chosen, and ends everything.\n"
    "You have {turns} turns. {form}"
)


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


def not_on_page(page: Page, wanted: str) -> str:
    """What is said about a click on what is not there."""
    if wanted == "search":
        return "the search button needs words; write search[words]"
    names = page.clickables()
    # Our own button may be shown as it is; other texts might pass for something they are not.
    shown = ", ".join(f"'{name}'" if name == PREV.lower() else quote(name, 30) for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{quote(wanted)} is not on this page; there are {shown}{more}"


def with_history(current: str, observations: Sequence[str], actions: Sequence[str], seen: int, done: int) -> str:
    """Earlier observations and actions before the current text, oldest first: up to `seen` and `done` of them."""
    pieces = [current]
    for back in range(1, max(seen, done) + 1):
        if back <= min(done, len(actions)):
            pieces.append(actions[-back])
        if back <= min(seen, len(observations)):
            pieces.append(observations[-back])
    return SEPARATOR.join(reversed(pieces))


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
    here = f"This is step {taken + 1} of {most}. You see: "
    rest = f"\nThe admissible actions are:\n[\n{listed}\n]\n{HOW}"
    # The remembered steps, each with what was seen and done there as far as it is remembered.
    lines: list[str] = []
    for back, (page, action) in enumerate(zip_longest(reversed(past.pages), reversed(past.actions))):
        seen = [] if page is None else [f"Observation {taken - back}: '{page}'"]
        done = [] if action is None else [f"Action {taken - back}: '{action}'"]
        lines.insert(0, f"[{', '.join(seen + done)}]")
    story = ""
    if lines:
        story = f"You have taken {taken} step(s) so far; the last {len(lines)}:\n" + "\n".join(lines) + "\n"
    if len(head) + len(story) + len(here) + len(shown) + len(rest) > MAX_LENGTH:
        story = ""
    return _unpictured(head + story + here) + shown + _unpictured(rest)


def _unpictured(text: str) -> str:
    """Without anything that would count as a picture's place."""
    return text.replace(PICTURE, "(image)")

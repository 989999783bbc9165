"""`Action`: the one list of primitive actions that all grammars read into."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# Of each action: what it needs. "search" is typing and Enter; "infeasible" ends the episode with the answer "N/A".
NEEDS: dict[str, tuple[str, ...]] = {
    "click": ("element",),
    "right_click": ("element",),
    "dblclick": ("element",),
    "hover": ("element",),
    "focus": ("element",),
    "type": ("element", "text"),
    "search": ("element", "text"),
    "select": ("element", "text"),
    "press": ("text",),
    "scroll_up": (),
    "scroll_down": (),
    "new_tab": (),
    "tab_focus": ("number",),
    "close_tab": (),
    "goto": ("text",),
    "back": (),
    "forward": (),
    "wait": (),
    "note": ("text",),
    "exit": ("text",),
    "infeasible": ("text",),
}
MAY_BE_EMPTY = frozenset({"type", "search", "note", "exit", "infeasible"})
MAX_KEY, MAX_ADDRESS, MAX_OPTION = 50, 10_000, 1_000
_MAX_LENGTH = {"press": MAX_KEY, "goto": MAX_ADDRESS, "select": MAX_OPTION}
_ID = re.compile(r"\s*\[?\s*([0-9]{1,9})\s*\]?\s*")


@dataclass(frozen=True, slots=True)
class Action:
    """One primitive action. `element` is an id of the newest view; `press` may have one, too (the key goes there)."""

    name: str  # one of NEEDS
    element: int | None = None
    text: str = ""  # to type, to choose, to note or to answer; a key; an address
    number: int | None = None  # of a tab, from 0

    @property
    def ends(self) -> bool:
        """Does the episode end with it?"""
        return self.name in ("exit", "infeasible")

    @property
    def answer(self) -> str:
        """What the agent answers when it ends the episode."""
        return "N/A" if self.name == "infeasible" else self.text


def checked(name: str, element: Any = None, text: Any = None, number: Any = None) -> Action | str:
    """The action with these parts as a model wrote them, or a sentence about what is missing or wrong."""
    needs = NEEDS[name]
    shown = name.replace("_", " ")
    found = None
    if "element" in needs or (name == "press" and element is not None):
        found = whole(element)
        if found is None:
            return f"{shown} needs the id of an element, such as 12"
    tab = whole(number) if "number" in needs else None
    if "number" in needs and tab is None:
        return f"{shown} needs the number of a tab, such as 0"
    if "text" not in needs:
        return Action(name, found, "", tab)
    problem = _problem_of_text(name, text)
    return problem if problem else Action(name, found, text)


def _problem_of_text(name: str, text: Any) -> str:
    shown = name.replace("_", " ")
    if not isinstance(text, str):
        return f"{shown} needs a text"
    if not text.strip() and name not in MAY_BE_EMPTY:
        return f"{shown} needs a text that is not empty"
    longest = _MAX_LENGTH.get(name)
    if longest is not None and len(text) > longest:
        return f"the text of {shown} has {len(text):,} characters; {longest:,} at most"
    return ""


def whole(value: Any) -> int | None:
    """An id or a number as models write them: 12, "12", "[12]"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 10**9 else None
    found = _ID.fullmatch(value) if isinstance(value, str) and len(value) <= 40 else None
    return int(found[1]) if found else None

"""`Action`: the one list of primitive actions that all grammars read into, and what they do to a back end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentrl.envs.webarena.backend import ActionFailed, Backend, View
from agentrl.envs.webarena.observing.texts import harmless

# Of each action: what it needs. "search" is typing and Enter, "keyboard_type" types wherever the keyboard is;
# "infeasible" ends the episode with the answer "N/A".
NEEDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("click", "right_click", "dblclick", "hover", "focus"), ("element",)),
    **dict.fromkeys(("type", "search", "select"), ("element", "text")),
    **dict.fromkeys(("press", "keyboard_type", "goto", "note", "exit", "infeasible"), ("text",)),
    **dict.fromkeys(("scroll_up", "scroll_down", "new_tab", "close_tab", "back", "forward", "wait"), ()),
    "tab_focus": ("number",),
}
MAY_BE_EMPTY = frozenset({"type", "search", "note", "exit", "infeasible"})
MAX_KEY, MAX_ADDRESS, MAX_OPTION = 50, 10_000, 1_000
_MAX_LENGTH = {"press": MAX_KEY, "goto": MAX_ADDRESS, "select": MAX_OPTION}
_KEYS = {
    **{name.lower(): name for name in ("Enter", "Tab", "Escape", "Backspace", "Delete", "Home", "End", "Space")},
    **{f"arrow{way.lower()}": f"Arrow{way}" for way in ("Up", "Down", "Left", "Right")},
    **{"pageup": "PageUp", "pagedown": "PageDown", "return": "Enter", "esc": "Escape", "del": "Delete", "": "Space"},
    **{"ctrl": "Control", "control": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt"},
    **{"meta": "Meta", "cmd": "Meta", "command": "Meta"},
}
NO_FIELD = ("button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden")  # types of inputs
_ID = re.compile(r"\s*\[?\s*([0-9]{1,9})\s*\]?\s*")


@dataclass(frozen=True, slots=True)
class Action:
    """One primitive action. `element` is an id of the newest view; `press` may have one, too (the key goes there).
    Actions of the mouse may have a `point` of the picture in its place."""

    name: str  # one of NEEDS, or "drag", from a point to another
    element: int | None = None
    text: str = ""  # to type, to choose, to note or to answer; a key; an address
    number: int | None = None  # of a tab, from 0
    point: tuple[float, float] | None = None
    to: tuple[float, float] | None = None

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
    if not isinstance(text, str):
        return f"{shown} needs a text"
    if not text.strip() and name not in MAY_BE_EMPTY:
        return f"{shown} needs a text that is not empty"
    longest = _MAX_LENGTH.get(name)
    if longest is not None and len(text) > longest:
        return f"the text of {shown} has {len(text):,} characters; {longest:,} at most"
    return Action(name, found, text)


def whole(value: Any) -> int | None:
    """An id or a number as models write them: 12, "12", "[12]"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 10**9 else None
    found = _ID.fullmatch(value) if isinstance(value, str) and len(value) <= 40 else None
    return int(found[1]) if found else None


def possible_actions(view: View, words: Sequence[str]) -> list[Action]:
    """Every click, the words in every text field, scrolling, going back and giving up."""
    fields = [view.ids[field] for field in view.values if field in view.ids and field.get("type") not in NO_FIELD]
    return [
        *(Action("click", element=number) for number in range(len(view.labels))),
        *(Action("search", element=field, text=text) for field in fields for text in words),
        Action("scroll_down"),
        Action("back"),
        Action("exit", text=words[0]),
    ]


def perform(action: Action, backend: Backend) -> str:
    """Do it; a remark for the agent, mostly empty. `ActionFailed` where it cannot be done on this page, with a sentence
    that ends without a full stop. Answers and notes do nothing here: the environment keeps them."""
    name, element, text = action.name, action.element, action.text
    try:
        if action.point is not None:
            _at_point(action, backend)
        elif element is not None:
            _on_element(name, element, text, backend)
        elif name == "press":
            backend.press(key_name(text))
        elif name == "keyboard_type":
            backend.write(text)
        elif name in ("scroll_up", "scroll_down"):
            backend.scroll(name.removeprefix("scroll_"))
        elif name == "tab_focus":
            backend.focus_tab(action.number or 0)
        elif name == "goto":
            backend.open(text.strip())
        elif name == "wait":
            backend.refresh()
        elif name in ("back", "forward", "new_tab", "close_tab"):
            getattr(backend, name)()
    except ActionFailed as problem:
        # It may repeat a part of the action, and will stand in an observation.
        raise ActionFailed(harmless(str(problem)).rstrip(".")) from problem
    return "Noted." if name == "note" else ""


def _at_point(action: Action, backend: Backend) -> None:
    name, points = action.name, [point for point in (action.point, action.to) if point is not None]
    width, height = backend.view().viewport
    for left, top in points:
        if not (0 <= left < width and 0 <= top < height):
            raise ActionFailed(f"The point {left:g}, {top:g} is not in view, which has {width} x {height} pixels")
    left, top = points[0]
    start, end = ((int(left), int(top)) for left, top in (points[0], points[-1]))  # a mouse knows whole pixels
    if name == "drag" and start != end:
        backend.drag(start, end)
    elif name == "hover" or name.startswith("scroll"):
        backend.move_to(left, top)
        if name != "hover":
            backend.scroll(name.removeprefix("scroll_"))
    else:
        backend.click_at(left, top, "right" if name == "right_click" else "left")


def _on_element(name: str, element: int, text: str, backend: Backend) -> None:
    if name in ("type", "search"):
        backend.type(element, text, enter=name == "search")
    elif name == "select":
        backend.select(element, text)
    elif name == "hover":
        backend.hover(element)
    elif name == "focus":
        _focus(element, backend)
    elif name == "press":
        key = key_name(text)
        if key in ("Enter", "Space") and not _is_field(element, backend):
            backend.click(element)
        else:
            _focus(element, backend)
            backend.press(key)
    else:
        # A double click is a click: pages without scripts know no other, and a link has led away after the first.
        backend.click(element, "right" if name == "right_click" else "left")


def _focus(element: int, backend: Backend) -> None:
    """A click gives a field the keyboard and does nothing else; on other elements it would do what they are for."""
    if _is_field(element, backend):
        backend.click(element)
    else:
        backend.hover(element)


def _is_field(element: int, backend: Backend) -> bool:
    labels = backend.view().labels
    found = labels[element] if element < len(labels) else None
    if found is None:
        return False
    takes_text = found.get("type", "text").lower() not in NO_FIELD
    return found.tag in ("textarea", "select") or (found.tag == "input" and takes_text)


def key_name(keys: str) -> str:
    """A key or combination in the back end's spelling: "ctrl+a" is "Control+A"."""
    parts = [part.strip() for part in keys.strip().split("+")]
    letters = [part.upper() if len(parts) > 1 and len(part) == 1 else part for part in parts]
    return "+".join(_KEYS.get(part.lower(), part) for part in letters)

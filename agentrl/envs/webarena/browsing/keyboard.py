"""Keys: what they do to the focused element, or to the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agentrl.envs.webarena.browsing.backend import ActionFailed
from agentrl.envs.webarena.browsing.clicks import activate, focus, press_enter
from agentrl.envs.webarena.browsing.forms import acceptable, can_type, is_disabled, kind_of, options_of
from agentrl.envs.webarena.browsing.session import Session

_NAMES = {
    "return": "enter", "esc": "escape", "del": "delete", "spacebar": "space", " ": "space", "up": "arrowup",
    "down": "arrowdown", "left": "arrowleft", "right": "arrowright", "pgdn": "pagedown", "pgup": "pageup",
    "ctrl": "control", "cmd": "control", "meta": "control", "command": "control", "option": "alt",
    "controlormeta": "control", "page_down": "pagedown", "page_up": "pageup",
}  # fmt: skip
_MODIFIERS = {"control", "shift", "alt"}
_LINE = 40  # pixels that an arrow key scrolls
_WITHOUT_EFFECT = {
    "escape", "insert", "capslock", "control", "shift", "alt", "arrowleft", "arrowright", "control+c", "control+f",
    "control+s", "control+p", "control+shift", *(f"f{number}" for number in range(1, 13) if number != 5),
}  # fmt: skip


def press(session: Session, key: str) -> None:
    """Press a key or combination; `ActionFailed` if the key is unknown."""
    keys = normal(key)
    focused = focused_element(session)
    action = _ACTIONS.get(keys)
    if action is not None:
        action(session, focused)
    elif len(key) == 1 and key.isprintable():
        if focused is not None and can_type(focused):
            write(session, focused, key)
    elif not is_known(key):
        raise ActionFailed(f"There is no key {key[:40]!r}; keys are such as Enter, Tab, Escape, ArrowDown, Control+A.")


def is_known(key: str) -> bool:
    """Is there such a key or combination?"""
    keys = normal(key)
    return keys in _ACTIONS or keys in _WITHOUT_EFFECT or (len(key) == 1 and key.isprintable())


def normal(key: str) -> str:
    """A key or combination with its names in one spelling and order: "control+a"."""
    names = [name.strip().lower() or "+" for name in re.split(r"(?<=.)\+", key)] if len(key) > 1 else [key.lower()]
    names = [_NAMES.get(name, name) for name in names]
    return "+".join([*sorted(name for name in names[:-1] if name in _MODIFIERS), names[-1]])


def focused_element(session: Session) -> Any:
    """The element that has the keyboard, or None."""
    number = session.entry.focus
    elements = session.page.document.elements
    return elements[number] if number is not None and number < len(elements) else None


def write(session: Session, field: Any, text: str) -> None:
    """Type behind what a field holds, or over it where all of it is selected."""
    before = "" if session.entry.selected else session.contents.held(field)
    _hold(session, field, before + text)


def _hold(session: Session, field: Any, text: str) -> None:
    if field.get("readonly") is not None or is_disabled(field):
        return
    accepted = acceptable(field, text)
    if accepted is not None:
        session.contents.put(field, accepted)
    session.entry.selected = False
    session.version += 1


# ---------------------------------------------------------------------- what keys do


def _enter(session: Session, focused: Any) -> None:
    if focused is not None:
        press_enter(session, focused)


def _space(session: Session, focused: Any) -> None:
    if focused is None:
        _scroll(0.9)(session, focused)
    elif can_type(focused):
        write(session, focused, " ")
    elif kind_of(focused) in ("check", "radio", "button") or focused.tag == "summary":
        activate(session, focused)


def _erase(session: Session, focused: Any) -> None:
    if focused is not None and can_type(focused):
        held = session.contents.held(focused)
        _hold(session, focused, "" if session.entry.selected else held[:-1])


def _delete(session: Session, focused: Any) -> None:
    if session.entry.selected:  # the cursor stands at the end, where there is nothing to delete
        _erase(session, focused)


def _select_all(session: Session, focused: Any) -> None:
    if focused is not None and can_type(focused):
        session.entry.selected = True
        session.version += 1


def _move_focus(step: int) -> Callable[[Session, Any], None]:
    def move(session: Session, focused: Any) -> None:
        document = session.page.document
        boxes, _ = session.page.at(session.entry.scroll)
        stops = [element for element in document.elements if element in boxes and _takes_focus(element)]
        if not stops:
            return
        place = stops.index(focused) + step if focused in stops else (0 if step > 0 else len(stops) - 1)
        focus(session, stops[place % len(stops)])
        session.entry.selected = can_type(stops[place % len(stops)])

    return move


def _takes_focus(element: Any) -> bool:
    tabindex = (element.get("tabindex") or "").strip()
    if tabindex.startswith("-") or is_disabled(element):
        return False
    return (
        kind_of(element) not in ("", "hidden")
        or (element.tag == "a" and element.get("href") is not None)
        or element.tag == "summary"
        or tabindex.isdigit()
    )


def _arrow(step: int) -> Callable[[Session, Any], None]:
    def move(session: Session, focused: Any) -> None:
        kind = "" if focused is None else kind_of(focused)
        contents = session.contents
        if kind == "select":
            options = options_of(focused)
            chosen = contents.chosen(focused)
            place = (options.index(chosen[0]) if chosen else -1) + step
            if 0 <= place < len(options):
                contents.put(focused, str(place))
                session.version += 1
        elif kind == "radio":
            group = contents.radio_group(focused)
            other = group[(group.index(focused) + step) % len(group)]
            contents.toggle(other)
            focus(session, other)
        elif kind not in ("text", "textarea"):
            session.scroll_to(session.entry.scroll + step * _LINE)

    return move


def _scroll(share: float) -> Callable[[Session, Any], None]:
    def move(session: Session, focused: Any) -> None:
        if focused is None or not can_type(focused):
            session.scroll_to(session.entry.scroll + round(share * session.viewport[1]))

    return move


_ACTIONS: dict[str, Callable[[Session, Any], None]] = {
    "enter": _enter,
    "space": _space,
    "backspace": _erase,
    "delete": _delete,
    "control+a": _select_all,
    "tab": _move_focus(1),
    "shift+tab": _move_focus(-1),
    "arrowdown": _arrow(1),
    "arrowup": _arrow(-1),
    "pagedown": _scroll(0.9),
    "pageup": _scroll(-0.9),
    "end": _scroll(1e6),
    "home": _scroll(-1e6),
    "control+end": _scroll(1e6),
    "control+home": _scroll(-1e6),
    "f5": lambda session, focused: session.reload(),
    "control+r": lambda session, focused: session.reload(),
    "alt+arrowleft": lambda session, focused: session.travel(-1),
    "alt+arrowright": lambda session, focused: session.travel(1),
    "control+t": lambda session, focused: session.new_tab(),
    "control+w": lambda session, focused: session.close_tab(),
}

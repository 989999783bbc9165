"""BrowserGym's grammar: `click("12")`, `fill("12", "text")`, `send_msg_to_user("...")`."""

from __future__ import annotations

import re
from typing import Any, TypeGuard

from agentrl.core.parsing import quote
from agentrl.envs.webarena.acting.actions import Action, checked
from agentrl.envs.webarena.acting.calls import find_calls, pattern, quoted

HOW = 'write an action such as click("12") or send_msg_to_user("...")'
_MOUSE = ("x", "y", "button")
# Of each function: the names of its parameters, in order. `note`, and the keyword `enter` of fill, are ours.
PARAMETERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("click", "dblclick"), ("bid", "button", "modifiers")),
    **dict.fromkeys(("hover", "focus", "clear"), ("bid",)),
    **dict.fromkeys(("go_back", "go_forward", "new_tab", "tab_close"), ()),
    **dict.fromkeys(("note", "send_msg_to_user", "keyboard_type", "keyboard_insert_text"), ("text",)),
    **dict.fromkeys(("mouse_click", "mouse_dblclick"), _MOUSE),
    "mouse_move": _MOUSE[:2],
    "mouse_drag_and_drop": ("from_x", "from_y", "to_x", "to_y"),
    "scroll_at": ("x", "y", "dx", "dy"),
    "fill": ("bid", "value", "enable_autocomplete_menu"),
    "select_option": ("bid", "options"),
    "press": ("bid", "key_comb"),
    "keyboard_press": ("key",),
    "scroll": ("delta_x", "delta_y"),
    "goto": ("url",),
    "tab_focus": ("index",),
    "noop": ("wait_ms",),
    "report_infeasible": ("reason",),
}
# Nothing stays pressed between two actions, no site takes files, and what can be dragged is one element, the map.
NOT_HERE = ("drag_and_drop", "upload_file", "mouse_up", "mouse_down", "mouse_upload_file", "keyboard_down")
NOT_HERE += ("keyboard_up",)
_FUNCTIONS = pattern(*PARAMETERS, *NOT_HERE)
_PLAIN = {"go_back": "back", "go_forward": "forward", "new_tab": "new_tab", "tab_close": "close_tab", "noop": "wait"}
_TEXT = {"goto": ("goto", "url"), "note": ("note", "text"), "keyboard_press": ("press", "key")}
_TEXT |= {"send_msg_to_user": ("exit", "text"), "report_infeasible": ("infeasible", "reason")}
_TEXT |= {"keyboard_type": ("keyboard_type", "text"), "keyboard_insert_text": ("keyboard_type", "text")}
_AT_POINT = {"mouse_click": "click", "mouse_dblclick": "dblclick", "mouse_move": "hover", "mouse_drag_and_drop": "drag"}
_BUTTONS = ("left", "right")
_WHEEL = 480  # pixels of one turn of the wheel: two thirds of the viewport, whatever number the agent writes
_THINK = re.compile(r"(</?think>)")
_OPEN, _CLOSE = "<action>", "</action>"


def read_browsergym(text: str) -> Action | str:
    """The call between `<action>` and `</action>`, else the last call outside `<think>`, or a sentence about what is
    wrong."""
    said = _outside_thoughts(text)
    inside = _OPEN in said
    if inside:
        said, closed, _ = said[said.rindex(_OPEN) + len(_OPEN) :].partition(_CLOSE)
        if not closed:
            return "the action tag must be closed"
    calls = find_calls(said, _FUNCTIONS)
    if not calls:
        return f"{quote(said.strip())} holds no action; {HOW}"
    if inside and len(calls) > 1:
        return f"an action tag takes one call; got {len(calls)}"
    call = calls[-1]
    if call.name in NOT_HERE:
        return f"{call.name} does not exist here; {HOW}"
    if call.args is None:
        return f"the arguments of {quote(said[call.start : call.start + 60])} cannot be read; {HOW}"
    names = PARAMETERS[call.name]
    if len(call.args) > len(names):
        return f"{call.name} takes {len(names)} arguments at most; got {len(call.args)}"
    known = (*names, "enter") if call.name == "fill" else names
    unknown = next((name for name in call.named if name not in known), None)
    if unknown is not None:
        return f"{call.name} has no argument {quote(unknown)}"
    given = dict(zip(names, call.args, strict=False))
    twice = next((name for name in call.named if name in given), None)
    return f"{call.name} got {twice} twice" if twice else _action(call.name, {**given, **call.named})


def _outside_thoughts(text: str) -> str:
    """The text without what stands between `<think>` and `</think>`; chat templates may have begun the thought."""
    kept: list[str] = []
    thinking = begun = False
    for piece in _THINK.split(text):
        if piece == "<think>":
            thinking = begun = True
        elif piece == "</think>":
            if not begun:
                kept.clear()
            thinking, begun = False, True
        elif not thinking:
            kept.append(piece)
    return "\n".join(kept)


def _action(function: str, given: dict[str, Any]) -> Action | str:
    if function in _PLAIN:
        return Action(_PLAIN[function])
    if function in _TEXT:
        name, parameter = _TEXT[function]
        argument = given.get(parameter, "" if name == "infeasible" else None)
        is_number = isinstance(argument, int | float) and name in ("exit", "keyboard_type")
        return checked(name, text=str(argument) if is_number else argument)
    if function == "tab_focus":
        return checked("tab_focus", number=given.get("index"))
    if function in ("scroll", "scroll_at"):
        *places, _, down = PARAMETERS[function]
        delta, point = given.get(down), _points(given, *places)
        if not _is_number(delta) or delta == 0 or point is None:
            needs = ", ".join(PARAMETERS[function])
            return f"{function} needs {needs}, with a {down} above 0 to go down or below 0 to go up"
        return Action("scroll_down" if delta > 0 else "scroll_up", point=next(iter(point), None))
    return _on_element(function, given) if "bid" in PARAMETERS[function] else _at_point(function, given)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _points(given: dict[str, Any], *names: str) -> list[tuple[float, float]] | None:
    """The points with these coordinates; None where one is missing or no number."""
    found = [given.get(name) for name in names]
    numbers = [round(number, 2) for number in found if _is_number(number)]
    return list(zip(numbers[::2], numbers[1::2], strict=True)) if len(numbers) == len(found) else None


def _at_point(function: str, given: dict[str, Any]) -> Action | str:
    button, names = given.get("button", "left"), [name for name in PARAMETERS[function] if name != "button"]
    points = _points(given, *names)
    if points is None:
        return f"{function} needs {', '.join(names)}, in pixels of the picture"
    if button not in _BUTTONS:
        return f"button must be {' or '.join(_BUTTONS)}"
    name = "right_click" if button == "right" else _AT_POINT[function]
    return Action(name, point=points[0], to=points[1] if len(points) > 1 else None)


def _on_element(function: str, given: dict[str, Any]) -> Action | str:
    element = given.get("bid")
    if function in ("click", "dblclick"):
        button = given.get("button", "left")
        if button not in _BUTTONS:
            return f"button must be {' or '.join(_BUTTONS)}"
        if given.get("modifiers"):
            return f"{function} takes no modifiers here"
        return checked("right_click" if button == "right" else function, element)
    if function == "clear":
        return checked("type", element, "")
    if function == "fill":
        flags = [given.get(name, False) for name in ("enable_autocomplete_menu", "enter")]
        if not all(isinstance(flag, bool) for flag in flags):
            return "enable_autocomplete_menu and enter must be True or False"
        # Typing is typing here: a menu of completions needs no other way of it.
        return checked("search" if flags[1] else "type", element, _as_text(given.get("value")))
    if function == "select_option":
        options = given.get("options")
        if isinstance(options, list):
            if len(options) != 1:
                return f"select_option takes one option; got {len(options)}"
            options = options[0]
        return checked("select", element, _as_text(options))
    if function == "press":
        if element is None:
            return "press needs the id of an element and a key"
        return checked("press", element, given.get("key_comb"))
    return checked(function, element)


def _as_text(value: Any) -> Any:
    return str(value) if _is_number(value) else value


def write_browsergym(action: Action) -> str:
    """The action as text that `read_browsergym` reads as the same action."""
    name, element, text = action.name, f'"{action.element}"', quoted(action.text)
    if action.point is not None:
        place = ", ".join(repr(number) for number in (*action.point, *(action.to or ())))
        if name.startswith("scroll"):
            return f"scroll_at({place}, 0, {_WHEEL if name == 'scroll_down' else -_WHEEL})"
        if name == "right_click":
            return f'mouse_click({place}, "right")'
        return f"{next(function for function, read_as in _AT_POINT.items() if read_as == name)}({place})"
    if name in ("type", "search"):
        return f"fill({element}, {text}{', enter=True' if name == 'search' else ''})"
    if name == "select":
        return f"select_option({element}, {text})"
    if name == "press":
        return f"keyboard_press({text})" if action.element is None else f"press({element}, {text})"
    if name == "right_click":
        return f'click({element}, button="right")'
    if name == "tab_focus":
        return f"tab_focus({action.number})"
    if name.startswith("scroll"):
        return f"scroll(0, {_WHEEL if name == 'scroll_down' else -_WHEEL})"
    for function, (read_as, _) in _TEXT.items():
        if read_as == name:
            return f"{function}({text})"
    for function, read_as in _PLAIN.items():
        if read_as == name:
            return f"{function}()"
    return f"{name}({element})"

"""BrowserGym's grammar: `click("12")`, `fill("12", "text")`, `send_msg_to_user("...")`."""

from __future__ import annotations

from typing import Any

from agentrl.core.parsing import quote
from agentrl.envs.webarena.acting.actions import Action, checked
from agentrl.envs.webarena.acting.calls import find_calls, pattern, quoted

HOW = 'write an action such as click("12") or send_msg_to_user("...")'
# Of each function: the names of its parameters, in order. `enter` and `note` are ours.
PARAMETERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("click", "dblclick"), ("bid", "button", "modifiers")),
    **dict.fromkeys(("hover", "focus", "clear"), ("bid",)),
    **dict.fromkeys(("go_back", "go_forward", "new_tab", "tab_close"), ()),
    **dict.fromkeys(("note", "send_msg_to_user"), ("text",)),
    "fill": ("bid", "value", "enter"),
    "select_option": ("bid", "options"),
    "press": ("bid", "key_comb"),
    "keyboard_press": ("key",),
    "scroll": ("delta_x", "delta_y"),
    "goto": ("url",),
    "tab_focus": ("index",),
    "noop": ("wait_ms",),
    "report_infeasible": ("reason",),
}
NOT_HERE = ("drag_and_drop", "upload_file", "mouse_move", "mouse_up", "mouse_down", "mouse_click", "mouse_dblclick")
NOT_HERE += ("mouse_drag_and_drop", "mouse_upload_file", "keyboard_down", "keyboard_up", "keyboard_type")
NOT_HERE += ("keyboard_insert_text",)
_FUNCTIONS = pattern(*PARAMETERS, *NOT_HERE)
_PLAIN = {"go_back": "back", "go_forward": "forward", "new_tab": "new_tab", "tab_close": "close_tab", "noop": "wait"}
_TEXT = {"goto": ("goto", "url"), "note": ("note", "text"), "keyboard_press": ("press", "key")}
_TEXT |= {"send_msg_to_user": ("exit", "text"), "report_infeasible": ("infeasible", "reason")}
_WHEEL = 480  # pixels of one turn of the wheel: two thirds of the viewport, whatever number the agent writes


def read_browsergym(text: str) -> Action | str:
    """The first call of a reply, or a sentence about what is wrong."""
    call = next(iter(find_calls(text, _FUNCTIONS)), None)
    if call is None:
        return f"{quote(text.strip())} holds no action; {HOW}"
    if call.name in NOT_HERE:
        return f"{call.name} does not exist here; elements have ids, and keys go to press"
    if call.args is None:
        return f"the arguments of {quote(text[call.start : call.start + 60])} cannot be read; {HOW}"
    names = PARAMETERS[call.name]
    if len(call.args) > len(names):
        return f"{call.name} takes {len(names)} arguments at most; got {len(call.args)}"
    unknown = next((name for name in call.named if name not in names), None)
    if unknown is not None:
        return f"{call.name} has no argument {quote(unknown)}"
    given = {**dict(zip(names, call.args, strict=False)), **call.named}
    if call.name in _PLAIN:
        return Action(_PLAIN[call.name])
    if call.name in _TEXT:
        name, parameter = _TEXT[call.name]
        argument = given.get(parameter, "" if name == "infeasible" else None)
        is_number = isinstance(argument, int | float) and name == "exit"
        return checked(name, text=str(argument) if is_number else argument)
    if call.name == "tab_focus":
        return checked("tab_focus", number=given.get("index"))
    if call.name == "scroll":
        delta = given.get("delta_y")
        if isinstance(delta, bool) or not isinstance(delta, int | float) or delta == 0:
            return "scroll needs delta_x and delta_y, with a delta_y above 0 to go down or below 0 to go up"
        return Action("scroll_down" if delta > 0 else "scroll_up")
    return _on_element(call.name, given)


def _on_element(function: str, given: dict[str, Any]) -> Action | str:
    element = given.get("bid")
    if function in ("click", "dblclick"):
        button = given.get("button", "left")
        if button not in ("left", "right"):
            return "button must be left or right"
        return checked("right_click" if button == "right" else function, element)
    if function == "clear":
        return checked("type", element, "")
    if function == "fill":
        return checked("search" if given.get("enter") is True else "type", element, _as_text(given.get("value")))
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
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def write_browsergym(action: Action) -> str:
    """The action as text that `read_browsergym` reads as the same action."""
    name, element, text = action.name, f'"{action.element}"', quoted(action.text)
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

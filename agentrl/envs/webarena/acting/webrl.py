"""WebRL's grammar: `do(action="Click", element="12")`, `exit(message="...")`, `go_backward()`."""

from __future__ import annotations

import re
from typing import Any

from agentrl.core.parsing import quote
from agentrl.envs.webarena.acting.actions import Action, checked
from agentrl.envs.webarena.acting.calls import Call, breaks_a_line, find_calls, pattern, quoted

HOW = 'write do(action="Click", element="12") or exit(message="...")'
# What the benchmark's parser knows, and what only its prompt offers; then what else a browser does.
UPSTREAM = {"Click": "click", "Type": "type", "Search": "search", "Select Dropdown Option": "select", "Hover": "hover"}
UPSTREAM |= {"Scroll Down": "scroll_down", "Scroll Up": "scroll_up", "Press Enter": "press"}
UPSTREAM |= {"Go Backward": "back", "Go Forward": "forward"}
ADVERTISED = {"Right Click": "right_click", "Switch Tab": "tab_focus", "Wait": "wait"}
FURTHER = {"Press": "press", "New Tab": "new_tab", "Close Tab": "close_tab", "Go To": "goto", "Focus": "focus"}
FURTHER |= {"Double Click": "dblclick", "Report Infeasible": "infeasible", "Keyboard Type": "keyboard_type"}
PHRASES = UPSTREAM | ADVERTISED | FURTHER
_BY_PHRASE = {phrase.lower(): (phrase, name) for phrase, name in PHRASES.items()}
_BY_PHRASE["switch page"] = _BY_PHRASE["switch tab"]  # the benchmark's prompt has both
_BY_NAME = {name: phrase for phrase, name in PHRASES.items() if phrase != "Press Enter"}
_FUNCTIONS = pattern("do", "exit", "go_backward", "go_forward", "quote")
_UPSTREAM_FUNCTIONS = ("exit(", "do(", "go_backward(")
_COMMENTS = re.compile(r"(?:\s|#[^\n]*)*+")


def read_webrl(text: str, *, strict_upstream: bool = False) -> Action | str:
    """The last call of a reply, or a sentence about what is wrong. `strict_upstream` reads no more than the benchmark's
    own parser does."""
    call = _upstream_call(text) if strict_upstream else next(reversed(find_calls(text, _FUNCTIONS)), None)
    if call is None:
        return f"{quote(text.strip())} holds no action; {HOW}"
    if call.args is None:
        return f"the arguments of {quote(text[call.start : call.start + 60])} cannot be read; {HOW}"
    if strict_upstream:
        # Keyword arguments only, as texts; neither what only the prompt offers nor an exit without a message.
        no_text = any(not isinstance(value, str) for value in call.named.values())
        if call.name == "go_backward" or call.args or no_text:
            return f"the benchmark's parser does not read {call.name} like this; {HOW}"
        if call.name == "exit":
            return checked("exit", text=call.named.get("message"))
        return _do(call, {phrase.lower(): (phrase, name) for phrase, name in UPSTREAM.items()})
    if call.name == "do":
        return _do(call, _BY_PHRASE)
    if call.name in ("go_backward", "go_forward"):
        return Action("back" if call.name == "go_backward" else "forward")
    name = "exit" if call.name == "exit" else "note"
    given = next(iter([*call.args, *call.named.values()]), "")
    return checked(name, text="" if given is None else _text(given, name))


def _do(call: Call, phrases: dict[str, tuple[str, str]]) -> Action | str:
    parts = {**dict(zip(("action", "argument", "element"), call.args or (), strict=False)), **call.named}
    wanted = parts.get("action")
    if not isinstance(wanted, str):
        return f"do needs an action; {HOW}"
    phrase, name = phrases.get(" ".join(wanted.lower().replace("_", " ").split()), ("", ""))
    if not name:
        known = ", ".join(sorted(known for known, _ in phrases.values()))
        return f"{quote(wanted)} is not an action; there are {known}"
    argument, element = parts.get("argument"), parts.get("element")
    if phrase == "Press Enter":
        argument, element = "Enter", None
    tab = argument if argument is not None else element
    return checked(name, element, _text(argument, name), tab)


def _text(argument: Any, name: str) -> Any:
    if argument is None and name == "infeasible":
        return ""
    # Models write numbers without quotes.
    return str(argument) if isinstance(argument, int | float) and not isinstance(argument, bool) else argument


def write_webrl(action: Action) -> str:
    """The action as text that `read_webrl` reads as the same action."""
    if action.name in ("exit", "note"):
        return f"exit(message={quoted(action.text)})" if action.name == "exit" else f"quote({quoted(action.text)})"
    if action.name == "press" and action.text == "Enter" and action.element is None:
        return 'do(action="Press Enter")'
    parts = [f'action="{_BY_NAME[action.name]}"']
    if action.number is not None:
        parts.append(f'argument="{action.number}"')
    elif action.text or action.name in ("type", "search"):
        parts.append(f"argument={quoted(action.text)}")
    if action.element is not None:
        parts.append(f'element="{action.element}"')
    return f"do({', '.join(parts)})"


def _upstream_call(text: str) -> Call | None:
    """The last place of the first function that occurs; nothing but comments may follow the call."""
    for function in _UPSTREAM_FUNCTIONS:
        start = text.rfind(function)
        if start >= 0:
            found = find_calls(text[start:], pattern(function[:-1]))
            call = found[0] if found else None
            if call is None or call.args is None:
                return call
            rest = _COMMENTS.match(text, start + call.end)
            readable = rest and rest.end() == len(text) and not breaks_a_line(text[start : start + call.end])
            return call if readable else call._replace(args=None)
    return None

"""WebArena's grammar: `click [12]`, `type [12] [text] [1]`, `stop [answer]`, bare or between three backticks."""

from __future__ import annotations

import re

from agentrl.core.parsing import quote
from agentrl.envs.webarena.acting.actions import Action, checked
from agentrl.envs.webarena.acting.calls import quoted, unquoted

HOW = "write an action such as click [12] or stop [answer]"
ON_ELEMENT = {"click": "click", "hover": "hover", "right_click": "right_click", "double_click": "dblclick"}
ON_ELEMENT |= {"focus": "focus"}
WITH_TEXT = {
    "press": "press",
    "keyboard_type": "keyboard_type",
    "goto": "goto",
    "note": "note",
    "stop": "exit",
    "stop_infeasible": "infeasible",
}
ALONE = {"new_tab": "new_tab", "close_tab": "close_tab", "page_close": "close_tab", "go_back": "back"}
ALONE |= {"go_forward": "forward", "wait": "wait", "noop": "wait"}
_TABS = ("tab_focus", "page_focus")
_BRACKETED = (*ON_ELEMENT, *WITH_TEXT, *_TABS, "type", "clear", "select", "select_option", "scroll")
_COMMAND = re.compile(
    rf"(?m:^)[ \t]*+(?:({'|'.join(_BRACKETED)})[ \t]*+(?=\[)"
    rf"|({'|'.join(ALONE)}|stop|scroll (?:up|down))[ \t]*+(?:\[\s*\])?[ \t]*+(?=$|\n))",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```(?:\w{0,20}[ \t]*+\n)?(.*?)```", re.DOTALL)
_ONE = re.compile(r"\[(.*)\]", re.DOTALL)
_ID = re.compile(r"\[([^\]]{0,40})\]\s*")
_ENTER = re.compile(r"(?s:\[(.*))\]\s*\[\s*(?:press_enter_after\s*=\s*)?([01])\s*\]\s*")
_KEY_ON_ELEMENT = re.compile(r"\[\s*([0-9]{1,9})\s*\]\s*(?=\[)")
_LITERAL = re.compile(r'\\"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def read_webarena(text: str) -> Action | str:
    """The action of a reply: its first command, or that between backticks where the reply begins with other words."""
    text = text.strip()
    found = _COMMAND.match(text)
    if found is None and (fenced := _FENCED.search(text)):
        text = fenced[1].strip()
        found = _COMMAND.match(text)
    if found is None:
        found = _COMMAND.search(text)
    if found is None:
        return f"{quote(text)} holds no action; {HOW}"
    if found[2]:
        command = found[2].lower()
        if command.startswith("scroll"):
            return Action(command.replace(" ", "_"))
        return Action("exit") if command == "stop" else Action(ALONE[command])
    rest = text[found.end() :]
    # An argument ends with its line, unless the bracket is not closed there.
    line = rest.partition("\n")[0].rstrip()
    action = _arguments(found[1].lower(), line)
    if isinstance(action, Action) or line == rest:
        return action
    whole = _arguments(found[1].lower(), rest.rstrip())
    return whole if isinstance(whole, Action) else action


def _arguments(name: str, rest: str) -> Action | str:
    if name == "press" and (there := _KEY_ON_ELEMENT.match(rest)):
        found = _ONE.match(rest, there.end())
        return checked("press", there[1], _plain(found[1])) if found else f"press needs a key in brackets; {HOW}"
    if name in WITH_TEXT:
        found = _ONE.match(rest)
        return checked(WITH_TEXT[name], text=_plain(found[1])) if found else f"{name} needs a text in brackets; {HOW}"
    first = _ID.match(rest)
    if name == "scroll":
        wanted = (first[1] if first else "").strip().lower().removeprefix("direction=").strip()
        return Action(f"scroll_{wanted}") if wanted in ("up", "down") else "scroll needs up or down in brackets"
    if name in ON_ELEMENT:
        return checked(ON_ELEMENT[name], first[1] if first else None)
    if name == "clear":
        return checked("type", first[1] if first else None, "")
    if name in _TABS:
        return checked("tab_focus", number=first[1] if first else None)
    if first is None:
        return f"{name} needs the id of an element in brackets, then a text in brackets; {HOW}"
    element, second = first[1], _ONE.match(rest, first.end())
    if name != "type":
        return checked("select", element, _plain(second[1])) if second else f"{name} needs an option in brackets; {HOW}"
    flagged = _ENTER.match(rest, first.end())
    if flagged:
        return checked("search" if flagged[2] == "1" else "type", element, _plain(flagged[1]))
    # As in the benchmark: Enter is pressed unless the action says otherwise.
    return checked("search", element, _plain(second[1])) if second else f"type needs a text in brackets; {HOW}"


def _plain(argument: str) -> str:
    """An argument is as it stands, except the form that `write_webarena` has for texts of several lines."""
    return unquoted(argument[1:]) if argument.startswith('\\"') and _LITERAL.fullmatch(argument) else argument


def write_webarena(action: Action) -> str:
    """The action as text that `read_webarena` reads as the same action."""
    text = action.text
    # A bracket inside a key could pass for the end of an element's id.
    if "<" in text or text.startswith('\\"') or not text.isprintable() or "] [" in text:
        text = "\\" + quoted(text)
    text = f"[{text}]"
    if action.name in ("type", "search"):
        return f"type [{action.element}] {text} [{int(action.name == 'search')}]"
    if action.name == "select":
        return f"select [{action.element}] {text}"
    if action.name == "press" and action.element is not None:
        return f"press [{action.element}] {text}"
    for table, argument in ((ON_ELEMENT, f"[{action.element}]"), (WITH_TEXT, text)):
        for command, name in table.items():
            if name == action.name:
                return f"{command} {argument}"
    if action.name == "tab_focus":
        return f"tab_focus [{action.number}]"
    if action.name.startswith("scroll"):
        return f"scroll [{action.name.removeprefix('scroll_')}]"
    return next(command for command, name in ALONE.items() if name == action.name)

"""The actions as OpenAI-style tools, the same for every grammar."""

from __future__ import annotations

from functools import cache
from typing import Any

from agentrl.core.tools import function_schema
from agentrl.envs.webarena.acting.actions import NEEDS, Action, checked

_ELEMENT = {"type": "integer", "description": "The id of the element."}
# name -> what it does, and what its text is called and means
_TOOLS: dict[str, tuple[str, str, str]] = {
    "click": ("Click an element.", "", ""),
    "right_click": ("Click an element with the right button.", "", ""),
    "hover": ("Move the pointer over an element.", "", ""),
    "type": ("Replace what stands in a field.", "text", "What to type."),
    "search": ("Replace what stands in a field and press Enter.", "text", "What to type."),
    "select": ("Choose an option of a list.", "option", "The option, or a part of it."),
    "press": ("Press a key or a combination of keys.", "key", "Such as Enter, Tab or Control+A."),
    "scroll_up": ("Show what is further up.", "", ""),
    "scroll_down": ("Show what is further down.", "", ""),
    "new_tab": ("Open an empty tab.", "", ""),
    "tab_focus": ("Show another tab.", "", ""),
    "close_tab": ("Close the tab that is shown.", "", ""),
    "goto": ("Open an address.", "url", "The address."),
    "back": ("Go back in the history.", "", ""),
    "forward": ("Go forward in the history.", "", ""),
    "wait": ("Do nothing.", "", ""),
    "note": ("Keep a note.", "text", "The note."),
    "exit": ("End the task.", "answer", "The answer; empty if nothing was asked."),
    "infeasible": ("End the task because it cannot be done.", "reason", "Why not."),
}


@cache
def tool_schemas() -> tuple[dict[str, Any], ...]:
    """One tool for each action."""
    schemas = []
    for name, (what, text_name, meaning) in _TOOLS.items():
        properties: dict[str, dict[str, Any]] = {}
        if "element" in NEEDS[name]:
            properties["element"] = _ELEMENT
        if "number" in NEEDS[name]:
            properties["number"] = {"type": "integer", "description": "The number of the tab, from 0."}
        if text_name:
            properties[text_name] = {"type": "string", "description": meaning}
        schemas.append(function_schema(name, what, properties))
    return tuple(schemas)


def action_of_call(name: str, arguments: dict[str, Any]) -> Action | None:
    """The action of a tool call whose arguments fit the schema; None if the tool is unknown or the action invalid."""
    if name not in _TOOLS:
        return None
    text = arguments.get(_TOOLS[name][1])
    action = checked(name, arguments.get("element"), text, arguments.get("number"))
    return action if isinstance(action, Action) else None


def call_of_action(action: Action) -> dict[str, Any] | None:
    """The reverse; None for the few actions that are no tool (a key on one element, a double click)."""
    if action.name not in _TOOLS or (action.name == "press" and action.element is not None):
        return None
    arguments: dict[str, Any] = {}
    if action.element is not None:
        arguments["element"] = action.element
    if action.number is not None:
        arguments["number"] = action.number
    if _TOOLS[action.name][1]:
        arguments[_TOOLS[action.name][1]] = action.text
    return {"name": action.name, "arguments": arguments}

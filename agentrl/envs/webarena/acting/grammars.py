"""The grammars by name: from a reply to an action, from an action to text that reads as the same action, and what an
agent is told about each. The actions as OpenAI-style tools are the same for every grammar."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from agentrl.core.parsing import Turn, extract_answer
from agentrl.core.tools import function_schema
from agentrl.envs.webarena.acting.actions import NEEDS, Action, checked
from agentrl.envs.webarena.acting.browsergym import read_browsergym, write_browsergym
from agentrl.envs.webarena.acting.webarena import read_webarena, write_webarena
from agentrl.envs.webarena.acting.webrl import read_webrl, write_webrl

MAX_REPLY = 4_000_000  # characters; a text of a megabyte may be typed into a field
WEBRL = """\
Each turn write one call. Lines that begin with # may come before it, to describe the element or to keep a note.
do(action="Click", element="12") clicks the element with that id. In the same way: "Right Click", "Hover".
do(action="Type", argument="text", element="12") replaces what stands in a field.
do(action="Search", argument="text", element="12") does the same and presses Enter.
do(action="Select Dropdown Option", argument="Blue", element="12") chooses the first option that contains the text.
do(action="Press Enter") presses Enter; do(action="Press", argument="Tab") another key.
do(action="Scroll Down") and do(action="Scroll Up") move the page.
do(action="Switch Tab", argument="1") shows another tab, counted from 0. Also: "New Tab", "Close Tab", "Wait".
do(action="Go To", argument="http://...") opens an address. go_backward() and go_forward() move in the history.
quote("text") keeps a note. exit(message="answer") ends the task; the message is the answer, if one was asked for."""

WEBARENA = """\
Each turn write one action, alone or between three backticks:
click [12] clicks the element with that id. hover [12] and right_click [12] move the pointer there or click otherwise.
type [12] [text] [1] replaces what stands in a field and presses Enter, type [12] [text] [0] without Enter.
select [12] [Blue] chooses the first option of a list that contains the text.
press [ctrl+a] presses keys. scroll [down] and scroll [up] move the page.
new_tab opens a tab, tab_focus [1] shows another one, counted from 0, and close_tab closes this one.
goto [http://...] opens an address. go_back and go_forward move in the history. wait does nothing.
note [text] keeps a note. stop [answer] ends the task; leave the brackets empty if nothing was asked."""

BROWSERGYM = """\
Each turn write one call; the first one of a reply counts:
click("12") clicks the element with that id; click("12", button="right") with the other button. Also dblclick("12"),
hover("12"), focus("12").
fill("12", "text") replaces what stands in a field; fill("12", "text", enter=True) also presses Enter. clear("12").
select_option("12", "Blue") chooses an option. press("12", "Enter") presses a key there, keyboard_press("Tab") anywhere.
scroll(0, 200) moves the page down, scroll(0, -200) up, each time by two thirds of what is shown.
goto("http://...") opens an address. go_back(), go_forward(), new_tab(), tab_focus(1) (counted from 0), tab_close().
noop() waits. note("text") keeps a note. send_msg_to_user("answer") ends the task with an answer (or with "" if nothing
was asked), report_infeasible("reason") says that it cannot be done."""

PROMPTS = {"webrl": WEBRL, "webarena": WEBARENA, "browsergym": BROWSERGYM}


def system_prompt(shown: str, grammar: str, max_turns: int) -> str:
    """The task, the observation (as `shown` explains it), the actions and the limits."""
    return (
        "You are using a web browser to do what an instruction asks for: to find something out, to open a certain "
        "page, or to change something on a web site. You are logged in where that is needed. "
        f"{shown}\n{PROMPTS[grammar]}\n"
        "If the instruction asks for information, the answer must be short and exact. If what it asks for cannot "
        f"be done, answer N/A. You have {max_turns} turns. "
        "Reply with one action, or put it between <answer> and </answer>."
    )


# What `action_space.sample()` chooses from without looking at the page; `legal_actions` looks at it.
SAMPLES = (
    *(Action("click", element=number) for number in range(12)),
    Action("search", element=1, text="report"),
    Action("scroll_down"),
    Action("back"),
    Action("exit", text="done"),
)
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


class Grammar(NamedTuple):
    """How actions are read and written."""

    read: Callable[[str], Action | str]  # any string; a sentence where it is no action
    write: Callable[[Action], str]


GRAMMARS: dict[str, Grammar] = {
    "webrl": Grammar(read_webrl, write_webrl),
    "webarena": Grammar(read_webarena, write_webarena),
    "browsergym": Grammar(read_browsergym, write_browsergym),
}


def read_turn(reply: Any, grammar: str = "webrl", *, strict_upstream: bool = False) -> Turn:
    """The one action of a reply, bare or between `<answer>` tags, or what is wrong with it; never raises."""
    if not isinstance(reply, str):
        return Turn([], f"an action is text, not {type(reply).__name__}")
    if len(reply) > MAX_REPLY:
        return Turn([], f"the reply has {len(reply):,} characters; {MAX_REPLY:,} at most")
    answer, problem = extract_answer(reply)
    if answer is None:
        return Turn([], problem)
    if not answer.strip():
        return Turn([], "no action given")
    found = read_webrl(answer, strict_upstream=True) if strict_upstream else GRAMMARS[grammar].read(answer)
    return Turn([], found) if isinstance(found, str) else Turn([found])


def write(action: Action, grammar: str = "webrl") -> str:
    """The action as text; `read_turn` reads it as the same action, whatever text is in it."""
    return GRAMMARS[grammar].write(action)

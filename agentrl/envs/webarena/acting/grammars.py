"""The grammars by name: from a reply to an action, from an action to text that reads as the same action, and what an
agent is told about each. The actions as OpenAI-style tools are the same for every grammar."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from agentrl.core.parsing import Turn, extract_answer
from agentrl.core.tools import function_schema
from agentrl.envs.common.data_files import data_file
from agentrl.envs.webarena.acting.actions import NEEDS, Action, checked
from agentrl.envs.webarena.acting.browsergym import read_browsergym, write_browsergym
from agentrl.envs.webarena.acting.webarena import read_webarena, write_webarena
from agentrl.envs.webarena.acting.webrl import read_webrl, write_webrl

MAX_REPLY = 4_000_000  # characters; a text of a megabyte may be typed into a field
_TEXTS = data_file("agentrl.envs.webarena.acting", "grammars.toml")
# name -> what it does, and what its text is called and means
_TOOLS: dict[str, tuple[str, str, str]] = _TEXTS["tools"]
PROMPTS: dict[str, str] = _TEXTS["prompts"]


def system_prompt(shown: str, grammar: str, max_turns: int, *, visual: bool = False) -> str:
    """The task, the observation (as `shown` explains it), the actions and the limits."""
    actions = PROMPTS[grammar] + (PROMPTS["browsergym_visual"] if visual and grammar == "browsergym" else "")
    return (
        "You are using a web browser to do what an instruction asks for: to find something out, to open a certain "
        "page, or to change something on a web site. You are logged in where that is needed. "
        f"{shown}\n{actions}\n"
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
    """The reverse; None for the few actions that are no tool (a key on one element, a double click, a point)."""
    if action.name not in _TOOLS or action.point or (action.name == "press" and action.element is not None):
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


class InGrammar:
    """The part of an environment that writes actions in a grammar and offers them as tools."""

    action_format: str

    def action_name(self, primitive: Action) -> str:
        """The action in the grammar of this environment."""
        return write(primitive, self.action_format)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """One tool for each action."""
        return list(tool_schemas())

    def tool_action(self, name: str, arguments: dict[str, Any]) -> str | None:
        """A call as an action."""
        action = action_of_call(name, arguments)
        return None if action is None else self.action_name(action)

    def tool_calls(self, action: str) -> list[dict[str, Any]] | None:
        """An action as a call."""
        turn = read_turn(action, self.action_format)
        call = call_of_action(turn.actions[0]) if turn.actions else None
        return None if call is None else [call]

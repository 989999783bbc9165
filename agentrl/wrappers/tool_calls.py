"""`ToolCalls`: the actions as OpenAI-style tools, called in JSON."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import gymnasium as gym

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.parsing import CLOSE, OPEN, extract_answer, quote
from agentrl.core.spaces import AnyText
from agentrl.core.tools import fit_arguments
from agentrl.wrappers.base import (
    UNREADABLE,
    AgentWrapper,
    StepResult,
    explain_invalid,
    replace_feedback,
    require_free_reply,
    require_no_reasoning,
    require_no_second,
    require_text,
)

MAX_CHARS = 262_144  # of JSON in one turn


class Translation(NamedTuple):
    """A turn of tool calls in the environment's own language."""

    action: str
    problem: str | None = None  # why the first invalid call is invalid
    dropped: int = 0  # calls beyond the limit


class ToolCalls(AgentWrapper):
    """Reads actions as tool calls; `env.get_wrapper_attr("tools")` lists their schemas.

    An action is a call `{"name", "arguments"}`, a call in OpenAI's shape `{"function": {"name", "arguments"}}` whose
    arguments may be a JSON string, a message with `tool_calls`, or a list of calls; as Python objects or as JSON text,
    bare or between `<answer>` and `</answer>`. Up to `max_parallel` calls (default: the environment's actions a turn)
    run in order. Where an environment asks for an answer in plain words (`free_answers`), the tags may hold that
    instead, as published policies write it.

    The contract's rules for turns hold for calls: an unknown tool or a wrong argument is an invalid action (calls
    before it keep their effect, those after it do not run); text that is not JSON, too long or too deeply nested is an
    invalid turn; calls beyond the limit are dropped and the feedback says so. Nothing raises.
    """

    def __init__(self, env: gym.Env, max_parallel: int | None = None) -> None:
        super().__init__(env, max_parallel=max_parallel)
        require_text(env, "ToolCalls", asks_for_form=True)
        require_free_reply(env, "ToolCalls")
        require_no_reasoning(env, "ToolCalls", "put Reasoning around ToolCalls")
        require_no_second(env, ToolCalls)
        if not getattr(self.unwrapped, "tools", None):
            raise ConfigError(f"{type(self.unwrapped).__name__} offers no tools (AgentEnv.tools is empty)")
        most = self.unwrapped.max_actions_per_turn
        self.max_parallel = most
        if max_parallel is not None:
            self.max_parallel = whole_number("max_parallel", max_parallel, at_least=1, at_most=most)
        self._schemas = {tool["function"]["name"].casefold(): tool["function"] for tool in self.unwrapped.tools}
        # Calls to sample: one for each value of tools with a single enum, an empty one otherwise.
        calls: list[str] = []
        for function in self._schemas.values():
            properties = function["parameters"]["properties"]
            values = [(name, value) for name, schema in properties.items() for value in schema.get("enum", [])]
            choices = [{name: value} for name, value in values] if len(properties) == 1 and values else [{}]
            calls += [json.dumps({"name": function["name"], "arguments": choice}) for choice in choices]
        self.action_space = AnyText(calls)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The schemas, as chat templates and OpenAI-compatible servers take them."""
        return self.unwrapped.tools

    @property
    def max_actions_per_turn(self) -> int:
        """How many calls of a turn run."""
        return self.max_parallel

    def step(self, action: Any) -> StepResult:
        """Translate the calls and run them as one turn."""
        translated = self.translate(action)
        obs, reward, terminated, truncated, info = self.env.step(translated.action)
        if translated.problem and info.get("fault") in ("invalid_action", "unparsed"):
            obs, info = explain_invalid(obs, info, translated.problem)
        elif translated.dropped and not terminated and info.get("fault") is None:
            remark = f"Only the first {self.max_parallel} calls of a turn run; {translated.dropped} dropped."
            obs, info = replace_feedback(obs, info, f"{info.get('feedback', '')} {remark}".lstrip())
        return obs, reward, terminated, truncated, info

    def action(self, action: Any) -> str:
        """The turn in the environment's own language."""
        return self.translate(action).action

    def translate(self, action: Any) -> Translation:
        """Calls to text; total."""
        calls, problem = read_calls(action)
        if problem:
            said = getattr(self.unwrapped, "free_answers", False) and is_plain_answer(action)
            return Translation(action) if said else Translation(UNREADABLE, problem)
        parts: list[str] = []
        for number, call in enumerate(calls[: self.max_parallel], 1):
            part, problem = self._translate_call(call)
            if problem:
                problem = f"call {number}: {problem}" if len(calls) > 1 else problem
                # A name that no grammar has marks the place where running stops.
                action = self.unwrapped.action_separator.join([*parts, f"invalid call {number}"])
                return Translation(action if parts else UNREADABLE, problem)
            parts.append(part)
        return Translation(self.unwrapped.action_separator.join(parts), None, max(0, len(calls) - self.max_parallel))

    def _translate_call(self, call: Any) -> tuple[str, str | None]:
        """(primitive action, None) or ("", problem)."""
        name, arguments, problem = unpack_call(call)
        if problem:
            return "", problem
        function = self._schemas.get(name.casefold())
        if function is None:
            known = ", ".join(schema["name"] for schema in self._schemas.values())
            return "", f"there is no tool {quote(name)}, only {known}"
        fitted, problem = fit_arguments(function["parameters"], arguments)
        if problem:
            return "", f"{function['name']}: {problem}"
        text = self.unwrapped.tool_action(function["name"], fitted)
        if text is None or OPEN in text or CLOSE in text:  # tags would change how the whole turn is read
            return "", f"{function['name']}: these arguments are not possible"
        return text, None

    def oracle(self) -> str | None:
        """The oracle's turn as a JSON list of calls; None where it has none or it cannot be put into calls."""
        turn = self.unwrapped.oracle()
        calls = None if turn is None else self.unwrapped.tool_calls(turn)
        return json.dumps(calls[: self.max_parallel]) if calls else None

    def _rules(self) -> str:
        most = "one tool call" if self.max_parallel == 1 else f"a JSON list of up to {self.max_parallel} tool calls"
        tools = "\n".join(json.dumps(tool["function"]) for tool in self.tools)
        return (
            "Act by calling tools; this replaces any other way of writing actions described so far. "
            f'Write {most}, each {{"name": ..., "arguments": {{...}}}}; they run in order. The tools:\n{tools}'
        )


# ---------------------------------------------------------------------- reading


def read_calls(action: Any) -> tuple[list[Any], str | None]:
    """(calls, None) or ([], problem) from JSON text or Python objects."""
    if isinstance(action, str):
        text: str | None = action
        if not action.lstrip().startswith(("{", "[")):  # JSON first: a string inside it may well contain a tag
            text, problem = extract_answer(action)
            if text is None:
                return [], problem
        action, problem = _load(text)
        if problem:
            return [], f"the tool call is {problem}"
    if isinstance(action, dict) and isinstance(action.get("tool_calls"), list):
        action = action["tool_calls"]
    if isinstance(action, dict):
        return [action], None
    if not isinstance(action, (list, tuple)):
        return [], "a tool call is a JSON object, or a list of them"
    return (list(action), None) if action else ([], "no tool call given")


def is_plain_answer(action: Any) -> bool:
    """Does one pair of tags hold words that are not meant as JSON?"""
    if not isinstance(action, str) or OPEN not in action:
        return False
    text, _ = extract_answer(action)
    return text is not None and not text.lstrip().startswith(("{", "["))


def unpack_call(call: Any) -> tuple[str, Any, str | None]:
    """(name, arguments, None) or ("", None, problem) from a call in either shape."""
    if isinstance(call, dict) and isinstance(call.get("function"), dict):
        call = call["function"]
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return "", None, 'a tool call is an object with "name" and "arguments"'
    arguments = call.get("arguments")
    if arguments is None:
        arguments = {}
    if isinstance(arguments, str):
        arguments, problem = _load(arguments)
        if problem:
            return "", None, f"the arguments are {problem}"
    return call["name"].strip(), arguments, None


def _load(text: str) -> tuple[Any, str | None]:
    if len(text) > MAX_CHARS:
        return None, f"longer than {MAX_CHARS} characters"
    try:
        return json.loads(text), None
    except RecursionError:
        return None, "nested too deeply"
    except ValueError:  # no JSON, or a number of thousands of digits
        return None, "no valid JSON"

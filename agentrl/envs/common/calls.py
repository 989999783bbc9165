"""Calls of tools that take one text or nothing, such as `search(words)`: as text, as schemas and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from agentrl.core.tools import function_schema


class Call(NamedTuple):
    """One use of a tool."""

    tool: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.tool}({self.argument})"


class TextTool(NamedTuple):
    """A tool, and the name and meaning of its text; without a name it takes nothing."""

    name: str
    description: str
    parameter: str = ""
    meaning: str = ""


def schemas_of(tools: Iterable[TextTool]) -> list[dict[str, Any]]:
    """The tools as schemas."""
    return [
        function_schema(
            tool.name,
            tool.description,
            {tool.parameter: {"type": "string", "description": tool.meaning}} if tool.parameter else {},
        )
        for tool in tools
    ]


def calls_as_json(tools: Iterable[TextTool], calls: Iterable[Call]) -> list[dict[str, Any]] | None:
    """What `AgentEnv.tool_calls` returns for a turn of these calls."""
    named = {tool.name: tool.parameter for tool in tools}
    return [
        {"name": tool, "arguments": {named[tool]: argument} if named[tool] else {}} for tool, argument in calls
    ] or None

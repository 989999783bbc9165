"""Calls of tools that take one text or nothing, such as `search(words)`: as text, as schemas and as JSON."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from agentrl.core.env import AgentEnv
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


class TextToolEnv(AgentEnv[Any, Any]):
    """An environment that is played by such tools. What remains for a family is `tool_action`."""

    text_tools: ClassVar[tuple[TextTool, ...]]

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as schemas."""
        return [
            function_schema(
                tool.name,
                tool.description,
                {tool.parameter: {"type": "string", "description": tool.meaning}} if tool.parameter else {},
            )
            for tool in self.text_tools
        ]

    def tool_calls(self, action: str) -> list[dict[str, Any]] | None:
        """A turn as calls."""
        named = {tool.name: tool.parameter for tool in self.text_tools}
        return [
            {"name": tool, "arguments": {named[tool]: argument} if named[tool] else {}}
            for tool, argument in self._calls(action)
        ] or None

    def _calls(self, action: str) -> list[Call]:
        """What a turn asks for; unless overridden, primitive actions are calls themselves."""
        return self._read(action).actions

"""Tool calls in a model's text, as models of Qwen and Hermes write them:

<tool_call>{"name": "move", "arguments": {"way": "Up"}}</tool_call>
"""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

import msgspec

from agentrl.serve.stop_text import StopText

OPEN, CLOSE = "<tool_call>", "</tool_call>"
CALL = re.compile(f"{OPEN}(.*?)(?:{CLOSE}|\\Z)", re.DOTALL)  # a stop string may have taken the end of the last one


class WrittenCall(msgspec.Struct):
    """What stands between the tags."""

    name: str
    arguments: dict[str, Any] = {}


class ToolText:
    """Hands text on until the first call begins; `end` gives what is left as calls, or as text if it cannot be read."""

    def __init__(self) -> None:
        self._before, self._rest = StopText([OPEN]), ""

    def take(self, piece: str) -> str:
        """The text that is certainly no part of a call."""
        if self._before.found:
            self._rest += piece
            return ""
        text = self._before.take(piece)
        if self._before.found:
            self._rest = self._before.behind
        return text

    def end(self) -> tuple[str, list[dict[str, Any]]]:
        """(text that is left, calls in OpenAI's form), when no more text comes."""
        if not self._before.found:
            return self._before.rest(), []
        whole = OPEN + self._rest
        try:
            written = [msgspec.json.decode(text, type=WrittenCall) for text in CALL.findall(whole)]
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return whole, []
        return CALL.sub("", whole).strip(), [_openai_form(call) for call in written]


def _openai_form(call: WrittenCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": f"call_{secrets.token_hex(12)}", "type": "function", "function": function}

"""What scripted players and tools that take a text share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.parsing import Turn
from agentrl.envs.common.calls import Call, TextTool, TextToolEnv
from agentrl.envs.common.players import ScriptedPlayer

CALLS = {"some": [Call("find", "a mug"), Call("stop")], "none": []}


class Namer(ScriptedPlayer):
    name = "namer"

    def turn(self, env: Any) -> str:
        return env.title


class Finder(TextToolEnv):  # all but its tools is left out
    text_tools = (TextTool("find", "Find a thing.", "words", "What to find."), TextTool("stop", "End."))

    def _read(self, action: Any) -> Turn:
        return Turn(CALLS[action])


def wrapped(title: str, **attributes: Any) -> Any:
    env = SimpleNamespace(title=title)
    return SimpleNamespace(unwrapped=env, has_wrapper_attr=attributes.__contains__, get_wrapper_attr=attributes.get)


def test_a_player_answers_for_each_environment_in_the_form_that_its_wrappers_ask_for() -> None:
    envs = [wrapped("one"), wrapped("two", truthful=lambda turn: f"<think>so</think><answer>{turn}</answer>")]
    assert [each.action for each in Namer().act([[], []], envs)] == ["one", "<think>so</think><answer>two</answer>"]


def test_a_player_without_environments_is_refused() -> None:
    with pytest.raises(ConfigError, match="the namer policy looks at the environments"):
        Namer().act([[]])


def test_tools_are_schemas_and_calls_are_their_json() -> None:
    env = Finder()
    find, stop = (schema["function"]["parameters"] for schema in env.tools)
    assert find["properties"] == {"words": {"type": "string", "description": "What to find."}}
    assert stop["properties"] == {} and stop["required"] == []
    assert [str(call) for call in CALLS["some"]] == ["find(a mug)", "stop()"]
    assert env.tool_calls("some") == [
        {"name": "find", "arguments": {"words": "a mug"}},
        {"name": "stop", "arguments": {}},
    ]
    assert env.tool_calls("none") is None

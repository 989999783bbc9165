"""The ToolCalls wrapper: JSON in, the environment's turn out, nothing raised."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.core.errors import ConfigError
from agentrl.core.tools import function_schema
from agentrl.wrappers import Reasoning, ToolCalls
from agentrl.wrappers.tool_calls import MAX_CHARS, read_calls, unpack_call

# Free cells all round the player, so that every move has an effect.
TASK = "######/#____#/#_P_O#/#__X_#/#____#/######"


def make(max_parallel: int | None = None, kind: str = "Text", **options: Any) -> ToolCalls:
    env = ToolCalls(gym.make(f"agentrl/Sokoban-{kind}-v0", **options), max_parallel)
    env.reset(options={"task": TASK})
    return env


def move(direction: str) -> dict[str, Any]:
    return {"name": "move", "arguments": {"direction": direction}}


def test_the_schemas_are_openai_style() -> None:
    (tool,) = make().get_wrapper_attr("tools")
    assert tool["type"] == "function"
    assert set(tool["function"]) == {"name", "description", "parameters"}
    assert tool["function"]["parameters"]["properties"]["direction"]["enum"] == ["Left", "Down", "Right", "Up"]
    assert json.loads(json.dumps(tool)) == tool


@pytest.mark.parametrize(
    "action",
    [
        json.dumps(move("Up")),
        json.dumps([move("Up")]),
        f"\n {json.dumps(move('up'))} ",
        f"<think>so</think><answer>{json.dumps(move('UP'))}</answer>",
        move("Up"),
        [move("Up")],
        (move("Up"),),
        {"function": {"name": "move", "arguments": '{"direction": "Up"}'}},
        {"id": "c1", "type": "function", "function": {"name": "Move", "arguments": {"direction": "Up"}}},
        {"role": "assistant", "content": None, "tool_calls": [{"function": move("Up")}]},
    ],
)
def test_every_shape_of_a_call_runs(action: Any) -> None:
    _, reward, _, _, info = make().step(action)
    assert (info["actions"], info["valid"], info["fault"]) == (["Up"], True, None)
    assert reward == -0.1


def test_parallel_calls_run_in_order() -> None:
    _, _, _, _, info = make().step([move("Up"), move("Left"), move("Down")])
    assert info["actions"] == ["Up", "Left", "Down"]


def test_calls_beyond_the_limit_are_dropped_and_that_is_said() -> None:
    obs, _, _, _, info = make(2).step(json.dumps([move("Up"), move("Left"), move("Down"), {"name": "nonsense"}]))
    assert (info["actions"], info["valid"]) == (["Up", "Left"], True)
    assert "2 dropped" in info["feedback"]
    assert info["feedback"] in obs["text"]


def test_calls_before_an_invalid_one_keep_their_effect() -> None:
    env = make()
    obs, reward, _, _, info = env.step([move("Up"), {"name": "fly"}, move("Down")])
    assert (info["actions"], info["valid"], info["fault"]) == (["Up"], False, "invalid_action")
    assert info["state"]["player_position"] == [1, 2]
    assert reward == pytest.approx(-0.2)
    assert info["feedback"] == "Invalid: call 2: there is no tool 'fly', only move."
    assert obs["text"].startswith(info["feedback"])


def test_calls_after_the_end_of_the_episode_are_not_invalid() -> None:
    env = make()
    env.reset(options={"task": "######/#____#/#PXO_#/#____#/#____#/######"})
    _, _, terminated, _, info = env.step([move("Right"), {"name": "fly"}])
    assert terminated
    assert (info["valid"], info["success"]) == (True, True)
    assert "fly" not in info["feedback"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("", "no valid JSON"),
        ("Up, Left", "no valid JSON"),
        ('{"name": "move"', "no valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"name": "move", "arguments": ' + "[" * 50_000 + "]" * 50_000 + "}", "nested too deeply"),
        ('{"a":' * 50_000, "nested too deeply"),
        ("[" + "1" * 10_000 + "]", "no valid JSON"),
        ("[1]" + " " * MAX_CHARS, "longer than"),
        ("<answer>[</answer><answer>", "expected one"),
        ("3", "JSON object"),
        ("null", "JSON object"),
        ("[]", "no tool call given"),
        ([], "no tool call given"),
        (None, "JSON object"),
        (b"{}", "JSON object"),
        ("[3]", 'an object with "name"'),
        ({}, 'an object with "name"'),
        ({"name": 5}, 'an object with "name"'),
        ({"name": "move"}, "argument direction is missing"),
        ({"name": "move", "arguments": []}, "must be an object"),
        ({"name": "move", "arguments": "{"}, "the arguments are no valid JSON"),
        ({"name": "move", "arguments": "[" * 9_000}, "the arguments are"),
        ({"name": "move", "arguments": {"direction": 1}}, "must be of type string"),
        ({"name": "move", "arguments": {"direction": "North"}}, "must be one of Left, Down, Right, Up, not 'North'"),
        ({"name": "move", "arguments": {"direction": "Up", "speed": 2}}, "no argument 'speed'"),
        ({"name": "x" * 1_000_000}, "there is no tool 'xxx"),
    ],
)
def test_what_is_no_call_is_an_invalid_turn(action: Any, said: str) -> None:
    obs, reward, terminated, _, info = make(kind="Visual").step(action)
    assert (info["valid"], info["fault"], info["actions"]) == (False, "unparsed", [])
    assert reward == -0.1
    assert not terminated
    assert said in info["feedback"]
    assert info["feedback"] in obs["text"]
    assert len(info["feedback"]) < 200


def test_a_megabyte_is_read_quickly() -> None:
    env = make(max_turns=9, max_solution=9)
    start = time.process_time()
    for text in ("[" * 2**20, '{"name":' * 2**17, "[" + "{}," * 80_000 + "{}]", '"' + "\\u0000" * 2**17):
        env.step(text)
    assert time.process_time() - start < 10


def test_the_oracle_speaks_in_calls_and_stays_within_the_limit() -> None:
    for most in (None, 1):
        env = make(most, max_turns=9, max_solution=9)
        env.reset(seed=5)
        over, info = False, {}
        while not over:
            calls = json.loads(env.oracle())
            assert len(calls) <= (most or 3)
            _, _, terminated, truncated, info = env.step(json.dumps(calls))
            over = terminated or truncated
        assert info["success"]
        assert env.oracle() is None


def test_random_play_makes_valid_calls() -> None:
    env = make(max_turns=9, max_solution=9)
    env.action_space.seed(0)
    sampled = [env.action_space.sample() for _ in range(8)]
    assert len(set(sampled)) > 1
    assert all(env.step(action)[4]["valid"] for action in sampled)


def test_the_prompt_lists_the_tools() -> None:
    prompt = make(2).get_wrapper_attr("system_prompt")
    assert "up to 2 tool calls" in prompt
    assert '"name": "move"' in prompt


@pytest.mark.parametrize("most", [0, -1, 4, 1.5, "2", True])
def test_wrong_limits_are_refused(most: Any) -> None:
    with pytest.raises(ConfigError):
        make(most)


def test_wrong_stacks_are_refused() -> None:
    with pytest.raises(ConfigError, match="Text or Visual"):
        make(kind="Grid")
    with pytest.raises(ConfigError, match="Reasoning around ToolCalls"):
        ToolCalls(Reasoning(gym.make("agentrl/Sokoban-Text-v0")))


def test_an_environment_without_tools_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gym.make("agentrl/Sokoban-Text-v0")
    monkeypatch.setattr(type(env.unwrapped), "tools", [])
    with pytest.raises(ConfigError, match="no tools"):
        ToolCalls(env)


def test_free_text_cannot_smuggle_an_answer_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gym.make("agentrl/Sokoban-Text-v0")
    tool = function_schema("say", "Say it.", {"text": {"type": "string"}})
    monkeypatch.setattr(type(env.unwrapped), "tools", [tool])
    monkeypatch.setattr(type(env.unwrapped), "tool_action", lambda self, name, arguments: arguments["text"])
    wrapped = ToolCalls(env)
    wrapped.reset(seed=0)
    call = {"name": "say", "arguments": {"text": "x<answer>Up</answer>"}}
    assert wrapped.step(json.dumps(call))[4]["actions"] == []


calls = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.just("move") | st.sampled_from(["Up", "Left"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "arguments", "function", "tool_calls", "direction"]), inner)
    ),
    max_leaves=10,
)
SHARED = ToolCalls(gym.make("agentrl/Sokoban-Text-v0"))


@settings(max_examples=300, deadline=None)
@given(calls, st.booleans())
def test_any_json_is_a_legal_turn(action: Any, as_text: bool) -> None:
    SHARED.reset(seed=0)
    _, reward, _, _, info = SHARED.step(json.dumps(action) if as_text else action)
    assert reward == math.fsum(info["reward_terms"].values())
    assert info["valid"] == (info["fault"] is None)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text(st.sampled_from('{}[]",:mov\\ned')))
def test_reading_is_total(text: str) -> None:
    found, problem = read_calls(text)
    assert bool(found) == (problem is None)
    for call in found:
        unpack_call(call)

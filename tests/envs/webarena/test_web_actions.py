"""The three grammars read what models write into the same actions, refuse the rest with a sentence, and never raise."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.core.errors import ConfigError
from agentrl.core.tools import fit_arguments
from agentrl.envs.webarena.acting.actions import MAY_BE_EMPTY, NEEDS, Action, key_name, perform
from agentrl.envs.webarena.acting.grammars import (
    GRAMMARS,
    MAX_REPLY,
    PROMPTS,
    action_of_call,
    call_of_action,
    read_turn,
    tool_schemas,
    write,
)
from agentrl.envs.webarena.backend import ActionFailed
from agentrl.envs.webarena.env import WebArenaLiteEnv
from tests.envs.webarena.web_replies import CLICK, EXIT, TABLE, WEBRL, A


@pytest.mark.parametrize(("grammar", "text", "action"), TABLE)
def test_a_reply_reads_as_an_action_or_is_refused_with_a_sentence(grammar, text, action):
    turn = read_turn(text, grammar)
    assert turn.actions == ([] if action is None else [action])
    assert (turn.error is None) == (action is not None)
    assert turn.error is None or ("\n" not in turn.error and not turn.error.endswith("."))


def test_the_table_is_large():
    assert len(TABLE) >= 120


@pytest.mark.parametrize(
    "text",
    [
        "go_backward()",
        "go_forward()",
        "exit()",
        'exit("x")',
        'quote("x")',
        'do("Click", element="3")',
        'do(action="Right Click", element="3")',
        'do(action="Switch Tab", argument="1")',
        'do(action="Wait")',
        'do(action="Click", element=3)',
        'do(action="Type", argument="a\nb", element="3")',
        'do(action="Go To", argument="http://x")',
        'do(action="Click", element="3") is what I do',
        'DO(action="Click", element="3")',
        'exit(message="I will do(this)") do(action="Click", element="3")',
    ],
)
def test_strict_upstream_refuses_what_the_benchmarks_parser_refuses(text):
    assert read_turn(text, strict_upstream=True).actions == []


@pytest.mark.parametrize(("text", "action"), [case for case in WEBRL if case[0].startswith('do(action="') and case[1]])
def test_strict_upstream_reads_plain_calls_alike(text, action):
    known = {"click", "type", "search", "select", "hover", "scroll_down", "scroll_up", "back", "forward"}
    differs = "do(" in text[3:] or "exit(" in text or "None" in text or re.search(r"=\d|[a-z]\nb|comment", text)
    if action.name in known and not differs:
        assert read_turn(text, strict_upstream=True).actions == [action]


def texts(name: str) -> st.SearchStrategy[str]:
    anything = st.text(st.characters(), max_size=40) | st.text(
        st.sampled_from(list("[]\"'`\\<>()\n #=01")), max_size=20
    )
    awkward = st.sampled_from(
        [
            "</answer>",
            "<answer>",
            "```",
            '"""',
            "'''",
            "] [1",
            "\\",
            "\\n",
            '\\"x"',
            "do(",
            "exit(message=",
            "\ud800",
            "\0",
        ]
    )
    joined = st.lists(anything | awkward, max_size=4).map("".join)
    longest = 50 if name == "press" else 1_000
    return joined.filter(lambda text: (name in MAY_BE_EMPTY or bool(text.strip())) and len(text) <= longest)


@st.composite
def actions(draw: Any) -> Action:
    name = draw(st.sampled_from(sorted(NEEDS)))
    element = draw(st.integers(0, 10**9 - 1)) if "element" in NEEDS[name] else None
    if name == "press":
        element = draw(st.none() | st.integers(0, 999))
    text = draw(texts(name)) if "text" in NEEDS[name] else ""
    return Action(name, element, text, draw(st.integers(0, 99)) if "number" in NEEDS[name] else None)


@settings(max_examples=400)
@given(actions())
def test_every_action_is_read_back_from_what_is_written(action):
    for grammar in GRAMMARS:
        written = write(action, grammar)
        assert read_turn(written, grammar).actions == [action], written
        assert read_turn(f"<answer>{written}</answer>", grammar).actions == [action], written
        assert "<" not in written
        assert "\n" not in written


@given(actions())
def test_every_tool_call_is_an_action_and_back(action):
    call = call_of_action(action)
    if call is not None:
        schema = next(tool["function"] for tool in tool_schemas() if tool["function"]["name"] == call["name"])
        assert fit_arguments(schema["parameters"], call["arguments"]) == (call["arguments"], None)
        assert action_of_call(**call) == action
    assert action_of_call("no such tool", {}) is None


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_no_mutated_reply_raises(grammar):
    rng = random.Random(f"replies in {grammar}")
    seeds = [text for name, text, _ in TABLE if name == grammar and text]
    signs = "\"'()[]{}=,\\`#\n\0\ud800é<>0123456789abcdo _-+" + chr(0x1F600)
    for _ in range(10_000):
        text = rng.choice(seeds)
        for _ in range(rng.randint(1, 4)):
            at = rng.randint(0, len(text))
            cut = rng.choice((0, 0, 1, 3, 10))
            put = rng.choice((rng.choice(signs), rng.choice(signs) * rng.randint(1, 5), rng.choice(seeds), ""))
            text = text[:at] + put + text[at + cut :]
        for strict in (False, True) if grammar == "webrl" else (False,):
            turn = read_turn(text, grammar, strict_upstream=strict)
            assert bool(turn.actions) != bool(turn.error)


LONG = [
    "do(",
    'do("',
    "do('",
    'do(\\"',
    "exit(message=",
    "do(action=[",
    "((((",
    "-",
    "```",
    "[",
    "type [1] [",
    "click(",
]
LONG += ["\n", '"', '"""', "#\n", "stop [", "do(a='''\"", 'click("do(', "1", " ", "```\n \n", "\\"]


@pytest.mark.parametrize("piece", LONG)
def test_long_replies_of_anything_are_read(piece):
    text = piece * (100_000 // len(piece))  # what takes the square of it would not come to an end
    for grammar in GRAMMARS:
        read_turn(text, grammar)
    read_turn(text, strict_upstream=True)


def test_a_megabyte_can_be_typed():
    text = "a'\"\\<b>\n" + "word " * 200_000
    for grammar in GRAMMARS:
        assert read_turn(write(A("type", 3, text), grammar), grammar).actions == [A("type", 3, text)]
    assert "4,000,000 at most" in (read_turn("a" * (MAX_REPLY + 1)).error or "")


@pytest.mark.parametrize("reply", [None, 3, b"click", ["x"], {}])
def test_what_is_no_text_is_refused(reply):
    assert "an action is text" in (read_turn(reply).error or "")


def test_unknown_grammars_are_refused():
    with pytest.raises(ConfigError, match=r"one of webrl, webarena, browsergym; got 'webarna'.*webarena"):
        WebArenaLiteEnv(action_format="webarna")
    with pytest.raises(ConfigError, match="strict_upstream"):
        WebArenaLiteEnv(action_format="webarena", strict_upstream=True)
    assert WebArenaLiteEnv(strict_upstream=True).action_format == "webrl"


EXAMPLES = {
    "webrl": r"\b(?:do|exit|quote|go_\w+)\([^)]*\)",
    "webarena": r"\b[a-z_]+ (?:\[[^\]]*\] ?)+",
    "browsergym": r"\b[a-z_]+\([^)]*\)",
}


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_the_description_shows_only_what_can_be_read(grammar):
    examples = re.findall(EXAMPLES[grammar], PROMPTS[grammar])
    assert len(examples) > 8
    for example in examples:
        assert read_turn(example, grammar).actions, example


class Recorder:
    """A back end that writes down what it was asked to do."""

    def __init__(self, *labels: Any) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.labels, self.viewport = labels, (1280, 720)

    def view(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: self.calls.append((name, *args, *kwargs.values()))


@pytest.mark.parametrize(
    ("action", "calls"),
    [
        (A("click", 0), [("click", 0, "left")]),
        (A("dblclick", 0), [("click", 0, "left")]),
        (A("right_click", 0), [("click", 0, "right")]),
        (A("hover", 0), [("hover", 0)]),
        (A("type", 1, "x"), [("type", 1, "x", False)]),
        (A("search", 1, "x"), [("type", 1, "x", True)]),
        (A("select", 1, "x"), [("select", 1, "x")]),
        (A("focus", 1), [("click", 1)]),
        (A("focus", 0), [("hover", 0)]),
        (A("press", 1, "ctrl+a"), [("click", 1), ("press", "Control+A")]),
        (A("press", 0, "Enter"), [("click", 0)]),
        (A("press", 9, "Tab"), [("hover", 9), ("press", "Tab")]),
        (A("press", text="enter"), [("press", "Enter")]),
        (A("dblclick", point=(3, 4.5)), [("click_at", 3, 4.5, "left")]),
        (A("right_click", point=(3, 4)), [("click_at", 3, 4, "right")]),
        (A("hover", point=(3, 4)), [("move_to", 3, 4)]),
        (A("drag", point=(3.9, 4), to=(9, 8.5)), [("drag", (3, 4), (9, 8))]),
        (A("drag", point=(3, 4), to=(3.5, 4)), [("click_at", 3, 4, "left")]),
        (A("scroll_up", point=(3, 4)), [("move_to", 3, 4), ("scroll", "up")]),
        (A("keyboard_type", text="x"), [("write", "x")]),
        (A("scroll_up"), [("scroll", "up")]),
        (A("tab_focus", number=1), [("focus_tab", 1)]),
        (A("goto", text=" http://x "), [("open", "http://x")]),
        (A("back"), [("back",)]),
        (A("forward"), [("forward",)]),
        (A("new_tab"), [("new_tab",)]),
        (A("close_tab"), [("close_tab",)]),
        (A("wait"), [("refresh",)]),
        (A("exit", text="x"), []),
        (A("note", text="x"), []),
    ],
)
def test_actions_become_calls_of_the_back_end(action, calls):
    from lxml import html

    link, field = html.fromstring("<p><a href='/'>x</a><input></p>")
    backend: Any = Recorder(link, field)
    perform(action, backend)
    assert backend.calls == calls


def test_what_a_back_end_repeats_of_an_action_is_no_tag():
    class Failing:
        def press(self, key: str) -> None:
            raise ActionFailed(f"There is no key {key!r}.")

    failing: Any = Failing()
    with pytest.raises(ActionFailed, match=r"^There is no key '&lt;image>'$"):
        perform(A("press", text="<image>"), failing)


def test_endings_carry_an_answer():
    assert (EXIT.ends, EXIT.answer, CLICK.ends) == (True, "42", False)
    assert (A("infeasible", text="why").ends, A("infeasible", text="why").answer) == (True, "N/A")


@pytest.mark.parametrize(
    ("keys", "name"),
    [("ctrl+a", "Control+A"), ("Enter", "Enter"), ("RETURN", "Enter"), ("cmd + v", "Meta+V"), ("a", "a"), ("F5", "F5")],
)
def test_keys_are_spelled_as_browsers_spell_them(keys, name):
    assert key_name(keys) == name

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
from agentrl.envs.webarena.acting.actions import MAY_BE_EMPTY, NEEDS, Action
from agentrl.envs.webarena.acting.grammars import GRAMMARS, LONGEST_REPLY, check_grammar, read_turn, write
from agentrl.envs.webarena.acting.performing import key_name, perform
from agentrl.envs.webarena.acting.prompts import describe
from agentrl.envs.webarena.acting.tools import action_of_call, call_of_action, tool_schemas

A = Action
BAD = None
CLICK, EXIT = A("click", 12), A("exit", text="42")
ENTER = A("press", text="Enter")

WEBRL: list[tuple[str, Action | None]] = [
    ('do(action="Click", element="12")', CLICK),
    ("do(action='Click', element='12')", CLICK),
    ("do(action='Click', element=12)", CLICK),
    ('do(action="click", element="[12]")', CLICK),
    ('do( action = "CLICK" ,\n element = " 12 " , )', CLICK),
    ('DO(Action="Click", Element="12")', CLICK),
    ('do("Click", None, "12")', CLICK),
    (
        '# Element: the "Reports" link\n# Note: then do(action="Hover", element="1")\ndo(action="Click", element="12")',
        CLICK,
    ),
    ('I think do(action="Hover", element="3") is wrong.\ndo(action="Click", element="12")', CLICK),
    ('<answer>do(action="Click", element="12")</answer>', CLICK),
    ('<think>do(action="Hover", element="1")</think><answer>do(action="Click", element="12")</answer>', CLICK),
    ('Action: do(action="Click", element="12"). Done.', CLICK),
    ('do(action="Click", argument=None, element="12")', CLICK),
    ('do(action="Right Click", element="12")', A("right_click", 12)),
    ('do(action="right_click", element="12")', A("right_click", 12)),
    ('do(action="Double Click", element="12")', A("dblclick", 12)),
    ('do(action="Hover", element="0")', A("hover", 0)),
    ('do(action="Type", argument="a b", element="3")', A("type", 3, "a b")),
    ('do(action="Type", argument="", element="3")', A("type", 3, "")),
    ('do(action="Type", argument=7, element="3")', A("type", 3, "7")),
    ('do(action="Type", argument=7.5, element="3")', A("type", 3, "7.5")),
    ('do(action="Type", argument="it\'s", element="3")', A("type", 3, "it's")),
    ('do(action="Type", argument="say \\"hi\\"", element="3")', A("type", 3, 'say "hi"')),
    ('do(action="Type", argument="a\\nb\\tc\\\\d", element="3")', A("type", 3, "a\nb\tc\\d")),
    ('do(action="Type", argument="a\nb", element="3")', A("type", 3, "a\nb")),
    ('do(action="Type", argument="""a "b" c""", element="3")', A("type", 3, 'a "b" c')),
    ('do(action="Type", argument="a" "b", element="3")', A("type", 3, "ab")),
    ('do(action="Type", argument="\\u00e9\\x41\\d", element="3")', A("type", 3, "éA\\d")),
    ('do(action="Type", argument="do(action=1) exit(", element="3")', A("type", 3, "do(action=1) exit(")),
    ('do(action="Type", argument="# no comment\n# here", element="3")', A("type", 3, "# no comment\n# here")),
    ('do(action="Search", argument="chairs", element="13")', A("search", 13, "chairs")),
    ('do(action="Select Dropdown Option", argument="Month", element="20")', A("select", 20, "Month")),
    ('do(action="Scroll Down")', A("scroll_down")),
    ('do(action="scroll up", element=None)', A("scroll_up")),
    ('do(action="Press Enter")', ENTER),
    ('do(action="Press Enter", element="4")', ENTER),
    ('do(action="Press", argument="Tab")', A("press", text="Tab")),
    ('do(action="Press", argument="Tab", element="4")', A("press", 4, "Tab")),
    ('do(action="Go Backward")', A("back")),
    ('do(action="Go Forward")', A("forward")),
    ("go_backward()", A("back")),
    ("go_forward()", A("forward")),
    ('do(action="Switch Tab", argument="1")', A("tab_focus", number=1)),
    ('do(action="Switch Tab", element=1)', A("tab_focus", number=1)),
    ('do(action="Switch Page", argument=0)', A("tab_focus", number=0)),
    ('do(action="New Tab")', A("new_tab")),
    ('do(action="Close Tab")', A("close_tab")),
    ('do(action="Go To", argument="http://map.localhost/")', A("goto", text="http://map.localhost/")),
    ('do(action="Wait")', A("wait")),
    ('do(action="Wait", argument="3")', A("wait")),
    ('quote("the price is 3")', A("note", text="the price is 3")),
    ('quote(content="x")', A("note", text="x")),
    ('exit(message="42")', EXIT),
    ("exit(message=42)", EXIT),
    ('exit("42")', EXIT),
    ("exit()", A("exit")),
    ("exit(message=None)", A("exit")),
    ('do(action="Report Infeasible", argument="no such page")', A("infeasible", text="no such page")),
    ("", BAD),
    ("   \n", BAD),
    ("click [12]", BAD),
    ('undo(action="Click", element="12")', BAD),
    ('do(action="Click")', BAD),
    ('do(action="Click", element="abc")', BAD),
    ('do(action="Click", element="-1")', BAD),
    ('do(action="Click", element="1.5")', BAD),
    ('do(action="Click", element=True)', BAD),
    ('do(action="Click", element="99999999999")', BAD),
    ('do(action="Fly", element="3")', BAD),
    ('do(action=Click, element="3")', BAD),
    ('do(action="Click", element="3"', BAD),
    ('do(action="Click, element="3")', BAD),
    ('do(action="Type", argument=f"x", element="3")', BAD),
    ('do(action="Type", argument=open("/etc/passwd").read(), element="3")', BAD),
    ('do(action="Type", argument="x" + "y", element="3")', BAD),
    ('do(action="Type", element="3")', BAD),
    ('do(action="Select Dropdown Option", argument=" ", element="3")', BAD),
    ('do(action="Switch Tab")', BAD),
    ("do()", BAD),
    ('do(action="Go To", argument="")', BAD),
    ('<answer>do(action="Click", element="12")', BAD),
    ('# do(action="Click", element="12")', BAD),
]
WEBARENA: list[tuple[str, Action | None]] = [
    ("click [12]", CLICK),
    ("Click [12]", CLICK),
    ("click[12]", CLICK),
    ("click [ 12 ]", CLICK),
    ("```click [12]```", CLICK),
    ("```\nclick [12]\n```", CLICK),
    ("```text\nclick [12]\n```", CLICK),
    ("Let's think. In summary, the next action I will perform is ```click [12]```", CLICK),
    ("I will open it.\nclick [12]", CLICK),
    ("<answer>click [12]</answer>", CLICK),
    ("click [12]\nclick [13]", CLICK),
    ("click [12] where [12] is a link", CLICK),
    ("hover [3]", A("hover", 3)),
    ("right_click [3]", A("right_click", 3)),
    ("double_click [3]", A("dblclick", 3)),
    ("type [3] [a b] [1]", A("search", 3, "a b")),
    ("type [3] [a b] [0]", A("type", 3, "a b")),
    ("type [3] [a b]", A("search", 3, "a b")),
    ("type [3] [a b] [press_enter_after=0]", A("type", 3, "a b")),
    ("type [3] [] [0]", A("type", 3, "")),
    ("type [3] [a [b] c] [0]", A("type", 3, "a [b] c")),
    ("type [3] [x] [1] [0]", A("type", 3, "x] [1")),
    ("type [3] [line\nline] [0]", A("type", 3, "line\nline")),
    ('type [3] [\\"a\\nb\\"] [0]', A("type", 3, '\\"a\\nb\\"')),
    ('type [3] [\\"a\\nb"] [0]', A("type", 3, "a\nb")),
    ("type [3] [x] [1]\nclick [4]", A("search", 3, "x")),
    ("select [5] [Blue]", A("select", 5, "Blue")),
    ("press [ctrl+a]", A("press", text="ctrl+a")),
    ("press [Enter]", ENTER),
    ("press [4] [Enter]", A("press", 4, "Enter")),
    ("scroll [down]", A("scroll_down")),
    ("scroll [direction=up]", A("scroll_up")),
    ("scroll down", A("scroll_down")),
    ("clear [3]", A("type", 3, "")),
    ("new_tab", A("new_tab")),
    ("tab_focus [1]", A("tab_focus", number=1)),
    ("page_focus [0]", A("tab_focus", number=0)),
    ("close_tab", A("close_tab")),
    ("goto [http://forum.localhost/f/books]", A("goto", text="http://forum.localhost/f/books")),
    ("go_back", A("back")),
    ("go_forward []", A("forward")),
    ("wait", A("wait")),
    ("note [the price is [3]]", A("note", text="the price is [3]")),
    ("stop [42]", EXIT),
    ("stop []", A("exit")),
    ("stop", A("exit")),
    ("stop [a]b]", A("exit", text="a]b")),
    ("stop [N/A]", A("exit", text="N/A")),
    ("stop_infeasible [no such page]", A("infeasible", text="no such page")),
    ("click 12", BAD),
    ("click [abc]", BAD),
    ("click []", BAD),
    ("type [3]", BAD),
    ("type [a] [b] [1]", BAD),
    ("scroll [left]", BAD),
    ("tab_focus [x]", BAD),
    ("goto []", BAD),
    ("clicking [3]", BAD),
    ("``` ```", BAD),
    ("stop [42", BAD),
    ("", BAD),
]
BROWSERGYM: list[tuple[str, Action | None]] = [
    ('click("12")', CLICK),
    ("click(12)", CLICK),
    ("click(bid='12')", CLICK),
    ('click("12", "left")', CLICK),
    ('click("12", button="left", modifiers=["Shift", "Control"])', CLICK),
    ('```python\nclick("12")\n```', CLICK),
    ('# first\nclick("12")\nclick("13")', CLICK),
    ('<answer>click("12")</answer>', CLICK),
    ('click("12", button="right")', A("right_click", 12)),
    ('dblclick("12")', A("dblclick", 12)),
    ('hover("3")', A("hover", 3)),
    ('focus("3")', A("focus", 3)),
    ('fill("3", "a b")', A("type", 3, "a b")),
    ('fill("3", "a b", enter=True)', A("search", 3, "a b")),
    ('fill("3", value=5)', A("type", 3, "5")),
    ('clear("3")', A("type", 3, "")),
    ('select_option("3", "Blue")', A("select", 3, "Blue")),
    ('select_option("3", ["Blue"])', A("select", 3, "Blue")),
    ('press("3", "Control+A")', A("press", 3, "Control+A")),
    ('keyboard_press("Enter")', ENTER),
    ("scroll(0, 200)", A("scroll_down")),
    ("scroll(0, -200.5)", A("scroll_up")),
    ('goto("http://x.localhost")', A("goto", text="http://x.localhost")),
    ("go_back()", A("back")),
    ("go_forward()", A("forward")),
    ("new_tab()", A("new_tab")),
    ("tab_close()", A("close_tab")),
    ("tab_focus(1)", A("tab_focus", number=1)),
    ("tab_focus(index=0)", A("tab_focus", number=0)),
    ("noop()", A("wait")),
    ("noop(wait_ms=1000)", A("wait")),
    ('send_msg_to_user("42")', EXIT),
    ("send_msg_to_user(42)", EXIT),
    ('report_infeasible("no such page")', A("infeasible", text="no such page")),
    ("report_infeasible()", A("infeasible")),
    ('note("x")', A("note", text="x")),
    ('click("a12")', BAD),
    ("click()", BAD),
    ('click("12", button="middle")', BAD),
    ('click("12", "left", [], 4)', BAD),
    ('click("12", speed=3)', BAD),
    ('select_option("3", ["Blue", "Red"])', BAD),
    ('fill("3")', BAD),
    ("scroll(0, 0)", BAD),
    ("scroll(100)", BAD),
    ('press("Enter")', BAD),
    ("goto(3)", BAD),
    ("mouse_click(3, 4)", BAD),
    ('upload_file("3", "/etc/passwd")', BAD),
    ('click(__import__("os"))', BAD),
    ('click["12"]', BAD),
    ("", BAD),
]
TABLE = [(name, *case) for name, cases in zip(GRAMMARS, (WEBRL, WEBARENA, BROWSERGYM), strict=True) for case in cases]


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
    assert "4,000,000 at most" in (read_turn("a" * (LONGEST_REPLY + 1)).error or "")


@pytest.mark.parametrize("reply", [None, 3, b"click", ["x"], {}])
def test_what_is_no_text_is_refused(reply):
    assert "an action is text" in (read_turn(reply).error or "")


def test_unknown_grammars_are_refused():
    with pytest.raises(ConfigError, match=r"one of webrl, webarena, browsergym; got 'webarna'.*webarena"):
        check_grammar("webarna")
    with pytest.raises(ConfigError, match="strict_upstream"):
        check_grammar("webarena", strict_upstream=True)
    assert check_grammar("webrl", strict_upstream=True) == "webrl"


EXAMPLES = {
    "webrl": r"\b(?:do|exit|quote|go_\w+)\([^)]*\)",
    "webarena": r"\b[a-z_]+ (?:\[[^\]]*\] ?)+",
    "browsergym": r"\b[a-z_]+\([^)]*\)",
}


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_the_description_shows_only_what_can_be_read(grammar):
    examples = re.findall(EXAMPLES[grammar], describe(grammar))
    assert len(examples) > 8
    for example in examples:
        assert read_turn(example, grammar).actions, example


class Recorder:
    """A back end that writes down what it was asked to do."""

    def __init__(self, *labels: Any) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.labels = labels

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
        (A("scroll_up"), [("scroll", "up")]),
        (A("tab_focus", number=1), [("focus_tab", 1)]),
        (A("goto", text=" http://x "), [("open", "http://x")]),
        (A("back"), [("back",)]),
        (A("forward"), [("forward",)]),
        (A("new_tab"), [("new_tab",)]),
        (A("close_tab"), [("close_tab",)]),
        (A("wait"), []),
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


def test_endings_carry_an_answer():
    assert (EXIT.ends, EXIT.answer, CLICK.ends) == (True, "42", False)
    assert (A("infeasible", text="why").ends, A("infeasible", text="why").answer) == (True, "N/A")


@pytest.mark.parametrize(
    ("keys", "name"),
    [("ctrl+a", "Control+A"), ("Enter", "Enter"), ("RETURN", "Enter"), ("cmd + v", "Meta+V"), ("a", "a"), ("F5", "F5")],
)
def test_keys_are_spelled_as_browsers_spell_them(keys, name):
    assert key_name(keys) == name

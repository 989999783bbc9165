"""Parsing is total: any text gives a turn, and the answer tag means the same everywhere."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.core.parsing import Turn, extract_answer, parse_turn, quote, turn_of

GRAMMAR = {"up": "U", "down": "D", "turn left": "L"}
# Free text hardly ever holds a tag or an action, so half of what is tried is put together from the interesting pieces.
PIECES = st.sampled_from(
    ["<answer>", "</answer>", "<think>", "Up", "up", "DOWN", "turn left", ",", " ", "\n", "<answer", "jump"]
)
ANY_TEXT = st.one_of(st.text(), st.text(st.characters(codec=None)), st.lists(PIECES).map("".join))


@given(ANY_TEXT, st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_a_turn_within_its_limits(text, limit):
    turn = parse_turn(text, GRAMMAR, limit)
    assert isinstance(turn, Turn)
    assert len(turn.actions) <= limit and set(turn.actions) <= set(GRAMMAR.values())
    assert turn.actions or turn.error
    assert turn.surplus >= 0 and (turn.surplus == 0 or turn.error or len(turn.actions) == limit)
    assert turn.error is None or (turn.error.isprintable() and len(turn.error) < 500)


@given(ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_an_answer_is_one_closed_pair_or_the_untagged_whole(text):
    answer, problem = extract_answer(text)
    assert (answer is None) != (problem is None)
    opened, closed = text.count("<answer>"), text.count("</answer>")
    if (opened, closed) == (0, 0):
        assert answer == text
    elif (opened, closed) == (1, 1) and text.find("<answer>") < text.find("</answer>"):
        assert answer == text.partition("<answer>")[2].partition("</answer>")[0]
    else:
        assert answer is None


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("Up", ["U"]),
        ("  uP ,\n DOWN ", ["U", "D"]),
        ("Turn Left", ["L"]),
        ("<answer>Up, Down</answer>", ["U", "D"]),
        ("<think>not Down, <b>Up</b></think>\n<answer> up </answer> trailing words", ["U"]),
    ],
)
def test_bare_and_tagged_actions_are_read_in_any_case(text, actions):
    assert parse_turn(text, GRAMMAR, 3) == Turn(actions)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "<answer></answer>",
        "<answer>Up",
        "Up</answer>",
        "</answer>Up<answer>",
        "<answer>Up</answer><answer>Up</answer>",
        "<answer><answer>Up</answer></answer>",
        "<answer>Up</answer></answer>",
        "<think>x</think>Up",
        "<ANSWER>Up</ANSWER>",
        "Up Down",
        ",",
    ],
)
def test_everything_else_is_an_error_without_actions(text):
    turn = parse_turn(text, GRAMMAR, 3)
    assert turn.actions == [] and turn.error


@pytest.mark.parametrize("action", [None, 3, b"Up", ["Up"], {"text": "Up"}, object(), float("nan")])
def test_what_is_no_text_is_an_error_that_names_its_type(action):
    turn = parse_turn(action, GRAMMAR, 3)
    assert turn.actions == [] and type(action).__name__ in turn.error


def test_reading_stops_at_the_first_invalid_action():
    turn = parse_turn("Up, jump, Down", GRAMMAR, 3)
    assert turn.actions == ["U"] and "jump" in turn.error


def test_surplus_is_counted_dropped_and_never_looked_at():
    assert parse_turn("Up,Up,Down", GRAMMAR, 3) == Turn(["U", "U", "D"], None, 0)
    assert parse_turn("Up,Up,Down,Up", GRAMMAR, 3) == Turn(["U", "U", "D"], None, 1)
    assert parse_turn("Up,Up,Down,nonsense,,", GRAMMAR, 3) == Turn(["U", "U", "D"], None, 3)


@pytest.mark.parametrize(
    "text", ["Up," * 1_000_000, "<answer>" + "Up," * 1_000_000 + "</answer>", "<answer>" * 300_000, "x" * 5_000_000]
)
def test_a_million_actions_take_no_time(text):
    begin = time.process_time()
    turn = parse_turn(text, GRAMMAR, 3)
    assert time.process_time() - begin < 5
    assert turn.surplus > 900_000 or turn.error


@given(st.text(st.characters(codec=None)))
@settings(deadline=None)
def test_a_quote_is_short_printable_and_cannot_pass_for_a_tag(text):
    quoted = quote(text)
    assert quoted.isascii() and quoted.isprintable() and "<" not in quoted
    assert len(quoted) <= 2 + 43 * 10


def test_an_echoed_image_mark_is_no_image_mark():
    assert "<image>" not in parse_turn("<image>", GRAMMAR, 3).error


@pytest.mark.parametrize("value", [None, 7, b"Up", ["Up"]])
def test_what_is_no_text_is_a_problem_and_no_answer(value):
    assert extract_answer(value) == (None, f"an action is text, not {type(value).__name__}")


def test_a_turn_ends_before_the_first_reading_that_is_wrong():
    assert turn_of([1, 2, "3 is wrong", 4], surplus=5) == Turn([1, 2], "3 is wrong", 5)
    assert turn_of(iter([1, 2])) == Turn([1, 2])

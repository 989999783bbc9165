"""Replies are read strictly, totally and in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.core.errors import ConfigError
from agentrl.core.response import STRATEGIES, TAGS, build_response, defuse, fields_of, parse_response, template

ALL_TAGS = [f"<{slash}{tag}>" for tag in TAGS for slash in ("", "/")]
FULL = "<think><observation>o</observation><reasoning>r</reasoning><prediction>p</prediction></think><answer>a</answer>"
plain = st.text(st.characters(exclude_characters="<"), max_size=20).map(lambda text: f"{text}.")


@pytest.mark.parametrize(
    ("strategy", "form"),
    [
        ("no_think", "<answer>...</answer>"),
        ("free_think", "<think>...</think><answer>...</answer>"),
        (
            "grounding",
            "<think><observation>...</observation><reasoning>...</reasoning></think><answer>...</answer>",
        ),
        (
            "worldmodeling",
            "<think><reasoning>...</reasoning><prediction>...</prediction></think><answer>...</answer>",
        ),
        (
            "grounding_worldmodeling",
            "<think><observation>...</observation><reasoning>...</reasoning><prediction>...</prediction></think>"
            "<answer>...</answer>",
        ),
    ],
)
def test_forms_are_the_papers(strategy: str, form: str) -> None:
    assert template(strategy) == form
    assert parse_response(form, strategy).strict


@pytest.mark.parametrize("written", STRATEGIES)
@pytest.mark.parametrize("expected", STRATEGIES)
def test_each_form_fits_its_own_strategy_only(written: str, expected: str) -> None:
    assert parse_response(template(written), expected).strict == (written == expected)


def test_white_space_around_and_between_tags_is_fine() -> None:
    text = FULL.replace("><", ">\n \t<")
    assert parse_response(f"\n {text}\r\n", "grounding_worldmodeling").strict


def test_fields_come_back_without_the_white_space_around_them() -> None:
    reply = parse_response(FULL.replace("o<", " two words\n<"), "grounding_worldmodeling")
    assert (reply.observation, reply.reasoning, reply.prediction, reply.answer) == ("two words", "r", "p", "a")
    free = parse_response("<think>so</think><answer>a</answer>", "free_think")
    assert (free.observation, free.reasoning, free.prediction) == (None, "so", None)


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "a",
        f"x{FULL}",
        f"{FULL}x",
        FULL.replace("<answer>", "x<answer>"),
        FULL.replace("</think>", "x</think>"),
        FULL.replace("<think>", "<think>x"),
        FULL.replace("<reasoning>", "x<reasoning>"),
        FULL.replace("</answer>", ""),
        FULL.replace("<think>", "").replace("</think>", ""),
        FULL + FULL,
        FULL.replace("<answer>a</answer>", "<answer>a</answer><answer>b</answer>"),
        FULL.replace("o<", "<observation>o</observation><"),
        FULL.replace("a<", "<think>a</think><"),
        FULL.replace("<observation>o</observation>", ""),
        FULL.replace("o</observation>", "</observation>"),
        FULL.replace("a</answer>", " \n</answer>"),
        FULL.replace("think", "Think"),
        FULL.replace("<think>", "<think >"),
        FULL.replace("<observation>", "<prediction>").replace("</observation>", "</prediction>"),
        "<answer>a</answer><think><observation>o</observation><reasoning>r</reasoning><prediction>p</prediction></think>",
    ],
)
def test_anything_else_is_broken_and_gives_away_no_field(broken: str) -> None:
    reply = parse_response(broken, "grounding_worldmodeling")
    assert not reply.strict
    assert reply.problem
    assert reply[1:5] == (None, None, None, None)


@pytest.mark.parametrize("thing", [None, 3, b"<answer>a</answer>", ["<answer>a</answer>"], object()])
def test_what_is_no_text_is_broken(thing: object) -> None:
    assert not parse_response(thing, "no_think").strict


@pytest.mark.parametrize("strategy", ["freethink", "", None, 3, ["free_think"]])
def test_an_unknown_strategy_is_named(strategy: object) -> None:
    with pytest.raises(ConfigError, match="free_think"):
        parse_response("x", strategy)  # type: ignore[arg-type]


def test_a_misspelt_strategy_gets_a_suggestion() -> None:
    with pytest.raises(ConfigError, match='Did you mean "worldmodeling"'):
        template("worldmodelling")


@settings(deadline=None)
@given(st.sampled_from(STRATEGIES), st.data())
def test_what_is_built_reads_back(strategy: str, data: st.DataObject) -> None:
    texts = {field: data.draw(plain) for field in fields_of(strategy)}
    reply = parse_response(build_response(strategy, texts), strategy)
    assert reply.strict
    for field, text in texts.items():
        assert getattr(reply, "reasoning" if field == "think" else field) == text.strip()


@settings(deadline=None)
@given(st.sampled_from(STRATEGIES), st.lists(st.sampled_from([*ALL_TAGS, "x", " "]), max_size=8).map("".join))
def test_tags_inside_a_field_cannot_break_what_is_built(strategy: str, hostile: str) -> None:
    texts = {field: f"{hostile}." for field in fields_of(strategy)}
    assert parse_response(build_response(strategy, texts), strategy).strict
    assert not any(tag in defuse(hostile) for tag in ALL_TAGS)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(STRATEGIES), st.lists(st.sampled_from([*ALL_TAGS, "Up", " ", "<", "\ud800"]), max_size=14))
def test_only_the_exact_form_passes(strategy: str, pieces: list[str]) -> None:
    reply = parse_response("".join(pieces), strategy)
    tags = [piece for piece in pieces if piece in ALL_TAGS]
    exact = [tag for tag in template(strategy).replace("...", "").replace("><", ">\n<").split("\n")]
    if tags != exact:
        assert not reply.strict
    assert reply.strict == (reply.problem is None)


@settings(deadline=None)
@given(st.text(), st.sampled_from(STRATEGIES))
def test_reading_is_total(text: str, strategy: str) -> None:
    assert parse_response(text, strategy).strict in (True, False)


@pytest.mark.parametrize(
    "unit", ["<", "<think>", "</think><think>", "<think><observation>", " ", "<answer>", "<think", "a</", "\n<answer>a"]
)
@pytest.mark.parametrize("strategy", ["no_think", "free_think", "grounding_worldmodeling"])
def test_a_megabyte_of_hostile_text_is_read_quickly(unit: str, strategy: str) -> None:
    text = unit * (2**20 // len(unit))
    start = time.process_time()
    parse_response(text, strategy)
    parse_response(f"<think>{text}</think><answer>{text}</answer>", strategy)
    assert time.process_time() - start < 5

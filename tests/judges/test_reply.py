"""A reply counts only if it is exactly what was asked for."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrl.core.completion import Malformed, read_completion
from agentrl.judges.llm import VerdictReply, read_object
from agentrl.judges.outcome import yes_chance
from benchmarks.judges.faulty_endpoint import EMPTY_CHOICES, completion, word_chances

GOOD = {"code": "c0de", "reasoning": "because", "verdict": "YES"}
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  {TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```",
        f"<think>NO, wait: {{}}</think>\n{TEXT}",
        f"<think></think>```json{TEXT}```",
    ],
)
def test_one_object_in_its_place_is_read(text):
    assert read_object(text, VerdictReply, "c0de").verdict == "YES"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "YES",
        "<answer>YES</answer>",
        f"{TEXT}{TEXT}",
        f"{TEXT} YES",
        f"Sure! {TEXT}",
        f"[{TEXT}]",
        json.dumps(TEXT),
        '{"code": "c0de", "reasoning": "", "verdict": "NO", "verdict": "YES"}',
        '{"code": "wrong", "code": "c0de", "reasoning": "", "verdict": "YES"}',
        json.dumps({**GOOD, "score": 1}),
        json.dumps({**GOOD, "verdict": "yes"}),
        json.dumps({**GOOD, "verdict": " YES"}),
        json.dumps({**GOOD, "verdict": True}),
        json.dumps({**GOOD, "verdict": ["YES"]}),
        json.dumps({**GOOD, "code": "C0DE"}),
        json.dumps({**GOOD, "code": None}),
        json.dumps({"reasoning": "", "verdict": "YES"}),
        f"<think>{TEXT}",
        f"<think>{TEXT}</think>",
        f"<think>{TEXT}</think>{TEXT}</think>{TEXT}",
        f"```json\n{TEXT}\n```\n```json\n{TEXT}\n```",
        TEXT[:-1],
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_anything_else_is_malformed(text):
    with pytest.raises(Malformed):
        read_object(text, VerdictReply, "c0de")


@given(st.text() | st.text('{}[]":,YESNO codereasoningverdict\\', max_size=80))
def test_no_string_without_the_code_is_a_verdict(text):
    with pytest.raises(Malformed):
        read_object(text, VerdictReply, "8f3a77d0c1")


@given(st.binary())
def test_no_bytes_break_the_reader(body):
    with pytest.raises(Malformed):
        read_completion(body).text  # noqa: B018


@pytest.mark.parametrize("body", EMPTY_CHOICES)
def test_empty_choices_are_malformed(body):
    with pytest.raises(Malformed):
        read_completion(json.dumps(body).encode()).text  # noqa: B018


# ---------------------------------------------------------------------- probabilities


def chances(words: dict[str, float]):
    """A completion whose first token has these probabilities."""
    listed = {word: math.log(chance) for word, chance in words.items()}
    return read_completion(json.dumps(word_chances(listed)).encode())


def test_spellings_of_a_word_count_together():
    found, mass = yes_chance(chances({"YES": 0.3, " Yes": 0.1, "yes": 0.2, " NO": 0.1, "no\n": 0.1, "Maybe": 0.2}))
    assert found == pytest.approx(0.6 / 0.8)
    assert mass == pytest.approx(0.8)


def test_a_word_that_is_not_listed_gets_the_most_it_could_have():
    assert yes_chance(chances({"YES": 0.9, "The": 0.05}))[0] == pytest.approx(0.9 / 0.95)
    assert yes_chance(chances({"NO": 0.9, "The": 0.05}))[0] == pytest.approx(0.05 / 0.95)
    assert yes_chance(chances({"YES": 0.9, "The": 0.09}))[0] == pytest.approx(0.9 / 0.91)
    assert yes_chance(chances({"YES": 1.0}))[0] == 1.0


@pytest.mark.parametrize(
    "words", [{"The": 0.9, "A": 0.1}, {"YESTERDAY": 0.9, "NOT": 0.1}, {"The": 0.99, "YES": 0.001, "NO": 0.001}]
)
def test_an_answer_that_is_neither_is_malformed(words):
    with pytest.raises(Malformed):
        yes_chance(chances(words))


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": []}])
def test_missing_probabilities_are_malformed(logprobs):
    with pytest.raises(Malformed):
        yes_chance(read_completion(json.dumps(completion("YES", logprobs)).encode()))


def test_a_probability_above_one_is_malformed():
    with pytest.raises(Malformed):
        yes_chance(read_completion(json.dumps(word_chances({"YES": 0.7, "NO": -1.0})).encode()))

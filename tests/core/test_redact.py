"""Secrets are recognised by name, by value and by shape; ordinary data stays as it is."""

from __future__ import annotations

import json

import pytest

from agentrl.core.redact import MARK, is_secret_name, redact, redact_text

CANARY = "canary-key-0815"


@pytest.mark.parametrize(
    "name", ["api_key", "OPENAI_API_KEY", "apikey", "token", "hub-token", "Password", "client_secret"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert redact({"a": [{name: CANARY}]}) == {"a": [{name: MARK}]}


@pytest.mark.parametrize("name", ["api_key_env", "max_tokens", "tokenizer", "key", "text", "secretary"])
def test_names_that_hold_none(name: str) -> None:
    assert redact({name: CANARY, "n": 3}) == {name: CANARY, "n": 3}


def test_a_secret_under_its_name_is_found_wherever_else_it_stands() -> None:
    value = {"judge": {"api_key": CANARY, "max_tokens": 5}, "fault": f"refused: {CANARY}", CANARY: 1}
    assert CANARY not in json.dumps(redact(value))
    assert redact(value)["judge"]["max_tokens"] == 5


def test_the_process_environment_tells_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    monkeypatch.setenv("SHORT_TOKEN", "a")
    assert redact_text(f"an apple, {CANARY}") == f"an apple, {MARK}"


@pytest.mark.parametrize(
    "text", ["Authorization: Bearer abcdefgh.123", "\nsk-abcdefghijklmnop1234", "BEARER  xyz-12345"]
)
def test_shapes_of_secrets(text: str) -> None:
    assert MARK in redact_text(text)


@pytest.mark.parametrize("text", ["the bearer of the ring", "ask-me", "Push the box; sk-1", ""])
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact_text(text) == text


def test_without_names_only_values_count() -> None:
    assert redact({"token": "shown on a page"}, names=False) == {"token": "shown on a page"}
    assert redact({"token": CANARY}, [CANARY], names=False) == {"token": MARK}

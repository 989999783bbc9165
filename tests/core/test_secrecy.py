"""Secrets are recognised by name, by value and by shape; ordinary data stays as it is."""

from __future__ import annotations

import json

import pytest

from agentrl.core.redact import MASK
from agentrl.core.secrecy import is_secret_name, scrub

CANARY = "canary-key-0815"


@pytest.mark.parametrize(
    "name", ["api_key", "OPENAI_API_KEY", "apikey", "token", "hub-token", "Password", "client_secret"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert scrub({"a": [{name: CANARY}]}) == {"a": [{name: MASK}]}


@pytest.mark.parametrize("name", ["api_key_env", "max_tokens", "tokenizer", "key", "text", "secretary"])
def test_names_that_hold_none(name: str) -> None:
    assert scrub({name: CANARY, "n": 3}) == {name: CANARY, "n": 3}


def test_a_secret_under_its_name_is_found_wherever_else_it_stands() -> None:
    value = {"judge": {"api_key": CANARY, "max_tokens": 5}, "fault": f"refused: {CANARY}", CANARY: 1}
    assert CANARY not in json.dumps(scrub(value))
    assert scrub(value)["judge"]["max_tokens"] == 5


def test_the_process_environment_tells_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    monkeypatch.setenv("SHORT_TOKEN", "a")
    assert scrub(f"an apple, {CANARY}") == f"an apple, {MASK}"


@pytest.mark.parametrize(
    "text", ["Authorization: Bearer abcdefgh.123", "\nsk-abcdefghijklmnop1234", "BEARER xyz-12345"]
)
def test_shapes_of_secrets(text: str) -> None:
    assert MASK in scrub(text)


@pytest.mark.parametrize("text", ["the bearer of the ring", "ask-me", "Push the box; sk-1", ""])
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert scrub(text) == text


def test_without_names_only_values_count() -> None:
    assert scrub({"token": "shown on a page"}, names=False) == {"token": "shown on a page"}
    assert scrub({"token": CANARY}, [CANARY], names=False) == {"token": MASK}

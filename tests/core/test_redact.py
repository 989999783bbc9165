"""Secrets are masked wherever text is written, and nothing else is."""

from __future__ import annotations

import logging

import pytest

from agentrl.core import redact as module
from agentrl.core.redact import MASK, guard_loggers, protect, redact


@pytest.fixture(autouse=True)
def no_other_secrets(monkeypatch):
    monkeypatch.setattr(module, "_secrets", frozenset())


def test_a_protected_secret_is_masked_in_nested_json():
    protect("my secret/1")
    value = {"my secret/1": ["x my secret/1 y", ("my%20secret%2F1", 3, None)], "n": 1.5}
    assert redact(value) == {MASK: [f"x {MASK} y", (MASK, 3, None)], "n": 1.5}


def test_the_longer_of_two_secrets_is_masked_whole():
    protect("abcdef-1")
    protect("abcdef-123456")
    assert redact("abcdef-123456") == MASK


@pytest.mark.parametrize("placeholder", ["", "none", "EMPTY", "   "])
def test_placeholders_are_not_secrets(placeholder):
    protect(placeholder)
    assert redact("none of them is EMPTY   ") == "none of them is EMPTY   "


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghijklmnop",
        "SK_PROJ-abcdefghijklmnop",
        "\u017fk-proj-abcdefghijklmnop",  # a long s is an s to regular expressions
        "gsk_abcdefghijklmnop",
        "r8_abcdefghijklmnop",
        *(f"gh{letter}_abcdefghijklmnop" for letter in "opsur"),
        *(f"xox{letter}-abcdefghijklmnop" for letter in "abp"),
        "github_pat_abcdefghijklmnop",
        "glpat-abcdefghijklmnop",
        "pk-abcdefghijklmnop",
        "hf_abcdefghijklmnopqr",
        "Authorization: Bearer abcdefgh12345678",
        "eyJabcdefgh.abcdefgh12.abcdefgh12",
        "http://user:abcdefgh@host",
        "/x?api_key=abcdefgh",
        "/x?token=abcdefgh",
    ],
)
def test_keys_nobody_announced_are_known_by_their_shape(text):
    assert MASK in redact(text)
    assert "abcdefgh" not in redact(text)


@pytest.mark.parametrize("text", ["The box is left of the player.", "task-1", "ask-me-anything-about-it", ""])
def test_ordinary_text_is_left_alone(text):
    assert redact(text) == text


def test_guarded_loggers_mask_messages_and_arguments(caplog):
    protect("hush-hush-1")
    guard_loggers(["some.library"])
    guard_loggers(["some.library"])
    logger = logging.getLogger("some.library")
    assert len(logger.filters) == 1
    with caplog.at_level(logging.DEBUG):
        logger.info("key %s", "hush-hush-1")
        logger.info("plain %d", 3)
    assert [record.getMessage() for record in caplog.records] == [f"key {MASK}", "plain 3"]
    assert "hush" not in str([vars(record) for record in caplog.records])

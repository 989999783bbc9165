"""What a checkpoint says about its prompts is read back whole, or refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError
from agentrl.models.prompt_settings import (
    FILE,
    MAX_BYTES,
    PromptSettings,
    as_trained,
    longest_reply,
    read_settings,
    settings_of,
    write_settings,
)

LAKE, SOKOBAN = "agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Text-v0"
SETTINGS = PromptSettings(
    environments=(LAKE,),
    prompt_style="step",
    history=0,
    strategy="grounding",
    representation="symbolic",
    wrap=({"wrapper": "History", "turns": 2},),
    max_new_tokens=7,
    limits={"max_turns": 4},
)
NOTHING = dict.fromkeys(("prompt_style", "history", "strategy", "representation", "wrap", "max_turns"))


def test_settings_come_back_as_they_were_written(tmp_path: Path) -> None:
    assert read_settings(tmp_path) is None
    write_settings(tmp_path, SETTINGS)
    assert read_settings(tmp_path) == SETTINGS
    assert settings_of(f"hf:{tmp_path}") == settings_of(f"vllm:{tmp_path}") == SETTINGS
    assert settings_of("random") is settings_of("hf:tiny-text") is settings_of("openai:gpt") is None


@pytest.mark.parametrize(
    "change",
    [
        {"prompt_style": "backwards"},
        {"history": -1},
        {"history": "many"},
        {"strategy": "shouting"},
        {"wrap": [{"wrapper": "os:system"}]},
        {"wrap": [{"turns": 2}]},
        {"limits": {"data_dir": 1}},
        {"limits": {"max_turns": 0}},
        {"max_new_tokens": 0},
        {"schema": 2},
    ],
    ids=json.dumps,
)
def test_a_foreign_or_damaged_file_is_refused_and_named(tmp_path: Path, change: dict) -> None:
    write_settings(tmp_path, SETTINGS)
    path = tmp_path / FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ConfigError, match=rf"{FILE} is damaged \(.*remove it"):
        read_settings(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"[" * 30_000, b" " * (MAX_BYTES + 1), b"null"])
def test_what_is_no_settings_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ConfigError, match="is damaged"):
        read_settings(tmp_path)


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE)
    assert read_settings(tmp_path) is None


def test_what_is_not_given_is_as_trained_without_a_word() -> None:
    chosen, notes = as_trained(SETTINGS, LAKE, NOTHING)
    assert notes == [] and chosen["prompt_style"] == "step" and chosen["history"] == 0 and chosen["max_turns"] == 4
    assert chosen["strategy"] == "grounding" and chosen["wrap"] == ({"wrapper": "History", "turns": 2},)


def test_limits_are_not_taken_into_another_environment() -> None:
    chosen, notes = as_trained(SETTINGS, SOKOBAN, NOTHING)
    assert chosen["max_turns"] is None and chosen["strategy"] == "grounding" and notes == []


def test_what_is_given_counts_and_is_remarked_upon_where_it_differs() -> None:
    given = {**NOTHING, "prompt_style": "conversation", "history": 3, "strategy": "", "max_turns": 4, "wrap": []}
    chosen, notes = as_trained(SETTINGS, LAKE, given)
    assert chosen["prompt_style"] == "conversation" and chosen["strategy"] == ""
    assert notes == [  # the history of a whole conversation and the representation of no reasoning say nothing
        "the model was trained with prompt_style=step; it is used with prompt_style=conversation",
        "the model was trained with strategy=grounding; it is used with strategy=none",
        'the model was trained with wrap=[{"wrapper":"History","turns":2}]; it is used with wrap=[]',
    ]


def test_without_settings_nothing_is_chosen_and_nothing_said() -> None:
    given = {**NOTHING, "prompt_style": "step"}
    assert as_trained(None, LAKE, given) == (given, [])


def test_the_longest_reply_is_as_trained_unless_given(caplog: pytest.LogCaptureFixture) -> None:
    assert (longest_reply(None, None), longest_reply(None, 9), longest_reply(SETTINGS, None)) == (128, 9, 7)
    assert caplog.text == ""
    assert longest_reply(SETTINGS, 9) == 9 and "max_new_tokens=7; it is used with max_new_tokens=9" in caplog.text

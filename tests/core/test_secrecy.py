"""Secrets are recognised by name, by value and by shape; ordinary data stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrl.core.redact import MASK
from agentrl.core.secrecy import is_secret_name, scrub

CANARY = "canary-key-0815"


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "OPENAI_API_KEY",
        "apikey",
        "apiKey",
        "token",
        "hub-token",
        "authToken",
        "Password",
        "client_secret",
        "X-Api-Key",
        "private_key",
        "AWS_SECRET_ACCESS_KEY",
        "Cookie",
        "proxy-authorization",
        "auth",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert scrub({"a": [{name: CANARY}]}) == {"a": [{name: MASK}]}


@pytest.mark.parametrize(
    "name",
    ["api_key_env", "max_tokens", "tokenizer", "key", "text", "secretary", "eos_token", "stop_token", "author"],
)
def test_names_that_hold_none(name: str) -> None:
    value = "nobody-hides-this"  # not the canary: other tests have this process strike it out
    assert scrub({name: value, "n": 3}) == {name: value, "n": 3}


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


def test_secrets_inside_json_text_go_and_other_text_stays_as_it_is() -> None:
    text = json.dumps(
        {"kind": "llm", "extra_body": {"api_key": CANARY, "deep": json.dumps([{"token": "another-key"}])}}
    )
    clean = scrub({"judge": text, "note": f"{CANARY} another-key"})
    assert CANARY not in str(clean) and "another-key" not in str(clean)
    assert json.loads(clean["judge"])["extra_body"]["api_key"] == MASK
    for same in ('{"kind":  "rule"}', "{not json", "[1, 2", "[]"):
        assert scrub(same) == same


def test_everything_under_the_name_of_a_secret_goes() -> None:
    value = {
        "credentials": {"user": CANARY, "more": ["other-key-1"]},
        "api_key": ["key-number-2"],
        "said": "key-number-2",
    }
    assert scrub(value) == {"credentials": MASK, "api_key": MASK, "said": MASK}
    assert scrub({"api_key": None, "token": 3}) == {"api_key": None, "token": 3}


@pytest.mark.parametrize(
    "text",
    [
        f"https://me:{CANARY}@host/v1",
        f"https://host/v1?x=1&api_key={CANARY}#top",
        "github_pat_canary0815canary0815",
        "AKIA" + "CANARY0815CANARY",
        "eyJcanary0815.eyJcanary0815.canary0815",
    ],
)
def test_more_shapes_of_secrets(text: str) -> None:
    assert MASK in scrub(text) and "canary" not in scrub(text).lower()


def test_folders_and_paths_that_exist_are_no_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone-folder"
    monkeypatch.setenv("PWD", str(gone))  # a shell's word for where it is, whether or not that is there any more
    monkeypatch.setenv("OLDPWD", str(tmp_path))
    monkeypatch.setenv("GOOGLE_CREDENTIALS", str(tmp_path))
    monkeypatch.setenv("DB_PWD", CANARY)
    value = {"model": f"{gone}/m", "task_file": f"{tmp_path}/tasks.json", "credentials": str(tmp_path), "x": CANARY}
    assert scrub(value) == {**value, "x": MASK}
    assert scrub({"credentials": f"{tmp_path}/nothing-there"})["credentials"] == MASK


def test_a_run_keeps_the_paths_below_the_working_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from agentrl.trainers.arguments.policy import StepPO

    monkeypatch.setenv("PWD", str(tmp_path))
    args = StepPO(model=f"{tmp_path}/model", env_kwargs={"path": f"{tmp_path}/levels"})
    assert StepPO.from_json(args.to_json()) == args

"""`agentrl site NAME` and its short form as a person starts them: a process that serves until it is interrupted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request

import pytest

from agentrl.cli.main import main


@pytest.mark.parametrize(
    "words",
    [
        ["shop", "--catalogue-size", "1000"],
        ["site", "webshop", "--env-kwargs", '{"catalogue_size": 1000}'],
        ["site", "agentrl/WebShop-Visual-v0", "--env-kwargs", '{"catalogue_size": 1000, "split": "train"}'],
    ],
)
def test_the_shop_opens_serves_and_closes(words: list[str]) -> None:
    command = [sys.executable, "-m", "agentrl.cli", *words, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            opened = json.loads(process.stdout.readline())
            with urllib.request.urlopen(opened["url"], timeout=20) as page:
                assert b"Instruction:" in page.read()
            assert opened == {"schema": 1, "url": opened["url"], "products": 1000, "split": "train"}
            process.send_signal(signal.SIGINT)
            assert process.wait(20) in (0, 130)
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--host", "0.0.0.0"], "host"),
        (["--host", "example.com"], "host"),
        (["--port", "70000"], "port"),
        (["--catalogue-size", "3"], "catalogue_size"),
        (["--data-dir", "/no/such/folder"], "folder"),
        (["--goals", "synthetic"], "goals"),
        (["--max-sessions", "0", "--catalogue-size", "1000"], "max_sessions"),
    ],
)
def test_bad_options_are_named(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shop", *words]) == 2
    assert named in capsys.readouterr().err


def test_the_sites_are_listed_and_unknown_ones_refused(agentrl_cli) -> None:
    assert [row["name"] for row in agentrl_cli("site", "--json").json["sites"]] == ["webshop", "webarena"]
    assert 'Did you mean "webshop"' in agentrl_cli("site", "webshoop").err
    assert "agentrl/Sokoban-Text-v0 has no web site" in agentrl_cli("site", "agentrl/Sokoban-Text-v0").err
    unknown = agentrl_cli("site", "webshop", "--env-kwargs", '{"catalog_size": 1000}')
    assert unknown.status == 2 and 'Did you mean "catalogue_size"' in unknown.err

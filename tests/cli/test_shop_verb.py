"""`agentrl shop` as a person starts it: a process that serves until it is interrupted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request

import pytest

from agentrl.cli.main import main


def test_the_shop_opens_serves_and_closes() -> None:
    command = [sys.executable, "-m", "agentrl.cli", "shop", "--port", "0", "--catalogue-size", "1000", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            opened = json.loads(process.stdout.readline())
            with urllib.request.urlopen(opened["url"], timeout=20) as page:
                assert b"Instruction:" in page.read()
            assert opened["products"] == 1000
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
    assert main(["shop", *words]) == 1
    assert named in capsys.readouterr().err

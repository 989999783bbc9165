"""Running verbs inside this process."""

from __future__ import annotations

import io
import json
from typing import Any, NamedTuple

import pytest

from agentrl.cli.main import main


class Done(NamedTuple):
    """What a verb left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout, which must be exactly one line of JSON."""
        (line,) = self.out.splitlines()
        return json.loads(line)


@pytest.fixture
def agentrl_cli(capsys, monkeypatch):
    """`agentrl_cli("eval", ID, ..., stdin="text")`."""

    def call(*words: str, stdin: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        try:
            status = main(words)
        except SystemExit as leaving:  # tyro, for -h and for wrong usage
            status = leaving.code
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    return call

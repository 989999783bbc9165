"""Interrupts, and outputs that are closed or full: one line and a status, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentrl.cli.main import main

REPOSITORY = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
# A shell starts what runs in the background with interrupts ignored, and its children inherit that.
COMMAND = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
COMMAND += (
    "import os, sys; sys.argv = ['agentrl', *sys.argv[1:]]; from agentrl_command import main; os.write(1, b'x'); "
)
COMMAND += "sys.exit(main())"


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3])
def test_an_interrupt_while_python_imports_is_one_line(seconds: float) -> None:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = [sys.executable, "-c", COMMAND, "list"]
    with subprocess.Popen(words, cwd=REPOSITORY, env=ENVIRONMENT, **pipes) as process:
        assert process.stdout is not None and process.stdout.read(1) == b"x"
        time.sleep(0.01 + seconds)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and said == b"agentrl: interrupted\n", said


@pytest.mark.parametrize(
    ("words", "output", "wanted"),
    [("recipe >&-", "", "the standard output is closed"), ("recipe > /dev/full", "", "No space left"),
     ("-h > /dev/full", "", "No space left"), ("recipe 2>&- --json", "recipes", "")],
)  # fmt: skip
def test_an_output_that_is_closed_or_full_is_one_line(words: str, output: str, wanted: str) -> None:
    line = f"{sys.executable} -m agentrl.cli {words}"
    done = subprocess.run(["sh", "-c", line], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert done.returncode == bool(wanted) and output in done.stdout
    assert done.stderr.count("\n") == bool(wanted) and wanted in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [("agentrl/FrozenLake-Text-v0", {"render_mode": True}), ("agentrl/FrozenLake-Text-v0", {"size": [4]}),
     ("agentrl.envs.grid.sokoban_duo.parallel_env", {"self": 1}),
     ("agentrl.envs.grid.sokoban_duo.parallel_env", {"size": {}})],
)  # fmt: skip
def test_arguments_of_wrong_types_are_one_line(name: str, kwargs: dict[str, Any], capsys) -> None:
    assert main(["info", name, "--env-kwargs", json.dumps(kwargs)]) == 2
    assert capsys.readouterr().err.startswith("agentrl: ")

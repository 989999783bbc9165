"""Packages in another virtual environment: where they are looked for, and what is said where there are none."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import pytest

from agentrl.core import interpreter
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.interpreter import InterpreterSpec, MissingInterpreter, find_interpreter

NUMPY = InterpreterSpec("numpy", variable="NUMPY_PYTHON", folder=".venv-numpy", setup="scripts/setup.sh numpy")
ROBOT = InterpreterSpec("no_such_robot", variable="ROBOT_PYTHON", folder=".venv-robot", setup="scripts/setup.sh robot")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No checkout, no variables, an empty current folder."""
    monkeypatch.setattr(interpreter, "CHECKOUT", tmp_path / "checkout")
    for spec in (NUMPY, ROBOT):
        monkeypatch.delenv(spec.variable, raising=False)
    monkeypatch.chdir(tmp_path)


def test_this_interpreter_is_used_where_it_has_the_package() -> None:
    import numpy

    found = find_interpreter(NUMPY)
    assert (found.python, found.distribution, found.version) == (sys.executable, "numpy", numpy.__version__)


def test_the_argument_wins_over_the_variable_and_the_variable_over_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMPY_PYTHON", "/nowhere/python")
    with pytest.raises(ConfigError, match="python must be a Python interpreter; got /nowhere/python"):
        find_interpreter(NUMPY)
    assert find_interpreter(NUMPY, sys.executable).python == sys.executable


@pytest.mark.parametrize("root", ["checkout", "."])
def test_the_folder_is_looked_for_in_the_checkout_and_here(root: str, tmp_path: Path) -> None:
    python = tmp_path / root / ".venv-robot" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho \'{"found": true, "distribution": "robot", "version": "2.1"}\'\n')
    python.chmod(0o755)
    assert find_interpreter(ROBOT).version == "2.1"


def test_the_error_says_which_command_to_run(tmp_path: Path) -> None:
    with pytest.raises(MissingInterpreter, match=r"no_such_robot is not installed; run: python3 -m venv \.venv-robot"):
        find_interpreter(ROBOT)
    with pytest.raises(MissingInterpreter, match=f"{sys.executable} has no no_such_robot") as missing:
        find_interpreter(ROBOT, sys.executable)
    assert "ROBOT_PYTHON" in str(missing.value) and isinstance(missing.value, MissingExtra)
    assert str(copy.copy(missing.value)) == str(missing.value)
    (tmp_path / "checkout" / "scripts").mkdir(parents=True)
    (tmp_path / "checkout" / "scripts" / "setup.sh").touch()
    with pytest.raises(MissingInterpreter, match=r"run: scripts/setup\.sh robot, or name"):
        find_interpreter(ROBOT)

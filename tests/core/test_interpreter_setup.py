"""`set_up_interpreter`: a virtual environment for packages that do not fit beside others, made once."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from agentrl.core.errors import ConfigError
from agentrl.core.interpreter import InterpreterSpec, find_interpreter, set_up_interpreter

SPEC = InterpreterSpec("clashing", "AGENTRL_CLASHING_PYTHON", ".venv-clashing", "agentrl setup clashing")


def wheel(folder: Path) -> Path:
    place, info = folder / "clashing-1.5-py3-none-any.whl", "clashing-1.5.dist-info"
    with zipfile.ZipFile(place, "w") as file:
        file.writestr("clashing.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: clashing\nVersion: 1.5\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return place


def test_it_is_made_once_and_found_by_itself(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    said: list[str] = []
    with pytest.raises(ConfigError, match=r"pip install .* failed"):
        set_up_interpreter(SPEC, [str(tmp_path / "missing.whl")], said.append)
    packages = ["--no-index", str(wheel(tmp_path))]
    facts = set_up_interpreter(SPEC, packages, said.append)
    assert facts["package"] == "clashing 1.5" and facts["use"] == "found by itself" and len(said) == 2
    assert find_interpreter(SPEC).python == facts["python"]
    assert set_up_interpreter(SPEC, packages, said.append) == facts and len(said) == 2

"""The wheel holds the package alone, and works in an empty virtual environment without extras."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "agentrl_command.py", "agentrl_verifiers.py")
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]


def test_an_installed_wheel_runs_the_first_example_and_says_what_it_lacks(tmp_path: Path) -> None:
    wheel = built_wheel(tmp_path)
    check_content(wheel)
    programs = installed(wheel, tmp_path / "empty")

    example = tmp_path / "example.py"
    example.write_text(re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.M)[0])
    assert run(programs / "python", example, cwd=tmp_path).strip()

    def agentrl(*words: str, status: int = 0) -> str:
        return run(programs / "agentrl", *words, cwd=tmp_path, status=status)

    available = {row["id"]: row["available"] for row in json.loads(agentrl("list", "--json"))}
    assert available["agentrl/Sokoban-Visual-v0"] and not available["agentrl/SVG-Visual-v0"]
    # What lives in a checkout only is not offered.
    assert "bench" not in agentrl("-h") and "unknown verb 'bench'" in agentrl("bench", status=2)
    assert "judges" not in agentrl("check", "-h") and "unknown environment" in agentrl("check", "judges", status=2)


def built_wheel(folder: Path) -> Path:
    """Build from a copy: what an earlier build left in the checkout must not get in."""
    source = folder / "source"
    unwanted = shutil.ignore_patterns("__pycache__", "*.so", "build", "*.egg-info")
    for name in ("agentrl", "benchmarks", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=unwanted)
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, source)
    run(*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder / "dist", source, cwd=folder)
    (wheel,) = (folder / "dist").iterdir()
    return wheel


def check_content(wheel: Path) -> None:
    """Everything in `agentrl` and the command's own file, and nothing from elsewhere."""
    held = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name and not name.endswith(".so")}
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "agentrl").rglob("*") if path.is_file()}
    modules = {"agentrl_command.py", "agentrl_verifiers.py"}
    assert held == modules | {*(name for name in package if not re.search(r"__pycache__|\.(so|c)$", name))}


def installed(wheel: Path, folder: Path) -> Path:
    """The folder of programs of a new virtual environment with the wheel and what it requires, at pinned versions."""
    venv.create(folder, with_pip=False)  # this pip installs into it: a second one would take seconds
    python = folder / "bin" / "python"
    run(*PIP, "--python", python, "install", "--no-compile", "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    return folder / "bin"


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    """What a command prints, in an environment that cannot see the checkout; fails unless its status is as expected."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=variables, capture_output=True, text=True, timeout=240)
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout or done.stderr

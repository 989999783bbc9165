"""The name to install the package by is ours: on PyPI, the package with the name of the module is somebody else's."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from agentrl.core.errors import DISTRIBUTION, MissingExtra, install_command

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEXT = {".c", ".cff", ".css", ".json", ".md", ".py", ".sh", ".toml", ".txt"}
FOLDERS = ("agentrl", "benchmarks", "docs", "examples", "scripts", "tests")
# "pip install agentrl", also with options between, and "agentrl[extra]", also where a pattern escapes the bracket.
FOREIGN = re.compile(r"pip3? install(?: -\S+)* ['\"]?agentrl(?![-\w/.])|(?<![-\w.])agentrl\\?\[")


def texts() -> list[Path]:
    """Every text file that comes with a checkout, this one excepted."""
    inside = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    files = [path for path in (*ROOT.glob("*"), *inside) if path.is_file() and path.suffix in TEXT | {""}]
    built = {"__pycache__", "_build", "generated"}
    return [path for path in files if not built & set(path.parts) and path != Path(__file__)]


def test_the_project_has_the_name_that_messages_use() -> None:
    assert PROJECT["name"] == DISTRIBUTION != "agentrl"


def test_no_file_recommends_the_foreign_package() -> None:
    files = texts()
    assert {"README.md", "Makefile", "setup.sh", "training.md"} <= {path.name for path in files}
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in files
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if FOREIGN.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    ["pip install agentrl", "pip install -U agentrl  # now", "pip install 'agentrl[train]'", "needs `agentrl[svg]`"],
)
def test_the_search_finds_what_it_looks_for(line: str) -> None:
    assert FOREIGN.search(line)


@pytest.mark.parametrize(
    "line",
    ["pip install .", f"pip install {DISTRIBUTION}", install_command("train"), "pip install agentrl/", "agentrl list"],
)
def test_the_search_leaves_ours_alone(line: str) -> None:
    assert not FOREIGN.search(line)


def test_a_missing_extra_names_the_distribution_and_extras_refer_to_it() -> None:
    assert install_command("human") == f"pip install '{DISTRIBUTION}[human]'"
    assert str(MissingExtra("pygame", "human")).endswith(install_command("human"))
    own = [text for extra in PROJECT["optional-dependencies"].values() for text in extra if text.startswith("agentrl")]
    assert own and all(text.startswith(f"{DISTRIBUTION}[") for text in own)


@pytest.mark.parametrize("pins", sorted((ROOT / "scripts" / "libraries").glob("*.txt")), ids=lambda path: path.stem)
def test_libraries_pin_a_setuptools_that_builds_the_package(pins: Path) -> None:
    """The package is built without isolation; the setuptools that comes with Python 3.11 cannot read its license."""
    pinned = re.search(r"(?m)^setuptools==(\d+)", pins.read_text())
    assert pinned is not None and int(pinned[1]) >= 77

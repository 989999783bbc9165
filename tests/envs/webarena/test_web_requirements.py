"""Whoever installs the extra `web` can play: the family needs no package that neither it nor the core installs."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FAMILY = ROOT / "agentrl" / "envs" / "webarena"
NAMES = {"pillow": "PIL"}  # where the package is called otherwise than its module
# Only used where it is there, or by what needs an extra of its own.
OPTIONAL = {"playwright", "cairosvg", "mujoco", "tokenizers", "safetensors"}
BROUGHT_ALONG = {"markupsafe"}  # by jinja2


def provided() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["web"]]
    packages = [re.split(r"[<>=\[ ]", need)[0] for need in needs]
    return {NAMES.get(package, package) for package in packages}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("folder", [FAMILY, ROOT / "agentrl" / "envs" / "common"], ids=["webarena", "common"])
def test_nothing_is_imported_that_the_extra_does_not_install(folder: Path) -> None:
    allowed = provided() | OPTIONAL | BROUGHT_ALONG | {"agentrl"} | set(sys.stdlib_module_names)
    others = {"bench", "warp"}  # what simulates robots on a GPU has an extra of its own
    files = [path for path in folder.rglob("*.py") if not others & {*path.parts}]
    assert len(files) > 20
    assert {(path.name, name) for path in files for name in imported(path) - allowed} == set()

"""A family is one folder and one row of the registry: without them the rest works, and nothing else names it.

One family is really deleted; that the others could be follows from the search, which finds no code that names them.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from agentrl.recipes import recipe_names
from agentrl.registry import FAMILIES, Family

ROOT = Path(__file__).resolve().parent.parent
NAMES = [family.name for family in FAMILIES]

# ---------------------------------------------------------------------- delete a family

# Run by a fresh interpreter in a folder that holds the copy of the package and nothing else.
WORK = """
import importlib, pathlib, sys
import agentrl
from agentrl.core.errors import MissingExtra
from agentrl.registry import default_env
from agentrl.testing import check_env

folder = pathlib.Path(sys.argv[1])
assert agentrl.__file__.startswith(sys.argv[1]), agentrl.__file__
for path in (folder / "agentrl").rglob("*.py"):
    if path.name not in ("__init__.py", "__main__.py") and path.parent.name != "inside":  # of vLLM's own interpreter
        try:
            importlib.import_module(".".join(path.relative_to(folder).with_suffix("").parts))
        except MissingExtra:
            pass
        except ModuleNotFoundError as error:  # which comes with torch for GPUs
            if error.name != "triton":
                raise

report = check_env(default_env(), checks=["spaces", "seed_determinism", "snapshot", "info", "oracle"], episodes=2)
assert report.passed, report

from agentrl.trainers.algorithms.sft import SFT, train

settings = {"model": "tiny-text", "demonstrations": 8, "iterations": 1, "steps_per_iteration": 1, "batch_size": 2}
train(SFT(**settings, threads=1, report=False, output="run"), print)
"""


def without_row(source: str, name: str) -> str:
    """The registry without the row of a family."""
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.AnnAssign)]
    (table,) = [node.value for node in assigned if ast.unparse(node.target) == "FAMILIES"]
    assert isinstance(table, ast.Tuple)
    (row,) = [row for row in table.elts if f"name='{name}'" in ast.unparse(row)]
    lines = source.splitlines(keepends=True)
    return "".join(lines[: row.lineno - 1] + lines[row.end_lineno or 0 :])


def copy_without(family: Family, target: Path) -> None:
    """The package without a family's folder and row."""
    shutil.copytree(ROOT / "agentrl", target / "agentrl", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(target / "agentrl" / "envs" / family.name)
    registry = target / "agentrl" / "registry.py"
    registry.write_text(without_row(registry.read_text(), family.name))


@pytest.mark.long
def test_without_the_first_family_the_others_are_imported_listed_checked_and_trained(tmp_path: Path) -> None:
    family = FAMILIES[0]  # the one whose environment is the default
    copy_without(family, tmp_path)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}

    def python(*words: str) -> str:
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
        return done.stdout

    others = [other for other in FAMILIES if other is not family]
    left = [entry.id for other in others for entry in other.envs]
    left += [entry.id for other in others for entry in other.multiplayer]
    assert [row["id"] for row in json.loads(python("-m", "agentrl.cli", "list", "--json"))] == left
    python("-c", WORK, str(tmp_path))
    assert list((tmp_path / "run" / "checkpoints").iterdir())


# ---------------------------------------------------------------------- nothing else names a family

# Words that mean something else as well: forbidden only as a part of an id or of a class name.
COMMON_WORDS = {"navigation", "svg"}  # going from page to page, an image format
EXAMPLES = "agentrl/cli/examples.py"  # the examples of help texts


def pattern_of(family: Family) -> re.Pattern[str]:
    """What code outside the family must not contain: its games, its folder, its policies.

    A game is the name in an id ("agentrl/GAME-Text-v0"), found in any identifier, string or file name whatever its
    case. The name of the folder alone is too common ("grid") to be forbidden: only as a module or path.
    """
    games = {entry.id.removeprefix("agentrl/").partition("-")[0] for entry in family.envs}
    parts = [game if game.lower() not in COMMON_WORDS else rf"agentrl/{game}-|{game}(Vector)?Env" for game in games]
    parts.append(rf"envs[./]{family.name}\b")
    return re.compile("|".join([*parts, *whole_words(family.policies)]), re.IGNORECASE)


def verbs_of(family: Family) -> re.Pattern[str] | None:
    """Its commands, which other families may use as words of their own: a shop may also be a web site."""
    verbs = [site.verb for site in family.sites.values() if site.verb]
    return re.compile("|".join(whole_words(verbs)), re.IGNORECASE) if verbs else None


def whole_words(names: Iterable[str]) -> list[str]:
    return [rf"\A{re.escape(name)}\Z" for name in names]


def words_of(source: str) -> Iterator[str]:
    """Every identifier and string in code. A string that is a statement by itself is a docstring, or the help of an
    option; the name of a recipe is how the demo and others refer to a recipe."""
    recipes, texts = set(recipe_names()), set()
    for node in ast.walk(ast.parse(source)):  # statements before what they hold
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in texts and node.value not in recipes:
                yield node.value
        elif isinstance(node, ast.Expr):
            texts.add(id(node.value))
        else:  # id, attr, arg, name, module or asname
            yield from (word for word in vars(node).values() if isinstance(word, str))


@cache
def words_of_package() -> dict[str, list[str]]:
    """Of every file of the package that may not know families: its name, and the words of its code. Read once."""
    exempt = ("agentrl/registry.py", "agentrl/recipes/", EXAMPLES)
    files = [path for path in (ROOT / "agentrl").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    names = {path.relative_to(ROOT).as_posix(): path for path in files}
    return {
        name: [name, *(set(words_of(path.read_text())) if path.suffix == ".py" else ())]
        for name, path in names.items()
        if not name.startswith(exempt)
    }


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_no_code_outside_its_folder_and_row_names_a_family(family: Family) -> None:
    pattern, verbs, found = pattern_of(family), verbs_of(family), []
    outside = {n: words for n, words in words_of_package().items() if not n.startswith(f"agentrl/envs/{family.name}/")}
    for name, words in outside.items():
        found += [f"{name}: {word[:80]!r}" for word in words if pattern.search(word)]
        if verbs is not None and not name.startswith("agentrl/envs/"):
            found += [f"{name}: {word[:80]!r}" for word in words if verbs.search(word)]
    assert found == [] and sum(name.endswith(".py") for name in outside) > 100


@pytest.mark.parametrize(
    "line",
    [
        'env = gym.make("agentrl/SVG-Visual-v0")',
        "from agentrl.envs.svg.env import SVGEnv",
        "import agentrl.envs.svg.env",
        "def f(x): return x.SVGEnv",
        'kind = "svg-blank"',
    ],
)
def test_the_search_finds_what_it_looks_for(line: str) -> None:
    (family,) = [family for family in FAMILIES if family.name == "svg"]
    assert any(pattern_of(family).search(word) for word in words_of(line))


@pytest.mark.parametrize(
    "line", ['"""A docstring about agentrl/SVG-Visual-v0."""', "x = 1  # agentrl.envs.svg", 'path = "film.svg"']
)
def test_the_search_leaves_other_lines_alone(line: str) -> None:
    (family,) = [family for family in FAMILIES if family.name == "svg"]
    assert not any(pattern_of(family).search(word) for word in words_of(line))

"""The README's code is code: it is extracted and run."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def blocks(text: str) -> list[str]:
    """The Python blocks of a Markdown text, in order."""
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def section(title: str) -> str:
    """What stands under a heading of the second level."""
    return re.split(r"^## ", README.split(f"## {title}\n", 1)[1], flags=re.MULTILINE)[0]


def run(code: str, folder: Path) -> str:
    """Run code as a script of its own in a fresh process; its output."""
    script = folder / "example.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_quick_start_is_short_and_solves_its_task(tmp_path: Path) -> None:
    (code,) = blocks(section("Quick start"))
    assert len(code.splitlines()) <= 10
    assert run(code, tmp_path).rstrip().endswith("Every box is on a target.")


NOT_QUICK_START = [code for code in blocks(README) if code not in blocks(section("Quick start"))]


@pytest.mark.parametrize("code", NOT_QUICK_START, ids=lambda code: code.splitlines()[-1].strip()[:40])
def test_every_other_example_runs(code: str, tmp_path: Path) -> None:
    run(code, tmp_path)


def test_every_file_the_readme_points_at_exists() -> None:
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", README) if not t.startswith("http")]
    assert "docs/_static/worlds.png" in targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_every_environment_is_in_the_table() -> None:
    from agentrl.registry import TABLE

    named = {env_id for words in section("Environments").split("`") for env_id in spelled_out(words)}
    patterns = [re.escape(name).replace("<task>", "[a-z-]+") for name in named if "<task>" in name]
    assert [e.id for e in TABLE if e.id not in named and not any(re.fullmatch(p, e.id) for p in patterns)] == []


def spelled_out(words: str) -> list[str]:
    """`a{b,c}d` means abd and acd; `<task>` is left for every task of a family with many."""
    parts = [part.split(",") for part in re.split(r"[{}]", words)] if "{" in words else [[words]]
    return ["".join(choice) for choice in product(*parts)]

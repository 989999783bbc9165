"""Every block of every tutorial is run, in an empty folder, through the installed command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs" / "tutorials").glob("*.md"))}
INDEX = PAGES.pop("index")
NAMED = re.compile(r'(?:"""|# )([\w-]+\.(?:py|toml))')  # the first line of a file says what it is called


def blocks(page: str) -> list[tuple[str, str]]:
    """(kind, text) of every fenced block, in order."""
    return re.findall(r"^```(\S+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def run(script: str, folder: Path) -> str:
    """What a shell prints, with this checkout's package and the command beside this Python."""
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    where |= {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]), "COLUMNS": "100"}
    words = ["bash", "-e", "-c", script]
    done = subprocess.run(words, cwd=folder, env=where, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", PAGES)
def test_every_block_runs(name: str, tmp_path: Path) -> None:
    said = ""
    for kind, text in blocks(PAGES[name]):
        if kind == "bash":
            said = run(text, tmp_path)
        elif kind == "text":  # what the commands before it print, line by line
            assert [line for line in text.splitlines() if line.strip() not in said] == []
        else:
            named = NAMED.match(text)
            assert named, f"the first line of a {kind} block must name its file; got {text.splitlines()[0]!r}"
            (tmp_path / named[1]).write_text(text)


@pytest.mark.parametrize("name", PAGES)
def test_tutorials_are_short_and_listed(name: str) -> None:
    assert len(PAGES[name].splitlines()) <= 110
    assert f"{{doc}}`{name}`" in INDEX and f"\n{name}\n" in INDEX.split("{toctree}")[1]

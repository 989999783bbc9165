"""The example of docs/web-tasks.md is extracted and run as a stranger would run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "web-tasks.md").read_text()
BLOCKS = re.findall(r"^```(python|json)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.browser
def test_the_example_solves_its_three_tasks(tmp_path: Path) -> None:
    for (kind, text), name in zip(BLOCKS, ("notes_site.py", "tasks.json", "play.py"), strict=True):
        assert kind == "json" or f'"""{name}' in text
        (tmp_path / name).write_text(text)
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "play.py"], cwd=tmp_path, env=where, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^file:\d: reward (.*)$", done.stdout, re.MULTILINE) == ["1.0"] * 3, done.stdout

"""The example of a family in a package of its own: installed, agentrl finds every part of its row."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "guess_family"
BROKEN = """
[agentrl.families]
absent = no_such_package.row:ROW
odd = broken:TEXT
grid = guess_family.row:ROW
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example, installed by pip, and with a package whose rows cannot be used."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "guess_family"
    # Built from a copy, so that the checkout stays as it is.
    subprocess.run(["cp", "-r", str(EXAMPLE), str(source)], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q", "install"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--target", str(folder), str(source)], check=True)
    (folder / "broken.py").write_text('TEXT = "not a row"\n')
    (folder / "broken-1.0.dist-info").mkdir()
    (folder / "broken-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (folder / "broken-1.0.dist-info" / "entry_points.txt").write_text(BROKEN)
    return folder


def agentrl(site: Path, *words: str) -> tuple[Any, str]:
    """The JSON that a command prints, and its log."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    command = [sys.executable, "-m", "agentrl.cli", *words, "--json"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout), done.stderr


def test_it_is_listed_and_rows_that_cannot_be_used_are_left_out_with_a_warning(site: Path) -> None:
    rows, log = agentrl(site, "list")
    (row,) = [row for row in rows if row["id"].startswith("guess/")]
    assert row["available"] and row["backend"] == "package guess-family"
    assert "No module named 'no_such_package'" in log and "must name an agentrl.registry.Family; got str" in log
    assert "grid is a family of agentrl's own" in log


def test_the_kit_checks_it_with_its_own_budget(site: Path) -> None:
    report, _ = agentrl(site, "check", "guess/Guess-Text-v0")
    (hostile,) = [check for check in report["envs"][0]["checks"] if "hostil" in check["name"]]
    assert report["pass"] and "200" in hostile["detail"]


def test_its_players_tell_thought_from_a_constant_reply(site: Path) -> None:
    def success(policy: str) -> float:
        return agentrl(site, "eval", "guess/Guess-Text-v0", "--policy", policy, "--episodes", "20")[0]["success"]

    assert success("guess-binary") == 1.0 and success("guess-constant") <= 0.1


def test_its_benchmark_site_and_set_up_are_found(site: Path) -> None:
    assert agentrl(site, "bench", "guess", "--quick")[0]["results"][0]["value"] > 0
    assert "guess" in [row["name"] for row in agentrl(site, "site")[0]["sites"]]
    facts = json.dumps(agentrl(site, "setup", "guess")[0])
    assert '"train": 60' in facts and '"test": 20' in facts

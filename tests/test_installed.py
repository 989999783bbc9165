"""Environments of other packages: entry points are registered and listed, and nothing is imported for that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULE = '''
from agentrl.envs.grid.frozenlake import FrozenLakeEnv

print("imported")

class PondEnv(FrozenLakeEnv):
    """A lake."""
'''
POINTS = """
[agentrl.environments]
pond/Pond-Text-v0 = pond.env:PondEnv
pond/Lost-Text-v0 = no_such_package:Env
agentrl/Sokoban-Text-v0 = pond.env:PondEnv
pond = pond.env:PondEnv
pond/Module-v0 = pond.env
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "pond").mkdir()
    (folder / "pond" / "__init__.py").touch()
    (folder / "pond" / "env.py").write_text(MODULE)
    (folder / "pond_envs-1.0.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: pond-envs\nVersion: 1.0\nSummary: Small waters.\n"
    (folder / "pond_envs-1.0.dist-info" / "METADATA").write_text(metadata)
    (folder / "pond_envs-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    return folder


def python(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]), "COLUMNS": "200"}
    return subprocess.run([sys.executable, *words], env=environ, capture_output=True, text=True, timeout=120)


def test_they_are_listed_without_being_imported_and_unusable_ones_are_left_out(site: Path) -> None:
    done = python(site, "-m", "agentrl.cli", "list")
    assert done.returncode == 0 and "imported" not in done.stdout
    rows = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if line.startswith("│")}
    assert "package pond-envs" in rows["pond/Pond-Text-v0"] and "Small waters." in rows["pond/Pond-Text-v0"]
    assert "its module is not found" in rows["pond/Lost-Text-v0"]
    assert {"agentrl/Sokoban-Text-v0", "agentrl.envs.grid.sokoban_duo.parallel_env"} <= rows.keys()
    assert "agentrl's own" in done.stderr and '"module:Class"' in done.stderr and "must be an id" in done.stderr
    assert "pond" not in rows and "pond/Module-v0" not in rows and "package" not in rows["agentrl/Sokoban-Text-v0"]


def test_they_work_like_any_other(site: Path) -> None:
    code = """
import gymnasium as gym, agentrl
from agentrl.cli.main import main
env = gym.make("pond/Pond-Text-v0")
env.reset(seed=1)
restored = gym.make("pond/Pond-Text-v0")
restored.reset(seed=2)
agentrl.restore(restored, agentrl.snapshot(env))
assert main(["eval", "pond/Pond-Text-v0", "--policy", "oracle", "--episodes", "2"]) == 0
assert main(["eval", "pond/Pnd-Text-v0"]) == 2
assert main(["check", "pond/Lost-Text-v0"]) == 1
"""
    done = python(site, "-c", code)
    assert done.returncode == 0, done.stderr
    assert 'Did you mean "pond/Pond-Text-v0"?' in done.stderr and "no_such_package is not found" in done.stdout

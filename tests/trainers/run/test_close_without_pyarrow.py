"""A run on a machine without pyarrow keeps its trajectories as they are, and says so."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

from agentrl.rollout.trajectory_file import read_trajectories
from agentrl.trainers.run.run import Run
from tests.viewer.run_folders import played, write_run


def finish(folder: Path, said: list[str]) -> None:
    """End a run whose folder this is."""
    run = SimpleNamespace(folder=folder, report=said.append, arguments=SimpleNamespace(report=False))
    Run._finish(run)  # pyright: ignore[reportArgumentType]


def test_trajectories_stay_json_lines_where_pyarrow_is_missing(tmp_path, monkeypatch):
    write_run(tmp_path, [], iteration_000001=played(1.0, 0, count=2), iteration_000002=played(0.5, 1, count=2))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said: list[str] = []
    finish(tmp_path, said)
    (line,) = said
    assert "stay JSON lines" in line and "pyarrow" in line
    files = sorted(path.name for path in (tmp_path / "trajectories").iterdir())
    assert files == ["iteration_000001.jsonl", "iteration_000002.jsonl"]
    assert len(read_trajectories(tmp_path / "trajectories" / files[0])) == 2


def test_with_pyarrow_they_become_parquet(tmp_path):
    write_run(tmp_path, [], iteration_000001=played(1.0, 0, count=2))
    said: list[str] = []
    finish(tmp_path, said)
    assert [path.name for path in (tmp_path / "trajectories").iterdir()] == ["iteration_000001.parquet"] and not said

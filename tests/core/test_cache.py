"""A cache may be missing, damaged or forbidden; what comes out is always right."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote_plus

import numpy as np
import pytest

from agentrl.core import cache
from agentrl.core.cache import cache_dir, cached_arrays, forget_caches, on_forget, shared, write_atomically


class Builder:
    """Counts how often it had to work."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> dict[str, np.ndarray]:
        self.calls += 1
        return {"grids": np.arange(12, dtype=np.uint8).reshape(3, 4)[:, ::2], "empty": np.zeros((0, 2))}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def assert_right(arrays: dict[str, np.ndarray]) -> None:
    expected = Builder()()
    assert arrays.keys() == expected.keys()
    for name in expected:
        assert np.array_equal(arrays[name], expected[name]) and arrays[name].dtype == expected[name].dtype


def test_the_variable_chooses_the_folder_and_the_users_cache_is_the_default(monkeypatch, tmp_path):
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "here"))
    assert cache_dir() == tmp_path / "here"
    monkeypatch.setenv("AGENTRL_CACHE", "~/there")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "there"
    monkeypatch.delenv("AGENTRL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "xdg" / "agentrl"
    monkeypatch.setenv("XDG_CACHE_HOME", "")  # empty counts as unset
    assert cache_dir() == tmp_path / ".cache" / "agentrl"


def test_a_user_without_a_home_gets_a_folder_all_the_same(monkeypatch):
    def homeless(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("AGENTRL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert cache_dir().is_absolute()


def test_arrays_are_built_once_and_read_afterwards(folder):
    build = Builder()
    for _ in range(3):
        assert_right(cached_arrays("levels/some", build))
    assert build.calls == 1
    assert [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()] == [Path("levels/some.npz")]


def test_deleting_the_cache_is_safe(folder):
    build = Builder()
    cached_arrays("some", build)
    (folder / "some.npz").unlink()
    assert_right(cached_arrays("some", build))
    assert build.calls == 2


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "text", "append"])
def test_a_damaged_file_is_noticed_and_made_again(folder, damage, caplog):
    build = Builder()
    cached_arrays("some", build)
    path = folder / "some.npz"
    good = path.read_bytes()
    bad = {
        "flip": good[:200] + bytes([good[200] ^ 1]) + good[201:],
        "cut": good[:-7],
        "empty": b"",
        "text": b"<html>404</html>",
        "append": good + b"x",
    }[damage]
    path.write_bytes(bad)
    with caplog.at_level(logging.WARNING):
        assert_right(cached_arrays("some", build))
    assert build.calls == 2 and "damaged" in caplog.text
    assert path.read_bytes() == good


def test_a_folder_that_cannot_be_written_only_warns(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("a file where a folder should be")  # stops the superuser as well
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "file" / "cache"))
    with caplog.at_level(logging.WARNING):
        assert_right(cached_arrays("some", Builder()))
    assert "cannot cache" in caplog.text


def test_a_folder_with_the_files_name_only_warns(folder, caplog):
    (folder / "some.npz" / "inside").mkdir(parents=True)
    with caplog.at_level(logging.WARNING):
        assert_right(cached_arrays("some", Builder()))
    assert "cannot cache" in caplog.text and [path.name for path in folder.iterdir()] == ["some.npz"]


def test_a_write_that_fails_half_way_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "file"
    write_atomically(path, b"old")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and list(path.parent.iterdir()) == [path]


def test_writers_at_the_same_time_never_show_half_a_file(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([letter]) * 100_000 for letter in range(4)]
    write_atomically(path, contents[0])
    seen: list[bytes] = []
    writers = [threading.Thread(target=lambda c=c: [write_atomically(path, c) for _ in range(10)]) for c in contents]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        seen.append(path.read_bytes())
    assert seen and set(seen) <= set(contents)


def test_arrays_of_objects_are_refused_before_anything_is_pickled(folder):
    with pytest.raises(TypeError, match="objects"):
        cached_arrays("some", lambda: {"objects": np.array([{"a": 1}], dtype=object)})
    assert not list(folder.iterdir())


BUILD_ONCE = """
import sys, time, numpy as np
from agentrl.core.cache import cached_arrays

def build():
    open(sys.argv[1], "a").write("built\\n")
    time.sleep(1)
    return {"a": np.arange(3)}

assert cached_arrays("slow", build)["a"].tolist() == [0, 1, 2]
"""


def test_processes_that_need_the_same_file_build_it_once(tmp_path):

    note = tmp_path / "note"
    env = {**os.environ, "AGENTRL_CACHE": str(tmp_path / "cache")}
    runs = [subprocess.Popen([sys.executable, "-c", BUILD_ONCE, str(note)], env=env) for _ in range(3)]
    assert [run.wait(60) for run in runs] == [0, 0, 0]
    assert note.read_text() == "built\n"


def test_forgetting_empties_every_memory_and_leaves_those_of_other_code(monkeypatch):
    def own(number: int) -> int:
        return number

    own.__module__ = "agentrl.somewhere"
    remembered = [lru_cache(own), lru_cache(quote_plus)]  # a library's function that the package remembers
    kept, foreign = {"page": 1}, lru_cache(lambda number: number)
    monkeypatch.setattr(cache, "on_forget", [*on_forget, kept.clear])
    for function in (*remembered, foreign):
        function("1")
    forget_caches()
    assert [function.cache_info().currsize for function in (*remembered, foreign)] == [0, 0, 1]
    assert kept == {}


def test_what_is_shared_is_opened_once_for_its_arguments_and_the_cache_until_it_is_forgotten(tmp_path, monkeypatch):
    opened = []

    def opens(name: str) -> list[str]:
        opened.append(name)
        return [name]

    opens.__module__ = "agentrl.envs.example"
    shares = shared(2)(opens)
    assert shares("a") is shares("a") is not shares("b") and opened == ["a", "b"]
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "other"))
    assert shares("a") == ["a"] and opened == ["a", "b", "a"]
    forget_caches()
    assert shares("a") == ["a"] and opened == ["a", "b", "a", "a"]

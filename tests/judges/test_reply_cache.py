"""The cache of replies is shared, survives damage, and its loss is never worse than a miss."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentrl.core.redact import protect
from agentrl.judges.cache import ReplyCache


def fill(cache: ReplyCache, count: int) -> None:
    for number in range(count):
        cache.put(f"k{number}", {"n": number}, model="m", prompt="p@1")


def test_what_was_put_is_found_by_another_cache(tmp_path):
    first, second = ReplyCache(tmp_path / "a" / "c.sqlite"), ReplyCache(tmp_path / "a" / "c.sqlite")
    fill(first, 1200)  # more than one query holds
    found = second.get_many([f"k{number}" for number in range(1300)])
    assert found == {f"k{number}": {"n": number} for number in range(1200)}
    mode = sqlite3.connect(first.path).execute("PRAGMA journal_mode").fetchone()
    assert mode == ("wal",)


def test_the_first_answer_stands(tmp_path):
    cache = ReplyCache(tmp_path / "c")
    assert cache.put("k", "first", model="m", prompt="p") == "first"
    assert cache.put("k", "second", model="m", prompt="p") == "first"
    cache.forget("k")
    assert cache.get_many(["k"]) == {}


def test_many_threads_and_processes_agree_on_every_answer(tmp_path):
    path = tmp_path / "c"
    code = (
        "import sys; from pathlib import Path; from agentrl.judges.cache import ReplyCache\n"
        "cache = ReplyCache(Path(sys.argv[1]))\n"
        "print(*[cache.put(f'k{i}', sys.argv[2], model='m', prompt='p') for i in range(150)])"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], stdout=subprocess.PIPE, text=True)
        for n in range(3)
    ]
    cache = ReplyCache(path)
    with ThreadPoolExecutor(4) as pool:
        mine = list(pool.map(lambda n: cache.put(f"k{n % 150}", "me", model="m", prompt="p"), range(600)))
    answers = [writer.communicate(timeout=60)[0].split() for writer in writers]
    stored = cache.get_many([f"k{i}" for i in range(150)])
    assert len(stored) == 150
    for answer in answers:
        assert answer == [stored[f"k{i}"] for i in range(150)]
    assert mine == [stored[f"k{n % 150}"] for n in range(600)]


@pytest.mark.parametrize("damage", ["rubbish", "middle", "empty", "cut"])
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(damage, tmp_path):
    path = tmp_path / "c.sqlite"
    cache = ReplyCache(path)
    fill(cache, 2000)
    cache.close()
    data = path.read_bytes()
    path.write_bytes(
        {
            "rubbish": b"not a database at all, " * 500,
            "middle": data[:4096] + os.urandom(len(data) - 4096),
            "empty": b"",
            "cut": data[: len(data) // 2],
        }[damage]
    )
    for _ in range(2):
        again = ReplyCache(path)
        again.get_many([f"k{number}" for number in range(2000)])
        assert again.put("new", 1, model="m", prompt="p") == 1
        assert again.get_many(["new"]) == {"new": 1}
        again.close()
    aside = [file for file in tmp_path.iterdir() if "damaged" in file.name]
    assert bool(aside) == (damage != "empty")  # an empty file is a new database


def test_a_sound_file_is_not_set_aside_by_one_who_saw_the_damage_late(tmp_path):
    path = tmp_path / "c"
    path.write_bytes(b"rubbish" * 1000)
    fill(ReplyCache(path), 3)
    ReplyCache(path)._set_aside()
    assert len(ReplyCache(path).get_many(["k0", "k1", "k2"])) == 3


def test_a_place_that_cannot_be_written_is_a_cache_that_knows_nothing(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "c", tmp_path):
        cache = ReplyCache(path)
        assert cache.put("k", 1, model="m", prompt="p") == 1
        assert cache.get_many(["k"]) == {}
    assert "judge cache" in caplog.text


def test_a_connection_does_not_cross_a_fork(tmp_path):
    cache = ReplyCache(tmp_path / "c")
    fill(cache, 1)
    connection = cache._connection
    cache._pid = -1  # what a forked child would see
    assert cache.get_many(["k0"]) == {"k0": {"n": 0}}
    assert cache._connection is not connection


def test_secrets_are_not_stored(tmp_path):
    protect("do-not-store-me")
    cache = ReplyCache(tmp_path / "c")
    cache.put("k", {"why": "the key is do-not-store-me"}, model="do-not-store-me", prompt="p")
    cache.close()
    assert b"do-not-store-me" not in (tmp_path / "c").read_bytes()


def test_secrets_of_other_variables_are_not_stored_either(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "another-secret-of-mine")
    cache = ReplyCache(tmp_path / "c")
    said = {"why": ["the page shows another-secret-of-mine"]}
    found = cache.put("k", said, model="m", prompt="is another-secret-of-mine right?")
    cache.close()
    assert b"another-secret-of-mine" not in (tmp_path / "c").read_bytes()
    assert found == {"why": ["the page shows [redacted]"]}

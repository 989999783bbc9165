"""Each episode sees its own changes and nobody else does; the file never changes; saved changes load anywhere."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from agentrl.envs.webarena.sites.database import Database

SCHEMA = """CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL DEFAULT '', stars REAL);
CREATE TABLE tag (id INTEGER PRIMARY KEY, note_id INTEGER, name TEXT);"""
HOSTILE = (
    "'; DROP TABLE note; --",
    '"',
    "\0",
    "\ud800".encode("utf-8", "replace").decode(),
    "%s %d {x} {{y}}",
    "x" * 10**6,
)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    path = tmp_path / "base file.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    rows = ((f"note {number}", "text " * 50, number / 2) for number in range(500))
    connection.executemany("INSERT INTO note (title, body, stars) VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def titles(db: Database) -> list[str]:
    return [row["title"] for row in db.rows("SELECT title FROM note ORDER BY id")]


def test_changes_are_seen_by_their_own_episode_only(base: Path) -> None:
    first, second = Database(base), Database(base)
    first.insert("note", title="new")
    first.update("note", 1, title="changed")
    first.delete("note", 2)
    second.update("note", 1, title="changed otherwise")
    assert titles(first)[:2] == ["changed", "note 2"] and titles(first)[-1] == "new"
    assert titles(second)[:2] == ["changed otherwise", "note 1"] and len(titles(second)) == 500


def test_the_file_never_changes_however_much_an_episode_writes(base: Path) -> None:
    before, db = digest(base), Database(base)
    for number in range(1, 501):
        db.update("note", number, body="y" * 4_000)  # many times the page cache
    assert digest(base) == before
    db.close()
    assert digest(base) == before
    assert sorted(path.name for path in base.parent.iterdir()) == [base.name], "no journal is left behind"


def test_clearing_brings_the_base_data_back(base: Path) -> None:
    db, fresh = Database(base), Database(base)
    db.delete("note", 1)
    db.insert("tag", note_id=1, name="a")
    db.clear()
    assert titles(db) == titles(fresh) and db.changes == {} and db.now() == fresh.now()


def test_saved_changes_give_the_same_database_in_another_process(base: Path) -> None:
    db = Database(base)
    db.delete("note", 500)
    db.insert("note", title="takes the number of the deleted one", stars=0.1)
    db.update("note", 3, body="b\0ody \N{SNOWMAN}")
    saved = msgspec.msgpack.encode(db.save())
    code = (
        "import sys, msgspec, pathlib; from agentrl.envs.webarena.sites.database import Database\n"
        "db = Database(pathlib.Path(sys.argv[1])); db.load(msgspec.msgpack.decode(sys.stdin.buffer.read()))\n"
        "db.insert('note', title='next')\n"
        "print(db.rows('SELECT * FROM note').__len__(), db.now(), [tuple(r) for r in db.rows('SELECT * FROM note')])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(base)], input=saved, capture_output=True, check=True)
    db.insert("note", title="next")
    rows = db.rows("SELECT * FROM note")
    assert done.stdout.decode().strip() == f"{len(rows)} {db.now()} {[tuple(row) for row in rows]}"


def test_changes_that_do_not_fit_are_refused_and_leave_the_base_data(base: Path) -> None:
    db = Database(base)
    for saved in (
        {"writes": 1, "tables": {"nothing": [[1, None]]}},
        {"writes": 1, "tables": {"note": [[1, {"id": 1, "title; DROP TABLE tag": "x"}]]}},
        {"writes": 1, "tables": {"note": [[1, {"id": 1}]]}},  # a title is needed
        {"writes": "many", "tables": {}},
        {"tables": {"note": [["x", None]]}},
    ):
        db.update("note", 1, title="before")
        with pytest.raises(ValueError, match="do not fit"):
            db.load(saved)
        assert titles(db)[0] == "note 0"


def test_a_failing_block_leaves_nothing_behind(base: Path) -> None:
    db = Database(base)
    db.update("note", 1, title="kept")
    with pytest.raises(KeyError), db.atomic():
        db.update("note", 1, title="lost")
        db.insert("tag", name="lost")
        raise KeyError
    assert titles(db)[0] == "kept" and db.value("SELECT count(*) FROM tag") == 0
    assert list(db.changes) == ["note"] and db.writes == 1


@pytest.mark.parametrize("statement", ["COMMIT", "ATTACH 'x' AS y", "PRAGMA journal_mode=DELETE", "DROP TABLE tag"])
def test_no_statement_can_leave_the_transaction_or_change_the_schema(base: Path, statement: str) -> None:
    with pytest.raises(sqlite3.DatabaseError):
        Database(base).rows(statement)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_stored_as_it_is(base: Path, text: str) -> None:
    db = Database(base)
    row_id = db.insert("note", title=text, body=text)
    assert (found := db.get("note", row_id)) is not None and found["title"] == text
    with pytest.raises(ValueError, match="no table"):
        db.insert(text, title="x")
    with pytest.raises(ValueError, match="no column"):
        db.insert("note", **{text: "x"})
    assert len(titles(db)) == 501


def test_one_episode_may_be_used_from_several_threads_in_turn(base: Path) -> None:
    db = Database(base)
    for number in range(4):
        thread = threading.Thread(target=db.insert, args=("tag",), kwargs={"name": str(number)})
        thread.start()
        thread.join()
    assert [row["name"] for row in db.rows("SELECT name FROM tag ORDER BY id")] == ["0", "1", "2", "3"]


def test_time_goes_on_with_every_write(base: Path) -> None:
    db = Database(base)
    moments = [db.now()]
    for _ in range(3):
        db.insert("tag", name="x")
        moments.append(db.now())
    assert moments == sorted(set(moments))

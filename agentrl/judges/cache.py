"""Replies kept between runs: one SQLite file of JSON, shared by threads and processes.

Losing it costs money, not truth."""

from __future__ import annotations

import json
import logging
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from agentrl.core.cache import cache_dir
from agentrl.core.secrecy import scrub

log = logging.getLogger(__name__)
CHUNK = 500  # keys per query; SQLite allows 999 variables in old builds
TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL,
    made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID"""
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def default_path() -> Path:
    """Where replies are kept unless said otherwise."""
    return cache_dir() / "judges" / "replies.sqlite"


class ReplyCache:
    """Key -> JSON. Any trouble with the file is logged and reads as "not there"; a damaged file is set aside."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """What is stored under these keys."""
        wanted, found = list(keys), {}
        for start in range(0, len(wanted), CHUNK):
            chunk = wanted[start : start + CHUNK]
            marks = ",".join("?" * len(chunk))
            rows = self._run(f"SELECT key, value FROM replies WHERE key IN ({marks})", chunk)
            for key, value in rows:
                with suppress(ValueError):  # a row of nonsense is a row that is not there
                    found[key] = json.loads(value)
        return found

    def put(self, key: str, value: Any, *, model: str, prompt: str) -> Any:
        """Store a value unless one is there; returns the one that stands, so that every asker gets the same answer."""
        clean = scrub([value, model, prompt], names=False)  # also what other variables of the process keep secret
        row = (key, json.dumps(clean[0]), *clean[1:])
        self._run("INSERT OR IGNORE INTO replies (key, value, model, prompt) VALUES (?, ?, ?, ?)", row)
        return self.get_many([key]).get(key, value)

    def forget(self, key: str) -> None:
        """Take out a value that turned out to be of no use."""
        self._run("DELETE FROM replies WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._guard:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    # ------------------------------------------------------------------ the file

    def _run(self, statement: str, values: Iterable[Any]) -> list[tuple]:
        values = tuple(values)
        with self._guard:
            for _ in range(2):  # once more after a damaged file was set aside
                try:
                    if self._connection is None or self._pid != os.getpid():  # a connection must not cross a fork
                        self.path.parent.mkdir(parents=True, exist_ok=True)
                        self._connection, self._pid = _connect(self.path), os.getpid()
                    return self._connection.execute(statement, values).fetchall()
                except sqlite3.DatabaseError as error:
                    damaged = (getattr(error, "sqlite_errorcode", 0) & 0xFF) in DAMAGE
                    log.warning("judge cache %s: %s", self.path, error)
                    if not damaged:
                        return []
                    self._set_aside()
                except OSError as error:  # a folder that cannot be made
                    log.warning("judge cache %s: %s", self.path, error)
                    return []
        return []

    def _set_aside(self) -> None:
        """Rename the damaged file, unless another process has done so and a sound one stands there now."""
        self.close()
        with _one_at_a_time(self.path):
            with suppress(sqlite3.DatabaseError), closing(_connect(self.path)) as connection:
                if connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                    return
            mark = f".damaged-{secrets.token_hex(4)}"
            log.warning("judge cache %s is damaged; renamed to %s", self.path, self.path.name + mark)
            for ending in ("", "-wal", "-shm"):
                with suppress(OSError):
                    os.replace(f"{self.path}{ending}", f"{self.path}{mark}{ending}")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


class _one_at_a_time:
    """A lock file beside the cache, where the system has locks."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path.with_name(path.name + ".lock"), None

    def __enter__(self) -> None:
        with suppress(ImportError, OSError):
            import fcntl

            self._file = open(self._path, "wb")
            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

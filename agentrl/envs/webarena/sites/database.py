"""`Database`: a file that many episodes read and none ever changes, with the changes of one episode on top of it.

SQLite does the work. Each episode has a connection with one transaction that is never committed: what it writes stays
in the private page cache of that connection, where every query of the episode sees it and nobody else does. A rollback
is a reset. No locks are taken, because nobody ever writes to the file.

All changes go through `insert`, `update` and `delete`, which keep a record of the rows they touch. That record is the
snapshot: applied to a fresh connection, in any process, it gives the same database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import msgspec

Changes = dict[str, dict[int, dict[str, Any] | None]]  # table -> id -> the whole row, or None where it was deleted
START = datetime(2025, 6, 16, 9, 0, 0)  # the moment every episode begins; base data ends before it
CACHE_KIB = 512
TYPES: dict[str, Any] = {"INTEGER": int, "REAL": (int, float), "TEXT": str}
_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_SAVEPOINT,
    }
)  # fmt: skip


class SavedChanges(msgspec.Struct, forbid_unknown_fields=True):
    """The changes of an episode in a snapshot."""

    writes: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    tables: dict[str, list[tuple[int, dict[str, str | int | float | None] | None]]]


class Database:
    """One episode's view of a base file. Every table has `id INTEGER PRIMARY KEY`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changes: Changes = {}
        self.writes = 0  # so far; the clock of the episode
        # `nolock`: any number of transactions at once on one file that stays as it is.
        self._connection = sqlite3.connect(
            f"file:{quote(str(path))}?nolock=1", uri=True, isolation_level=None, check_same_thread=False
        )
        self._connection.row_factory = sqlite3.Row
        for setting in ("journal_mode=MEMORY", "cache_spill=OFF", "temp_store=MEMORY", f"cache_size=-{CACHE_KIB}"):
            self._connection.execute(f"PRAGMA {setting}")
        tables = self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        self._columns = {
            name: {column["name"]: column["type"] for column in self.rows(f"PRAGMA table_info({name})")}
            for (name,) in tables
        }
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.set_authorizer(_authorize)

    # ------------------------------------------------------------------ reading

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """All rows of a query."""
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> sqlite3.Row | None:
        """The first row of a query."""
        return self._connection.execute(sql, values).fetchone()

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the first row; None where there is no row."""
        found = self.row(sql, *values)
        return None if found is None else found[0]

    def get(self, table: str, row_id: int) -> sqlite3.Row | None:
        """The row with this id."""
        self._check(table, ())
        return self.row(f"SELECT * FROM {table} WHERE id = ?", row_id)

    def now(self) -> str:
        """The time of the episode as "2025-06-16 09:00:00": it goes on by a second with every write."""
        return (START + timedelta(seconds=self.writes)).isoformat(" ")

    # ------------------------------------------------------------------ writing

    def insert(self, table: str, **values: Any) -> int:
        """Add a row; its id."""
        self._check(table, values)
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        row_id = self._connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
        ).lastrowid
        assert row_id is not None
        self._keep(table, row_id)
        return row_id

    def update(self, table: str, row_id: int, **values: Any) -> None:
        """Change columns of a row."""
        self._check(table, values)
        changed = ", ".join(f"{name} = ?" for name in values)
        self._connection.execute(f"UPDATE {table} SET {changed} WHERE id = ?", (*values.values(), row_id))
        self._keep(table, row_id)

    def delete(self, table: str, row_id: int) -> None:
        """Remove a row."""
        self._check(table, ())
        self._connection.execute(f"DELETE FROM {table} WHERE id = ?", (row_id,))
        self._keep(table, row_id)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """All changes inside, or none if an exception leaves the block."""
        changes, writes = {table: dict(rows) for table, rows in self.changes.items()}, self.writes
        self._connection.execute("SAVEPOINT request")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO request")
            self.changes, self.writes = changes, writes
            raise
        finally:
            self._connection.execute("RELEASE request")

    # ------------------------------------------------------------------ episodes

    def clear(self) -> None:
        """Forget all changes."""
        if self.writes or self.changes:
            self._roll_back()

    def _roll_back(self) -> None:
        self._connection.set_authorizer(None)
        self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.set_authorizer(_authorize)
        self.changes, self.writes = {}, 0

    def save(self) -> dict[str, Any]:
        """The changes as values that msgpack can write."""
        tables = {
            table: [[row_id, row] for row_id, row in sorted(rows.items())] for table, rows in self.changes.items()
        }
        return {"writes": self.writes, "tables": tables}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Replace all changes by those that `save` returned; ValueError if they do not fit."""
        self.clear()
        try:
            kept = msgspec.convert(saved, SavedChanges)
            for table, rows in kept.tables.items():
                for row_id, row in rows:
                    self._check(table, row or ())
                    if row is not None and not self._fits(table, row_id, row):
                        raise ValueError(f"row {row_id} of {table!r} is not whole")
                    self._connection.execute(f"DELETE FROM {table} WHERE id = ?", (row_id,))
                    if row is not None:
                        names, marks = ", ".join(row), ", ".join("?" * len(row))
                        values = tuple(row.values())
                        self._connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
                    self.changes.setdefault(table, {})[row_id] = None if row is None else dict(row)
            self.writes = kept.writes
            if self.writes < sum(map(len, self.changes.values())):
                raise ValueError("more rows have changed than were written")
        except Exception as error:
            self._roll_back()
            raise ValueError(f"the saved changes do not fit {self.path.name}: {error}") from error

    def close(self) -> None:
        """End the connection; nothing was ever written to the file."""
        self._connection.close()

    def _keep(self, table: str, row_id: int) -> None:
        row = self.row(f"SELECT * FROM {table} WHERE id = ?", row_id)
        self.changes.setdefault(table, {})[row_id] = None if row is None else dict(row)
        self.writes += 1

    def _fits(self, table: str, row_id: int, row: Mapping[str, Any]) -> bool:
        """Has a row all columns, with values of their types? SQLite itself stores any text in a column of numbers."""
        columns = self._columns[table]
        kinds = all(value is None or isinstance(value, TYPES.get(columns[name], ())) for name, value in row.items())
        return row.get("id") == row_id and row.keys() == columns.keys() and kinds

    def _check(self, table: str, names: Any) -> None:
        """Names of tables and columns become part of a statement: only those of the schema may."""
        columns = self._columns.get(table)
        if columns is None:
            raise ValueError(f"there is no table {table!r}")
        for name in names:
            if name not in columns:
                raise ValueError(f"table {table!r} has no column {name!r}")


def _authorize(action: int, first: str | None, *_: Any) -> int:
    """Data may be read and changed within the transaction; it can neither be committed nor left."""
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def insert_rows(connection: sqlite3.Connection, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows to a table of base data; all of them name the same columns."""
    known = list(rows)
    if known:
        marks = ", ".join(f":{name}" for name in known[0])
        connection.executemany(f"INSERT INTO {table} ({', '.join(known[0])}) VALUES ({marks})", known)

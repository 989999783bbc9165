"""`Rows`: rows of many tables, collected with running ids and written at once."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from typing import Any


class Rows:
    """Tables in the making. All rows of a table name the same columns."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def add(self, table: str, **values: Any) -> int:
        """Append a row; its id."""
        rows = self.tables[table]
        rows.append(values)
        return len(rows)

    def get(self, table: str, row_id: int) -> dict[str, Any]:
        """The row with that id, to look at or to change."""
        return self.tables[table][row_id - 1]

    def write(self, connection: sqlite3.Connection) -> None:
        """Insert everything, in one transaction (a transaction for each row takes many times as long)."""
        if not connection.in_transaction:
            connection.execute("BEGIN")
        for table, rows in self.tables.items():
            names = ["id", *rows[0]]
            sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(':' + name for name in names)})"
            connection.executemany(sql, ({"id": number, **row} for number, row in enumerate(rows, 1)))

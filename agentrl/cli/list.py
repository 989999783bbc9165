"""`agentrl list`: the table of environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json, print_table, verdict
from agentrl.core.errors import install_command
from agentrl.registry import TABLE, Entry, is_available


@dataclass(kw_only=True)
class Arguments(Common):
    """The environments, and which of them can be used here."""


def run(arguments: Arguments) -> int:
    """Print the table."""
    rows = [describe(entry) for entry in TABLE]
    if arguments.json:
        print_json(rows)
        return 0
    print_table(
        ("id", "kind", "available", "backend", "summary"),
        [(r["id"], r["kind"], availability(r), r["backend"], r["summary"]) for r in rows],
    )
    return 0


def describe(entry: Entry) -> dict[str, Any]:
    """One row as JSON types."""
    return {
        "id": entry.id,
        "kind": entry.kind,
        "available": is_available(entry),
        "extra": entry.extra,
        "backend": entry.backend,
        "summary": entry.summary,
    }


def availability(row: dict[str, Any]) -> Any:
    """yes, or what to install."""
    return verdict(True, "yes") if row["available"] else verdict(False, install_command(row["extra"]))

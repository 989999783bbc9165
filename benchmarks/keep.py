"""`agentrl bench NAME --json | python -m benchmarks.keep`: keeps what a speed benchmark measured.

Medians, the range of the repeats, the command and the commit go to `benchmarks/results/bench_NAME.json`; single repeats
do not. `--results FOLDER` chooses another folder, `--command` names the command where it had options.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.learning.results import KEPT, commit, store


def kept(report: dict[str, Any], command: str) -> dict[str, Any]:
    """The report without single repeats, with where it came from."""
    rows = []
    for row in report["results"]:
        values = row.get("values") or [row["value"]]
        rest = {name: value for name, value in row.items() if name != "values"}
        rows.append({**rest, "range": [min(values), max(values)]})
    head = {"schema": report["schema"], "name": report["name"], "command": command, "commit": commit()}
    return {**head, **report, "results": rows}


def text(report: dict[str, Any]) -> str:
    """JSON with a line for every row."""
    parts = []
    for name, value in report.items():
        rows = isinstance(value, list) and value and isinstance(value[0], dict)
        lines = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]" if rows else json.dumps(value)
        parts.append(f" {json.dumps(name)}: {lines}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """From stdin into the folder of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=KEPT)
    parser.add_argument("--command", default="")
    given = parser.parse_args()
    report = json.load(sys.stdin)
    path = given.results / f"bench_{report['name']}.json"
    store(path, text(kept(report, given.command or f"agentrl bench {report['name']} --json")).encode())
    print(path)


if __name__ == "__main__":
    main()

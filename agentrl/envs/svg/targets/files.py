"""SVGs of a folder, a parquet file or a JSON-lines file, such as the published svg-icons-simple.

Public collections hold rows that cannot be used. What is left out is counted by its reason, never fatal; only a path
that cannot be read at all is an error.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.files import open_regular, read_regular
from agentrl.envs.svg.sandbox.gate import SvgRefused, check
from agentrl.envs.svg.truth.shapes import read_shapes

log = logging.getLogger(__name__)
COLUMNS = ("svg", "svg_code", "svgcode", "code", "content", "text")  # without regard to case, the likeliest first
JSON_LINES = (".jsonl", ".ndjson", ".json")
MAX_FILE = 1 << 20  # of a single SVG; the gate's own cap is below this
ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Collection:
    """What was usable, and how much was not."""

    codes: Mapping[str, str]  # name (by content) -> code as the gate wrote it
    skipped: Mapping[str, int]  # reason -> how many rows

    def report(self) -> str:
        """One line about what was read."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
        return f"{len(self.codes)} SVGs usable, {sum(self.skipped.values())} skipped" + (
            f" ({reasons})" if reasons else ""
        )


def load_collection(path: str) -> Collection:
    """Read a collection; the same one again, unchanged, comes from memory."""
    where = Path(path).expanduser()
    try:
        return _load(str(where), _version(where))
    except OSError as error:
        raise ConfigError(f"targets={path!r} cannot be read: {error}") from error


def _version(where: Path) -> str:
    """Changes when what is there changes."""
    files = sorted(where.rglob("*.svg")) if where.is_dir() else [where]
    facts = [(str(file), (found := file.stat()).st_size, found.st_mtime_ns) for file in files]
    return hashlib.blake2b(repr(facts).encode(), digest_size=8).hexdigest()


@lru_cache(maxsize=4)
def _load(path: str, version: str) -> Collection:
    collection = collect(read_rows(Path(path)))
    log.info("%s: %s", path, collection.report())
    return collection


def collect(rows: Iterable[str | None]) -> Collection:
    """Keep what the gate lets through and shows something; None stands for a row that could not be read."""
    codes: dict[str, str] = {}
    skipped: Counter[str] = Counter()
    for row in rows:
        safe, problem = _usable(row)
        name = content_name(safe) if safe else ""
        if problem is None and name in codes:
            problem = "duplicate"
        if problem is None and safe:
            codes[name] = safe
        else:
            skipped[problem or "unreadable"] += 1
    return Collection(codes, dict(skipped))


def content_name(safe: str) -> str:
    """What a target from a file is called."""
    return "svg:" + hashlib.blake2b(safe.encode(), digest_size=12).hexdigest()


def _usable(row: str | None) -> tuple[str | None, str | None]:
    """(safe code, None) or (None, why not)."""
    if row is None:
        return None, "unreadable"
    try:
        safe = check(row)
    except SvgRefused as refused:
        return None, f"refused: {refused.reason}"
    return (safe, None) if read_shapes(safe) else (None, "blank")


# ---------------------------------------------------------------------- the three layouts


def read_rows(where: Path) -> Iterator[str | None]:
    """The SVG texts of a collection in order; None for each row without one."""
    if where.is_dir():
        return (_file_text(file) for file in sorted(where.rglob("*.svg")))
    ending = where.suffix.lower()
    if ending == ".parquet":
        return _parquet_rows(where)
    if ending in JSON_LINES:
        return _json_rows(where)
    raise ConfigError(f"targets must be a folder, a .parquet or a .jsonl file; got {str(where)!r}")


def _file_text(file: Path) -> str | None:
    try:
        if file.stat().st_size > MAX_FILE:
            return None
        return read_regular(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _json_rows(where: Path) -> Iterator[str | None]:
    with io.TextIOWrapper(open_regular(where), encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
                yield None
                continue
            yield _svg_of(row) if isinstance(row, dict) else row if isinstance(row, str) else None


def _svg_of(row: Mapping[str, Any]) -> str | None:
    column = svg_column(row)
    value = None if column is None else row[column]
    return value if isinstance(value, str) else None


def svg_column(names: Iterable[str]) -> str | None:
    """Which of a table's columns holds the code."""
    folded = {name.casefold(): name for name in names}
    return next((folded[column] for column in COLUMNS if column in folded), None)


def _parquet_rows(where: Path) -> Iterator[str | None]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "train") from error
    with open_regular(where) as file:
        try:
            table = parquet.ParquetFile(file)
        except arrow.ArrowInvalid as error:
            raise ConfigError(f"targets={str(where)!r} cannot be read as parquet: {error}") from error
        with table:
            column = svg_column(names := table.schema_arrow.names)
            if column is None:
                has = ", ".join(names)
                raise ConfigError(f"targets={str(where)!r} has no column {' or '.join(COLUMNS)}; it has: {has}")
            for batch in table.iter_batches(ROWS_AT_ONCE, columns=[column]):
                for value in batch.column(0).to_pylist():
                    yield value if isinstance(value, str) else None

"""Trajectory files of closed runs: parquet, which is smaller, and which any data tool reads.

`to_parquet` turns a file of JSON lines into one beside it and removes the lines only after the new file was read back
equal to them. All of this works on a few hundred rows at a time, however large the file.

The table has one row per step; the fields of its trajectory are repeated in every row. Columns, in version 1:

* `trajectory` (int64): which trajectory of the file; the rows of one stand together, in order;
* `step` (int32): which step of it; null in the single row of a trajectory without steps;
* every field of `Trajectory` under its own name, every field of `Step` as `step_<name>`;
* `exceptions` (text): null, or a JSON object with the values of this row that their own columns cannot hold.

Text, numbers and truth values are columns of their type; token ids are list<int32>, log-probabilities list<double>
(the exact numbers that were recorded), names list<string>; whatever has an inner structure is JSON text. Columns
follow from the annotations of the two classes: a field added there is stored without a change here, and a file that
lacks it gives its default.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_type_hints

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.files import open_regular
from agentrl.rollout.json_lines import JsonLines, from_line, to_line, without_secrets
from agentrl.rollout.trajectory import Step, Trajectory

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
INDEX, STEP, EXCEPTIONS = "trajectory", "step", "exceptions"
STEP_PREFIX = "step_"
# Kinds of columns by annotation; everything else is JSON text.
KINDS = {str: "text", int: "whole", float: "real", bool: "truth"} | {
    list[int]: "ids",
    list[float]: "reals",
    list[str]: "texts",
}
ROWS = 256  # in memory at a time: with prompts of 8,000 tokens about 70 MB


def to_parquet(path: str | os.PathLike[str], *, replace: bool = False) -> Path:
    """Turn a closed `.jsonl` file into a `.parquet` file beside it; returns its path.

    The JSON lines go once the new file was read back equal; until then, whatever happens, they stay as they are.
    Lines that cannot be read are kept in `<name>.damaged`. A parquet file that is there already must hold the same
    trajectories (an interrupted conversion leaves that), unless `replace` says that it may go.
    """
    source = Path(path)
    if source.suffix != ".jsonl":
        raise ConfigError(f"path must be a .jsonl file of trajectories; got {source}")
    target, damaged = source.with_suffix(".parquet"), list[bytes]()
    try:
        before = _stamp(source)
        if replace or not target.exists():
            with _replacing(target) as temporary:
                _fill(temporary, (trajectory.to_json() for trajectory in JsonLines(source, damaged.append)))
                if damaged and not next(iter(JsonLines(source)), None):
                    raise ConfigError(f"{source} was not converted: no line of it can be read")
                # Nothing is believed of the new file that was not read back from it.
                _check_equal(temporary, JsonLines(source))
                _check_unchanged(source, before)
                _keep_aside(source.with_suffix(".damaged"), damaged)
        else:
            _check_equal(target, JsonLines(source, damaged.append))
            _keep_aside(source.with_suffix(".damaged"), damaged)
        _check_unchanged(source, before)
        source.unlink()
    except OSError as error:
        raise ConfigError(f"{source} was not converted: {error}") from error
    return target


def iterate_parquet(path: str | os.PathLike[str]) -> Iterator[Trajectory]:
    """The trajectories as they were written, one after the other; `ConfigError` on any other file."""
    for _, group in itertools.groupby(_read_rows(Path(path)), key=lambda row: row[INDEX]):
        try:
            yield Trajectory.from_json(trajectory_json(list(group)))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path} cannot be read: {error}") from error


def write_parquet(path: str | os.PathLike[str], trajectories: Iterable[Trajectory]) -> None:
    """A whole file at once, in place of an older one, without secrets; `OSError` where the disk says no."""
    with _replacing(Path(path)) as temporary:
        _fill(temporary, (without_secrets(trajectory.to_json()) for trajectory in trajectories))


# ---------------------------------------------------------------------- writing


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """A temporary file that takes the target's place at the end, or goes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        yield temporary
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, target)
        # Make the new name last: the old file is about to go, and a power cut must not leave neither.
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)


def _fill(path: Path, records: Iterable[dict[str, Any]]) -> None:
    pa = arrow()
    schema = table_schema()
    # Written through a file of our own: a full disk then raises OSError here and nowhere deeper.
    with open(path, "xb") as sink, pa.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        everything = (row for index, data in enumerate(records) for row in rows(index, data))
        for batch in iter(lambda: list(itertools.islice(everything, ROWS)), []):
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema), row_group_size=ROWS)


def _check_equal(written: Path, wanted: Iterable[Trajectory]) -> None:
    pairs = itertools.zip_longest(iterate_parquet(written), wanted)
    if any(read != original for read, original in pairs):
        raise ConfigError(f"{written} does not hold the trajectories of the JSON lines beside it; both were left alone")


def _check_unchanged(source: Path, before: tuple[int, int]) -> None:
    if _stamp(source) != before:
        raise ConfigError(f"{source} was not converted: another process is still writing to it")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _keep_aside(place: Path, damaged: list[bytes]) -> None:
    lines = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in damaged)
    earlier = place.read_bytes() if place.exists() else b""
    if lines and lines not in earlier:  # an interrupted conversion has put them there before
        write_atomically(place, earlier + lines)


# ---------------------------------------------------------------------- reading


def _read_rows(path: Path) -> Iterator[dict[str, Any]]:
    pa = arrow()
    try:
        with open_regular(path) as source, pa.parquet.ParquetFile(source) as file:
            schema = file.schema_arrow
            version = (schema.metadata or {}).get(b"agentrl.trajectories")
            if version is None or not {INDEX, STEP, EXCEPTIONS} <= set(schema.names):
                raise ConfigError(f"{path} holds no trajectories")
            if version != str(VERSION).encode():
                found = json.dumps(version.decode("ascii", "replace"))
                raise ConfigError(f"{path} is a table of version {found}; this version reads {VERSION}")
            for batch in file.iter_batches(ROWS):
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read trajectories: {path}: {error}") from error


# ---------------------------------------------------------------------- columns


def arrow() -> Any:
    """The pyarrow package, or a complaint that says what to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "train") from error
    return pyarrow


def kinds(cls: type) -> dict[str, str]:
    """The kind of column of each stored field of a record class."""
    hints, found = get_type_hints(cls), {}
    for name in [field.name for field in dataclasses.fields(cls) if field.name not in ("steps", "pictures")]:
        inner = [one for one in getattr(hints[name], "__args__", ()) if one is not type(None)]
        optional = type(None) in getattr(hints[name], "__args__", ()) and len(inner) == 1
        found[name] = KINDS.get(inner[0] if optional else hints[name], "json")
    return found


@cache  # reading annotations for every row would take longer than the row
def columns() -> Mapping[str, str]:
    """The kind of every column that holds a field, by its name."""
    of_steps = {STEP_PREFIX + name: kind for name, kind in kinds(Step).items()}
    return MappingProxyType({**kinds(Trajectory), **of_steps})


def table_schema() -> pa.Schema:
    """The schema of the table, with its version."""
    pa = arrow()
    types = {
        "text": pa.string(),
        "json": pa.string(),
        "whole": pa.int64(),
        "real": pa.float64(),
        "truth": pa.bool_(),
        "ids": pa.list_(pa.int32()),
        "reals": pa.list_(pa.float64()),
        "texts": pa.list_(pa.string()),
    }
    held = [pa.field(name, types[kind]) for name, kind in columns().items()]
    places = [pa.field(INDEX, pa.int64(), nullable=False), pa.field(STEP, pa.int32())]
    return pa.schema([*places, *held, pa.field(EXCEPTIONS, pa.string())], {"agentrl.trajectories": str(VERSION)})


# ---------------------------------------------------------------------- rows


def rows(index: int, data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a trajectory's JSON (with whole prompts)."""
    repeated = {name: value for name, value in data.items() if name != "steps"}
    for number, step in enumerate(data["steps"]):
        yield _row(index, number, {**repeated, **{STEP_PREFIX + name: value for name, value in step.items()}})
    if not data["steps"]:
        yield _row(index, None, repeated)


def _row(index: int, number: int | None, values: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {INDEX: index, STEP: number, EXCEPTIONS: None}
    exceptions = {}
    for name, kind in columns().items():
        value = values.get(name)
        if kind == "json" and value is not None:
            row[name] = to_line(value).decode("ascii")
        elif value is None or fits(kind, value):
            row[name] = value
        else:
            row[name], exceptions[name] = None, value
    if exceptions:
        row[EXCEPTIONS] = to_line(exceptions).decode("ascii")
    return row


def fits(kind: str, value: Any) -> bool:
    """Can a column of this kind hold the value exactly? Half characters and huge numbers are what it cannot."""
    if kind == "text":
        try:
            return isinstance(value, str) and (value.isascii() or bool(value.encode("utf-8")))
        except UnicodeEncodeError:
            return False
    if kind == "whole":
        return -(2**63) <= value < 2**63
    if kind == "ids":
        return not value or (min(value) >= -(2**31) and max(value) < 2**31)
    if kind == "texts":
        return all(fits("text", text) for text in value)
    return True


def trajectory_json(group: list[dict[str, Any]]) -> dict[str, Any]:
    """Inverse of `rows`; a `ValueError` where a cell holds no JSON."""
    whole = [_values(row) for row in group]
    fields = {name: value for name, value in whole[0].items() if not name.startswith(STEP_PREFIX)}
    steps = [
        {name.removeprefix(STEP_PREFIX): value for name, value in values.items() if name.startswith(STEP_PREFIX)}
        for row, values in zip(group, whole, strict=True)
        if row[STEP] is not None
    ]
    return {**fields, "steps": steps}


def _values(row: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, kind in columns().items():
        if name in row:
            value = row[name]
            found[name] = from_line(value) if kind == "json" and value is not None else value
    exceptions = from_line(row[EXCEPTIONS]) if row.get(EXCEPTIONS) is not None else {}
    if not isinstance(exceptions, dict):
        raise ValueError("its exceptions are no JSON object")
    return {**found, **exceptions}

"""Trajectory files of closed runs: parquet, which is smaller, and which any data tool reads.

`to_parquet` turns a file of JSON lines into one beside it and removes the lines only after the new file was read back
equal to them. `agentrl.rollout.parquet_columns` describes the table. All of this works on a few hundred rows at a
time, however large the file.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular
from agentrl.rollout.json_lines import JsonLines, without_secrets
from agentrl.rollout.parquet_columns import EXCEPTIONS, INDEX, STEP, VERSION, arrow, rows, table_schema, trajectory_json
from agentrl.rollout.trajectory import Trajectory

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
                _check_source(source, before, temporary, damaged)
                _keep_aside(source.with_suffix(".damaged"), damaged)
        else:
            _check_equal(target, JsonLines(source, damaged.append))
            _keep_aside(source.with_suffix(".damaged"), damaged)
        _check_unchanged(source, before)
        source.unlink()
    except OSError as error:
        raise ConfigError(f"{source} stays as it is: {error}") from error
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
        _sync_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name last: the old file is about to go, and a power cut must not leave neither."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _fill(path: Path, records: Iterable[dict[str, Any]]) -> None:
    pa = arrow()
    schema = table_schema()
    # Written through a file of our own: a full disk then raises OSError here and nowhere deeper.
    with open(path, "xb") as sink, pa.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        everything = (row for index, data in enumerate(records) for row in rows(index, data))
        for batch in iter(lambda: list(itertools.islice(everything, ROWS)), []):
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema), row_group_size=ROWS)


def _check_source(source: Path, before: tuple[int, int], written: Path, damaged: list[bytes]) -> None:
    """Nothing is believed of the new file that was not read back from it."""
    if damaged and not next(iter(JsonLines(source)), None):
        raise ConfigError(f"{source} stays as it is: no line of it can be read")
    _check_equal(written, JsonLines(source))
    _check_unchanged(source, before)


def _check_equal(written: Path, wanted: Iterable[Trajectory]) -> None:
    pairs = itertools.zip_longest(iterate_parquet(written), wanted)
    if any(read != original for read, original in pairs):
        raise ConfigError(f"{written} does not hold the trajectories of the JSON lines beside it; both were left alone")


def _check_unchanged(source: Path, before: tuple[int, int]) -> None:
    if _stamp(source) != before:
        raise ConfigError(f"{source} stays as it is: another process is still writing to it")


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
            _check_table(path, file.schema_arrow)
            for batch in file.iter_batches(ROWS):
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read trajectories: {path}: {error}") from error


def _check_table(path: Path, schema: Any) -> None:
    version = (schema.metadata or {}).get(b"agentrl.trajectories")
    if version is None or not {INDEX, STEP, EXCEPTIONS} <= set(schema.names):
        raise ConfigError(f"{path} holds no trajectories")
    if version != str(VERSION).encode():
        found = json.dumps(version.decode("ascii", "replace"))
        raise ConfigError(f"{path} is a table of version {found}; this version reads {VERSION}")

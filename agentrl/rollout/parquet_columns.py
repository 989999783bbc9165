"""The table a trajectory becomes: one row per step, the fields of its trajectory repeated in every row.

Columns, in version 1 of the table:

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
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_type_hints

from agentrl.core.errors import MissingExtra
from agentrl.rollout.json_lines import from_line, to_line
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
    hints = get_type_hints(cls)
    stored = [field.name for field in dataclasses.fields(cls) if field.name not in ("steps", "pictures")]
    return {name: KINDS.get(_without_none(hints[name]), "json") for name in stored}


def _without_none(hint: Any) -> Any:
    inner = [one for one in getattr(hint, "__args__", ()) if one is not type(None)]
    optional = type(None) in getattr(hint, "__args__", ()) and len(inner) == 1
    return inner[0] if optional else hint


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
        return isinstance(value, str) and (value.isascii() or _is_unicode(value))
    if kind == "whole":
        return -(2**63) <= value < 2**63
    if kind == "ids":
        return not value or (min(value) >= -(2**31) and max(value) < 2**31)
    if kind == "texts":
        return all(fits("text", text) for text in value)
    return True


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
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

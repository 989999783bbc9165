"""Task files: a JSON list of tasks, one task, or one task a line. What is wrong is said in a sentence with the line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.envs.webarena.tasks.schema import SITES, WebTask, task_from_json

SPACE = re.compile(r"[ \t\r\n]*")
PREFIX = "file:"


def load_tasks(path: str | os.PathLike[str], sites: Collection[str] = SITES) -> list[WebTask]:
    """All tasks of a file, in order; `ConfigError` that names file and line for anything that is no task file. `sites`
    are the names that sites may have."""
    try:
        content = read_regular(path)
    except OSError as error:
        raise ConfigError(f"cannot read the task file {os.fspath(path)}: {error.strerror or error}") from None
    return read_tasks(content, os.fspath(path), sites)


def read_tasks(content: bytes, name: str, sites: Collection[str] = SITES) -> list[WebTask]:
    """The tasks in the content of a file; `name` is what messages call it."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}, line {line}: a task file must be UTF-8 text") from None
    tasks = []
    for line, value in _values(text, name):
        try:
            tasks.append(task_from_json(value, sites))
        except ValueError as error:
            raise ConfigError(f"{name}, line {line}: {error}") from None
    if not tasks:
        raise ConfigError(f"{name}, line 1: a task file must hold at least one task")
    return tasks


def row_id(row: int) -> str:
    """The id of a row of a task file, counted from 0."""
    return f"{PREFIX}{row}"


def row_of(task_id: str, count: int) -> int:
    """The row that an id names; `ConfigError` if the file has none."""
    found = re.fullmatch(rf"{PREFIX}([0-9]{{1,9}})", task_id)
    if found is None or int(found[1]) >= count:
        raise ConfigError(f"task must be {PREFIX}0 to {PREFIX}{count - 1}; got {task_id[:80]!r}")
    return int(found[1])


# ---------------------------------------------------------------------- values with the line they begin on


def _values(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """The elements of a list, or the values that follow one another."""
    decoder = json.JSONDecoder()
    place, line, seen = SPACE.match(text, 0).end(), 1, 0  # pyright: ignore[reportOptionalMemberAccess]
    in_list = text.startswith("[", place)
    if in_list:
        place = _skip(text, place + 1)
    while place < len(text) and not (in_list and text[place] == "]"):
        line, seen = line + text.count("\n", seen, place), place
        value, place = _decode(decoder, text, place, name)
        yield line, value
        place = _skip(text, place)
        if in_list:
            place = _next_element(text, place, name)
    if in_list and (place >= len(text) or text[place + 1 :].strip()):
        what = "the list is not closed" if place >= len(text) else "nothing may follow the list"
        raise ConfigError(f"{name}, line {_line(text, place)}: {what}")


def _decode(decoder: json.JSONDecoder, text: str, place: int, name: str) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, place)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{name}, line {error.lineno}: this is not JSON ({error.msg})") from None
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number of thousands of digits
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigError(f"{name}, line {_line(text, place)}: this cannot be read as JSON ({why})") from None


def _next_element(text: str, place: int, name: str) -> int:
    if text.startswith(",", place):
        place = _skip(text, place + 1)
        if not text.startswith("]", place):
            return place
    elif place >= len(text) or text[place] == "]":
        return place
    raise ConfigError(f"{name}, line {_line(text, place)}: this is not JSON (a comma must stand between two tasks)")


def _skip(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return place if found is None else found.end()


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1

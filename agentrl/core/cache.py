"""Files that can be made again: under `AGENTRL_CACHE`, written atomically, checked by hash, safe to delete."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import io
import logging
import os
import re
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache, wraps
from pathlib import Path
from typing import TypeVar

import numpy as np

from agentrl.core.files import read_regular

log = logging.getLogger(__name__)


def cache_dir() -> Path:
    """`$AGENTRL_CACHE`, or `agentrl` in the user's cache folder."""
    if chosen := os.environ.get("AGENTRL_CACHE"):
        return Path(chosen).expanduser()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "agentrl"
    except RuntimeError:  # a user without a home, as in some containers
        return Path(tempfile.gettempdir()) / f"agentrl-{os.getuid()}"


def forget_caches() -> None:
    """Give back what environments leave in memory for the next one when they are closed: pages, homes, shops, tasks and
    models that are ready to use. Imported libraries stay."""
    for found in gc.get_objects():
        if type(found) is type(_EXAMPLE) and str(found.__module__).startswith(_REMEMBERING):
            found.cache_clear()
    for give_back in on_forget:
        give_back()
    re.purge()
    if sys.version_info < (3, 13):
        sys._clear_type_cache()
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # the C library of Linux keeps what is freed until it is asked
        ctypes.CDLL(None).malloc_trim(0)


on_forget: list[Callable[[], object]] = []  # gives back what is not found among the `lru_cache`s
_EXAMPLE = lru_cache(len)  # of the type of all functions that remember
# Names and colours that libraries keep are few and small, but each holds the megabyte of Python's memory it lies in.
_REMEMBERING = ("agentrl.", "urllib.parse", "PIL.")


Opened = TypeVar("Opened")


def shared(most: int) -> Callable[[Callable[..., Opened]], Callable[..., Opened]]:
    """Decorates a function that opens something large out of the cache: a process opens it once for the same arguments,
    however many environments and threads ask, and keeps the `most` that were asked for last."""

    def decorate(opens: Callable[..., Opened]) -> Callable[..., Opened]:
        lock = threading.Lock()

        @lru_cache(maxsize=most)
        @wraps(opens)
        def kept(cache: str, *arguments: Hashable) -> Opened:
            return opens(*arguments)

        @wraps(opens)
        def opened(*arguments: Hashable) -> Opened:
            with lock:
                return kept(str(cache_dir()), *arguments)

        on_forget.append(kept.cache_clear)
        return opened

    return decorate


def write_atomically(path: Path, data: bytes) -> None:
    """All of `data` or nothing, even if two processes write at once or one dies half-way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:  # permissions by the umask: a cache can be shared
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


Arrays = dict[str, np.ndarray]


def cached_arrays(
    name: str, build: Callable[[], Mapping[str, np.ndarray]], usable: Callable[[Arrays], bool] = bool
) -> Arrays:
    """The arrays stored under `name`; built (and stored, where the disk allows) when missing, damaged or not `usable`.

    A file's hash tells damage and not intent: whoever can write the cache can write the hash. So content that could do
    harm must be looked at.
    """
    path = cache_dir() / f"{name}.npz"
    if (found := _read(path, usable)) is not None:
        return found
    with builder_lock(path):
        if (found := _read(path, usable)) is not None:  # another process has built it while we waited
            return found
        arrays = {key: np.ascontiguousarray(value) for key, value in build().items()}
        for key, array in arrays.items():
            if array.dtype.hasobject:
                raise TypeError(f"{key} holds objects, which only pickle could store")
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # pyright: ignore[reportArgumentType]  (no array is called allow_pickle)
        body = buffer.getvalue()
        try:
            write_atomically(path, hashlib.sha256(body).digest() + body)
        except OSError as error:  # read-only home, full disk: slower next time, not broken now
            log.warning("cannot cache %s: %s", path, error)
    return arrays


@contextmanager
def builder_lock(path: Path) -> Iterator[None]:
    """One process builds a file, the others wait for it; where there are no locks, each builds its own."""
    name = path.with_suffix(".lock")
    try:
        import fcntl

        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(name, "wb")  # noqa: SIM115 (closed below, after the build)
        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):
        yield
        return
    try:
        yield
    finally:
        name.unlink(missing_ok=True)  # a late process finds the built file, or at worst builds it again
        file.close()


def _read(path: Path, usable: Callable[[Arrays], bool]) -> Arrays | None:
    try:
        data = read_regular(path)
    except OSError:
        return None
    digest, body = data[:32], data[32:]
    arrays = None
    if hashlib.sha256(body).digest() == digest:
        with suppress(Exception), np.load(io.BytesIO(body), allow_pickle=False) as file:
            arrays = dict(file)  # a zip file of arrays can be wrong in many ways
    if arrays is None or not usable(arrays):
        log.warning("%s is damaged; building it again", path)
        return None
    return arrays

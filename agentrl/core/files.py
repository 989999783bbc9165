"""Opening files that somebody else may have put there: only regular ones.

A FIFO or a device in the place of a data file would keep its reader waiting for ever, or feed it without end.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from pathlib import Path


def open_regular(path: str | os.PathLike[str]) -> io.BufferedReader:
    """A regular file, open for reading; `OSError` for anything else, at once."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO opens at once, and is then found out
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """What a regular file holds; `OSError` for anything else, at once."""
    with open_regular(path) as file:
        return file.read()


def sha256_of(path: str | os.PathLike[str]) -> str:
    """The hash of a regular file's content, in hexadecimal; `OSError` for anything else, at once."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def strange_file(folder: Path) -> Path | None:
    """Something in a folder that is neither file nor folder: other libraries would open it and wait."""
    return next(
        (path for path in sorted(folder.iterdir()) if path.exists() and not (path.is_file() or path.is_dir())), None
    )

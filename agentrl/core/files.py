"""Opening files that somebody else may have put there: only regular ones.

A FIFO or a device in the place of a data file would keep its reader waiting for ever, or feed it without end.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
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

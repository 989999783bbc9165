"""One process at a time in a folder. The lock is the operating system's: it ends with the process, however it ends."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from pathlib import Path
from typing import BinaryIO

from agentrl.core.errors import ConfigError

log = logging.getLogger(__name__)

LOCK = ".lock"


class FolderLock:
    """Held from the moment it is made until `release`; `ConfigError` names the process that holds it already."""

    def __init__(self, folder: Path) -> None:
        self._file: BinaryIO | None = None
        try:
            import fcntl
        except ImportError:  # not on this system
            return
        try:
            file = open(folder / LOCK, "a+b")  # noqa: SIM115 (open for as long as the lock is held)
        except OSError as error:
            raise ConfigError(f"{folder} cannot be written: {error}; choose another folder") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            with file:
                file.seek(0)
                holder = file.read(200).decode(errors="replace").strip() or "another process"
            raise ConfigError(
                f"{folder} is in use by {holder}; wait until it has ended, or choose another folder"
            ) from error
        except OSError as error:  # some network file systems have no locks
            file.close()
            log.warning("%s cannot be locked (%s); let no other process write there", folder, error)
            return
        self._file = file
        with contextlib.suppress(OSError):  # say who holds it; a full disk keeps the name away, not the lock
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            file.flush()

    def release(self) -> None:
        """Let others in; may be called twice. The file stays: removing it would let two processes lock two files."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

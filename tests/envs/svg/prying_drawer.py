"""The drawing process, asked to do what it must not be able to."""

from __future__ import annotations

import os
import socket
import subprocess
import urllib.request
from pathlib import Path

from agentrl.envs.svg.sandbox.drawer import Drawer


class PryingDrawer(Drawer):
    """Tries, after the doors are closed."""

    def read(self, path: str) -> str:
        """A file's text."""
        return Path(path).read_text()

    def read_by_descriptor(self, path: str) -> bytes:
        """The same, lower down."""
        return os.read(os.open(path, os.O_RDONLY), 10)

    def write(self, path: str) -> None:
        """Leave something behind."""
        Path(path).write_text("x")

    def connect(self, port: int) -> None:
        """Call somebody."""
        socket.create_connection(("127.0.0.1", port))

    def fetch(self, url: str) -> bytes:
        """Ask a web server."""
        return urllib.request.urlopen(url).read()

    def start(self, program: str) -> None:
        """Start a program."""
        subprocess.run([program], check=True)

    def fork(self, _: int) -> int:
        """Become two."""
        return os.fork()

"""Tripwires: files and a web server that nothing may ever reach, all of them in a pair of colours nobody else uses."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from PIL import Image

# A pair, because a gradient may well pass through any single colour.
COLOURS = ((254, 1, 220), (3, 251, 118))
HEX, OTHER_HEX = "#fe01dc", "#03fb76"
LONG_AGO = 1_000_000_000
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><g id="a">'
    f'<rect width="4" height="8" fill="{HEX}"/><rect x="4" width="4" height="8" fill="{OTHER_HEX}"/></g></svg>'
)
SHEET = f"* {{ fill: {HEX} !important; stroke: {OTHER_HEX} !important; stroke-width: 4 }}"


class Canaries:
    """A loopback web server and a folder of files; both remember whether somebody was there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.hits = folder, list[str]()
        (folder / "canary.svg").write_text(PICTURE)
        (folder / "canary.css").write_text(SHEET)
        (folder / "canary.txt").write_text(HEX)
        halves = np.array([[COLOURS[0]] * 4 + [COLOURS[1]] * 4] * 8, np.uint8)
        Image.fromarray(halves).save(folder / "canary.png")
        self.forget()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        canaries = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                canaries.hits.append(self.path)
                content = SHEET if self.path.endswith("css") else PICTURE
                self.send_response(200)
                self.end_headers()
                self.wfile.write(content.encode())

            do_POST = do_HEAD = do_OPTIONS = do_GET

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler

    @property
    def host(self) -> str:
        """Where the server listens."""
        return f"127.0.0.1:{self.port}"

    def forget(self) -> None:
        """As if nobody had been there."""
        self.hits.clear()
        for file in self.folder.iterdir():  # an access time before the last change is always updated by a read
            os.utime(file, (LONG_AGO, LONG_AGO + 1))

    def files_read(self) -> list[str]:
        """Names of the files that were read since they were forgotten."""
        return [file.name for file in self.folder.iterdir() if file.stat().st_atime != LONG_AGO]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def leaked(picture: np.ndarray) -> bool:
    """Do both colours of the canaries appear, or something very near to each?"""
    return all((np.abs(picture.astype(int) - colour).max(axis=-1) <= 3).any() for colour in COLOURS)

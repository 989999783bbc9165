"""The embedded sites over HTTP as the benchmark's are: one port of this machine for each, shared by all visitors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, Place
from agentrl.envs.webarena.sites.world import World

FORM_TYPE = "application/x-www-form-urlencoded"


class SitesOnPorts(AbstractContextManager["SitesOnPorts"]):
    """`addresses` has what `sites_at` takes. What visitors change stays until `reset`, as on any real site."""

    def __init__(self, sites: Sequence[str] = tuple(PLACES), host: str = "127.0.0.1") -> None:
        self.world = World()
        self.answers = 0  # how many requests were answered
        self._servers = {name: ThreadingHTTPServer((host, 0), _handler(self, PLACES[name])) for name in sites}
        origins = {name: f"http://{host}:{server.server_address[1]}" for name, server in self._servers.items()}
        self.addresses = {name: origin + urlsplit(PLACES[name].url).path for name, origin in origins.items()}
        self._origins = {PLACES[name].origin: origin for name, origin in origins.items()}
        self._named = re.compile("(?:" + "|".join(map(re.escape, self._origins)) + ")(?![\\w.-])")
        for server in self._servers.values():
            Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def moved(self, text: str) -> str:
        """A text with the addresses of the ports in the place of the embedded ones."""
        return self._named.sub(lambda found: self._origins[found[0]], text)

    def reset(self, sites: Sequence[str] = ()) -> None:
        """Undo what visitors have done, logins included: what `reset_sites` takes."""
        self.world.clear()

    def stop(self, site: str) -> None:
        """Take a site down."""
        server = self._servers.pop(site)
        server.shutdown()
        server.server_close()

    def __exit__(self, *problem: object) -> None:
        for site in list(self._servers):
            self.stop(site)
        self.world.close()


def _handler(sites: SitesOnPorts, place: Place) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Asks the embedded site and passes its answer on."""

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            typed = self.headers.get("content-type", "").startswith(FORM_TYPE)
            form = tuple(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)) if typed else ()
            named = {name.lower(): value for name, value in self.headers.items()}
            cookies = dict(
                part.strip().split("=", 1) for part in named.get("cookie", "").split(";") if "=" in part
            )  # fmt: skip
            request = Request(self.command, place.origin + self.path, form, cookies, b"" if typed else body, named)
            sites.answers += 1
            self._answer(sites.world.fetch(request))

        do_GET = do_POST = do_PUT = do_DELETE = _serve

        def _answer(self, found: Response) -> None:
            content = sites.moved(found.body).encode() if isinstance(found.body, str) else found.body
            self.send_response(found.status)
            self.send_header("Content-Type", found.content_type)
            self.send_header("Content-Length", str(len(content)))
            if found.location is not None:
                self.send_header("Location", sites.moved(found.location))
            for name, value in found.cookies.items():
                ended = "; Max-Age=0" if value is None else ""
                self.send_header("Set-Cookie", f"{name}={value or ''}; Path=/; HttpOnly{ended}")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: a visitor of a test server needs no log."""

    return Handler

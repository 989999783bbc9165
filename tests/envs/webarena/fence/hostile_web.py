"""A site that means harm, and listeners on this machine that must never be reached from it."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from agentrl.envs.webarena.sites.messages import Request, Response

ESCAPED = "what-only-the-listener-says"


HOME = "http://forum.localhost/"  # of an embedded site


class SmallWorld:
    """Embedded sites that have one page."""

    def fetch(self, request: Request) -> Response:
        """The same for everybody."""
        return Response(f'<title>Small</title><p>{request.path}</p><a href="/more">More</a>')


class Reply(NamedTuple):
    """What a page of the site answers."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = {}


Pages = Mapping[str, Callable[[dict[str, str]], Reply | str]]  # by path; called with the query


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HostileSite

    def do_GET(self) -> None:
        """Answer with the page of this path."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = urlsplit(self.path)
        self.server.asked.append(self.path)
        page = self.server.pages.get(parts.path)
        found = page(dict(parse_qsl(parts.query))) if page is not None else Reply("Nothing is here.", 404)
        if isinstance(found, _Endless):
            self._endless(found)
            return
        reply = found if isinstance(found, Reply) else Reply(found)
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        self.send_response(reply.status)
        for name, value in {"content-type": "text/html; charset=utf-8", **reply.headers}.items():
            self.send_header(name, value.encode().decode("latin-1"))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def _endless(self, reply: _Endless) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(reply.encode())
        self.wfile.flush()
        self.server.closing.wait(60)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Endless(str):
    """The beginning of a page whose end never comes."""


def endless(text: str) -> Any:
    """An answer that never ends."""
    return _Endless(text)


class HostileSite(ThreadingHTTPServer):
    """Serves pages on a port of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages: Pages) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages, self.asked = pages, list[str]()
        self.closing = threading.Event()
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Browsers hang up."""


@contextmanager
def hostile_site(pages: Pages) -> Iterator[HostileSite]:
    """A site with these pages."""
    with HostileSite(pages) as site:
        thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            site.closing.set()
            site.shutdown()
            thread.join()


class Canary:
    """Listens on all addresses of this machine, with TCP and UDP, and writes down who comes."""

    def __init__(self) -> None:
        self.tcp = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128)
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.udp.bind(("::", self.port))
        self.hits: list[bytes] = []
        self._ends, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            ready, _, _ = select.select([self.tcp, self.udp, self._ends], [], [])
            if self._ends in ready:
                return
            if self.udp in ready:
                self.hits.append(self.udp.recv(4096))
            if self.tcp in ready:
                with self.tcp.accept()[0] as visitor:
                    visitor.settimeout(0.5)
                    try:
                        self.hits.append(visitor.recv(4096))
                        visitor.sendall(f"HTTP/1.1 200 OK\r\ncontent-length: {len(ESCAPED)}\r\n\r\n{ESCAPED}".encode())
                    except OSError:
                        self.hits.append(b"a connection")

    def close(self) -> None:
        """Stop listening."""
        self._end.send(b"x")
        self._thread.join()
        for end in (self.tcp, self.udp, self._ends, self._end):
            end.close()


@contextmanager
def canary() -> Iterator[Canary]:
    """A listener that must stay alone."""
    listener = Canary()
    try:
        yield listener
    finally:
        listener.close()

"""`Gateway`: the one way out of a window. A proxy on this machine through which all its requests go.

Routing within the browser would miss what the browser does by itself: redirects, prefetching, web sockets, beacons. A
proxy sees every byte. It refuses what its fence refuses, and answers the rest itself (`responder`: sites in this
process, no network at all) or passes it on.
"""

from __future__ import annotations

import asyncio
import html
import logging
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

from agentrl.core.errors import ConfigError

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_SOCKETS = {"ws": "http", "wss": "https"}
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]+\]")
Origin = tuple[str, str, int]  # scheme, host, port


class BadOrigin(ValueError):
    """No scheme, host and port that could be compared."""


def origin_of(url: str) -> Origin:
    """Scheme, host and port of an http(s) or ws(s) address; `BadOrigin` for everything else.

    Addresses that programs read in different ways (a user before the host, odd characters, backslashes) are refused.
    """
    if not isinstance(url, str) or re.search(r"[\x00-\x20\x7f\\]", url):
        raise BadOrigin(f"not an address: {url!r:.80}")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadOrigin(f"not an address: {url!r:.80}") from error
    scheme = parts.scheme.lower()
    host = parts.netloc.lower().removesuffix(f":{port}" if port is not None else "").removesuffix(":")
    if scheme not in PORTS or not _HOST.fullmatch(host):
        raise BadOrigin(f"not an http address: {url!r:.80}")
    # Equal for equal hosts: no dot at the end, one spelling of an IP address.
    plain = host.removesuffix(".")
    if host.startswith("["):
        try:
            plain = f"[{ip_address(host[1:-1]).compressed}]"
        except ValueError as error:
            raise BadOrigin(f"not a host: {host!r:.80}") from error
    return _SOCKETS.get(scheme, scheme), plain, PORTS[scheme] if port is None else port


class Fence:
    """Lets through the origins it was made with, by scheme, host and port."""

    def __init__(self, origins: Iterable[str]) -> None:
        try:
            self.origins = frozenset(map(origin_of, origins))
        except BadOrigin as error:
            raise ConfigError(f"origins must be addresses such as http://localhost:7770; got {error}") from error

    def allows(self, url: str) -> bool:
        """May the browser ask for this address?"""
        try:
            return origin_of(url) in self.origins
        except BadOrigin:
            return False

    def allows_tunnel(self, host: str, port: int) -> bool:
        """May it open a connection, whatever it says through it? So https and web sockets reach a proxy."""
        return any(self.allows(f"{scheme}://{host}:{port}") for scheme in ("https", "http"))


# ---------------------------------------------------------------------- the gateway

log = logging.getLogger(__name__)
MAX_HEAD, MAX_BODY = 1 << 18, 1 << 27  # bytes
CONNECT_SECONDS = 5.0  # a site that takes no connection for so long does not answer; less than a page may take
_CHUNK = 1 << 16
_HOP = {"proxy-connection", "connection", "keep-alive", "proxy-authorization", "te", "upgrade"}


@dataclass(frozen=True)
class Answer:
    """What a site answers; `content-length` is added."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Responder = Callable[[str, str, Mapping[str, str], bytes], Answer]  # method, url, headers (lower case), body


class Gateway:
    """Serves one window; everything runs on the loop that called `open`."""

    def __init__(
        self, fence: Fence, responder: Responder | None = None, refuse: Callable[[str], Answer] | None = None
    ) -> None:
        self.fence, self.responder, self.refuse = fence, responder, refuse or refusal
        self.refused: deque[str] = deque(maxlen=1000)  # addresses, newest last
        self.fault: BaseException | None = None  # what the responder raised since somebody looked
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._down: set[tuple[str, int]] = set()  # did not answer when last asked
        self._hosts: dict[tuple[str, int], tuple[str, int]] = {}  # a name keeps the address it had first

    async def open(self) -> str:
        """Listen; the address for the browser's settings."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=MAX_HEAD)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening and drop all connections."""
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()

    def is_down(self, url: str) -> bool:
        """Did the site not answer when it was last asked?"""
        _, host, port = origin_of(url)
        return (host.strip("[]"), port) in self._down

    def take_fault(self) -> BaseException | None:
        """What went wrong in the responder, once."""
        fault, self.fault = self.fault, None
        return fault

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, asyncio.CancelledError):
            pass  # the browser went away or speaks nonsense
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; True if another may follow on the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *rows = head[:-4].split("\r\n")
        method, target, _ = line.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
        if method == "CONNECT":
            await self._tunnel(target, reader, writer)
            return False
        body = await _body(reader, headers)
        if not self.fence.allows(target) or headers.get("sec-fetch-dest") == "serviceworker":
            self.refused.append(target)
            return await _send(writer, method, self.refuse(target))
        if self.responder is None:
            await self._forward(method, target, headers, body, writer)
            return False
        try:
            answer = await asyncio.to_thread(self.responder, method, target, headers, body)
        except Exception as error:
            log.debug("no answer for %s", target, exc_info=True)
            self.fault = error
            answer = Answer(b"The site did not answer.", 502, {"content-type": "text/plain"})
        return await _send(writer, method, answer)

    async def _forward(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, writer: asyncio.StreamWriter
    ) -> None:
        parts = urlsplit(url)
        try:
            reader, upstream = await self._connect(parts.hostname or "", parts.port or PORTS[parts.scheme])
        except OSError as error:
            text = f"The site {parts.netloc[:200]} does not answer ({type(error).__name__})."
            await _send(writer, method, Answer(text.encode(), 502, {"content-type": "text/plain"}))
            return
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kept = {name: value for name, value in headers.items() if name not in _HOP and name != "transfer-encoding"}
        kept |= {"connection": "close"} | ({"content-length": str(len(body))} if body or method == "POST" else {})
        rows = "".join(f"{name}: {value}\r\n" for name, value in kept.items())
        try:
            upstream.write(f"{method} {target} HTTP/1.1\r\n{rows}\r\n".encode("latin-1") + body)
            await _copy(reader, writer)
        finally:
            upstream.close()

    async def _tunnel(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = target.rpartition(":")
        if self.responder is not None or not port.isdigit() or not self.fence.allows_tunnel(host, int(port)):
            self.refused.append(target)
            await _send(writer, "CONNECT", Answer(status=403))
            return
        try:
            back, forth = await self._connect(host.strip("[]"), int(port))
        except OSError:
            await _send(writer, "CONNECT", Answer(status=502))
            return
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            ways = [asyncio.ensure_future(_copy(reader, forth)), asyncio.ensure_future(_copy(back, writer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
        finally:
            forth.close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A name that later stands for another machine would lead behind the fence: the first address counts."""
        known = self._hosts.get((host, port))
        opening = asyncio.open_connection(*(known or (host, port)))
        try:
            reader, writer = await asyncio.wait_for(opening, CONNECT_SECONDS)
        except OSError:
            self._down.add((host, port))
            raise
        self._down.discard((host, port))
        if known is None:
            self._hosts[host, port] = writer.get_extra_info("peername")[:2]
        return reader, writer


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        parts, size, left = [], 1, MAX_BODY
        while size:
            size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
            left -= size
            if size < 0 or left < 0:
                raise ValueError("the body is too large")
            parts.append((await reader.readexactly(size + 2))[:-2])
        return b"".join(parts)
    size = int(headers.get("content-length", 0))
    if not 0 <= size <= MAX_BODY:
        raise ValueError("the body is too large")
    return await reader.readexactly(size) if size else b""


async def _send(writer: asyncio.StreamWriter, method: str, answer: Answer) -> bool:
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = {name: value.replace("\r", "").replace("\n", "") for name, value in answer.headers.items()}
    rows = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    head = f"HTTP/1.1 {answer.status} {phrase}\r\n{rows}content-length: {len(answer.body)}\r\n\r\n"
    writer.write(head.encode("latin-1", "replace") + (b"" if method == "HEAD" else answer.body))
    await writer.drain()
    return True


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()


def refusal(url: str) -> Answer:
    """The page in the place of one that may not be opened."""
    text = f"The site {html.escape(urlsplit(url).netloc[:200])} cannot be reached."
    page = f"<!doctype html><html><head><title>{text}</title></head><body><p>{text}</p></body></html>"
    return Answer(page.encode(), 403, {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"})

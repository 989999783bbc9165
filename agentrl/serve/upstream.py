"""A small HTTP client for one server: connections are kept, answers come whole or by lines.

The gateway's latency is mostly its client's: httpx takes about 2 ms of processor time for a call.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agentrl.core.errors import ConfigError, EngineFault, MissingExtra

try:
    import h11
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("h11", "serve") from error

CONNECT_SECONDS = 10.0
READ_SECONDS = 3600.0
MAX_ANSWER = 256 << 20
MAX_IDLE = 256  # connections that are kept


@dataclass
class Connection:
    """A connection and the state of its conversation."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    http: h11.Connection = field(default_factory=lambda: h11.Connection(h11.CLIENT))

    async def event(self) -> h11.Event:
        """The server's next event."""
        while (found := self.event_here()) is None:
            async with asyncio.timeout(READ_SECONDS):
                self.http.receive_data(await self.reader.read(1 << 16))
        return found

    def event_here(self) -> h11.Event | None:
        """The next event that has come already."""
        found = self.http.next_event()
        if found is h11.NEED_DATA:
            return None
        if not isinstance(found, h11.Event):
            raise EngineFault("the upstream closed the connection")
        return found


@dataclass
class Answer:
    """The head of an answer; its body is read from the connection, which then can be used again."""

    status: int
    headers: dict[str, str]
    _connection: Connection
    _upstream: Upstream

    async def read(self) -> bytes:
        """The whole body."""
        pieces, size = [], 0
        async for piece in self.pieces():
            pieces.append(piece)
            size += len(piece)
            if size > MAX_ANSWER:
                self.close()
                raise EngineFault(f"the upstream's answer has more than {MAX_ANSWER} bytes")
        return b"".join(pieces)

    async def lines(self) -> AsyncIterator[list[bytes]]:
        """The lines of the body: those that have come together, together."""
        rest = b""
        async for piece in self.pieces():
            *lines, rest = (rest + piece).split(b"\n")
            if lines:
                yield lines
        if rest:
            yield [rest]

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        with faults():
            ended = False
            while not ended:
                found, piece = await self._connection.event(), bytearray()
                while found is not None and not (ended := isinstance(found, h11.EndOfMessage)):
                    if isinstance(found, h11.Data):
                        piece += found.data
                    found = self._connection.event_here()
                if piece:
                    yield bytes(piece)
        self._upstream.keep(self._connection)

    def close(self) -> None:
        """Hang up, unless the body was read to its end."""
        if self._connection not in self._upstream.idle:
            self._connection.writer.close()


class Upstream:
    """Sends requests to one base URL."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"upstream must be a URL such as http://127.0.0.1:8000/v1; got {base_url[:200]!a}")
        self._host, self._name = parts.hostname, parts.netloc.rpartition("@")[2]
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._path = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.idle: list[Connection] = []

    async def ask(self, method: str, path: str, key: str, body: bytes = b"") -> Answer:
        """The head of the answer to a request; `EngineFault` where none comes."""
        while True:
            kept = self.idle.pop() if self.idle else None
            connection = kept or await self._connect()
            try:
                return await self._send(connection, method, path, key, body)
            except EngineFault:
                connection.writer.close()
                if kept is None:  # a kept one may have been closed by the server meanwhile: the next, then a new one
                    raise
            except BaseException:
                connection.writer.close()
                raise

    async def _connect(self) -> Connection:
        with faults():
            async with asyncio.timeout(CONNECT_SECONDS):
                return Connection(*await asyncio.open_connection(self._host, self._port, ssl=self._tls))

    async def _send(self, connection: Connection, method: str, path: str, key: str, body: bytes) -> Answer:
        headers = [("host", self._name), ("content-type", "application/json"), ("content-length", str(len(body)))]
        if key:
            headers.append(("authorization", f"Bearer {key}"))
        with faults():
            http, head = connection.http, h11.Request(method=method, target=f"{self._path}/{path}", headers=headers)
            sent = [http.send(head), http.send(h11.Data(data=body)), http.send(h11.EndOfMessage())]
            connection.writer.write(b"".join(piece for piece in sent if piece))
            await connection.writer.drain()
            while not isinstance(found := await connection.event(), h11.Response):
                pass  # something in front of the answer
            told = {name.decode("latin-1"): value.decode("latin-1") for name, value in found.headers}
            return Answer(found.status_code, told, connection, self)

    def keep(self, connection: Connection) -> None:
        """Use a connection again whose answer was read to its end."""
        http = connection.http
        if http.our_state is h11.DONE and http.their_state is h11.DONE and len(self.idle) < MAX_IDLE:
            http.start_next_cycle()
            self.idle.append(connection)
        else:
            connection.writer.close()

    def close(self) -> None:
        """Close the connections that are kept."""
        while self.idle:
            self.idle.pop().writer.close()


class faults:
    """Whatever goes wrong on the way is an `EngineFault`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (OSError, TimeoutError, h11.ProtocolError)):
            raise EngineFault(f"the upstream does not answer: {type(error).__name__}: {error}"[:300]) from None

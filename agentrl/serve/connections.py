"""HTTP servers whose connections have limits: a client that says little, or slowly, must not keep others out.

While it is the client's turn, a connection has `SECONDS` to send a request's head and its body, however it spreads the
bytes, and `IDLE_SECONDS` between two requests. At most `MAX_WAITING` connections of one address may be in that state,
and at most `MAX_CONNECTIONS` may be open in all. Beyond that, those that have waited longest are closed; where none
can be, a new connection gets status 503. Connections whose request is complete are never closed to make room.

WebSockets count as connections, and at most `MAX_SOCKETS` of one address may be open. A message has `SECONDS["body"]`
to arrive whole, all unfinished messages together at most `MAX_UNFINISHED` bytes, and a client that does not read is cut
off after `WRITE_SECONDS`.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from agentrl.core.errors import EngineFault, MissingExtra

try:
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
    from websockets.frames import apply_mask  # pyright: ignore[reportPrivateImportUsage]  (in C where it was built)
    from websockets.protocol import OPEN
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("uvicorn", "serve") from error

SECONDS = {"head": 10.0, "body": 30.0}  # to send one of them whole
IDLE_SECONDS = 30  # between two requests of a connection
WRITE_SECONDS = 30.0  # in which a client that has stopped reading must go on
MAX_CONNECTIONS = 512
MAX_WAITING = 128  # connections of one address on whose requests the server waits
GRACE_SECONDS = 1.0  # a connection this young is not closed for others: its request may be on its way
MAX_SOCKETS = 256  # WebSockets of one address
MAX_MESSAGE = 32 << 20  # bytes of a WebSocket message
MAX_UNFINISHED = 256 << 20  # bytes of messages that have not arrived whole, of all WebSockets together
CLOSE_SECONDS = 3  # for open requests when a server closes

# Of a WebSocket frame (RFC 6455, section 5.2): first byte of a whole binary message; in the second byte, the bit of a
# mask, and the sizes that say where the real size is.
BINARY, MASKED, TWO_BYTES, EIGHT_BYTES = 0x82, 0x80, 126, 127
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
NO_ROOM = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class TimedWriting:
    """What both kinds of connections share: timers, and the end of a client that stops reading."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    client: tuple[str, int] | None
    _limit: asyncio.TimerHandle | None = None
    _write_limit: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """The client reads slower than the server writes."""
        super().pause_writing()  # pyright: ignore[reportAttributeAccessIssue]  (of the protocol beside this class)
        self._write_limit = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read on."""
        super().resume_writing()  # pyright: ignore[reportAttributeAccessIssue]
        self._forget("_write_limit")

    def connection_lost(self, exc: Exception | None) -> None:
        """Either side has closed."""
        self._forget("_limit")
        self._forget("_write_limit")
        super().connection_lost(exc)  # pyright: ignore[reportAttributeAccessIssue]

    def _forget(self, timer: str) -> None:
        if (handle := getattr(self, timer)) is not None:
            handle.cancel()
            setattr(self, timer, None)

    @property
    def address(self) -> str:
        """Where the client is, without its port."""
        return str(self.client[0]) if self.client else ""


class LimitedConnection(TimedWriting, H11Protocol):
    """One connection of a uvicorn server.

    `phase` says whose turn it is: "head" and "body" are being sent, "idle" is between two requests, "answer" is the
    server's turn. `since` is when the client's turn began; None while it is the server's.
    """

    phase = "answer"
    since: float | None = None
    upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A client has connected."""
        super().connection_made(transport)
        self._enter("head")
        # Where there are too many, those that have waited longest are closed.
        others = [each for each in self.connections if each is not self and isinstance(each, LimitedConnection)]
        waiting = sorted((each for each in others if each.since is not None), key=lambda each: each.since or 0.0)
        due = [each for each in waiting if time.monotonic() - (each.since or 0.0) >= GRACE_SECONDS]
        here = [each for each in waiting if each.address == self.address]
        closing = [each for each in due if each in here[: max(0, len(here) + 1 - MAX_WAITING)]]
        sockets = sum(isinstance(each, LimitedSocket) for each in self.connections)
        excess = max(0, len(others) + sockets + 1 - len(closing) - MAX_CONNECTIONS)
        closing += [each for each in due if each not in closing][:excess]
        for each in closing:
            self.connections.discard(each)
            each.transport.abort()
        if len(others) + sockets + 1 - len(closing) > MAX_CONNECTIONS:
            self._say(NO_ROOM)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        super().data_received(data)
        if not self.upgraded:
            self._enter(self._present_phase())

    def handle_websocket_upgrade(self, event: Any) -> None:
        """From now on it is a `LimitedSocket`, with time limits of its own."""
        self.upgraded = True
        self._forget("_limit")
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """The server has sent its whole answer."""
        super().on_response_complete()
        phase = self._present_phase()
        self._enter("idle" if phase == "head" else phase)

    def shutdown(self) -> None:
        """The server closes: whoever has not asked yet will not be answered."""
        if self.since is not None:
            self.transport.abort()
        else:
            super().shutdown()

    # ------------------------------------------------------------------ time

    def _present_phase(self) -> str:
        if self.conn.their_state is h11.IDLE:
            return "head"
        return "body" if self.conn.their_state is h11.SEND_BODY else "answer"

    def _enter(self, phase: str) -> None:
        """A new phase has its own time limit; more bytes of the same one do not extend it."""
        if phase == self.phase:
            return
        self.phase = phase
        self.since = None if phase == "answer" else time.monotonic()
        self._forget("_limit")
        if phase in SECONDS:  # uvicorn itself ends connections that are idle
            self._limit = self.loop.call_later(SECONDS[phase], self._say, TOO_SLOW)

    def _say(self, answer: bytes) -> None:
        """Close, with a word to the client if it has had no answer yet."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(answer)
        self.transport.close()


class LimitedSocket(TimedWriting, WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket.

    An application may do without ASGI's queue and tasks, which cost more than a short message: it finds the connection
    in its scope as extension "agentrl.connection", is given each message by `taker` and sends answers by `send_now`.
    """

    unfinished = 0  # bytes of a message that has not arrived whole
    taker: Callable[[bytes], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """An upgrade was asked for."""
        super().connection_made(transport)
        others = [each for each in self.connections if isinstance(each, LimitedSocket)]
        if sum(each.address == self.address for each in others) > MAX_SOCKETS:
            self.transport.write(NO_ROOM)
            self.transport.close()
        else:
            self._limit = self.loop.call_later(SECONDS["head"], self.transport.abort)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        if self.transport.is_closing():
            return
        between = self.conn.state is OPEN and not self.unfinished and not self.frames
        if between and self.taker is not None and (message := whole_message(data)) is not None:
            return self.taker(message)
        super().data_received(data)
        self.unfinished = len(self.conn.reader.buffer) + sum(map(len, self.frames))
        if not self.unfinished or self.read_paused:  # it is the server's turn
            self._forget("_limit")
        elif self._limit is None:
            self._limit = self.loop.call_later(SECONDS["body"], self.transport.abort)
        if self.unfinished > len(data):  # more than one piece: look at the others, too
            every = sum(each.unfinished for each in self.connections if isinstance(each, LimitedSocket))
            if every > MAX_UNFINISHED:
                self.transport.abort()

    def handle_connect(self, event: Any) -> None:
        """The handshake is whole: the application decides."""
        super().handle_connect(event)
        if not self.close_sent:
            scope: Any = self.scope
            scope["extensions"]["agentrl.connection"] = self

    def send_receive_event_to_app(self) -> None:
        """A message is whole."""
        if self.taker is None:
            return super().send_receive_event_to_app()
        data, self.frames = b"".join(self.frames), []
        if not self.close_sent:
            self.taker(data)

    def send_now(self, data: bytes | bytearray) -> bool:
        """Send a message at once; False where the client has to read first, or has gone."""
        if not self.writable.is_set() or self.conn.state is not OPEN or self.transport.is_closing():
            return False
        self.transport.write(message_head(len(data)) + data)
        return True

    def read_on(self, wanted: bool) -> None:
        """Read what the client sends, or let it wait."""
        if self.read_paused == wanted and not self.transport.is_closing():
            self.read_paused = not wanted
            self.transport.resume_reading() if wanted else self.transport.pause_reading()


# The library reads and writes a message in 8 microseconds, which is a quarter of a short turn; these take one.


def whole_message(data: bytes) -> bytes | None:
    """The message, where the bytes are one masked binary frame and nothing else; None where the library has to look."""
    if len(data) < 6 or data[0] != BINARY or data[1] < MASKED:
        return None
    size, start = data[1] - MASKED, 2
    if size == EIGHT_BYTES:
        return None
    if size == TWO_BYTES:
        size, start = int.from_bytes(data[2:4], "big"), 4
    if len(data) != start + 4 + size:
        return None
    return apply_mask(data[start + 4 :], data[start : start + 4])


def message_head(size: int) -> bytes:
    """What comes before a message that a server sends as one binary frame."""
    if size < TWO_BYTES:
        return bytes([BINARY, size])
    if size < 1 << 16:
        return bytes([BINARY, TWO_BYTES]) + size.to_bytes(2, "big")
    return bytes([BINARY, EIGHT_BYTES]) + size.to_bytes(8, "big")


def limited_server(app: Any, *, sockets: bool = False, **options: Any) -> uvicorn.Server:
    """A server of an ASGI application whose connections have limits; `sockets` lets them become WebSockets."""
    config = uvicorn.Config(
        app,
        http=LimitedConnection,
        ws=LimitedSocket if sockets else "none",
        ws_max_size=MAX_MESSAGE,
        ws_per_message_deflate=False,  # a small message could unpack to a large one
        ws_ping_interval=None,  # episodes that nobody plays are closed, and connections without episodes
        lifespan="off",
        log_config=None,
        log_level="error",  # bytes that are no request are no news
        access_log=False,
        server_header=False,
        proxy_headers=False,  # an address that a client names itself would get around limits
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        **options,
    )
    return uvicorn.Server(config)


class BackgroundServer:
    """Serves an ASGI application in a thread until `close()`, which also closes the listening socket."""

    def __init__(self, app: Any, listener: socket.socket, name: str = "agentrl-serve", **options: Any) -> None:
        self._server, self._listener = limited_server(app, **options), listener
        run = {"sockets": [listener]}
        self._thread = threading.Thread(target=self._server.run, kwargs=run, name=name, daemon=True)
        self._thread.start()
        until = time.monotonic() + 30
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                raise EngineFault("the HTTP server did not start")
            time.sleep(0.005)

    def close(self) -> None:
        """Stop listening, give open requests a moment, end the thread."""
        self._server.should_exit = True
        self._thread.join(CLOSE_SECONDS + 5)
        self._listener.close()

    def __enter__(self) -> BackgroundServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

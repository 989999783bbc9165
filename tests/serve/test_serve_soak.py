"""Twenty thousand sessions, of which a third is abandoned and a third killed: the server is as it was before."""

from __future__ import annotations

import socket
import time

import msgspec
import psutil
import pytest

from agentrl.serve import protocol
from tests.serve.test_remote import LAKE, process

encode = msgspec.msgpack.encode
AT_ONCE = 60


def frame(content: bytes) -> bytes:
    """A WebSocket message with an empty mask."""
    length = bytes([0x80 | len(content)]) if len(content) < 126 else b"\xfe" + len(content).to_bytes(2)
    return b"\x82" + length + b"\0\0\0\0" + content


OPENING = (
    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
OPEN = frame(encode(["open", 1, LAKE, {}, protocol.versions_of(LAKE)]))
PLAY = frame(encode(["reset", 2, "e1", 1, None])) + frame(encode(["step", 3, "e1", "Down"]))
CLOSE = frame(encode(["close", 4, "e1"]))


def session(port: int, number: int) -> socket.socket | None:
    """One session; gives the socket of one that is abandoned, with its episode open."""
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.sendall(OPENING)
    assert b" 101 " in client.recv(4096)
    client.sendall(OPEN)
    assert b"episode" in client.recv(65536)
    client.sendall(PLAY)
    if number % 3 == 0:
        return client
    if number % 3 == 1:  # killed: reset in the middle of the answers
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    else:
        client.recv(65536)
        client.sendall(CLOSE)
        client.recv(65536)
    client.close()
    return None


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_twenty_thousand_sessions_leave_nothing_behind() -> None:
    with process(LAKE, "--idle-seconds", "5") as (server, url):
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        there, me = psutil.Process(server.pid), psutil.Process()

        def some(count: int) -> None:
            left: list[socket.socket] = []
            for number in range(count):
                left += [one] if (one := session(port, number)) else []
                if len(left) > AT_ONCE:
                    left.pop(0).close()
            for one in left:
                one.close()

        def quiet() -> int:
            until = time.monotonic() + 30
            while there.num_fds() > files and time.monotonic() < until:
                time.sleep(0.1)
            return there.num_fds()

        files = 10**6
        some(3000)  # fills caches, pools and the memory of threads
        time.sleep(6)
        files, memory = there.num_fds(), there.memory_info().rss
        spent = sum(there.cpu_times()[:2]) + sum(me.cpu_times()[:2])
        some(20_000)
        spent = sum(there.cpu_times()[:2]) + sum(me.cpu_times()[:2]) - spent
        assert quiet() <= files
        grown = there.memory_info().rss / memory
        print(f"20,000 sessions: {spent:.0f} CPU s, memory x{grown:.3f}, {there.num_fds()} open files")
        assert grown < 1.05 and spent < 600  # five minutes of two cores
        began = time.monotonic()
        session(port, 2)
        assert time.monotonic() - began < 1.0

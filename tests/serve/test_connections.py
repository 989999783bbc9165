"""Clients that say little and slowly: they are cut off, and keep nobody else out."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from websockets.frames import Frame, Opcode
from websockets.streams import StreamReader

from agentrl.serve import connections
from agentrl.serve.connections import BackgroundServer, message_head, whole_message
from agentrl.serve.site import listen

HALF_HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: "
HALF_BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf of "
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
left: list[str] = []


async def _echo(request: Request) -> Response:
    try:
        return PlainTextResponse(f"read {len(await request.body())} bytes")
    except ClientDisconnect:
        left.append("in the middle of a body")
        raise


async def _large(request: Request) -> Response:
    return PlainTextResponse("x" * (32 << 20))


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    app = Starlette(routes=[Route("/", _echo, methods=["GET", "POST"]), Route("/large", _large)])
    listener = listen("127.0.0.1", 0)
    with BackgroundServer(app, listener):
        yield listener.getsockname()[1]


@contextmanager
def opened(port: int, data: bytes = b"", source: str = "127.0.0.1") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(source, 0)) as client:
        client.sendall(data)
        yield client


def read(client: socket.socket) -> bytes:
    """Whatever comes until the server closes."""
    found = b""
    with suppress(ConnectionError):
        while piece := client.recv(65536):
            found += piece
    return found


def answered(client: socket.socket) -> bool:
    """Does an answer of the application come?"""
    found = b""
    while b"bytes" not in found and (piece := client.recv(65536)):
        found += piece
    return b" 200 " in found and found.endswith(b"read 0 bytes")


@pytest.mark.parametrize("data", [b"", HALF_HEAD, HALF_BODY])
def test_half_a_request_is_cut_off(port, monkeypatch, data):
    monkeypatch.setattr(connections, "SECONDS", {"head": 0.2, "body": 0.2})
    with opened(port, data) as client:
        assert b" 408 " in read(client)


@pytest.mark.parametrize("data", [HALF_HEAD, HALF_BODY])
def test_sending_a_byte_now_and_then_gains_no_time(port, monkeypatch, data):
    monkeypatch.setattr(connections, "SECONDS", {"head": 0.3, "body": 0.3})
    with opened(port, data) as client:
        client.settimeout(0.05)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                client.sendall(b"x")
                if not client.recv(65536):
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert time.monotonic() < until


def test_a_connection_may_be_used_again_and_again(port):
    with opened(port) as client:
        for _ in range(3):
            client.sendall(WHOLE)
            assert answered(client)


def test_the_second_request_of_a_connection_has_a_time_limit_too(port, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS", {"head": 0.2, "body": 0.2})
    with opened(port, WHOLE) as client:
        assert answered(client)
        client.sendall(HALF_HEAD)
        assert b" 408 " in read(client)


def test_an_application_learns_that_a_body_will_not_come(port, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS", {"head": 0.2, "body": 0.2})
    left.clear()
    with opened(port, HALF_BODY) as client:
        read(client)
    until = time.monotonic() + 60
    while not left and time.monotonic() < until:
        time.sleep(0.01)
    assert left == ["in the middle of a body"]


def test_a_client_that_does_not_read_its_answer_is_cut_off(port, monkeypatch):
    monkeypatch.setattr(connections, "WRITE_SECONDS", 0.2)
    with opened(port, LARGE) as client:
        time.sleep(3.0)
        assert len(read(client)) < 32 << 20


def test_one_address_cannot_take_every_connection(port, monkeypatch):
    monkeypatch.setattr(connections, "MAX_WAITING", 4)
    monkeypatch.setattr(connections, "GRACE_SECONDS", 0.0)
    with ExitStack() as stack:
        elsewhere = stack.enter_context(opened(port, HALF_HEAD, source="127.0.0.2"))
        asking = [stack.enter_context(opened(port, HALF_HEAD)) for _ in range(8)]
        time.sleep(0.3)
        with opened(port, WHOLE) as honest:
            assert answered(honest)
        assert all(read(client) == b"" for client in asking[:4])  # those that waited longest
        for client in (elsewhere, asking[-1]):
            client.sendall(b"x\r\n\r\n")
            assert answered(client)


def test_a_burst_of_ordinary_clients_is_served(port, monkeypatch):
    monkeypatch.setattr(connections, "GRACE_SECONDS", 60.0)  # a busy machine does not make a burst in one second
    with ExitStack() as stack:
        clients = [stack.enter_context(opened(port)) for _ in range(300)]
        for client in clients:
            client.sendall(WHOLE)
        assert all(answered(client) for client in clients)


def test_beyond_the_limit_new_connections_are_told_to_come_back(port, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 4)
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(opened(port, HALF_HEAD))
        time.sleep(0.2)
        with opened(port) as late:
            assert b" 503 " in read(late)


def test_closing_does_not_wait_for_half_a_request(monkeypatch):
    monkeypatch.setattr(connections, "CLOSE_SECONDS", 120)
    listener = listen("127.0.0.1", 0)
    server = BackgroundServer(Starlette(routes=[Route("/", _echo, methods=["POST"])]), listener)
    with opened(listener.getsockname()[1], HALF_BODY):
        time.sleep(0.2)
        began = time.monotonic()
        server.close()
        assert time.monotonic() - began < 60  # less than open requests would be given


SIZES = [0, 1, 125, 126, 127, 65535, 65536, 70000]


@pytest.mark.parametrize("size", SIZES)
def test_short_messages_are_framed_as_the_library_frames_them(size):
    data = bytes(range(256)) * 300
    sent, asked = (Frame(Opcode.BINARY, data[:size]).serialize(mask=mask, extensions=[]) for mask in (False, True))
    assert message_head(size) + data[:size] == sent
    assert whole_message(asked) == (data[:size] if size < 65536 else None)
    assert whole_message(asked + b"x") is None and whole_message(asked[:-1]) is None and whole_message(sent) is None


@given(st.sampled_from([0x82, 0x81, 0x02, 0xC2, 0x89]), st.integers(0, 255), st.binary(max_size=200))
def test_what_is_read_without_the_library_is_what_it_reads(first, second, rest):
    data = bytes([first, second]) + rest[: (second & 127) + random.Random(second).choice([0, 3, 4, 5])]
    if (message := whole_message(data)) is None:
        return
    reader = StreamReader()
    reader.feed_data(data)
    with pytest.raises(StopIteration) as end:
        next(Frame.parse(reader.read_exact, mask=True, max_size=None, extensions=[]))
    assert end.value.value == Frame(Opcode.BINARY, message) and not reader.buffer

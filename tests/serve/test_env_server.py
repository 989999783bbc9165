"""`agentrl serve` in a hostile world: frames, names, tokens and connections that nobody should trust."""

from __future__ import annotations

import json
import random
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect

from agentrl.core.errors import ConfigError, SessionFault
from agentrl.serve import connections, env_server, protocol
from agentrl.serve.env_server import EnvServer
from agentrl.serve.remote import RemoteEnv
from agentrl.serve.sessions import Limits, Sessions

LAKE = "agentrl/FrozenLake-Text-v0"
TOKEN = "correct horse battery staple"
encode = msgspec.msgpack.encode


@pytest.fixture(scope="module")
def server() -> Iterator[EnvServer]:
    with EnvServer(Sessions([LAKE], limits=Limits(sessions=64, per_address=64))) as one:
        yield one


def ask(link: Any, *frame: Any) -> Any:
    link.send(frame[0] if isinstance(frame[0], bytes) else encode(list(frame)))
    return protocol.read_answer(link.recv(20))


def opened(link: Any) -> str:
    _, status, facts = ask(link, "open", 1, LAKE, {}, protocol.versions_of(LAKE))
    assert status == "ok", facts
    return facts["episode"]


def port_of(server: EnvServer) -> int:
    return int(server.url.rsplit(":", 1)[1].split("/")[0])


def get(server: EnvServer, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port_of(server)}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


WRONG = [
    encode(["unknown", 1, "e1"]),
    encode(["step", 1]),
    encode(["step", "one", "e1", "Down"]),
    encode(["step", -1, "e1", "Down"]),
    encode(["step", 1, 7, "Down"]),
    encode(["step", 1, "e" * 10**6, "Down"]),
    encode(["step_many", 1, []]),
    encode(["step_many", 1, [["e1"]]]),
    encode(["step_many", 1, [["e1", "Down"]] * 5000]),
    encode(["reset", 1, "e1", "seed", None]),
    encode(["reset", 1, "e1", 1, None, "more"]),
    encode(["open", 1, LAKE, {}, {}]),
    encode(["open", 1, "os:agentrl/FrozenLake-Text-v0", {}, protocol.versions_of(LAKE)]),
    encode(["open", 1, LAKE, {"render_mode": "human"}, protocol.versions_of(LAKE)]),
    encode(["ask", 1, "e1", "__class__"]),
    encode(["set", 1, "e1", "max_turns", 10**9]),
    encode({"op": "step"}),
    encode("x" * 10**6),
    b"",
    b"\x91" * 100_000,  # nested for ever
    b"\x94\xa4step\x01\xa2e1\xdd\xff\xff\xff\xff",  # says that four thousand million items follow
    b"\x94\xa4step\x01\xa2e1\xdf\xff\xff\xff\xff",
    b"\x94\xa4step\x01\xa2e1\xdb\xff\xff\xff\xff",
    b"\x94\xa4step\x01\xa2e1" + encode(msgspec.msgpack.Ext(1, encode(["O", [1], b"12345678"]))),
    b"\x94\xa4step\x01\xa2e1" + encode(msgspec.msgpack.Ext(1, encode(["<f8", [10**9, 10**9], b""]))),
    b"\x94\xa4step\x01\xa2e1" + encode(msgspec.msgpack.Ext(1, encode(["<f8", [-1], b"12345678"]))),
    b"\x94\xa4step\x01\xa2e1" + encode(msgspec.msgpack.Ext(99, b"")),
    b"\x94\xa4step\x01\xa2e1" + b"\xdb\x00\x50\x00\x00" + b"x" * (5 << 20),  # larger than a step may be
]


def test_wrong_frames_are_answered_and_the_connection_goes_on(server) -> None:
    with connect(server.url) as link:
        name = opened(link)
        for frame in WRONG:
            number, status, text = ask(link, frame)
            assert status == "config" and number in (0, 1) and isinstance(text, str) and len(text) < 500, frame[:40]
        assert ask(link, "reset", 2, name, 1, None)[1] == "ok"
        link.send("text is no frame")
        assert protocol.read_answer(link.recv(20))[1] == "config"


def test_random_and_mutated_frames_never_end_the_server(server) -> None:
    chance = random.Random(0)
    with connect(server.url) as link:
        name = opened(link)
        whole = [encode(["step", 3, name, "Down"]), encode(["reset", 3, name, 1, {"task": "x"}]), *WRONG[:12]]
        for _ in range(1500):
            data = bytearray(chance.choice(whole)[:300]) if chance.random() < 0.7 else bytearray(chance.randbytes(60))
            for _ in range(chance.randint(0, 4)):
                if data:
                    data[chance.randrange(len(data))] = chance.randrange(256)
            answer = ask(link, bytes(data))
            assert answer[1] in ("ok", "config", "fault", "raised", "SnapshotError")
    with connect(server.url) as link:
        assert ask(link, "reset", 1, opened(link), 1, None)[1] == "ok"


def test_frames_are_read_however_the_network_cuts_and_joins_them(server) -> None:
    rng = random.Random(5)
    with upgraded(server) as client:
        frames = [Frame(Opcode.BINARY, encode(["state", number, "e9"])) for number in range(60)]
        pieces = [Frame(Opcode.BINARY, encode(["state", 60, "e9"])[:3], fin=False), Frame(Opcode.PING, b"beside")]
        pieces.append(Frame(Opcode.CONT, encode(["state", 60, "e9"])[3:]))
        data = b"".join(frame.serialize(mask=True, extensions=[]) for frame in [*frames, *pieces])
        while data:
            cut = rng.choice([1, 2, 5, 20, 21, 42, 100])
            client.sendall(data[:cut])
            data = data[cut:]
            time.sleep(rng.choice([0, 0.002]))
        read = client.makefile("rb")
        answers, pongs = [], 0
        while len(answers) < 61 or not pongs:
            kind, size = read.read(2)
            content = read.read(int.from_bytes(read.read(2), "big") if size == 126 else size)
            if kind == connections.BINARY:
                answers.append(protocol.read_answer(content))
            pongs += kind == 0x8A
        assert [number for number, *_ in answers] == list(range(61)) and {status for _, status, _ in answers} == {
            "fault"
        }


def test_names_of_others_episodes_are_unknown(server) -> None:
    with connect(server.url) as one, connect(server.url) as other:
        name = opened(one)
        for operation, *rest in (("reset", 1, None), ("step", "Down"), ("state",), ("snapshot",), ("close",)):
            _, status, fault = ask(other, operation, 1, name, *rest)
            assert status == "fault" and fault["reason"] == "unknown"
        assert ask(one, "reset", 1, name, 1, None)[1] == "ok"


def test_messages_over_the_limit_end_the_connection(server) -> None:
    with connect(server.url) as link:
        with pytest.raises(ConnectionClosed) as closed:
            link.send(b"x" * (connections.MAX_MESSAGE + 1))
            link.recv(20)
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


def upgraded(server: EnvServer) -> socket.socket:
    """A WebSocket by hand."""
    client = socket.create_connection(("127.0.0.1", port_of(server)), timeout=20)
    client.sendall(
        b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    assert b" 101 " in client.recv(4096)
    return client


def test_half_a_message_is_cut_off_and_all_of_them_have_a_budget(server, monkeypatch) -> None:
    monkeypatch.setattr(connections, "SECONDS", {"head": 10.0, "body": 0.3})
    with upgraded(server) as client:
        client.sendall(b"\x82\xff" + (1 << 20).to_bytes(8) + b"mask" + b"half")
        began = time.monotonic()
        assert not _read(client) and time.monotonic() - began < 50
    monkeypatch.setattr(connections, "SECONDS", {"head": 10.0, "body": 60.0})
    monkeypatch.setattr(connections, "MAX_UNFINISHED", 1 << 20)
    with upgraded(server) as client, pytest.raises(OSError):
        client.sendall(b"\x82\xff" + (30 << 20).to_bytes(8) + b"mask")
        for _ in range(200):
            client.sendall(b"x" * (1 << 17))
        raise ConnectionError if not _read(client) else AssertionError


def _read(client: socket.socket) -> bytes:
    try:
        return client.recv(100)
    except ConnectionError:
        return b""


def test_a_client_that_does_not_read_is_cut_off(server, monkeypatch) -> None:
    monkeypatch.setattr(connections, "WRITE_SECONDS", 0.3)
    before = get(server, "/metrics")[1]
    with upgraded(server) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        frame = encode(["unknown", 1, "x" * 40])
        message = b"\x82" + bytes([0x80 | len(frame)]) + b"\0\0\0\0" + frame
        with pytest.raises(OSError):
            client.settimeout(5)
            for _ in range(400):
                client.sendall(message * 500)
    assert "agentrl_connections 0" in before
    assert _eventually(lambda: "agentrl_connections 0" in get(server, "/metrics")[1])


def _eventually(true: Any) -> bool:
    until = time.monotonic() + 60
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return true()


def test_connections_of_one_address_have_a_limit(server, monkeypatch) -> None:
    monkeypatch.setattr(connections, "MAX_SOCKETS", 3)
    assert _eventually(lambda: "agentrl_connections 0" in get(server, "/metrics")[1])
    links = [connect(server.url, legacy=True) for _ in range(3)]
    with pytest.raises(InvalidStatus, match="503"):
        connect(server.url)
    with pytest.raises(SessionFault) as refused:
        RemoteEnv(server.url, LAKE)
    assert refused.value.reason == "limit"
    links.pop().close()
    assert _eventually(lambda: "agentrl_connections 2" in get(server, "/metrics")[1])
    with connect(server.url):
        pass
    for link in links:
        link.close()


def test_a_thousand_opens_against_a_limit_of_64(server) -> None:
    me = psutil.Process()
    with connect(server.url) as link:
        memory, counts = 0, {"ok": 0, "fault": 0}
        for number in range(1000):
            _, status, value = ask(link, "open", number, LAKE, {}, protocol.versions_of(LAKE))
            counts[status] += 1
            assert status == "ok" or value["reason"] == "limit"
            memory = me.memory_info().rss if number == 100 else memory
        assert counts == {"ok": 64, "fault": 936}
        assert me.memory_info().rss < memory * 1.05
    assert _eventually(lambda: not len(server.sessions))
    with connect(server.url) as link:
        opened(link)


def test_other_sites_and_names_are_refused(server) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert get(server, "/envs", **headers)[0] == 403
        with pytest.raises(InvalidStatus, match="403"):
            connect(server.url, additional_headers=headers)
    assert get(server, "/envs", Host="evil.example")[0] == 403
    own = f"http://127.0.0.1:{port_of(server)}"
    with connect(server.url, additional_headers={"Origin": own}):
        pass


def test_health_metrics_and_list(server) -> None:
    assert json.loads(get(server, "/health")[1]) == {"status": "ok"}
    assert "# TYPE agentrl_opened_total counter" in get(server, "/metrics")[1]
    (entry,) = json.loads(get(server, "/envs")[1])
    assert entry["id"] == LAKE and entry["agentrl"] and entry["kind"] == "Text"


def test_a_token_is_needed_and_a_thousand_wrong_ones_do_not_pass(monkeypatch) -> None:
    monkeypatch.setattr(env_server, "REFUSAL_SECONDS", 0.0)
    with EnvServer(Sessions([LAKE]), token=TOKEN) as server:
        chance = random.Random(1)
        wrong = [
            "",
            TOKEN[:-1],
            TOKEN + "x",
            TOKEN.upper(),
            "\xff" * 20,
            *(chance.randbytes(12).hex() for _ in range(995)),
        ]

        def status(token: str) -> int:
            return get(server, "/envs", Authorization=f"Bearer {token}")[0]

        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(status, wrong)) == {401}
        for token in wrong[:3]:
            with pytest.raises(ConfigError, match="the token must be the server's"):
                RemoteEnv(server.url, LAKE, token=token or None)
        assert status(TOKEN) == 200 and get(server, "/health")[0] == 200
        RemoteEnv(server.url, LAKE, token=TOKEN).close()


def test_only_loopback_without_a_token() -> None:
    for host in ("0.0.0.0", "::", "10.0.0.1"):
        with pytest.raises(ConfigError, match="without a token"):
            EnvServer(Sessions([LAKE]), host=host)
    with pytest.raises(ConfigError, match="at least 16"):
        EnvServer(Sessions([LAKE]), token="short")


def test_a_connection_without_episodes_is_closed(monkeypatch) -> None:
    with EnvServer(Sessions([LAKE], limits=Limits(idle_seconds=0.3))) as server, connect(server.url) as link:
        with pytest.raises(ConnectionClosed) as closed:
            link.recv(20)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1001

"""Serving a site: on a loopback address, to pages of the site itself."""

from __future__ import annotations

import socket

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from agentrl.core.errors import ConfigError
from agentrl.serve.site import LoopbackOnly, address, is_loopback, listen

OWN = "http://127.0.0.1:8000"


async def _answer(request: Request) -> Response:
    return PlainTextResponse("hello")


@pytest.fixture
def browser() -> TestClient:
    site = Starlette(routes=[Route("/", _answer, methods=["GET", "POST"])])
    return TestClient(LoopbackOnly(site), base_url=OWN)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "[::1]:80", "127.3.2.1", "a.localhost", "a-1.b.LOCALHOST:8000"]
)
def test_loopback_names_are_answered(browser: TestClient, host: str) -> None:
    assert is_loopback(host)
    assert browser.get("/", headers={"host": host}).text == "hello"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[", "localhost@evil.example", "evil-localhost",
     "evillocalhost", "localhost.evil.com", "a.localhost.evil.com", "a.localhost.", ".localhost", "a..localhost",
     "-a.localhost", "a_b.localhost", "localhost.localdomain", "a.localhost/evil.com", "a.localhost:x@evil.com",
     "evil@localhost"],
)  # fmt: skip
def test_other_names_are_refused(browser: TestClient, host: str) -> None:
    assert not is_loopback(host)
    assert browser.get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    ("origin", "status"), [(None, 200), (OWN, 200), ("http://evil.example", 403), ("null", 403), (OWN + "1", 403)]
)
def test_forms_of_other_sites_are_refused(browser: TestClient, origin: str | None, status: int) -> None:
    headers = {} if origin is None else {"origin": origin}
    assert browser.post("/", headers=headers).status_code == status
    assert browser.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("host", "port", "named"),
    [("0.0.0.0", 0, "host"), ("::", 0, "host"), ("map.localhost", 0, "host"), ("127.0.0.1", -1, "port")],
)
def test_only_loopback_addresses_can_be_listened_on(host: str, port: int, named: str) -> None:
    with pytest.raises(ConfigError, match=f"{named} must be"):
        listen(host, port)


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match="choose another"):
        listen("127.0.0.1", taken.getsockname()[1])


def test_the_address_can_be_opened() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}/"

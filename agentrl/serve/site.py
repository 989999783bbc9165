"""Runs the web site of an environment for people on this machine: a loopback address, and no other site may ask.

A site is what a row of the registry names under `sites`: an object with `app` (any ASGI application), `summary` (a few
words about what is served) and `facts` (the same as JSON types).
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.serve.connections import limited_server

try:
    from starlette.datastructures import Headers
    from starlette.responses import PlainTextResponse
except ImportError as error:  # pragma: no cover (set-up installs it)
    raise MissingExtra("starlette", "serve") from error

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class LoopbackOnly:
    """An ASGI application that lets requests through to another one if they come from a page of the site itself,
    opened under a loopback name: a web page elsewhere must not act in a visitor's name."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, with status 403 if it comes from elsewhere."""
        if scope["type"] != "lifespan" and not is_trusted(Headers(scope=scope), scope.get("method", "")):
            refusal = PlainTextResponse("this site answers on its own machine only\n", 403)
            return await refusal(scope, receive, send)
        await self.app(scope, receive, send)


def is_trusted(headers: Headers, method: str) -> bool:
    """Does the Host header name this machine, and does whatever may change something come from this site?"""
    host, origin = headers.get("host", ""), headers.get("origin")
    own = origin is None or urlsplit(origin).netloc == host
    return is_loopback(host) and (own or method in ("GET", "HEAD"))


# RFC 6761: `localhost` and all names that end in `.localhost` are those of the machine itself.
_LOCALHOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*localhost")


def is_loopback(host: str) -> bool:
    """Does a Host header name this machine? Another name that resolves to it may be an attack (DNS rebinding)."""
    try:
        parts = urlsplit(f"//{host}")
        if parts.netloc != host or "@" in host:  # not what a browser sends
            return False
        name = parts.hostname or ""
        return _LOCALHOST.fullmatch(name) is not None or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def check_address(host: str, port: int, anywhere: bool = False) -> None:
    """`ConfigError` unless the port is in range (0: any free one), and the host a loopback address or `anywhere`."""
    whole_number("port", port, at_least=0, at_most=65535)
    if anywhere:
        return
    is_name = host.lower().endswith(".localhost")  # browsers know what it means; a name server may say anything
    if is_name or not is_loopback(f"[{host}]" if ":" in host else host):
        raise ConfigError(f"host must be a loopback address such as 127.0.0.1; got {host!r}")


def listen(host: str, port: int, anywhere: bool = False) -> socket.socket:
    """A socket that listens on a loopback address, or `anywhere`."""
    check_address(host, port, anywhere)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(f"port {port} of {host} cannot be used: {error.strerror}; choose another") from error
    # Connections inherit it. asyncio sets it only on sockets that name their protocol, which these do not; without it
    # an answer in two pieces waits 40 ms for the client's acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address(listener: socket.socket) -> str:
    """What to type into a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(app: Any, *listeners: socket.socket) -> None:
    """Serve until interrupted."""
    limited_server(LoopbackOnly(app)).run(sockets=list(listeners))

"""`Fence`: which addresses a browser may ask for. Whatever cannot be read as an address is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    return _SOCKETS.get(scheme, scheme), _plain(host), PORTS[scheme] if port is None else port


def _plain(host: str) -> str:
    """Equal for equal hosts: no dot at the end, one spelling of an IP address."""
    if host.startswith("["):
        try:
            return f"[{ip_address(host[1:-1]).compressed}]"
        except ValueError as error:
            raise BadOrigin(f"not a host: {host!r:.80}") from error
    return host.removesuffix(".")


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

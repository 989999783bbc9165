"""`agentrl shop`: WebShop as a web site on this machine, for a person."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

from agentrl.cli.arguments import Common, Split
from agentrl.cli.output import log, print_json
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, MissingExtra


@dataclass(kw_only=True)
class Arguments(Common):
    """Serve the shop that agents shop in as web pages, until interrupted: the same goals, search and score.

    Open the address that is printed in a browser on this machine.
    """

    port: int = 8000
    """Where to listen; 0 takes any free port."""
    host: str = "127.0.0.1"
    """A loopback address."""
    split: Split = "train"
    """Whose goals."""
    catalogue_size: int = 10_000
    """Products of the generated shop, 1,000 to 1,180,000."""
    catalogue_seed: int = 0
    """Which generated shop."""
    data_dir: str = ""
    """A folder with the benchmark's own files, instead of a generated shop."""
    goals: str = "human"
    """Of the benchmark's files: human or synthetic."""
    max_turns: int = 100
    """Clicks and searches for each goal; agents have 15."""
    max_sessions: int = 100
    """How many people may shop at a time."""
    idle_minutes: float = 30.0
    """After so long a visitor who does nothing is forgotten."""


def run(arguments: Arguments) -> int:
    """Serve until a signal comes."""
    try:
        import uvicorn

        from agentrl.serve.shop import ShopSite, is_local
    except ImportError as error:
        raise error if isinstance(error, MissingExtra) else MissingExtra("uvicorn", "serve") from error
    whole_number("port", arguments.port, at_least=0, at_most=65535)
    host = arguments.host
    if not is_local(f"[{host}]" if ":" in host else host):
        raise ConfigError(f"host must be a loopback address such as 127.0.0.1, not {host!r}")
    site = ShopSite(
        split=arguments.split,
        catalogue_size=arguments.catalogue_size,
        catalogue_seed=arguments.catalogue_seed,
        data_dir=arguments.data_dir or None,
        goals=arguments.goals,
        max_turns=arguments.max_turns,
        max_sessions=arguments.max_sessions,
        idle_minutes=arguments.idle_minutes,
    )
    with listening(host, arguments.port) as listener:
        url = address(listener)
        if arguments.json:
            print_json({"schema": 1, "url": url, "products": len(site.shop.catalogue), "split": arguments.split})
        log(f"{len(site.shop.catalogue):,} products at {url}; Ctrl-C closes the shop")
        config = uvicorn.Config(site.app, log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens, or a `ConfigError` that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(f"port {port} of {host} cannot be used: {error.strerror}; choose another") from error


def address(listener: Any) -> str:
    """The address a browser is given."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

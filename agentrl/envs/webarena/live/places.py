"""Where real sites are: the argument `sites_at`, and which site an address belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.tasks.addresses import addresses_from_environment
from agentrl.envs.webarena.tasks.schema import SITE_NAME

EMBEDDED, ENVIRONMENT = "embedded", "environment"
ADDRESS = re.compile(r"https?://[^/\s?#@]+(/[^\s?#]*)?")


def live_addresses(sites_at: Any) -> dict[str, str] | None:
    """The addresses that `sites_at` gives; None for the embedded sites."""
    if sites_at == EMBEDDED:
        return None
    if sites_at == ENVIRONMENT:
        found = addresses_from_environment()
        if not found:
            raise ConfigError(
                'sites_at="environment" needs the addresses of the sites: set WA_SHOPPING, WA_SHOPPING_ADMIN, '
                "WA_REDDIT, WA_GITLAB, WA_MAP (or the names without WA_) in the environment"
            )
        return found
    if not isinstance(sites_at, Mapping) or not sites_at:
        raise ConfigError(
            f"sites_at must be {EMBEDDED!r}, {ENVIRONMENT!r} or addresses such as "
            f'{{"shopping": "http://localhost:7770"}}; got {sites_at!r:.80}'
        )
    return {_name(name): _address(name, url) for name, url in sites_at.items()}


def _name(name: Any) -> str:
    if not isinstance(name, str) or not SITE_NAME.fullmatch(name):
        raise ConfigError(f'sites_at must name sites in small letters, such as "my_wiki"; got {name!r:.80}')
    return name


def _address(name: str, url: Any) -> str:
    if not isinstance(url, str) or not ADDRESS.fullmatch(url):
        raise ConfigError(f"sites_at[{name!r}] must be an address such as http://localhost:7770; got {url!r:.80}")
    return url.rstrip("/")


def site_of(url: str, addresses: Mapping[str, str]) -> str:
    """The name of the site that an address belongs to; empty where there is none. Of two sites on one host and port
    the one with the longer path counts."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    origin = (parts.scheme, parts.netloc.lower())
    here = [(name, urlsplit(known)) for name, known in addresses.items()]
    here = [(name, known) for name, known in here if (known.scheme, known.netloc.lower()) == origin]
    below = [(len(known.path), name) for name, known in here if f"{parts.path}/".startswith(f"{known.path}/")]
    return max(below)[1] if below else next((name for name, _ in here), "")

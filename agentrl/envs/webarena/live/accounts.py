"""Who the agent is on real sites. Passwords come from the environment or a file: arguments are written into records."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.envs.webarena.sites.places import PLACES, Account

FORM = '{"shopping": {"name": "...", "password": "..."}}'


def accounts_for(
    chosen: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, Account]:
    """The accounts by site: the benchmark's own, those of a JSON file, those of `WA_SHOPPING_USERNAME` and
    `WA_SHOPPING_PASSWORD` (and so on for the other sites); what comes later counts."""
    found = {name: place.account for name, place in PLACES.items() if place.account is not None}
    if chosen is not None:
        found |= _from_file(chosen)
    for site in found:
        name, password = (environment.get(f"WA_{site.upper()}_{what}") for what in ("USERNAME", "PASSWORD"))
        if name or password:
            found[site] = Account(name or found[site].name, password or found[site].password)
    return found


def _from_file(path: str | os.PathLike[str]) -> dict[str, Account]:
    if not isinstance(path, (str, os.PathLike)):
        raise ConfigError(
            f"accounts must be the path of a file such as {FORM}; passwords in arguments would be written into records"
        )
    try:
        raw = json.loads(read_regular(path))
    except OSError as error:
        raise ConfigError(f"cannot read the accounts in {os.fspath(path)}: {error.strerror or error}") from None
    except ValueError:
        raise ConfigError(f"{os.fspath(path)} must be a JSON object such as {FORM}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{os.fspath(path)} must be a JSON object such as {FORM}")
    return {site: _account(site, entry, path) for site, entry in raw.items()}


def _account(site: str, entry: Any, path: str | os.PathLike[str]) -> Account:
    if site not in PLACES or PLACES[site].account is None:
        known = [name for name, place in PLACES.items() if place.account is not None]
        raise ConfigError(f"{os.fspath(path)} may have accounts of {', '.join(known)}; got {site!r}")
    values = [entry.get(name) for name in ("name", "password")] if isinstance(entry, dict) else []
    values = [value for value in values if isinstance(value, str) and value]
    if len(values) != 2:
        raise ConfigError(f"{os.fspath(path)} must give {site} a name and a password: {FORM}")
    return Account(*values)

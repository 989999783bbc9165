"""Addresses of the sites: tasks name them by placeholders such as `__SHOPPING__`, which are replaced before use."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.browsing.loading import BLANK, BadAddress, typed
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.tasks.schema import SITES, WebTask


def default_addresses() -> dict[str, str]:
    """The addresses of the embedded sites."""
    return {name: place.url for name, place in PLACES.items()}


def addresses_from_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The addresses that environment variables give: `WA_SHOPPING` (BrowserGym's names) or `SHOPPING` (WebArena's), and
    so on. Where both are set, the longer name counts."""
    found: dict[str, str] = {}
    for site in SITES:
        for name in (site.upper(), f"WA_{site.upper()}"):
            value = environment.get(name, "").strip().rstrip("/")
            if re.match(r"https?://[^/\s]", value):
                found[site] = value
            elif value and name.startswith("WA_"):  # MAP alone may be a variable of some other program
                raise ConfigError(f"{name} must be an address such as http://localhost:7770; got {value[:80]!r}")
    return found


def resolve(task: WebTask, addresses: Mapping[str, str] | None = None) -> WebTask:
    """The task with addresses in the place of placeholders; `ConfigError` if it names a site without one."""
    known = default_addresses() if addresses is None else addresses
    missing = missing_sites(task, known)
    if missing:
        raise ConfigError(
            f"the task needs the address of {', '.join(missing)}: set WA_{missing[0].upper()} in the environment and "
            'choose sites_at="environment", or give the address in sites_at'
        )
    replaced = _replaced(msgspec.to_builtins(task), known)
    if not replaced.get("start_url"):
        replaced["start_url"] = " |AND| ".join(known[site] for site in task.sites if site in known)
    found = msgspec.convert(replaced, WebTask)
    targets = (found.eval.program_html or ()) if found.eval is not None else ()
    pages = [target.url for target in targets if target.url != "last" and not target.url.startswith("func:")]
    for url in (*found.start_urls, *pages):
        try:
            typed(url.replace("__last_url__", BLANK))
        except BadAddress as error:
            raise ConfigError(f"an address of the task cannot be opened: {error}") from None
    return found


def missing_sites(task: WebTask, addresses: Mapping[str, str]) -> list[str]:
    """The sites that a task needs and that have no address."""
    return sorted({*task.sites, *sites_named_by(task, addresses)} - addresses.keys())


def sites_named_by(task: WebTask, names: Iterable[str] = ()) -> set[str]:
    """The sites of the benchmark, and of these names, whose placeholders stand anywhere in the task."""
    found = _placeholder(frozenset(names)).findall(msgspec.json.encode(task).decode())
    return set(map(str.lower, found))


def fill_in(text: str, addresses: Mapping[str, str]) -> str:
    """A text with the addresses of the sites that are known."""
    placeholder = _placeholder(frozenset(addresses))
    return placeholder.sub(lambda found: addresses.get(found[1].lower(), found[0]).rstrip("/"), text)


@cache
def _placeholder(names: frozenset[str]) -> re.Pattern[str]:
    """`__SHOPPING__`, of the benchmark's sites and these."""
    return re.compile(r"__(" + "|".join(sorted(name.upper() for name in {*SITES, *names})) + r")__")


def _replaced(value: Any, addresses: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return fill_in(value, addresses)
    if isinstance(value, (list, tuple)):
        return [_replaced(item, addresses) for item in value]
    if isinstance(value, dict):
        return {key: _replaced(item, addresses) for key, item in value.items()}
    return value

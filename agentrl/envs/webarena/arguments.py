"""The arguments of the environment, checked: which tasks on which sites and, for real sites, where they are and who
the agent is there. Passwords come from the environment or a file: arguments are written into records."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.files import read_regular
from agentrl.envs.webarena.acting.grammars import GRAMMARS
from agentrl.envs.webarena.evaluators.pages import check_evaluator
from agentrl.envs.webarena.layout.page import INNERMOST, LINES, WHOLE
from agentrl.envs.webarena.observing.modes import BESIDE_PICTURES, MODES
from agentrl.envs.webarena.sites.places import PLACES, Account
from agentrl.envs.webarena.sites.world import place_of
from agentrl.envs.webarena.tasks.addresses import addresses_from_environment
from agentrl.envs.webarena.tasks.generated import templates as generated_templates
from agentrl.envs.webarena.tasks.schema import SITE_NAME
from agentrl.envs.webarena.tasks.source import FileTasks, GeneratedTasks, TaskSource

BACKENDS = ("dom", "browser")
PROMPTS = ("rules", "webrl")
EMBEDDED, ENVIRONMENT = "embedded", "environment"
ADDRESS = re.compile(r"https?://[^/\s?#@]+(/[^\s?#]*)?")
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
    known = [name for name, place in PLACES.items() if place.account is not None]
    found: dict[str, Account] = {}
    for site, entry in raw.items():
        if site not in known:
            raise ConfigError(f"{os.fspath(path)} may have accounts of {', '.join(known)}; got {site!r}")
        values = [entry.get(name) for name in ("name", "password")] if isinstance(entry, dict) else []
        values = [value for value in values if isinstance(value, str) and value]
        if len(values) != 2:
            raise ConfigError(f"{os.fspath(path)} must give {site} a name and a password: {FORM}")
        found[site] = Account(*values)
    return found


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
    for name, url in sites_at.items():
        if not isinstance(name, str) or not SITE_NAME.fullmatch(name):
            raise ConfigError(f'sites_at must name sites in small letters, such as "my_wiki"; got {name!r:.80}')
        if not isinstance(url, str) or not ADDRESS.fullmatch(url):
            raise ConfigError(f"sites_at[{name!r}] must be an address such as http://localhost:7770; got {url!r:.80}")
    return {name: url.rstrip("/") for name, url in sites_at.items()}


def site_of(url: str, addresses: Mapping[str, str] | None) -> str:
    """The name of the site that an address belongs to, one of the embedded ones without `addresses`; empty where there
    is none. Of two sites on one host and port the one with the longer path counts."""
    if addresses is None:
        place = place_of(url)
        return next((name for name, known in PLACES.items() if known is place), "")
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    origin = (parts.scheme, parts.netloc.lower())
    here = [(name, urlsplit(known)) for name, known in addresses.items()]
    here = [(name, known) for name, known in here if (known.scheme, known.netloc.lower()) == origin]
    below = [(len(known.path), name) for name, known in here if f"{parts.path}/".startswith(f"{known.path}/")]
    return max(below)[1] if below else next((name for name, _ in here), "")


def check_place(addresses: Mapping[str, str] | None, options: Mapping[str, Any], backend: str, task_file: Any) -> None:
    """What fits real sites at these addresses, and what fits the embedded ones?"""
    if addresses is None:
        for name, value in options.items():
            if value is not None:
                raise ConfigError(f"{name} is for real sites: give their addresses in sites_at")
        return
    if backend != "browser":
        raise ConfigError('real sites (sites_at) need backend="browser"')
    if task_file is None:
        raise ConfigError(
            'real sites (sites_at) need task_file: a path, "webarena-lite" or "webarena"; the generated tasks '
            "belong to the embedded sites"
        )


def task_source(
    task_file: str | os.PathLike[str] | None,
    addresses: Mapping[str, str] | None,
    sites: Sequence[str] | None,
    templates: Sequence[str] | None,
    joined: int,
    split: str,
    backend: str,
) -> TaskSource:
    """Where tasks come from: a file, or the templates of the embedded sites."""
    names = _some_of("sites", sites, PLACES if addresses is None else addresses)
    if task_file is not None:
        if templates is not None or joined:
            raise ConfigError("templates and joined choose among the generated tasks; a task_file has none")
        return FileTasks(task_file, addresses, names, partial(check_evaluator, browser=backend == "browser"))
    only = _some_of("templates", templates, generated_templates())
    source = GeneratedTasks(names, only, joined)
    count = len(source.ids(split)) if only or joined else 1
    if count < joined:
        raise ConfigError(f"joined must be at most {count}, the tasks in two parts that there are here; got {joined}")
    if not count:
        raise ConfigError(f"there are no tasks of templates {', '.join(only)} in the split {split} on these sites")
    return source


def kind_and_mode(kind: str, mode: str | None) -> tuple[str, str]:
    """The kind of environment and its observation mode, one that says enough without a picture where there is none."""
    visual = one_of("kind", kind, ("text", "visual")) == "visual"
    known = [mode for mode in MODES if visual or mode not in BESIDE_PICTURES]
    default = "marks" if visual else "simplified"
    return kind, one_of("observation_mode", default if mode is None else mode, known)


def labelling(chosen: str | None, mode: str) -> str:
    """Which elements have ids: the choice, or what the observation mode does by default."""
    default = MODES[mode].labelling
    return default if chosen is None else one_of("ids", chosen, (LINES,) if default == LINES else (INNERMOST, WHOLE))


def grammar(name: str, strict_upstream: bool) -> str:
    """The grammar of actions; the benchmark's own parser reads one only."""
    one_of("action_format", name, tuple(GRAMMARS))
    if strict_upstream and name != "webrl":
        raise ConfigError(f"strict_upstream is for the webrl grammar only; got {name!r}")
    return name


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """The value of an argument that takes one of these."""
    if value not in known:
        raise ConfigError(f"{name} must be one of {_listed(known)}; got {value!r}.{did_you_mean(str(value), known)}")
    return value


def _some_of(name: str, chosen: Sequence[str] | None, known: Mapping[str, Any]) -> tuple[str, ...]:
    if chosen is None:
        return ()
    if isinstance(chosen, str) or not chosen:
        raise ConfigError(f"{name} must be a list of {_listed(known)}; got {chosen!r}")
    return tuple(one_of(name, value, tuple(known)) for value in chosen)


def _listed(names: Iterable[str], most: int = 12) -> str:
    first = list(islice(names, most + 1))
    return ", ".join(first[:most]) + (" ..." if len(first) > most else "")

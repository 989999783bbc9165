"""`agentrl site NAME`: the web site of an environment on this machine, for a person."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common, JsonText, json_object
from agentrl.cli.output import log, print_json, print_table
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.family import load
from agentrl.registry import Site, family_of, parts


@dataclass(kw_only=True)
class Listening(Common):
    """Where a site is served."""

    port: int = 8000
    """Where to listen; 0 takes any free port."""
    host: str = "127.0.0.1"
    """A loopback address."""
    ports: bool = False
    """Give each part of the site a port of its own, from the next one on: for clients that know no names of hosts."""


@dataclass(kw_only=True)
class Arguments(Listening):
    """Serve the web site of an environment, until interrupted: the same tasks and the same score that agents get.

    Open the address that is printed in a browser on this machine. Without a name: the list of sites.
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME|ID")] = ""
    """Which site: its name, or the id of an environment that has one."""
    env_kwargs: JsonText = "{}"
    """Arguments of the site and of its environment, for example '{"split": "test"}'."""


def run(arguments: Arguments) -> int:
    """Serve a site, or list them."""
    if arguments.name:
        options = json_object("--env-kwargs", arguments.env_kwargs)
        return serve_site(find_site(arguments.name), arguments, options)
    known = [{"name": name, "summary": site.summary} for name, site in parts("sites").items()]
    if arguments.json:
        print_json({"schema": 1, "sites": known})
    else:
        print_table(("name", "summary"), [(site["name"], site["summary"]) for site in known])
    return 0


def find_site(name: str) -> Site:
    """The site of this name, or of the environment with this id."""
    sites, family = parts("sites"), family_of(name)
    known = ", ".join(sites)
    if name in sites:
        return sites[name]
    if family is None:
        raise ConfigError(f"unknown site {name!a}.{did_you_mean(name, sites)} The sites are: {known}.")
    if not family.sites:
        raise ConfigError(f"{name} has no web site. The sites are: {known}.")
    return next(iter(family.sites.values()))


def serve_site(site: Site, where: Listening, options: dict[str, Any]) -> int:
    """Make the site, print its address, serve until a signal comes."""
    from agentrl.serve.site import address, check_address, listen, serve

    check_address(where.host, where.port)  # before the site is made, which may take a while
    served = site.load()(**options)
    names: tuple[str, ...] = getattr(served, "parts", ()) if where.ports else ()
    if where.ports and not names:
        raise ConfigError("this site has no parts that could have ports of their own")
    with ExitStack() as stack:
        first = where.port
        listener = stack.enter_context(listen(where.host, first))
        numbers = range(first + 1, first + 1 + len(names)) if first else [0] * len(names)
        others = [stack.enter_context(listen(where.host, number)) for number in numbers]
        url = address(listener)
        if names:
            served.at_ports({name: address(other) for name, other in zip(names, others, strict=True)}, url)
        if where.json:
            print_json({"schema": 1, "url": url, **served.facts})
        log(f"{served.summary} at {url}; Ctrl-C ends it")
        for name, place in served.facts["sites"].items() if names else ():
            log(f"  {name}: {place}")
        serve(served.app, listener, *others)
    return 0


# ---------------------------------------------------------------------- short forms


def short_arguments(site: Site) -> type[Listening]:
    """The options of a site's own verb: where to listen, and those of the site."""
    options = load(site.options or "")
    return dataclass(kw_only=True)(type("Arguments", (options, Listening), {"__doc__": options.__doc__}))


def run_short(site: Site, arguments: Listening) -> int:
    """Serve a site with the options of its own verb."""
    own = {field.name for field in fields(Listening)}
    options = {name: value for name, value in asdict(arguments).items() if name not in own}
    return serve_site(site, arguments, options)

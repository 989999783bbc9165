"""`agentrl setup NAME`: fetches what an environment needs beside Python packages."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import log, print_json, print_table
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.registry import Part, parts


@dataclass(kw_only=True)
class Arguments(Common):
    """Fetch and convert the data of an environment into the cache, once; a second call finds it there.

    Without a name: the list of what can be set up.
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")] = ""
    """What to set up."""
    output: str = ""
    """Where to put it, for what is not a file of the cache."""
    source: Annotated[str, tyro.conf.arg(name="from")] = ""
    """A folder to build it from, for what need not be fetched."""


def run(arguments: Arguments) -> int:
    """Set something up, or list what there is."""
    if not arguments.name:
        known = [{"name": name, "summary": part.summary} for name, part in parts("setups").items()]
        if arguments.json:
            print_json({"schema": 1, "setups": known})
        else:
            print_table(("name", "summary"), [(part["name"], part["summary"]) for part in known])
        return 0
    facts = _set_up(arguments.name, {"folder": arguments.output, "source": arguments.source})
    if arguments.json:
        print_json({"schema": 1, "name": arguments.name, **facts})
    else:
        print_table(("", arguments.name), [(name, str(value)) for name, value in facts.items()])
    return 0


FLAGS = {"folder": "--output", "source": "--from"}


def _set_up(name: str, options: dict[str, str]) -> dict[str, Any]:
    function = find_setup(name).load()
    given = {option: value for option, value in options.items() if value}
    for option in given:
        if option not in inspect.signature(function).parameters:
            raise ConfigError(f"{name} is set up in the cache and takes no {FLAGS[option]}")
    return function(log, **given)


def find_setup(name: str) -> Part:
    """The function of this name: it takes a function that prints a line, and returns facts (JSON types). Where it
    takes a `folder` or a `source` as well, `--output` and `--from` give them."""
    setups = parts("setups")
    if name not in setups:
        known = f"There are: {', '.join(setups)}." if setups else "No environment needs any."
        raise ConfigError(f"unknown set-up {name!a}.{did_you_mean(name, setups)} {known}")
    return setups[name]

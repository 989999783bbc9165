"""`agentrl survey PATTERN`: all tasks of environments in one table."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common, JsonText, Split, json_object
from agentrl.cli.output import number, print_json, print_table, progress, verdict
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, did_you_mean, install_command
from agentrl.registry import FAMILIES, Entry, is_available, known


@dataclass(kw_only=True)
class Arguments(Common):
    """Make every task of environments, draw it, and let the oracle play some of its starts.

    Fails if a task cannot be made or drawn. What the oracle does not solve is shown, and is no failure.
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ID|PATTERN|FAMILY")]
    """Which environments: an id, a pattern of ids such as 'agentrl/*-Text-v0', or a folder of agentrl/envs."""
    starts: int = 5
    """How many starts of each task are played."""
    split: Split = "test"
    """Of which split."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environments, for example '{"max_turns": 500}'."""


def run(arguments: Arguments) -> int:
    """Go through the tasks and print the table."""
    from agentrl.testing.survey import survey

    starts = whole_number("starts", arguments.starts, at_least=1)
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    rows = []
    entries = chosen(arguments.name)
    with progress("survey", len(entries)) as advance:
        for entry in entries:
            rows += survey(entry.id, split=arguments.split, starts=starts, **kwargs)
            advance()
    good = all(row.made and row.drawn for row in rows)
    if arguments.json:
        found = [row.to_json() for row in rows]
        print_json({"schema": 1, "pass": good, "split": arguments.split, "starts": starts, "tasks": found})
    else:
        show(rows)
    return 0 if good else 1


def chosen(name: str) -> list[Entry]:
    """The environments of a family, or those that fit a pattern."""
    family = next((family for family in FAMILIES if family.name == name), None)
    entries = list(family.envs) if family else [entry for entry in known() if fnmatchcase(entry.id, name)]
    if not entries:
        names = [*(entry.id for entry in known()), *(family.name for family in FAMILIES)]
        raise ConfigError(f"no environment or family is called {name!a}.{did_you_mean(name, names)}")
    for entry in entries:
        if not is_available(entry):
            raise ConfigError(f"{entry.id} is not available here: {install_command(entry.extra or '')}")
    return entries


def show(rows: list[Any]) -> None:
    """One line for each task, and sums."""
    lines = [
        (
            row.id,
            row.task,
            verdict(row.made, "yes" if row.made else "NO"),
            verdict(row.drawn, "yes" if row.drawn else "NO"),
            f"{row.solved}/{row.played}" if row.played else "-",
            number(row.turns, 0),
            f"{row.seconds:.1f}",
            row.problem,
        )
        for row in rows
    ]
    print_table(("id", "task", "made", "drawn", "oracle", "turns", "seconds", "problem"), lines)
    made, drawn = sum(row.made for row in rows), sum(row.drawn for row in rows)
    solved, played = sum(row.solved for row in rows), sum(row.played for row in rows)
    print(f"{len(rows)} tasks: {made} made, {drawn} drawn; the oracle solved {solved} of {played} starts")

"""`agentrl list`: the table of environments."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Annotated, Any

import gymnasium as gym
import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json, print_table, verdict
from agentrl.core.env import AgentEnv
from agentrl.core.env_class import env_class
from agentrl.core.errors import ConfigError, did_you_mean, install_command
from agentrl.registry import MULTIPLAYER, Entry, family_of, is_available, kind_of, known


@dataclass(kw_only=True)
class Arguments(Common):
    """The environments, and which of them can be used here: those of agentrl, and those of installed packages that
    have entry points of the group agentrl.environments. Large families have one row, unless a pattern names them."""

    words: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="PATTERN|MODULE")] = ()
    """Parts of ids, or patterns such as 'agentrl/*-Text-v0': only what fits is listed. A word that fits no id is a
    module of yours: it is imported, and the environments it registers are listed."""


def run(arguments: Arguments) -> int:
    """Print the table."""
    entries = [entry for word in arguments.words for entry in fitting(word)] or [*known(), *MULTIPLAYER]
    if arguments.json:
        print_json([describe(entry) for entry in entries])
        return 0
    rows = [describe(entry) for entry in (entries if arguments.words else folded(entries))]
    print_table(
        ("id", "kind", "available", "backend", "summary"),
        [(r["id"], r["kind"], availability(r), r["backend"], r["summary"]) for r in rows],
    )
    return 0


def fitting(word: str) -> list[Entry]:
    """The environments whose ids contain a word or a pattern; else those of a module of this name."""
    entries = [*known(), *MULTIPLAYER]
    found = [entry for entry in entries if fnmatchcase(entry.id.casefold(), f"*{word}*".casefold())]
    if not found and not re.fullmatch(r"\w+(\.\w+)*", word):
        raise ConfigError(f"no environment fits {word!a}.{did_you_mean(word, [entry.id for entry in entries])}")
    return found or registered_by(word)


def folded(entries: list[Entry]) -> list[Entry]:
    """The rows of a table: one for each environment, and one for all of a family that has a summary of its own."""
    rows: dict[str, Entry] = {}
    for entry in entries:
        family = family_of(entry.id)
        if family is None or not family.summary:
            rows[entry.id] = entry
        elif family.name not in rows:
            name = f"{entry.id.partition('-')[0]}-* ({len(family.envs)} ids)"
            rows[family.name] = replace(entry, id=name, summary=family.summary)
    return list(rows.values())


def registered_by(module: str) -> list[Entry]:
    """The agentrl environments that a module (or another one of its package) registers with Gymnasium."""
    try:
        import_module(module)
    except ImportError as error:
        raise ConfigError(f"the module {module} cannot be imported: {error}") from error
    package = module.partition(".")[0]
    found = []
    for env_id, spec in gym.registry.items():
        point = spec.entry_point
        home = point if isinstance(point, str) else getattr(point, "__module__", "")
        if re.split("[.:]", home)[0] == package:
            cls = env_class(env_id)
            if cls is not None and issubclass(cls, AgentEnv):
                summary = (inspect.getdoc(cls) or "").partition("\n")[0]
                found.append(
                    Entry(f"{module}:{env_id}", kind_of(env_id), str(point), summary, backend=f"module {module}")
                )
    if not found:
        raise ConfigError(f"the module {module} registers no environment that derives from agentrl.AgentEnv")
    return found


def describe(entry: Entry) -> dict[str, Any]:
    """One row as JSON types."""
    return {
        "id": entry.id,
        "kind": entry.kind,
        "available": is_available(entry),
        "extra": entry.extra,
        "backend": entry.backend,
        "summary": entry.summary,
    }


def availability(row: dict[str, Any]) -> Any:
    """yes, or what to install."""
    if row["available"]:
        return verdict(True, "yes")
    return verdict(False, install_command(row["extra"]) if row["extra"] else "no: its module is not found")

"""`agentrl list`: the table of environments."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import gymnasium as gym
import tyro

from agentrl.cli.arguments import Common
from agentrl.cli.output import print_json, print_table, verdict
from agentrl.core.env import AgentEnv
from agentrl.core.env_class import env_class
from agentrl.core.errors import ConfigError, install_command
from agentrl.registry import MULTIPLAYER, Entry, is_available, kind_of, known


@dataclass(kw_only=True)
class Arguments(Common):
    """The environments, and which of them can be used here: those of agentrl, and those of installed packages that
    have entry points of the group agentrl.environments."""

    modules: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="MODULE")] = ()
    """Modules of yours: they are imported, and the environments they register are listed too."""


def run(arguments: Arguments) -> int:
    """Print the table."""
    entries = [*known(), *MULTIPLAYER, *(entry for module in arguments.modules for entry in registered_by(module))]
    rows = [describe(entry) for entry in entries]
    if arguments.json:
        print_json(rows)
        return 0
    print_table(
        ("id", "kind", "available", "backend", "summary"),
        [(r["id"], r["kind"], availability(r), r["backend"], r["summary"]) for r in rows],
    )
    return 0


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

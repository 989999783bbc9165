"""The arguments of the environment, checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.tasks.generated import templates as generated_templates
from agentrl.envs.webarena.tasks.source import FileTasks, GeneratedTasks, TaskSource

BACKENDS = ("dom", "browser")


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
    split: str,
) -> TaskSource:
    """Where tasks come from: a file, or the templates of the embedded sites."""
    names = _some_of("sites", sites, PLACES if addresses is None else addresses)
    if task_file is not None:
        if templates is not None:
            raise ConfigError("templates choose among the generated tasks; a task_file has none")
        return FileTasks(task_file, addresses, names)
    only = _some_of("templates", templates, generated_templates())
    source = GeneratedTasks(names, only)
    if only and not source.ids(split):
        raise ConfigError(f"there are no tasks of templates {', '.join(only)} in the split {split} on these sites")
    return source


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

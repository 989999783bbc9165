"""Where tasks come from: the generated ones, a task file, or an instruction inside the id itself."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentrl.core.errors import ConfigError, EnvFault
from agentrl.envs.webarena.tasks.addresses import default_addresses, missing_sites, resolve
from agentrl.envs.webarena.tasks.files import load_tasks, official_tasks, row_id, row_of
from agentrl.envs.webarena.tasks.generated import (
    Instance,
    Joined,
    find_task_or_joined,
    generated_ids,
    joined_ids,
    novelty,
    split_of,
)
from agentrl.envs.webarena.tasks.intents import PREFIX as INTENT
from agentrl.envs.webarena.tasks.intents import task_of_intent
from agentrl.envs.webarena.tasks.schema import SITES, WebTask, task_from_json

log = logging.getLogger(__name__)
OFFICIAL_NAMES = {"webarena-lite": "lite", "webarena": "webarena"}  # what `task_file` may be beside a path


@dataclass(frozen=True)
class Found:
    """A task and where it came from; generated ones have a solution."""

    id: str
    task: WebTask
    instance: Instance | Joined | None = None

    def about(self) -> dict[str, Any]:
        """What an analysis groups tasks by."""
        if self.instance is None:
            return {"template": None, "skill": None, "novelty": None}
        template = self.instance.template
        return {"template": template.name, "skill": template.skill, "novelty": novelty(template)}


class TaskSource(Protocol):
    """Tasks by id."""

    def ids(self, split: str) -> Sequence[str]: ...
    def find(self, task_id: str, split: str) -> Found | None: ...


class GeneratedTasks:
    """The instances of the templates; with `sites`, those that need no other site; with `only`, of these templates;
    with `joined`, so many tasks in two parts in their place."""

    def __init__(self, sites: tuple[str, ...] = (), only: tuple[str, ...] = (), joined: int = 0) -> None:
        self.sites, self.only, self.joined = sites, only, joined

    def ids(self, split: str) -> Sequence[str]:
        """Ids such as "shop-price-of-product.17"."""
        if self.joined:
            return joined_ids(split, self.joined, self.sites, self.only)
        return generated_ids(split, self.sites, self.only)

    def find(self, task_id: str, split: str) -> Found | None:
        """The task with this id, if all of it belongs to the split."""
        instance = find_task_or_joined(task_id)
        if instance is None or any(split_of(part.template, part.parameters) != split for part in instance.parts):
            return None
        return Found(task_id, resolve(task_from_json(instance.official())), instance)


class FileTasks:
    """The rows of a file in the benchmark's schema, or the benchmark's own by name: the same ones in every split, which
    is up to its owner. Those that need a site without an address are left out. `addresses` of None: the embedded
    sites; `sites`: only tasks that need no other ones; `check` raises an error for a task that cannot be evaluated.
    `is_elsewhere`: they are the benchmark's own, and the sites are not."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        addresses: Mapping[str, str] | None = None,
        sites: tuple[str, ...] = (),
        check: Callable[[WebTask], None] = lambda task: None,
    ) -> None:
        self.addresses = default_addresses() if addresses is None else addresses
        if path in OFFICIAL_NAMES:
            self.rows = official_tasks(OFFICIAL_NAMES[str(path)])
        else:
            self.rows = load_tasks(path, dict.fromkeys((*SITES, *self.addresses)))
        missing = [missing_sites(task, self.addresses) for task in self.rows]
        for number, task in enumerate(self.rows):
            try:
                check(task if missing[number] else resolve(task, self.addresses))
            except (ConfigError, EnvFault, ValueError) as error:
                raise ConfigError(f"task {number} of {os.fspath(path)}: {error}") from None
        self._ids = tuple(
            row_id(number)
            for number, task in enumerate(self.rows)
            if not missing[number] and (not sites or set(task.sites) <= set(sites))
        )
        if any(missing):
            names = ", ".join(sorted({name for lacking in missing for name in lacking}))
            count = f"{sum(map(bool, missing))} of {len(self.rows)} tasks"
            log.warning("%s are left out: they need the address of %s", count, names)
        self.is_elsewhere = path in OFFICIAL_NAMES and addresses is None
        if self.is_elsewhere:
            log.warning(
                "the benchmark's tasks are played on the embedded sites, which hold other data: most ask for things "
                "that do not exist there, and scores say nothing about the benchmark"
            )

    def ids(self, split: str) -> Sequence[str]:
        """Ids such as "file:0"."""
        return self._ids

    def find(self, task_id: str, split: str) -> Found | None:
        """The row with this number; `ConfigError` if it needs a site without an address."""
        return Found(task_id, resolve(self.rows[row_of(task_id, len(self.rows))], self.addresses))


def find_task(source: TaskSource, task_id: str, split: str, addresses: Mapping[str, str] | None = None) -> Found | None:
    """A task of the source, or the one that the id itself holds; `ConfigError` if what it holds is no task."""
    if task_id.startswith(INTENT):
        known = default_addresses() if addresses is None else addresses
        return Found(task_id, resolve(task_of_intent(task_id, dict.fromkeys((*SITES, *known))), known))
    return source.find(task_id, split)

"""Where tasks come from: the generated ones, a task file, or an instruction inside the id itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentrl.envs.webarena.tasks.addresses import resolve
from agentrl.envs.webarena.tasks.files import load_tasks, row_id, row_of
from agentrl.envs.webarena.tasks.generated import Instance, find_generated, generated_ids, novelty, split_of
from agentrl.envs.webarena.tasks.intents import PREFIX as INTENT
from agentrl.envs.webarena.tasks.intents import task_of_intent
from agentrl.envs.webarena.tasks.schema import WebTask, task_from_json


@dataclass(frozen=True)
class Found:
    """A task and where it came from; generated ones have a solution."""

    id: str
    task: WebTask
    instance: Instance | None = None

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
    """The instances of the templates; with `sites`, those that need no other site."""

    def __init__(self, sites: tuple[str, ...] = ()) -> None:
        self.sites = sites

    def ids(self, split: str) -> Sequence[str]:
        """Ids such as "shop-price-of-product.17"."""
        return generated_ids(split, self.sites)

    def find(self, task_id: str, split: str) -> Found | None:
        """The task with this id, if it belongs to the split."""
        instance = find_generated(task_id)
        if instance is None or split_of(instance.template, instance.parameters) != split:
            return None
        return Found(task_id, resolve(task_from_json(instance.official())), instance)


class FileTasks:
    """The rows of a file in the benchmark's schema: the same ones in every split, which is up to its owner."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.rows = load_tasks(path)

    def ids(self, split: str) -> Sequence[str]:
        """Ids such as "file:0"."""
        return tuple(map(row_id, range(len(self.rows))))

    def find(self, task_id: str, split: str) -> Found | None:
        """The row with this number."""
        return Found(task_id, resolve(self.rows[row_of(task_id, len(self.rows))]))


def find_task(source: TaskSource, task_id: str, split: str) -> Found | None:
    """A task of the source, or the one that the id itself holds; `ConfigError` if what it holds is no task."""
    if task_id.startswith(INTENT):
        return Found(task_id, resolve(task_of_intent(task_id)))
    return source.find(task_id, split)

"""The tasks, by name. A task of another package is named "module:Class"."""

from __future__ import annotations

from importlib import import_module

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.primitiveskill.tasks.align import Align
from agentrl.envs.primitiveskill.tasks.drawer import Drawer
from agentrl.envs.primitiveskill.tasks.place import Place
from agentrl.envs.primitiveskill.tasks.stack import Stack
from agentrl.envs.primitiveskill.tasks.task import Task

TASKS: dict[str, type[Task]] = {"place": Place, "stack": Stack, "drawer": Drawer, "align": Align}


def find_task(name: object) -> Task:
    """The task of a name; `ConfigError` if there is none."""
    if isinstance(name, str) and name in TASKS:
        return TASKS[name]()
    if isinstance(name, str) and ":" in name:
        return _imported(name)
    raise ConfigError(
        f'task must be one of {", ".join(TASKS)}, or "module:Class" of a task of your own; got {name!r}.'
        f"{did_you_mean(str(name), TASKS)}"
    )


def _imported(path: str) -> Task:
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"the task {path!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Task)):
        raise ConfigError(f"the task {path!r} must be a subclass of agentrl.envs.primitiveskill.tasks.Task")
    return found()


__all__ = ["TASKS", "Task", "find_task"]

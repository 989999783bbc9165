"""What an analysis groups tasks by: the site, how much an instruction asks for, how many actions that takes."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from agentrl.envs.webarena.acting.performing import perform
from agentrl.envs.webarena.browsing.backend import ActionFailed
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.oracle import next_action
from agentrl.envs.webarena.sites.places import cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.addresses import resolve
from agentrl.envs.webarena.tasks.generated import Instance
from agentrl.envs.webarena.tasks.schema import task_from_json
from agentrl.envs.webarena.tasks.source import Found
from agentrl.envs.webarena.tasks.template import Parameters

MAX_ACTIONS = 100  # a solution that takes more is none
WISH = "wish"  # the field of an instruction that lists what stands under "options"
_lengths: dict[str, int | None] = {}  # of the solutions of this process's tasks, by id


def about(found: Found) -> dict[str, Any]:
    """The entries of `AgentEnv.about_task`; what is not known of a task is left out."""
    told: dict[str, Any] = {"group": " + ".join(found.task.sites)}
    if found.instance is None:
        stated = found.task.instantiation_dict
        return told if stated is None else {**told, "complexity": max(1, sum(map(_says_something, stated.values())))}
    parts = found.instance.parts
    told["complexity"] = sum(requirements(part.template.intents, part.parameters) for part in parts)
    steps = [solution_length(part) for part in parts]  # going to the second site replaces the end of the first part
    known = [length for length in steps if length is not None]
    return told if len(known) < len(steps) else {**told, "steps": sum(known)}


def requirements(intents: Sequence[str], parameters: Parameters) -> int:
    """How many of a task's parameters its instruction states, at least 1. The shortest wording counts, because others
    may name the same thing twice: by its name and by its number."""
    return max(1, min(sum(_weight(name, parameters) for name in _fields(intent)) for intent in intents))


def _fields(intent: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(intent) if name}


def _weight(name: str, parameters: Parameters) -> int:
    if name == WISH and "options" in parameters:
        return len(parameters["options"])
    return int(_says_something(parameters.get(name)))


def _says_something(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def solution_length(instance: Instance) -> int | None:
    """How many actions the solution takes from the start, the last one included. Played once, in a world of its own,
    which takes about as long as the pages on its way."""
    if instance.id not in _lengths:
        _lengths[instance.id] = _played(instance)
    return _lengths[instance.id]


def _played(instance: Instance) -> int | None:
    task, world = resolve(task_from_json(instance.official())), World()
    backend = DomBackend(world)
    try:
        backend.start(task.start_url.split(" |AND| "), cookies(task.sites))
        return _actions(instance, backend, world)
    finally:
        backend.close()
        world.close()


def _actions(instance: Instance, backend: DomBackend, world: World) -> int | None:
    solution = instance.template.solution(instance.parameters)
    for count in range(1, MAX_ACTIONS + 1):
        action = next_action(solution, backend.view(), world, instance.start_url)
        if action is None or action.ends:
            return None if action is None else count
        try:
            perform(action, backend)
        except ActionFailed:
            return None
    return None

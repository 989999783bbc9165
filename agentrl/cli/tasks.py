"""`agentrl tasks ID`: training tasks like given ones, as a curriculum would get them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import tyro

from agentrl.cli.arguments import Common, EnvId, JsonText, json_object
from agentrl.cli.output import log, print_json, print_table
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import Task


@dataclass(kw_only=True)
class Arguments(Common):
    """Propose training tasks like given ones: nearby, easier, harder and recombined, or written by a language model.

    Without --like the seeds are some tasks of the training split.
    """

    id: EnvId
    """Environment id; `agentrl list` shows them."""
    like: Annotated[tuple[str, ...], tyro.conf.arg(metavar="TASK...")] = ()
    """Tasks to make others from."""
    count: int = 10
    """How many tasks."""
    seed: int = 0
    """Seed of the proposals."""
    generator: Annotated[str, tyro.conf.arg(metavar="own|JSON")] = "own"
    """Who makes them: the environment, or for example '{"kind": "llm", "model": "...", "base_url": "..."}'."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""


def run(arguments: Arguments) -> int:
    """Ask the generator and print what it proposes."""
    from agentrl.rollout.episode import make
    from agentrl.rollout.llm_tasks import open_task_generator

    rng = np.random.default_rng(whole_number("seed", arguments.seed, at_least=0))
    own = arguments.generator == "own"
    spec = "own" if own else json_object("--generator", arguments.generator)
    with closing(make(arguments.id, **{**json_object("--env-kwargs", arguments.env_kwargs), "split": "train"})) as made:
        env: Any = made.unwrapped
        if not hasattr(env, "task_generator"):
            raise ConfigError(f"{arguments.id} makes no tasks")
        generator, tasks = open_task_generator(spec, env), env.tasks()
        names = arguments.like or [
            tasks[int(place)] for place in rng.choice(len(tasks), min(8, len(tasks)), replace=False)
        ]
        seeds = [Task(name, instruction=env.instruction_of(name)) for name in names]  # or there is no such task
        found = generator.propose(seeds, whole_number("count", arguments.count, at_least=1), rng)
    counts = dict(getattr(generator, "counts", {}))
    if arguments.json:
        tasks = [task.to_json() for task in found]
        print_json({"schema": 1, "id": arguments.id, "seeds": [seed.id for seed in seeds], "tasks": tasks, **counts})
        return 0
    rows = []
    for task in found:
        kwargs = ", ".join(f"{name}={value}" for name, value in task.kwargs.items())
        rows.append((task.kind, task.id if len(task.id) <= 80 else f"{task.id[:77]}...", kwargs, task.instruction))
    print_table(("kind", "task", "arguments", "instruction"), rows)
    if counts:
        log(", ".join(f"{name} {count}" for name, count in counts.items()))
    return 0

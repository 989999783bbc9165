"""The asynchronous part of a run: its generators, its rollouts, and the timeline in its folder."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError
from agentrl.rollout.activity import over_processes
from agentrl.rollout.async_collect import AsyncCollector
from agentrl.rollout.collect import Collection
from agentrl.trainers.parallel.async_rollouts import AsyncRollouts
from agentrl.trainers.run.machines import OnCluster, ThisMachine

if TYPE_CHECKING:
    from agentrl.trainers.run.run import Run

TIMELINE = "timeline.json"


class AsyncRun:
    """What a `Run` has in addition when it is asynchronous."""

    def __init__(self, run: Run) -> None:
        arguments: Any = run.arguments
        if run.processes.size > 1 and arguments.cluster == "ray":
            raise ConfigError(
                "several processes share a cluster that runs already; start one with `ray start` and give its address "
                "as cluster, or leave out --processes"
            )
        self.run = run
        self.machines = ThisMachine(run) if arguments.cluster == "local" else OnCluster(run)
        self.weights, self.generators = self.machines.weights, self.machines.generators
        self.collector = AsyncCollector(
            run.training_specs(self.generators[0].policy),
            [generator.policy for generator in self.generators],
            split="train",
            max_batch=arguments.max_batch or None,
            max_wait_ms=math.inf if arguments.max_wait_ms == -1 else arguments.max_wait_ms,
            queue_key=arguments.queue_key,
            routing=arguments.routing,
            simulators=arguments.simulators,
            simulator_batch=arguments.simulator_batch,
            refresh=lambda number: self.generators[number].refresh(),
            **run.collector_options(),
            **self.machines.collector_options,
        )
        self.rollouts = AsyncRollouts(
            self.collector,
            lambda iteration: run.starts(arguments.episodes, arguments.group_size, iteration=iteration),
            batch=arguments.episodes,
            group_size=arguments.group_size,
            max_staleness=arguments.max_staleness,
            refresh_every=arguments.refresh_every,
            total_updates=arguments.iterations,
            publish=self.weights.publish,
            report=run.report,
            processes=run.processes,
        )

    def resume(self, state: dict[str, Any] | None) -> None:
        """The learner has the weights of a checkpoint: generators begin with them, and what was under way again."""
        self.weights.publish(self.run.iteration)
        self.rollouts.resume(self.run.iteration, state or {})

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint; of all processes."""
        return self.rollouts.state_dict()

    def take(self, episodes: int) -> Collection:
        """Finished episodes for the update of this iteration."""
        run = self.run
        with run.progress("waiting for episodes", episodes // run.processes.size) as progress:
            collection = self.rollouts.take(episodes, progress)
        run.seconds["wait"] = run.seconds.get("wait", 0.0) + collection.seconds["wait"]
        run.episodes += len(collection.trajectories)
        return collection

    def metrics(self) -> dict[str, Any]:
        """Of an iteration, over all processes; the timeline, which is the main process's, is written on the side."""
        processes = self.run.processes
        if processes.is_main:
            timeline = self.rollouts.activity.timeline() | {"processes": processes.size}
            write_atomically(self.run.folder / TIMELINE, json.dumps(timeline).encode())
        copies = [generator.bytes for generator in self.generators]
        memory = {"generators": sum(copies), "published": self.weights.bytes}
        found = self.rollouts.metrics() | {"generators": len(copies), "memory_bytes": memory}
        return over_processes(processes.gather(found | self.machines.metrics()))

    def close(self) -> None:
        """End all episodes and leave the machines; idempotent."""
        self.rollouts.close()
        self.collector.close()
        self.machines.close()

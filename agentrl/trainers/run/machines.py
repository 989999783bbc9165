"""Where the simulators and generators of an asynchronous run are: on this machine, or on those of a cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agentrl.rollout.cluster import joined, reserve
from agentrl.rollout.cluster_hosts import ClusterHost
from agentrl.trainers.parallel.cluster_generators import ClusterGenerator, ClusterWeights
from agentrl.trainers.parallel.generator_processes import GeneratorProcess, SharedWeights
from agentrl.trainers.parallel.generators import Generator, Weights

if TYPE_CHECKING:
    from agentrl.trainers.run.run import Run

RETRIES = 3  # of an episode on a cluster, which loses some with each machine


class ThisMachine:
    """Simulators in threads, with hosts beside them; generators in threads or in processes."""

    def __init__(self, run: Run) -> None:
        arguments: Any = run.arguments
        engine, count = run.learner.engine, range(arguments.generators)
        make_policy = run.learner.sampling(greedy=False, seed=arguments.seed)
        self._processes = list[GeneratorProcess]()
        if arguments.generator_processes:
            weights, seconds = SharedWeights(engine.model, 0), arguments.generator_timeout
            self._processes = [GeneratorProcess(engine, make_policy, run.policy, weights, seconds) for _ in count]
            self.weights, self.generators = weights, self._processes
        else:
            self.weights = Weights(engine.model, 0)
            self.generators = [Generator(engine, make_policy, self.weights) for _ in count]
        self.collector_options: dict[str, Any] = {}

    def metrics(self) -> dict[str, Any]:
        """Which processes had to be replaced."""
        return {"restarts": restarts_of(self._processes)} if self._processes else {}

    def close(self) -> None:
        """End the processes."""
        for generator in self._processes:
            generator.close()


class OnCluster:
    """Actors of Ray; the trainer is this process."""

    def __init__(self, run: Run) -> None:
        arguments: Any = run.arguments
        hosts, count, engine = arguments.hosts, arguments.generators, run.learner.engine
        self.ray = ray = joined(arguments.cluster, hosts + count)
        try:
            self._places = reserve(ray, arguments.placement, hosts, count, gpus=engine.model.device.type == "cuda")
            self.weights = ClusterWeights(ray, engine.model, 0)
            make_policy = run.learner.sampling(greedy=False, seed=arguments.seed)
            self.generators = [
                ClusterGenerator(
                    ray, options, engine, make_policy, run.policy, self.weights, arguments.generator_timeout
                )
                for options in self._places.generators
            ]
        except BaseException:
            ray.shutdown()
            raise
        seconds = arguments.env_timeout or None
        self._hosts = [ClusterHost(ray, options, seconds) for options in self._places.hosts]
        self.collector_options: dict[str, Any] = {
            "make_host": lambda number: self._hosts[number],
            "retries": RETRIES,
            "snapshot_every": arguments.snapshot_every or math.inf,
        }

    def metrics(self) -> dict[str, Any]:
        """Which machines are left, and what had to be replaced."""
        alive = sum(node["Alive"] for node in self.ray.nodes())
        hosts = sum(max(0, host.starts - 1) for host in self._hosts)
        return {"machines": alive, "restarts": {"hosts": hosts, **restarts_of(self.generators)}}

    def close(self) -> None:
        """End the actors and leave; a cluster that was started here ends."""
        if self.ray.is_initialized():
            for generator in self.generators:
                generator.close()
            self.ray.util.remove_placement_group(self._places.group)
            self.ray.shutdown()


def restarts_of(generators: Sequence[ClusterGenerator] | Sequence[GeneratorProcess]) -> dict[str, int]:
    """How many were begun again, and how many of these because they gave no answer in time."""
    return {
        "generators": sum(one.restarts for one in generators),
        "hung_generators": sum(one.hung for one in generators),
    }

"""Where the simulators and generators of an asynchronous run are: in this process, or on the machines of a cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from agentrl.rollout.cluster import joined, reserve
from agentrl.rollout.cluster_hosts import ClusterHost
from agentrl.trainers.parallel.cluster_generators import ClusterGenerator, ClusterWeights
from agentrl.trainers.parallel.generators import Generator, Weights

if TYPE_CHECKING:
    from agentrl.trainers.run.run import Run

RETRIES = 3  # of an episode on a cluster, which loses some with each machine


class ThisProcess:
    """Simulators and generators in threads, hosts beside them."""

    def __init__(self, run: Run) -> None:
        arguments: Any = run.arguments
        engine = run.learner.engine
        make_policy = run.learner.sampling(greedy=False, seed=arguments.seed)
        self.weights = Weights(engine.model, 0)
        self.generators = [Generator(engine, make_policy, self.weights) for _ in range(arguments.generators)]
        self.collector_options: dict[str, Any] = {}

    def metrics(self) -> dict[str, Any]:
        """Nothing of its own."""
        return {}

    def close(self) -> None:
        """There is nothing to leave."""


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
        restarts = sum(max(0, host.starts - 1) for host in self._hosts)
        begun_again = {"hosts": restarts, "generators": sum(one.restarts for one in self.generators)}
        begun_again["hung_generators"] = sum(one.hung for one in self.generators)
        return {"machines": alive, "restarts": begun_again}

    def close(self) -> None:
        """End the actors and leave; a cluster that was started here ends."""
        if self.ray.is_initialized():
            for generator in self.generators:
                generator.close()
            self.ray.util.remove_placement_group(self._places.group)
            self.ray.shutdown()

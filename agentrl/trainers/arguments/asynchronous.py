"""Options of asynchronous training: simulators, generators and the trainer work at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.cluster import Placement, check_address
from agentrl.trainers.arguments.checks import positive, whole
from agentrl.trainers.arguments.run import RunArguments


@dataclass(kw_only=True)
class AsyncArguments(RunArguments):
    """Options of asynchronous training; none of them but the first changes a synchronous run."""

    asynchronous: bool = False
    """Play episodes and update at the same time (short: --async): generators have a copy of the weights, and the
    trainer takes whatever is finished first."""
    max_staleness: int = 2
    """How many updates may lie between the weights that wrote an episode's oldest step and those that it trains; what
    is older is dropped. Episodes begin only as fast as this allows. 0: no update while episodes are played."""
    refresh_every: int = 1
    """Generators take new weights every N updates, between two of their batches."""
    generators: int = 1
    """Copies of the model that answer, each in a thread of its own; so many in each process of the run."""
    generator_processes: bool = False
    """Generators are processes of their own in place of threads: they and the trainer do not wait for each other's
    Python. One that ends or hangs is replaced."""
    max_batch: int = 0
    """Requests that a generator answers together, at most; 0: half of num_envs, shared among the generators."""
    max_wait_ms: float = 5.0
    """How long the oldest request waits for others to share its batch; -1: until the batch is full or all wait."""
    queue_key: Literal["arrival", "slot", "turn"] = "arrival"
    """Which requests go first: the oldest, by slot, or those of the episodes that are furthest."""
    routing: Literal["any", "slot"] = "any"
    """Who answers: the generator that is free first, or always the same one for each slot."""
    simulators: int = 0
    """Threads that play the environments; 0: one for each host, and without hosts one for each slot, at most 16."""
    simulator_batch: int = 0
    """Slots of a simulator that play a turn in one call, at most; 0: half of its slots."""
    cluster: str = "local"
    """Where simulators and generators are: in this process (local), on a Ray cluster that is started here (ray, for one
    trainer process), on the one that this machine belongs to (HOST:PORT), or on another (ray://HOST:PORT). Then hosts
    must be 1 or more."""
    placement: Placement = "colocated"
    """On a cluster: hosts and generators share machines and GPUs (colocated), have GPUs of their own (hybrid), or share
    those of machines other than the trainer's (disaggregated)."""
    generator_timeout: float = 600.0
    """On a cluster, and of generator_processes: how many seconds a generator has for a batch, taking new weights
    included. One that gives no answer by then is ended, replaced and asked again; where the next ones are late as well,
    the run ends."""
    snapshot_every: int = 0
    """On a cluster: keep a snapshot of every environment each N turns, from which its episode goes on when its machine
    is lost; 0: it begins again."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, 0, "max_staleness max_batch simulators simulator_batch snapshot_every")
        whole(self, 1, "refresh_every generators")
        positive(self, "generator_timeout")
        if finite_number("max_wait_ms", self.max_wait_ms) < 0 and self.max_wait_ms != -1:
            raise ConfigError(f"max_wait_ms must be 0 or more, or -1; got {self.max_wait_ms!r}")
        if self.max_staleness < self.refresh_every - 1:
            raise ConfigError(
                f"max_staleness must be at least refresh_every - 1 ({self.refresh_every - 1}), or the weights of the "
                f"generators are too old at once; got {self.max_staleness}"
            )
        if self.asynchronous and self.engine != "transformers":
            raise ConfigError("asynchronous runs generate with engine=transformers so far; leave engine out")
        check_address(self.cluster)
        if self.cluster != "local" and not (self.asynchronous and self.hosts):
            raise ConfigError("cluster needs asynchronous, and hosts of 1 or more: its simulators are hosts")
        if self.generator_processes and (self.cluster != "local" or not self.asynchronous):
            raise ConfigError("generator_processes needs asynchronous, and cluster=local: on a cluster they are actors")

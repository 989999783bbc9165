"""A Ray cluster, joined or started here: who may come in, and where simulators and generators are put.

Ray itself is the extra `ray`. Token authentication is on. A cluster that is started here listens on this machine alone
and has no dashboard; one of several machines is started with `ray start` on each of them, and joined by its address.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentrl.core.errors import ConfigError, Fault, MissingExtra

Placement = Literal["colocated", "hybrid", "disaggregated"]
JOIN_SECONDS = 60.0  # Ray itself tries for many minutes
PLACE_SECONDS = 120.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_FILE = Path("~/.ray/auth_token")
ANYWHERE: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": "SPREAD"}  # for what lost its place with a machine


class ClusterFault(Fault):
    """A cluster that cannot be joined, or has no room. `reason` is "token", "unreachable" or "room"."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple:
        return type(self), (str(self), self.reason)


def check_address(address: str) -> None:
    """`ConfigError` for what is no cluster."""
    if address in ("local", "ray"):
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (host and colon and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise ConfigError(f"cluster must be local, ray, HOST:PORT or ray://HOST:PORT; got {address!r}")


def joined(address: str, workers: int, seconds: float = JOIN_SECONDS) -> Any:
    """The module `ray`, connected: to a cluster started here with room for so many workers ("ray"), to the one that
    this machine belongs to ("HOST:PORT"), or to another from outside ("ray://HOST:PORT")."""
    check_address(address)
    host = address.removeprefix("ray://").rpartition(":")[0]
    options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "error"}
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if address == "ray":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if not has_token():
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        own = {"num_cpus": max(os.cpu_count() or 1, workers), "include_dashboard": False}
        options |= {"address": "local", "dashboard_host": "127.0.0.1", **own}
    elif os.environ["RAY_AUTH_MODE"] == "token" and not has_token():
        raise ClusterFault(
            f"the cluster {address} wants a token; set RAY_AUTH_TOKEN, or RAY_AUTH_TOKEN_PATH to its file", "token"
        )
    if address == "ray" or host in LOOPBACK:
        # Otherwise Ray puts the address that other machines see in place of this one, and listens there.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    if ray.is_initialized():
        raise ConfigError("this process is connected to a Ray cluster already; leave it first: ray.shutdown()")
    if address == "ray":
        ray.init(**options)  # in this thread: what it starts ends with the thread that started it
    else:
        _reach(host, int(address.rpartition(":")[2]), address)
        _within(seconds, lambda: ray.init(**options), address)
    return ray


def has_token() -> bool:
    """Is there a token that Ray would find?"""
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    file = Path(named) if named else TOKEN_FILE.expanduser()
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or file.is_file()


def _reach(host: str, port: int, address: str) -> None:
    """Does anybody listen there? Ray would ask again for minutes."""
    try:
        socket.create_connection((host, port), timeout=10.0).close()
    except OSError as error:
        raise ClusterFault(f"the cluster {address} cannot be reached: {error}", "unreachable") from error


def _within(seconds: float, connect: Any, address: str) -> None:
    """Connect, or say why not, within so many seconds."""
    problems: list[BaseException | None] = []

    def work() -> None:
        try:
            connect()
            problems.append(None)
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=work, name="joining a cluster", daemon=True)
    thread.start()
    thread.join(seconds)
    if not problems:
        raise ClusterFault(f"the cluster {address} did not let this process in within {seconds:g} s", "unreachable")
    if (error := problems[0]) is None:
        return
    if is_refusal(error):
        raise ClusterFault(
            f"the cluster {address} refused the token of this process; set RAY_AUTH_TOKEN (or RAY_AUTH_TOKEN_PATH) to "
            "that of the cluster",
            "token",
        ) from error
    raise ClusterFault(f"the cluster {address} cannot be joined: {error}", "unreachable") from error


def is_refusal(error: BaseException | None) -> bool:
    """Was it the token?"""
    while error is not None:
        if type(error).__name__ == "AuthenticationError" or "InvalidAuthToken" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


# ---------------------------------------------------------------------- placement


@dataclass(frozen=True)
class Bundles:
    """What is reserved together, and in which of these each host and each generator is."""

    resources: list[dict[str, float]]
    hosts: list[int]
    generators: list[int]


def bundles(placement: Placement, hosts: int, generators: int, gpus: bool) -> Bundles:
    """colocated and disaggregated: a generator and its share of the hosts are together, and share a GPU, the generator
    having half of it. hybrid: each has a bundle of its own; all hosts share one GPU."""
    if placement == "hybrid":
        simulating = {"CPU": 1.0, **({"GPU": 1.0 / hosts} if gpus else {})}
        generating = {"CPU": 1.0, **({"GPU": 1.0} if gpus else {})}
        resources = [generating] * generators + [simulating] * hosts
        return Bundles(resources, [generators + number for number in range(hosts)], list(range(generators)))
    places = [number % generators for number in range(hosts)]
    resources = [{"CPU": 1.0 + places.count(n), **({"GPU": 1.0} if gpus else {})} for n in range(generators)]
    return Bundles(resources, places, list(range(generators)))


@dataclass(frozen=True)
class Places:
    """The options with which the actor of each host and each generator is made."""

    hosts: Sequence[dict[str, Any]]
    generators: Sequence[dict[str, Any]]
    group: Any


def reserve(ray: Any, placement: Placement, hosts: int, generators: int, gpus: bool) -> Places:
    """Reserve a placement group; `ClusterFault` where the cluster has no room for it."""
    from ray.util.placement_group import placement_group  # pyright: ignore[reportMissingImports]
    from ray.util.scheduling_strategies import (  # pyright: ignore[reportMissingImports]
        PlacementGroupSchedulingStrategy,
    )

    asked = bundles(placement, hosts, generators, gpus)
    options: dict[str, Any] = {"strategy": "SPREAD"}
    outside = ray.util.client.ray.is_connected()  # then the trainer is on none of its machines
    if placement == "disaggregated" and not outside:
        away = {"ray.io/node-id": f"!{ray.get_runtime_context().get_node_id()}"}
        options["bundle_label_selector"] = [away] * len(asked.resources)
    group = placement_group(asked.resources, **options)
    if not group.wait(PLACE_SECONDS):
        ray.util.remove_placement_group(group)
        away = " on machines other than the trainer's" if placement == "disaggregated" else ""
        raise ClusterFault(
            f"the cluster has no room for {asked.resources}{away}; it has {ray.cluster_resources()}", "room"
        )

    def inside(bundle: int, gpu: float) -> dict[str, Any]:
        strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=bundle)
        return {"num_cpus": 1, "num_gpus": gpu if gpus else 0, "scheduling_strategy": strategy}

    hybrid = placement == "hybrid"
    together = [asked.hosts.count(bundle) for bundle in asked.hosts]
    return Places(
        [inside(b, 1.0 / hosts if hybrid else 0.5 / n) for b, n in zip(asked.hosts, together, strict=True)],
        [inside(bundle, 1.0 if hybrid else 0.5) for bundle in asked.generators],
        group,
    )

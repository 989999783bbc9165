"""Runs on a simulated Ray cluster, in the virtual environment that has Ray; prints what it found as JSON."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import torch

os.environ |= {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # processes that this one starts have the same
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # on loopback
# A node counts as lost after two seconds.
os.environ |= {"RAY_health_check_period_ms": "500", "RAY_health_check_failure_threshold": "4"}

import agentrl  # noqa: F401
from agentrl.trainers.algorithms import grpo
from agentrl.trainers.parallel.ranks import MEETING, leave
from tests.trainers import toys

CLUSTER = "TEST_CLUSTER"  # its address, for the processes of one run
ON_CLUSTER: dict[str, Any] = {"asynchronous": True, "hosts": 2, "placement": "hybrid"}


def simulated(nodes: int) -> tuple[Any, list[Any]]:
    """A head that has room for nothing, and nodes with three processors each."""
    from ray.cluster_utils import Cluster  # pyright: ignore[reportMissingImports]

    here = {"node_ip_address": "127.0.0.1"}
    head = {"num_cpus": 0, "include_dashboard": False, **here}
    cluster = Cluster(initialize_head=True, shutdown_at_exit=False, head_node_args=head)
    atexit.register(end, cluster.head_node)
    found = [cluster.add_node(num_cpus=3, **here) for _ in range(nodes)]
    for node in found:
        atexit.register(end, node)
    return cluster, found


def end(node: Any) -> None:
    """Kill everything of a machine at once, without a word."""
    node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)


def in_step(model: str, output: Path) -> dict[str, Any]:
    """A synchronous run, and the same on a cluster that is started for it."""
    during = set[str]()
    both(model, output, lambda text: during.update(listening()))
    return {"listening": sorted(during)}


def hung(model: str, output: Path) -> dict[str, Any]:
    """The same, and the generator's process is stopped after the first update."""
    stopped = set[int]()

    def stop(text: str) -> None:
        if text.startswith("[1/"):
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error, IndexError):  # it has ended
                    if process.cmdline()[0].startswith("ray::GeneratorActor"):
                        process.suspend()
                        stopped.add(process.pid)

    both(model, output, stop, iterations=4, generator_timeout=20.0)
    return {"stopped": len(stopped), "left": [pid for pid in stopped if psutil.pid_exists(pid)]}


def team(model: str, output: Path) -> dict[str, Any]:
    """Two processes that train on one cluster."""
    cluster, _ = simulated(2)
    place = {"WORLD_SIZE": "2", MEETING: str(output / "meeting"), "GLOO_SOCKET_IFNAME": "lo", CLUSTER: cluster.address}
    command = [sys.executable, __file__, "member", model, str(output)]
    members = [
        subprocess.Popen(command, env=os.environ | place | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(2)
    ]
    return {"codes": [member.wait(250) for member in members]}


def member(model: str, output: Path) -> dict[str, Any]:
    """One of them."""
    both(model, output, print, group_size=4, hosts=1, cluster=os.environ[CLUSTER])
    leave()
    return {}


def both(model: str, output: Path, report: Callable[[str], Any], **more: Any) -> None:
    """A synchronous run, and the same on a cluster (started for it, unless another is given)."""
    torch.set_num_threads(1)
    given = {"env_kwargs": {"turns": 2}, "eval_every": 1, "eval_episodes": 4, "eval_modes": ("sampled",)}
    there = {name: more.pop(name) for name in ("cluster", "hosts") if name in more}
    args = toys.grpo(model, output / "sync", **(given | more))
    grpo.train(args)
    exact = {"max_staleness": 0, "max_wait_ms": -1, "max_batch": args.num_envs, "cluster": "ray"}
    grpo.train(replace(args, output=str(output / "cluster"), **(ON_CLUSTER | exact | there)), report)


def listening() -> set[str]:
    """Addresses at which this process and those below it listen."""
    found, this = set[str](), psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # it has ended
            places = process.net_connections("inet")
            found |= {place.laddr.ip for place in places if place.status == psutil.CONN_LISTEN}
    return found


def killed(model: str, output: Path) -> dict[str, Any]:
    """A run on two nodes, of which one is killed after two updates."""
    cluster, nodes = simulated(2)
    path, gone = output / "run" / "metrics.jsonl", []

    def kill() -> None:
        while not (path.exists() and path.read_text().count('"kind": "train"') >= 2):
            time.sleep(0.05)
        end(nodes[0])
        gone.append(time.time())

    options = {"iterations": 8, "max_staleness": 8, "save_trajectories": -1, "generators": 2, "hosts": 4}
    args = toys.grpo(model, output / "run", env_kwargs={"turns": 2}, **(ON_CLUSTER | options), cluster=cluster.address)
    watch = threading.Thread(target=kill, daemon=True)
    watch.start()
    grpo.train(args)
    watch.join(60)
    return {"killed": len(gone)}


def refused(model: str, output: Path) -> dict[str, Any]:
    """A program with another token, one without, and one that asks where nobody listens."""
    cluster, _ = simulated(0)
    script = "\n".join(
        [
            "import sys, time; began = time.time()",
            "from agentrl.rollout.cluster import ClusterFault, joined",
            "try: joined(sys.argv[1], 1)",
            "except ClusterFault as fault: print(fault.reason, time.time() - began, fault)",
        ]
    )

    def asked(address: str, **changes: str) -> str:
        env = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"} | changes
        given = [sys.executable, "-c", script, address]
        done = subprocess.run(given, env=env, capture_output=True, text=True, timeout=100)
        return done.stdout or done.stderr

    nowhere = str(output / "no-token")
    found = {
        "wrong": asked(cluster.address, RAY_AUTH_TOKEN=secrets.token_hex(32)),
        "none": asked(cluster.address, RAY_AUTH_TOKEN_PATH=nowhere),
        "nobody": asked("127.0.0.1:9", RAY_AUTH_TOKEN="x" * 32),
    }
    return found


if __name__ == "__main__":
    name, model, output = sys.argv[1:]
    cases: dict[str, Callable[[str, Path], dict[str, Any]]] = {
        "in_step": in_step,
        "hung": hung,
        "killed": killed,
        "refused": refused,
        "team": team,
        "member": member,
    }
    print(json.dumps(cases[name](model, Path(output))))

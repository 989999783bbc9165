"""A run on a cluster some of whose generators hang; `main` runs in a warm process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import agentrl  # noqa: F401
from agentrl.core.errors import EngineFault
from agentrl.trainers.algorithms import grpo
from agentrl.trainers.run import machines
from tests.trainers import toys
from tests.trainers.parallel.little_ray import LittleRay

SECONDS, SOON = 4.0, 0.5  # for answers that take milliseconds, and for those that never come


def main(model: str, output: str) -> dict[str, Any]:
    """A synchronous run, the same on a cluster whose generator hangs, and one in which every generator hangs."""
    ray, never = LittleRay(3, "GeneratorActor.act", (5,)), LittleRay(4, "GeneratorActor.act", (1, 2, 3, 4))
    args = toys.grpo(model, Path(output) / "sync", iterations=3, env_kwargs={"turns": 2})
    grpo.train(args)
    exact: dict[str, Any] = {"max_staleness": 0, "max_wait_ms": -1, "max_batch": args.num_envs}
    there: dict[str, Any] = {"asynchronous": True, "hosts": 1, "cluster": "ray", **exact}
    on_cluster(ray, replace(args, output=str(Path(output) / "hanging"), generator_timeout=SECONDS, **there))
    try:
        problem = on_cluster(never, replace(args, output=str(Path(output) / "never"), generator_timeout=SOON, **there))
    except EngineFault as error:
        problem = str(error)
    return {"actors": len(ray.actors), "problem": problem}


def on_cluster(ray: LittleRay, args: Any) -> Any:
    """Train there."""
    places = SimpleNamespace(hosts=[{}], generators=[{}], group=None)
    with (
        mock.patch.object(machines, "joined", lambda *given: ray),
        mock.patch.object(machines, "reserve", lambda *given, **named: places),
    ):
        return str(grpo.train(args))

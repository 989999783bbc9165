"""Demonstrations do not depend on where their environments run: descriptions, mistakes and haste are the same."""

from __future__ import annotations

from typing import Any

import pytest

from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.demonstrations import Demonstrator

REASONING = ({"wrapper": "Reasoning", "strategy": "grounding"},)


def played(hosts: int, **teacher: Any) -> list[list[str]]:
    spec = EnvSpec("agentrl/FrozenLake-Text-v0", wrappers=REASONING)
    collector = Collector([spec], Demonstrator(seed=3, **teacher), num_envs=2, hosts=hosts)
    try:
        found = collector.collect([Start(seed) for seed in range(3)]).trajectories
    finally:
        collector.close()
    return [[step.action for step in episode.steps] for episode in found]


@pytest.mark.parametrize("kind", ["random", "hasty"])
def test_demonstrations_of_isolated_environments_are_the_same(kind) -> None:
    here = played(0, mistake_rate=0.5, mistake_kind=kind)
    assert played(2, mistake_rate=0.5, mistake_kind=kind) == here
    assert all("<observation>" in turn for episode in here for turn in episode)

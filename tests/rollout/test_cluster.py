"""Clusters without Ray: addresses, tokens, what is reserved, and episodes that go on from a snapshot."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.policy import Generation
from agentrl.rollout.async_collect import AsyncCollector
from agentrl.rollout.cluster import ClusterFault, bundles, check_address, joined
from agentrl.rollout.collect import EnvSpec, Start

LAKE = "agentrl/FrozenLake-Text-v0"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What joining sets for Ray ends with the test."""
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.parametrize("address", ["", "here", "10.0.0.1", "ray://host", "host:0", "host:70000"])
def test_what_is_no_cluster_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="HOST:PORT"):
        check_address(address)


def test_without_ray_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"ray is not installed; run: .*\[ray\]"):
        joined("ray", 1)
    assert os.environ["RAY_AUTH_MODE"] == "token" and len(os.environ["RAY_AUTH_TOKEN"]) == 64


def test_another_cluster_wants_a_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(ClusterFault, match="set RAY_AUTH_TOKEN") as found:
        joined("127.0.0.1:6379", 1)
    assert found.value.reason == "token"


def test_what_is_together_shares_a_bundle() -> None:
    together = bundles("colocated", hosts=3, generators=2, gpus=True)
    assert together.resources == [{"CPU": 3.0, "GPU": 1.0}, {"CPU": 2.0, "GPU": 1.0}]
    assert (together.hosts, together.generators) == ([0, 1, 0], [0, 1])
    apart = bundles("hybrid", hosts=2, generators=1, gpus=True)
    assert apart.resources == [{"CPU": 1.0, "GPU": 1.0}, *[{"CPU": 1.0, "GPU": 0.5}] * 2]
    assert (apart.hosts, apart.generators) == ([1, 2], [0])


class Killing:
    """Stays where it is, and kills the host of its episode once: when it is asked for the third turn."""

    name = "killing"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
        turns = [sum(message["role"] == "assistant" for message in conversation) for conversation in conversations]
        if 2 in turns and 2 not in self.asked:
            (env,) = envs
            os.kill(env.unwrapped.pid, signal.SIGKILL)
        self.asked += turns
        return [Generation("stay", "stay") for _ in conversations]


@pytest.mark.parametrize(("every", "asked"), [(1, [2, 3]), (2, [2, 3]), (3, [0, 1, 2, 3])])
def test_an_episode_whose_host_is_killed_goes_on_from_its_last_snapshot(every: int, asked: list[int]) -> None:
    policy, spec = Killing(), EnvSpec(LAKE, {"max_turns": 4})
    collector = AsyncCollector([spec], policy, num_envs=1, hosts=1, snapshot_every=every)
    try:
        (found,) = collector.collect([Start(0)]).trajectories
        (whole,) = collector.collect([Start(0)]).trajectories
    finally:
        collector.close()
    assert policy.asked == [0, 1, 2, *asked, 0, 1, 2, 3]
    assert found.fault is None and found == whole

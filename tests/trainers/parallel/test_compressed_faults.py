"""An hour of an unreliable cluster in a minute or two: simulators hang, crash and take very different times."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import psutil
import pytest

import agentrl  # noqa: F401
from agentrl.core.policy import Generation
from agentrl.rollout.async_collect import AsyncCollector
from agentrl.rollout.collect import EnvSpec, Start
from agentrl.trainers.parallel.async_rollouts import AsyncRollouts
from tests.rollout.troubled_envs import TROUBLED

BATCH, UPDATES = 30, 50
EVERY = 25  # episodes: as if a simulator hung or crashed once a minute for an hour
FIRST = 10_000  # seed; some small ones are troubles of another kind
WAITS = (0.0, 0.02, 0.2)  # seconds of a turn; 0.02 is what others expect


class Troubling:
    """Makes every `EVERY`-th episode hang or kill its host, the first time that it is played."""

    name = "troubling"

    def __init__(self) -> None:
        self.version, self.troubles, self._met = 0, Counter[str](), set[int]()

    def act(self, conversations: Any, envs: Any = None) -> list[Generation]:
        said = [self._said(conversation[-1]["content"].split()) for conversation in conversations]
        return [Generation(text, text, version=self.version) for text in said]

    def _said(self, seen: list[str]) -> str:
        episode, turn = int(seen[1]), int(seen[3])
        if episode % EVERY or turn == 0 or episode in self._met:
            return "good"
        self._met.add(episode)
        kind = "hang" if episode // EVERY % 2 else "die"
        self.troubles[kind] += 1
        return kind


def starts(update: int) -> list[Start]:
    numbers = range(FIRST + BATCH * update, FIRST + BATCH * (update + 1))
    return [Start(number, env=number % len(WAITS), id=str(number)) for number in numbers]


@pytest.mark.long
def test_an_hour_of_hangs_and_crashes_loses_nothing_and_memory_stays() -> None:
    policy, specs = Troubling(), [EnvSpec(TROUBLED, {"wait": wait, "seconds": 1000.0}) for wait in WAITS]
    options: dict[str, Any] = {"num_envs": 16, "hosts": 4, "timeout": 1.0, "retries": 8}
    collector = AsyncCollector(specs, policy, max_wait_ms=2.0, **options)
    rollouts = AsyncRollouts(
        collector, starts, batch=BATCH, max_staleness=3, publish=lambda version: setattr(policy, "version", version)
    )
    trained, sizes, process = Counter[str](), list[int](), psutil.Process()
    dropped = 0
    try:
        for _ in range(UPDATES):
            found = rollouts.take(BATCH)
            assert found.faults == 0 and all(len(one.steps) == 2 for one in found.trajectories)
            assert all(one.reward == 2.0 for one in found.trajectories)
            trained.update(str(one.id) for one in found.trajectories)
            del found
            rollouts.updated()
            dropped += rollouts.metrics()["dropped_episodes"]
            gc.collect()
            sizes.append(process.memory_info().rss)
        begun = rollouts.state_dict()
    finally:
        rollouts.close()
        collector.close()
    assert max(trained.values()) == 1 and sum(trained.values()) == BATCH * UPDATES
    assert begun["next"] == sum(trained.values()) + dropped + len(begun["begun"])  # every episode that was begun
    assert dropped < 0.1 * BATCH * UPDATES and min(policy.troubles["hang"], policy.troubles["die"]) >= 28
    tenth = UPDATES // 10
    assert max(sizes[tenth:]) < 1.05 * sizes[tenth]
    assert not [child for child in process.children(recursive=True) if "worker_child" in " ".join(child.cmdline())]

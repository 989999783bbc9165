"""The bound on staleness, on a clock that the test turns: rollouts and updates as events, with any durations."""

from __future__ import annotations

import heapq
import itertools
import random
from dataclasses import dataclass
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.admission import AdmissionGate


@dataclass
class Played:
    """What came of a simulation."""

    staleness: list[int]
    dropped: int
    most_under_way: int
    seconds: float


def simulate(
    gate: AdmissionGate,
    durations: Any,
    *,
    updates: int = 60,
    slots: int = 1000,
    update_seconds: float = 1.0,
    refresh_every: int = 1,
    group: int = 1,
    gated: bool = True,
) -> Played:
    """An episode's oldest step is written when it begins; groups are trained in the order in which they began."""
    clock, free, running, finished, order = 0.0, slots, [], {}, itertools.count()
    admitted: dict[int, int] = {}  # number of the group -> version
    waiting: list[int] = []
    left: dict[int, int] = {}
    played = Played([], 0, 0, 0.0)

    def begin() -> None:
        nonlocal free
        while True:
            while waiting and free:
                number, free = waiting.pop(0), free - 1
                admitted.setdefault(number, gate.version)
                heapq.heappush(running, (clock + next(durations), number))
            if len(waiting) or not free or not (gate.admit(group) if gated else True):
                return
            if not gated:
                gate.under_way += group
            number = next(order)
            left[number] = group
            waiting.extend([number] * group)

    for update in range(updates):
        while True:
            begin()
            played.most_under_way = max(played.most_under_way, gate.under_way)
            for number in [number for number in finished if gate.too_old(admitted[number])]:
                del finished[number]
                gate.drop(group)
                played.dropped += 1
            if len(finished) * group >= gate.batch:
                break
            clock, number = heapq.heappop(running)
            free, left[number] = free + 1, left[number] - 1
            if not left[number]:
                finished[number] = clock
        for number in sorted(finished)[: gate.batch // group]:
            del finished[number]
            played.staleness.append(update - admitted[number])
            gate.train(group)
        end = clock + update_seconds
        while True:  # rollouts go on meanwhile
            begin()
            if not running or running[0][0] > end:
                break
            clock, number = heapq.heappop(running)
            free, left[number] = free + 1, left[number] - 1
            if not left[number]:
                finished[number] = clock
        clock = end
        gate.updated((update + 1) // refresh_every * refresh_every)
    played.seconds = clock
    return played


@pytest.mark.parametrize("bound", [0, 1, 2, 5])
@pytest.mark.parametrize("group", [1, 4])
def test_with_equal_durations_the_bound_is_kept_and_nothing_is_dropped(bound: int, group: int) -> None:
    gate = AdmissionGate(16, bound)
    played = simulate(gate, itertools.repeat(0.7), group=group, slots=64)
    assert max(played.staleness) <= bound and played.dropped == 0
    assert played.most_under_way <= (bound + 1) * 16


@pytest.mark.parametrize("seed", range(20))
def test_with_any_durations_the_bound_is_kept(seed: int) -> None:
    rng = random.Random(seed)
    bound, every = rng.choice([(0, 1), (1, 1), (1, 2), (3, 1), (3, 4)])
    spread = rng.choice([0.1, 1.0, 3.0])
    durations = (rng.lognormvariate(0, spread) for _ in itertools.count())
    gate = AdmissionGate(8, bound)
    options: dict[str, Any] = {
        "group": rng.choice([1, 2, 8]),
        "slots": rng.choice([8, 20, 100]),
        "refresh_every": every,
    }
    played = simulate(gate, durations, update_seconds=rng.choice([0.01, 1.0, 10.0]), **options)
    assert len(played.staleness) == 60 * 8 // options["group"]
    assert max(played.staleness) <= bound and played.most_under_way <= (bound + 1) * 8


def test_without_the_gate_most_of_the_work_is_dropped() -> None:
    """The environments are quicker than the updates, so that they run ahead of what can be trained on."""
    wasted = {}
    for gated in (True, False):
        rng = random.Random(3)
        durations = (rng.lognormvariate(0, 0.5) for _ in itertools.count())
        played = simulate(AdmissionGate(8, 1), durations, slots=64, update_seconds=2.0, gated=gated, updates=30)
        wasted[gated] = played.dropped / (played.dropped + len(played.staleness))
    assert wasted[True] < 0.05 and wasted[False] > 0.5


def test_the_gate_closes_for_an_update_and_opens_after_it() -> None:
    gate = AdmissionGate(2, 0)
    assert [gate.admit(1) for _ in range(3)] == [True, True, False]
    gate.train(2)
    assert not gate.admit(1)
    gate.updated(1)
    assert gate.admit(2) and not gate.admit(1)
    gate.drop(2)
    assert gate.admit(2)


def test_what_the_trainer_waits_for_may_begin() -> None:
    """Further rounds of dynamic sampling, in the middle of an update."""
    gate = AdmissionGate(4, 0)
    assert gate.admit(4)
    gate.train(4)
    gate.asked = 2
    assert gate.admit(2) and not gate.admit(1)


def test_a_group_begins_as_a_whole_or_not_at_all() -> None:
    gate = AdmissionGate(8, 0)
    assert gate.admit(6) and not gate.admit(4) and gate.admit(2)


def test_nothing_begins_that_no_update_would_take() -> None:
    gate = AdmissionGate(4, 3, total_updates=2)
    assert gate.admit(8) and not gate.admit(1)


def test_weights_of_the_future_and_of_the_past_are_refused() -> None:
    gate = AdmissionGate(4, 1)
    with pytest.raises(ConfigError, match="version must be"):
        gate.updated(2)
    gate.updated(1)
    with pytest.raises(ConfigError, match="version must be"):
        gate.updated(0)

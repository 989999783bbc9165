"""Which groups each process begins: all of them once, whoever is ahead and with however many processes it goes on."""

from __future__ import annotations

import random
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.trainers.parallel.group_order import GroupOrder


def team(per_update: int, size: int, state: dict[str, Any] | None = None) -> list[GroupOrder]:
    found = [GroupOrder(per_update, rank, size) for rank in range(size)]
    for one in found:
        one.load_state_dict(state or {"next": 0, "begun": []})
    return found


def saved(processes: list[GroupOrder], left: list[list[int]]) -> dict[str, Any]:
    parts = [one.begun(some) for one, some in zip(processes, left, strict=True)]
    (state, *others) = [one.state_dict(parts) for one in processes]
    assert all(other == state for other in others)
    return state


def test_the_processes_share_each_update_as_a_synchronous_run_does() -> None:
    first, second = team(5, 2)
    assert [first.next_number() for _ in range(6)] == [0, 2, 4, 5, 7, 9]
    assert [second.next_number() for _ in range(4)] == [1, 3, 6, 8]
    assert [one.share(5) for one in (first, second)] == [3, 2] and second.share(1) == 0


def test_one_process_that_is_resumed_begins_with_what_was_under_way() -> None:
    (alone,) = team(4, 1, {"next": 9, "begun": [7, 3]})
    assert saved([alone], [[]]) == {"next": 9, "begun": [3, 7]}
    assert [alone.next_number() for _ in range(4)] == [3, 7, 9, 10]
    assert saved([alone], [[7, 10]]) == {"next": 11, "begun": [7, 10]}


def test_groups_that_the_slower_process_has_not_begun_are_not_left_out() -> None:
    first, second = team(2, 2)
    assert [first.next_number() for _ in range(3)] == [0, 2, 4] and second.next_number() == 1
    assert saved([first, second], [[4], []]) == {"next": 5, "begun": [3, 4]}  # 0, 1 and 2 are done


@pytest.mark.parametrize("seed", range(30))
def test_resumed_with_any_numbers_of_processes_every_group_is_trained_on_once(seed: int) -> None:
    """Each process begins, finishes and drops at its own pace, is stopped between two updates, and all go on."""
    rng = random.Random(seed)
    per_update, updates, state = rng.randint(4, 7), 12, None
    trained, dropped = list[int](), list[int]()
    for stop in [*sorted(rng.sample(range(1, updates), 3)), updates]:
        processes = team(per_update, rng.randint(1, 4), state)
        left: list[list[int]] = [[] for _ in processes]
        while len(trained) < stop * per_update:
            for one, begun in zip(processes, left, strict=True):
                own = one.share(per_update)
                while len(begun) < own + rng.randint(0, 2 * own):
                    begun.append(one.next_number())
                if rng.random() < 0.1:
                    dropped.append(begun.pop(0))
                    begun.append(one.next_number())
                for _ in range(own):
                    trained.append(begun.pop(rng.randrange(min(2, len(begun)))))
        state = saved(processes, left)
    assert state is not None
    assert sorted([*trained, *dropped, *state["begun"]]) == list(range(state["next"]))


def test_in_order_a_resumed_run_trains_on_the_tasks_of_one_that_never_stopped() -> None:
    state, trained = None, list[int]()
    for size in (1, 3, 2):
        processes = team(6, size, state)
        begun = [[one.next_number() for _ in range(3 * one.share(6))] for one in processes]  # three updates ahead
        trained += [number for one, some in zip(processes, begun, strict=True) for number in some[: one.share(6)]]
        state = saved(processes, [some[one.share(6) :] for one, some in zip(processes, begun, strict=True)])
    assert sorted(trained) == list(range(18))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="for each process; got 2 for 3 processes"):
        GroupOrder(2, 0, 3)
    with pytest.raises(ConfigError, match="not the state of asynchronous rollouts"):
        GroupOrder(2).load_state_dict({})

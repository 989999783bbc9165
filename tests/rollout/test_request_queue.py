"""When a batch goes and who is in it, by a clock that the tests turn."""

from __future__ import annotations

import math
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.request_queue import Request, RequestQueue


def queue(**options: Any) -> RequestQueue[int]:
    given: dict[str, Any] = {"max_batch": 3, "max_wait_ms": 250} | options
    return RequestQueue(**given)


def put(q: RequestQueue[int], number: int, arrived: float = 0.0, *, slot: int | None = None, turn: int = 0) -> None:
    q.put(Request(number, number if slot is None else slot, turn, arrived))


def taken(q: RequestQueue[int], now: float, *, engine: int = 0, more: bool = True) -> list[int]:
    return [request.asked for request in q.take(engine, now, more=more)]


def test_a_batch_goes_when_it_is_full_and_the_rest_waits() -> None:
    q = queue()
    for number in range(4):
        put(q, number)
        assert taken(q, 0.0) == ([0, 1, 2] if number == 2 else [])
    assert len(q) == 1 and taken(q, 0.2) == []


def test_a_batch_goes_when_its_oldest_request_has_waited_long_enough() -> None:
    q = queue()
    put(q, 0, 1.0)
    put(q, 1, 1.2)
    assert q.seconds_left(0, 1.2) == pytest.approx(0.05)
    assert taken(q, 1.24) == [] and taken(q, 1.25) == [0, 1]
    assert q.seconds_left(0, 2.0) is None


def test_a_batch_goes_when_nobody_else_can_come() -> None:
    q = queue(max_wait_ms=math.inf)
    put(q, 0)
    assert taken(q, 100.0) == [] and taken(q, 100.0, more=False) == [0]
    assert taken(q, 100.0, more=False) == []


def test_the_key_decides_who_goes_first_and_nobody_waits_for_ever() -> None:
    q = queue(max_batch=2, key="turn")
    for number, turn in enumerate((0, 5, 1, 3)):
        put(q, number, 0.0, turn=turn)
    assert taken(q, 0.1) == [1, 3]
    put(q, 4, 0.2, turn=9)
    assert taken(q, 0.3) == [0, 2]  # overdue
    put(q, 5, 0.3, turn=1)
    q = queue(max_batch=1, key=lambda request: -request.asked)
    put(q, 1)
    put(q, 2)
    assert taken(q, 0.0) == [2]


def test_rows_of_a_batch_are_in_the_order_of_their_slots() -> None:
    q = queue()
    for number, slot in enumerate((2, 0, 1)):
        put(q, number, number / 100, slot=slot)
    assert taken(q, 0.1) == [1, 2, 0]


def test_routes_send_slots_to_engines_of_their_own() -> None:
    q = queue(max_batch=2, engines=2, route="slot")
    for number in range(4):
        put(q, number)
    assert taken(q, 0.0, engine=1) == [1, 3] and taken(q, 0.0, engine=0) == [0, 2]
    q = queue(engines=2, route=lambda request, engines: 1)
    put(q, 7)
    assert q.seconds_left(0, 0.0) is None and q.seconds_left(1, 0.0) == 0.25
    assert taken(q, 9.0, engine=0) == [] and taken(q, 9.0, engine=1) == [7]


@pytest.mark.parametrize(
    "wrong", [{"max_batch": 0}, {"max_wait_ms": -1.0}, {"key": "arival"}, {"route": "nobody"}, {"engines": 0}]
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        queue(**wrong)


def test_a_route_to_nowhere_is_refused() -> None:
    with pytest.raises(ConfigError, match="below 1"):
        put(queue(route=lambda request, engines: 3), 0)

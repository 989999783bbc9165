"""Visitors of a site: found by name, limited in number, forgotten when idle."""

from __future__ import annotations

import pytest

from agentrl.envs.common.visitors import NoRoom, Visitors


class Guest:
    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_visitors_are_found_until_they_were_idle_too_long() -> None:
    now = [0.0]
    visitors = Visitors[Guest](5, 60, clock=lambda: now[0])
    name, guest = visitors.welcome(Guest)
    now[0] = 59
    assert visitors.find(name) is guest
    now[0] = 118
    assert visitors.find(name) is guest
    now[0] = 179
    assert visitors.find(name) is None
    assert guest.closed


def test_who_came_once_makes_room_and_who_came_back_does_not() -> None:
    visitors = Visitors[Guest](2, 60)
    (first, _), (name, second) = visitors.welcome(Guest), visitors.welcome(Guest)
    visitors.find(first)
    assert name in visitors
    third, _ = visitors.welcome(Guest)
    assert second.closed
    visitors.find(third)
    with pytest.raises(NoRoom):
        visitors.welcome(Guest)
    assert len(visitors) == 2


def test_a_hundred_who_came_back_fill_the_site_for_a_minute_only() -> None:
    now = [0.0]
    visitors = Visitors[Guest](100, 1800, clock=lambda: now[0])
    names = [visitors.welcome(Guest)[0] for _ in range(100)]
    for number, name in enumerate(names):
        now[0] = number / 100
        visitors.find(name)
    now[0] = 59.0
    with pytest.raises(NoRoom):
        visitors.welcome(Guest)
    now[0] = 60.5
    visitors.find(names[0])  # still here
    visitors.welcome(Guest)
    assert names[0] in visitors and names[1] not in visitors and names[2] in visitors


def test_visitors_can_leave() -> None:
    visitors = Visitors[Guest](1, 60)
    name, guest = visitors.welcome(Guest)
    visitors.forget("nobody")
    visitors.forget(None)
    visitors.forget(name)
    assert guest.closed
    assert visitors.find(name) is None


@pytest.mark.parametrize("name", [None, "", "x" * 10_000, "\x00"])
def test_unknown_names_find_nobody(name: str | None) -> None:
    assert Visitors[Guest](1, 60).find(name) is None

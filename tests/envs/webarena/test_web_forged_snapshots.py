"""Snapshots that somebody changed and sealed again: refused when they are restored, or they play on like any other."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import msgspec
import pytest

from agentrl.core.errors import SnapshotError
from agentrl.core.snapshot import open_blob, seal_blob

WEB = "agentrl/WebArenaLite-Text-v0"
VALUES = (None, True, -1, 10**9, 2**62, 0.5, "x", "", b"x", [], {}, [[1, 2]], {"x": 1}, [None])
ACTIONS = ("Scroll Down", "Go Back", "Go Forward")


@pytest.fixture(scope="module")
def played() -> Iterator[Any]:
    """An episode with several tabs, a form that was filled in and something that was written."""
    env: Any = gym.make(WEB, sites=["reddit"], action_format="webarena", disable_env_checker=True).unwrapped
    env.reset(seed=3)
    for action in ("new_tab", "goto [http://forum.localhost/f/books]", "goto [http://forum.localhost/submit]"):
        env.step(action)
    for number, element in enumerate(env.backend.view().labels):
        if element.tag in ("textarea", "select") or (element.tag == "input" and element.get("type") == "text"):
            env.step(f"type [{number}] [words] [0]")
    env.world.database("forum").update("user", 1, biography="changed")
    yield env
    env.close()


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of a structure stands; of long lists the first two items and the last."""
    if place:
        yield place
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*place, key))
    elif isinstance(value, list):
        for number in sorted({*range(min(2, len(value))), *range(max(0, len(value) - 1), len(value))}):
            yield from leaves(value[number], (*place, number))


def forged(data: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any, dict[str, Any]]]:
    """The structure with one value exchanged for another, or left out."""
    for place in leaves(data):
        for value in (*VALUES, KeyError):
            changed = copy.deepcopy(data)
            inside = changed
            for key in place[:-1]:
                inside = inside[key]
            if value is KeyError:
                del inside[place[-1]]
            elif type(inside[place[-1]]) is type(value) and inside[place[-1]] == value:
                continue
            else:
                inside[place[-1]] = value
            yield place, value, changed


def play_on(env: Any) -> None:
    """Look, act, and save again: nothing of it may fail."""
    env.render_mode = "ansi"
    env.render()
    env.state().to_json()
    view = env.backend.view()
    for action in (f"hover [{len(view.labels) - 1}]", "scroll [down]", "go_back", "go_forward", "page_focus [0]"):
        env.step(action)
    env.snapshot()


def run(env: Any, every: int) -> tuple[int, int, list[Any]]:
    """How many were forged and refused, and which of the others failed later."""
    whole = env.snapshot()
    data = open_blob(whole, env._identity())
    count, refused, broken = 0, 0, []
    for number, (place, value, changed) in enumerate(forged(data)):
        if number % every:
            continue
        count += 1
        try:
            env.restore(seal_blob(env._identity(), changed))
        except SnapshotError:
            refused += 1
            continue
        except Exception as error:
            broken.append((place, value, "restore", repr(error)))
        try:
            play_on(env)
        except Exception as error:
            broken.append((place, value, "later", repr(error)[:200]))
        env.restore(whole)
    return count, refused, broken


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_forged_snapshots_are_refused_or_play_on(played, record_property, every) -> None:
    count, refused, broken = run(played, every)
    record_property("figures", f"{count} forged web snapshots: {refused} refused, {len(broken)} broke later")
    assert not broken, broken[:10]
    assert count > 100 and refused > count / 2


def test_a_blob_is_what_msgpack_wrote(played) -> None:
    assert msgspec.msgpack.decode(played.snapshot()[21:])["data"]["world"]["backend"]["tabs"]

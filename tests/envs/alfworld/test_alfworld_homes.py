"""Our homes: their variety, splits that share nothing, and plans that solve every task they are asked for."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from agentrl.envs.alfworld import homes
from agentrl.envs.alfworld.engine import World
from agentrl.envs.alfworld.games import FAMILIES, Wording
from agentrl.envs.alfworld.planner import plan

SPLITS = ("train", "dev", "test")


def content(task: str) -> tuple:
    """What a task is, apart from its name and sentence."""
    game = homes.build(task, Wording())
    return game.receptacles, game.things, game.goal


def test_there_are_120_different_rooms_of_which_the_test_split_has_24_of_its_own() -> None:
    rooms = {(kind, number): homes.room(kind, number) for kind in homes.ROOMS for number in range(homes.PER_KIND)}
    assert len(rooms) == 120 and len(set(rooms.values())) >= 118
    of_split = {split: {homes.parts_of(task)[:2] for task in homes.task_ids(split)} for split in SPLITS}
    assert of_split["train"] == of_split["dev"] and len(of_split["train"]) == 96
    assert len(of_split["test"]) == 24 and not of_split["test"] & of_split["train"]


def test_no_task_of_one_split_is_a_task_of_another() -> None:
    train = {content(task) for task in homes.task_ids("train")[::9]}
    others = [content(task) for split in ("dev", "test") for task in homes.task_ids(split)]
    assert len(train) == len(homes.task_ids("train")[::9]) and not train.intersection(others)


@pytest.mark.long
def test_no_task_at_all_occurs_twice() -> None:
    found = Counter(content(task) for split in SPLITS for task in homes.task_ids(split))
    assert max(found.values()) == 1 and sum(found.values()) == 4494


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_has_every_family(split: str) -> None:
    counts = Counter(homes.family_of(task) for task in homes.task_ids(split))
    assert set(counts) == set(FAMILIES) and min(counts.values()) >= 0.08 * sum(counts.values())


def solved(tasks: tuple[str, ...]) -> Counter[int]:
    """Golden steps of tasks that their plans do solve."""
    steps: Counter[int] = Counter()
    for task in tasks:
        world = World(homes.build(task, Wording()))
        assert not world.won(), task
        commands = plan(world)
        assert commands is not None, task
        for command in commands:
            assert command in world.commands(), (task, command)
            world.step(command)
        assert world.won(), task
        steps[len(commands)] += 1
    return steps


def test_tasks_have_a_plan_of_three_to_eleven_steps() -> None:
    steps = solved(homes.task_ids("test")[::4] + homes.task_ids("train")[::40])
    assert min(steps) == 3 and max(steps) <= 11 and len(steps) >= 7


@pytest.mark.long
def test_all_tasks_have_such_a_plan() -> None:
    steps = sum((solved(homes.task_ids(split)) for split in SPLITS), Counter())
    assert min(steps) == 3 and max(steps) <= 11


def test_things_lie_where_they_fit_and_those_of_the_task_not_where_they_belong() -> None:
    for task in homes.task_ids("test")[::7]:
        game = homes.build(task, Wording())
        types = {each.id: each.type for each in game.receptacles}
        for thing in game.things:
            assert len(thing.inside) == 1
            if "take" in thing.can:
                assert (types[thing.inside[0]], thing.type) in game.fits, (task, thing)
            if thing.type == game.goal.thing:
                assert types[thing.inside[0]] != game.goal.receptacle
        assert re.fullmatch(r"[a-z]+( [a-z]+)*", game.instruction)


def test_families_can_be_chosen() -> None:
    chosen = homes.task_ids("test", (FAMILIES[1],))
    assert {homes.family_of(task) for task in chosen} == {FAMILIES[1]} and set(chosen) < set(homes.task_ids("test"))

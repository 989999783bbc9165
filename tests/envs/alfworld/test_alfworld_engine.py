"""The engine against TextWorld's own words, recorded, and against a search of all states."""

from __future__ import annotations

import json
import random
from collections import deque
from dataclasses import replace

import pytest

from agentrl.envs.alfworld import homes
from agentrl.envs.alfworld.engine import NOTHING, World
from agentrl.envs.alfworld.games import ABILITY, FAMILIES, WORDINGS, Game, Goal, Receptacle, Thing, Wording, numbered
from agentrl.envs.alfworld.planner import plan
from tests.envs.alfworld.walks import TRANSCRIPTS, digest

RECORDED = json.loads(TRANSCRIPTS.read_text())


def small_home(goal: Goal) -> Game:
    """Six receptacles, two apples and what it takes to clean, heat, cool, cut and look at them."""
    can = frozenset({"take", "heat", "cool", "clean", "slice"})
    receptacles = (
        Receptacle("cabinet_bar_1", "cabinet", "a", openable=True),
        Receptacle("cabinet_bar_2", "cabinet", "a", openable=True),
        Receptacle("fridge_bar_1", "fridge", "b", openable=True),
        Receptacle("microwave_bar_1", "microwave", "c", openable=True),
        Receptacle("sink_bar_1_bar_sinkbasin", "sinkbasin", "d"),
        Receptacle("sidetable_bar_1", "sidetable", "e"),
    )
    things = (
        Thing("apple_bar_1", "apple", ("fridge_bar_1",), ("b",), can),
        Thing("apple_bar_2", "apple", ("sidetable_bar_1",), ("e",), can),
        Thing("knife_bar_1", "knife", ("cabinet_bar_1",), ("a",), frozenset({"take", "clean"})),
        Thing("desklamp_bar_1", "desklamp", ("sidetable_bar_1",), ("e",), frozenset({"use"})),
    )
    places = ("fridge", "microwave", "sinkbasin", "sidetable")
    fits = frozenset([*((place, "apple") for place in places), ("cabinet", "knife"), ("sidetable", "knife")])
    return Game("small", receptacles, things, fits, "middle", goal, goal.instruction(), Wording())


GOALS = [
    Goal(FAMILIES[0], "apple", "microwave"), Goal(FAMILIES[1], "apple", lamp="desklamp"),
    Goal(FAMILIES[2], "apple", "fridge"), Goal(FAMILIES[3], "apple", "sidetable"),
    Goal(FAMILIES[4], "apple", "microwave"), Goal(FAMILIES[5], "apple", "sinkbasin"),
]  # fmt: skip


def searched(game: Game, commands: list[str]) -> int:
    """The length of a shortest way to the goal after some commands, by a search through all states."""

    def state_after(done: list[str]) -> World:
        world = World(game)
        for command in done:
            world.step(command)
        return world

    useful = {"go", "open", "take", "move", "use", ABILITY.get(game.goal.family)}
    first = state_after(commands)
    seen, waiting = {first.key()}, deque([(commands, 0)])
    while waiting:
        done, length = waiting.popleft()
        world = state_after(done)
        if world.won():
            return length
        for command in world.commands():
            if command.split()[0] in useful:
                after = state_after([*done, command])
                if after.key() not in seen:
                    seen.add(after.key())
                    waiting.append(([*done, command], length + 1))
    raise AssertionError("the goal cannot be reached")


# ---------------------------------------------------------------------- TextWorld


def test_the_recording_is_of_the_versions_that_are_named_and_has_every_family_and_wording() -> None:
    assert RECORDED["engine"] == {"textworld": "1.7.0", "alfworld": "0.4.2"}
    assert {homes.family_of(walk["task"]) for walk in RECORDED["walks"]} == set(FAMILIES)
    assert {walk["wording"] for walk in RECORDED["walks"]} == set(WORDINGS)
    assert any(walk["steps"][-1][3] for walk in RECORDED["walks"])


@pytest.mark.parametrize("walk", RECORDED["walks"], ids=lambda walk: f"{walk['task']}-{walk['wording']}")
def test_the_engine_says_what_textworld_said(walk: dict) -> None:
    world = World(homes.build(walk["task"], WORDINGS[walk["wording"]]))
    for command, text, commands, won in walk["steps"]:
        said = world.step(command) if command else world.reset()
        assert said == text, command
        assert digest(world.commands()) == commands, command
        assert world.won() == won, command


# ---------------------------------------------------------------------- sentences and rules


def test_what_is_not_admissible_does_nothing() -> None:
    world = World(small_home(GOALS[0]))
    before = world.key()
    for command in (
        "dance",
        "",
        "Look",
        "go to moon 1",
        "open fridge 1",
        "take apple 1 from sidetable 1",
        "look around",
    ):
        assert world.step(command) == NOTHING
    assert world.key() == before
    world.step("go to fridge 1")
    assert "go to fridge 1" not in world.commands() and world.step("go to fridge 1") == NOTHING


def test_every_admissible_command_does_something_and_no_other_one_of_the_game_does() -> None:
    game = small_home(GOALS[3])
    rng = random.Random(0)
    every = {command for goal in GOALS for command in _all_commands(World(replace(game, goal=goal)))}
    world = World(game)
    done: list[str] = []
    for _ in range(40):
        admissible = world.commands()
        assert admissible == sorted(set(admissible))
        for command in sorted(every | set(admissible)):
            copy = World(game)
            for earlier in done:
                copy.step(earlier)
            assert (copy.step(command) != NOTHING) == (command in admissible), (done, command)
        done.append(rng.choice(admissible))
        world.step(done[-1])


def _all_commands(world: World) -> set[str]:
    recs, objs = world.recs, world.objs
    found = (
        {"look", "inventory", "help"} | {f"examine {name}" for name in recs + objs} | {f"use {name}" for name in objs}
    )
    found |= {f"{verb} {name}" for verb in ("go to", "open", "close") for name in recs}
    found |= {f"take {thing} from {place}" for thing in objs for place in recs}
    found |= {f"move {thing} to {place}" for thing in objs for place in recs}
    found |= {f"{verb} {thing} with {place}" for verb in ("heat", "cool", "clean") for thing in objs for place in recs}
    return found | {f"slice {thing} with {tool}" for thing in objs for tool in objs}


def test_heat_drives_out_cold_and_a_clean_sliced_thing_is_called_so() -> None:
    world = World(replace(small_home(GOALS[0]), goal=Goal(FAMILIES[5], "apple", "cabinet")))
    said = {}
    for command in (
        "go to sidetable 1", "take apple 1 from sidetable 1", "go to fridge 1", "cool apple 1 with fridge 1",
        "examine apple 1", "go to microwave 1", "heat apple 1 with microwave 1", "examine apple 1", "go to sinkbasin 1",
        "clean apple 1 with sinkbasin 1", "move apple 1 to sinkbasin 1", "go to cabinet 2", "open cabinet 2",
        "take knife 1 from cabinet 2", "look", "go to sinkbasin 1", "slice apple 1 with knife 1", "inventory",
    ):  # fmt: skip
        said[len(said), command] = world.step(command)
        assert said[len(said) - 1, command] != NOTHING, command
    texts = list(said.values())
    assert texts[4] == "This is a cold apple 1." and texts[7] == "This is a hot apple 1."
    assert texts[14] == "You are facing the cabinet 2, and cabinet 1. Next to it, you see nothing."
    assert texts[16] == "You sliced the apple 1 with the knife 1." and texts[17] == "You are carrying: a knife 1."
    assert world.states[world.obj_at["apple 1"]] == {"hot", "clean", "sliced"}


def test_the_first_id_of_a_type_has_the_highest_number_and_basins_are_types_of_their_own() -> None:
    ids = ["mug_bar_a", "mug_bar_b", "sink_bar_1_bar_sinkbasin", "sink_bar_1", "cup_bar_1"]
    names = ["mug 2", "mug 1", "sinkbasin 1", "sink 1", "cup 1"]
    assert numbered(ids) == dict(zip(ids, names, strict=True))


# ---------------------------------------------------------------------- plans


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.family)
def test_plans_are_as_short_as_a_search_of_all_states_finds_from_anywhere(goal: Goal) -> None:
    game = small_home(goal)
    for seed in (0, 2, 3):
        rng, world, done = random.Random(seed), World(game), []
        for _ in range(4 * seed):
            if world.won():
                break
            done.append(rng.choice([one for one in world.commands() if one.split()[0] != "examine"]))
            world.step(done[-1])
        found = plan(world)
        assert found is not None and len(found) == searched(game, done), (done, found)
        for command in found:
            assert world.step(command) != NOTHING
        assert world.won()


def test_a_goal_that_cannot_be_reached_has_no_plan() -> None:
    assert plan(World(small_home(Goal(FAMILIES[0], "apple", "cabinet")))) is None

"""Predicates: true and false in states that are set by hand."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.bddl import Condition, Fact
from agentrl.envs.libero.predicates import holds
from agentrl.envs.libero.world import World

mujoco = load()


def begin(suite: str, task: int) -> World:
    world = World(suite, task)
    world.reset(world.start("test/0"))
    return world


def put(world: World, name: str, position: np.ndarray, *, settle: int = 40) -> None:
    """Move something, and let it come to rest."""
    world.data.joint(name).qpos[:] = [*position, 1.0, 0.0, 0.0, 0.0]
    for _ in range(settle):
        world.arm.advance()
    mujoco.mj_forward(world.model, world.data)


def above(world: World, name: str, other: str, x: float = 0.0, y: float = 0.0, gap: float = 0.002) -> np.ndarray:
    """A place right above something, from where it falls `gap`."""
    top = world.position(other)[2] + world.size(other)[2]
    middle, rotation = world.pose(other)
    return np.array([*(middle + rotation @ np.array([x, y, 0.0]))[:2], top + world.size(name)[2] + gap])


def test_on_another_thing() -> None:
    world = begin("libero_spatial", 0)
    fact = Fact("on", ("akita_black_bowl_1", "plate_1"))
    assert not holds(world, fact)
    put(world, "akita_black_bowl_1", above(world, "akita_black_bowl_1", "plate_1"))
    assert holds(world, fact) and world.goal_holds() and world.conditions() == {str(fact): True}
    assert not holds(world, Fact("on", ("plate_1", "akita_black_bowl_1"))), "the lower one is not on the higher one"
    assert not holds(world, Fact("on", ("akita_black_bowl_2", "plate_1"))), "the other bowl is elsewhere"
    put(world, "akita_black_bowl_1", above(world, "akita_black_bowl_1", "plate_1", x=0.06))
    assert not holds(world, fact), "on its edge is too far from the middle"
    put(world, "akita_black_bowl_1", above(world, "akita_black_bowl_1", "plate_1", gap=0.1), settle=0)
    assert not holds(world, fact), "above it without touching"


def test_bowls_stack() -> None:
    world = begin("libero_90", 16)
    fact = next(world.problem.goal.facts())
    assert fact.predicate == "on" and not holds(world, fact)
    put(world, fact.arguments[0], above(world, fact.arguments[0], fact.arguments[1]))
    assert holds(world, fact)


def test_on_a_region_of_a_fixture() -> None:
    world = begin("libero_goal", 1)
    fact, bowl = Fact("on", ("akita_black_bowl_1", "flat_stove_1_cook_region")), "akita_black_bowl_1"
    assert not holds(world, fact)
    put(world, bowl, above(world, bowl, "flat_stove_1_cook_region", y=0.03))
    assert holds(world, fact)
    put(world, bowl, above(world, bowl, "flat_stove_1_cook_region", x=-0.12))
    assert not holds(world, fact), "beside the plate for cooking"
    top = Fact("on", (bowl, "wooden_cabinet_1_top_side"))
    assert not holds(world, top)
    put(world, bowl, above(world, bowl, "wooden_cabinet_1_top_side", x=0.02))
    assert holds(world, top) and not holds(world, fact)


def test_on_a_region_of_the_table() -> None:
    world = begin("libero_goal", 5)
    fact = next(world.problem.goal.facts())
    assert fact == ("on", ("plate_1", "main_table_stove_front_region")) and not holds(world, fact)
    put(world, "plate_1", above(world, "plate_1", fact.arguments[1]))
    assert holds(world, fact)
    put(world, "plate_1", above(world, "plate_1", fact.arguments[1], gap=0.08), settle=0)
    assert not holds(world, fact), "above the table without touching it"
    put(world, "plate_1", above(world, "plate_1", fact.arguments[1], x=0.06))
    assert not holds(world, fact)


@pytest.mark.parametrize(
    ("task", "thing", "region"),
    [
        (("libero_object", 0), "alphabet_soup_1", "basket_1_contain_region"),
        (("libero_90", 62), "new_salad_dressing_1", "wooden_tray_1_contain_region"),
        (("libero_90", 26), "wine_bottle_1", "white_cabinet_1_bottom_region"),
        (("libero_90", 2), "akita_black_bowl_1", "wooden_cabinet_1_top_region"),
        (("libero_10", 9), "white_yellow_mug_1", "microwave_1_heating_region"),
        (("libero_90", 73), "black_book_1", "desk_caddy_1_front_contain_region"),
        (("libero_90", 83), "black_book_1", "desk_caddy_1_right_contain_region"),
        (("libero_90", 89), "yellow_book_1", "wooden_two_layer_shelf_1_bottom_region"),
        (("libero_90", 40), "chefmate_8_frypan_1", "wooden_two_layer_shelf_1_top_region"),
    ],
)
def test_in_a_region(task: tuple[str, int], thing: str, region: str) -> None:
    world = begin(*task)
    fact = Fact("in", (thing, region))
    assert not holds(world, fact)
    place = world.position(region)
    floor = place[2] - world.size(region)[2]
    if "caddy" in region:  # a book stands in it sideways
        world.data.joint(thing).qpos[:] = [*place[:2], floor + world.size(thing)[2] + 0.001, 0.7071, 0, 0, 0.7071]
        mujoco.mj_forward(world.model, world.data)
    else:
        put(world, thing, np.array([*place[:2], floor + world.size(thing)[2] + 0.001]))
    assert holds(world, fact)
    high = np.array([*place[:2], place[2] + world.size(region)[2] + world.size(thing)[2] + 0.05])
    put(world, thing, high, settle=0)
    assert not holds(world, fact), "above it"
    put(world, thing, place + np.array([0.3, 0.0, 0.0]), settle=0)
    assert not holds(world, fact), "beside it"


def test_doors_drawers_and_knobs() -> None:
    cases = {
        ("libero_90", 23): (
            "white_cabinet_1_top_level",
            "white_cabinet_1_top_region",
            "open",
            "close",
            -0.15,
            0.0,
            1e-4,
        ),
        ("libero_90", 33): ("microwave_1_microjoint", "microwave_1", "open", "close", -1.5, -0.005, -0.004),
        ("libero_90", 39): ("flat_stove_1_button", "flat_stove_1", "turnon", "turnoff", 0.7, 0.0, -1e-4),
    }
    for task, (joint, name, on, off, wide, nearly, shut) in cases.items():  # LIBERO's own limits
        world = begin(*task)
        between = [(value, False, False) for value in (wide / 2.5, nearly)]
        for now, is_on, is_off in ((wide, True, False), *between, (shut, False, True)):
            world.data.joint(joint).qpos[0] = now
            mujoco.mj_forward(world.model, world.data)
            assert holds(world, Fact(on, (name,))) == is_on and holds(world, Fact(off, (name,))) == is_off


def pushed_in(world: World) -> None:
    """Shut all drawers."""
    for level in ("top", "middle", "bottom"):
        world.data.joint(f"wooden_cabinet_1_{level}_level").qpos[0] = 0.003


def test_a_cabinet_is_open_when_one_drawer_is_and_shut_when_all_are() -> None:
    world = begin("libero_goal", 0)
    pushed_in(world)
    whole, middle = Fact("open", ("wooden_cabinet_1",)), Fact("open", ("wooden_cabinet_1_middle_region",))
    assert holds(world, Fact("close", ("wooden_cabinet_1",))) and not holds(world, whole)
    world.data.joint("wooden_cabinet_1_middle_level").qpos[0] = -0.15
    assert holds(world, whole) and holds(world, middle) and world.goal_holds()
    assert not holds(world, Fact("open", ("wooden_cabinet_1_top_region",)))
    assert not holds(world, Fact("close", ("wooden_cabinet_1",)))


def test_facts_are_joined() -> None:
    world = begin("libero_goal", 0)
    pushed_in(world)
    false, true = Fact("open", ("wooden_cabinet_1",)), Fact("close", ("wooden_cabinet_1",))
    assert not holds(world, Condition("and", (true, false))) and holds(world, Condition("or", (false, true)))
    assert holds(world, Condition("not", (Condition("and", (true, false)),)))


def test_questions_without_meaning_are_refused() -> None:
    world = begin("libero_goal", 0)
    for fact in (
        Fact("open", ("plate_1",)),
        Fact("on", ("wooden_cabinet_1", "plate_1")),
        Fact("in", ("plate_1", "plate_1")),
    ):
        with pytest.raises(ConfigError):
            holds(world, fact)

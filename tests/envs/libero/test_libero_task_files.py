"""BDDL: all 130 files are read, and a malformed one is refused with one sentence that names the line."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrl.core.errors import ConfigError
from agentrl.envs.libero.bddl import Condition, Fact, Problem, read_problem
from agentrl.envs.libero.package import suites, task_file

SMALL = """; a comment
(define (problem LIBERO_Floor_Manipulation)
  (:domain robosuite)
  (:language Put the soup in)
  (:regions
    (here (:target floor) (:ranges ((-0.1 -0.2 0.1 0.2) (0 0 1 1))) (:yaw_rotation ((1.0 -1.0))))
    (inside (:target basket_1))
  )
  (:fixtures floor - floor)
  (:objects soup_1 soup_2 - alphabet_soup basket_1 - basket)
  (:obj_of_interest soup_1)
  (:init (On soup_1 floor_here) (On basket_1 floor_here))
  (:goal (And (In soup_1 basket_1_inside) (Not (Or (On soup_2 basket_1) (Open basket_1)))))
)
"""


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    return [read_problem(task_file(suite, task)) for suite, tasks in suites().items() for task in tasks]


def test_all_files_are_read(problems: list[Problem]) -> None:
    assert len(problems) == 130
    rooms = Counter(problem.name.removeprefix("libero_").removesuffix("_manipulation") for problem in problems)
    assert rooms == {
        "kitchen_tabletop": 50,
        "living_room_tabletop": 32,
        "tabletop": 20,
        "study_tabletop": 18,
        "floor": 10,
    }
    assert len({kind for problem in problems for kind in problem.objects.values()}) == 26
    assert len({kind for problem in problems for kind in problem.fixtures.values()}) == 12
    facts = Counter(fact.predicate for problem in problems for fact in problem.goal.facts())
    assert facts == {"in": 63, "on": 61, "close": 11, "turnon": 8, "open": 7, "turnoff": 1}
    assert all(problem.language and problem.interest and problem.start for problem in problems)


def test_regions_on_things_that_are_missing_are_read(problems: list[Problem]) -> None:
    drainers = [problem for problem in problems if "bowl_drainer_1_left_region" in problem.regions]
    assert len(drainers) == 10
    assert all("bowl_drainer_1" not in {**problem.objects, **problem.fixtures} for problem in drainers)


def test_a_small_file_says_what_it_says() -> None:
    problem = read_problem(SMALL)
    assert problem.name == "libero_floor_manipulation" and problem.language == "Put the soup in"
    assert problem.objects == {"soup_1": "alphabet_soup", "soup_2": "alphabet_soup", "basket_1": "basket"}
    assert problem.regions["floor_here"].rectangles == ((-0.1, -0.2, 0.1, 0.2), (0, 0, 1, 1))
    assert problem.regions["floor_here"].yaw == (-1.0, 1.0)
    assert problem.regions["basket_1_inside"].rectangles == ()
    either = Condition("or", (Fact("on", ("soup_2", "basket_1")), Fact("open", ("basket_1",))))
    assert problem.goal == Condition("and", (Fact("in", ("soup_1", "basket_1_inside")), Condition("not", (either,))))
    assert str(next(problem.goal.facts())) == "In soup_1 basket_1_inside"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (SMALL, "", "line 1: the file is empty"),
        (SMALL, "hello", "line 1: '(' was expected; got 'hello'"),
        (SMALL, "(define", "line 1: this '(' is never closed"),
        (SMALL, SMALL + ")", "line 15: nothing was expected after the last ')'"),
        (SMALL, "(" * 40, "line 1: brackets must be at most 32 deep"),
        (SMALL, "(and)", "line 1: the file must begin with (define"),
        ("(:domain robosuite)", "", "line 2: the section (:domain ...) is missing"),
        ("(:domain robosuite)", "(:init)", "line 12: there is more than one section :init"),
        ("-0.1 -0.2 0.1 0.2", "-0.1 -0.2 0.1", "line 6: 4 numbers were expected; got 3"),
        ("-0.1 -0.2 0.1 0.2", "0.2 -0.2 0.1 0.2", "line 6: a range must be least x"),
        ("-0.1 -0.2 0.1 0.2", "nan 0 1 1", "line 6: a number was expected; got 'nan'"),
        ("-0.1 -0.2 0.1 0.2", "1e999 0 1 1", "line 6: a number was expected"),
        ("(:target basket_1)", "", "line 7: a region must be"),
        ("(inside (:target basket_1))", "(here (:target floor))", "line 7: the region 'floor_here' is declared twice"),
        ("floor - floor", "floor -", "line 9: NAME - TYPE was expected"),
        ("floor - floor", "floor", "line 9: 'floor' has no type"),
        ("floor - floor", "floor soup_1 - floor", "line 10: 'soup_1' is an object and a fixture"),
        ("soup_1 soup_2 -", "soup_1 soup_1 -", "line 10: 'soup_1' is declared twice"),
        ("(On soup_1 floor_here)", "(On soup_1 floor_hera)", "unknown name 'floor_hera'. Did you mean \"floor_here\"?"),
        ("(On soup_1 floor_here)", "(On soup_1)", "line 12: on takes 2 names; got 1"),
        ("(On soup_1 floor_here)", "(Under soup_1 floor_here)", "line 12: unknown predicate 'under'"),
        ("(On soup_1 floor_here)", "On", "line 12: '(' was expected; got 'On'"),
        ("(Or (On soup_2 basket_1) (Open basket_1))", "", "line 13: (not ...) must have one part"),
        ("(:goal (And", "(:goal) (:other (And", "line 13: the goal must be one condition"),
    ],
)
def test_malformed_files_give_one_sentence(old: str, new: str, sentence: str) -> None:
    assert old in SMALL
    with pytest.raises(ConfigError) as error:
        read_problem(SMALL.replace(old, new))
    assert sentence in str(error.value) and "\n" not in str(error.value)


@given(st.data())
def test_damaged_files_never_crash_the_reader(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(SMALL)))
    end = data.draw(st.integers(start, len(SMALL)))
    text = SMALL[:start] + data.draw(st.text("() -;:\n09ae\x00é", max_size=12)) + SMALL[end:]
    try:
        read_problem(text)
    except ConfigError as error:
        assert str(error).startswith("BDDL")

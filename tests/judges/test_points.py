"""Named points: what is read out of sentences and dictionaries, and what counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrl.core.claims import Claims
from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.core.state import State
from agentrl.envs.primitiveskill.state import TABLE
from agentrl.judges.rule import RuleJudge
from agentrl.judges.structured import StructuredJudge
from benchmarks.judges.fuzz import random_texts
from benchmarks.judges.injections import INJECTIONS

BOTH_CUBES = ["red_cube", "green_cube"]
POINTS = {
    "red_cube_position": [62, -55, 20],
    "green_cube_position": [75, 33, 20],
    "left_target_position": [100, -43, 0],
}


@dataclass(frozen=True)
class Table(State):
    facts: Any = None

    @classmethod
    def claims(cls) -> Claims:
        return TABLE

    def structured(self) -> dict[str, Any]:
        return POINTS if self.facts is None else self.facts


def judged(text: str, purpose: Purpose = "grounding", judge: Any = None, facts: Any = None) -> Any:
    (found,) = (judge or RuleJudge()).score_sync([JudgeRequest("", "", purpose, text, Table(facts))])
    return found


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The red cube is at (62, -55, 20).", ["red_cube"]),
        ("The red block is at (72, -65, 30) and the left target at (100, -43, 0).", ["red_cube", "left_target"]),
        ("(62,-55,20) would be the position of the red cube, and (75,33,20) is the green one.", BOTH_CUBES),
        ("red_cube: (62, -55, 20), green_cube: (75, 33, 20)", BOTH_CUBES),
        ('{"red_cube_position": [62, -55, 20], "green_cube_position": [0, 0, 0]}', ["red_cube"]),
        ("The red cube and the green cube are at (62, -55, 20) and (75, 33, 20) respectively.", BOTH_CUBES),
        ("The red cube is at x=62, y=-55, z=20.", ["red_cube"]),
        ("I need to pick the red cube at (62, -55, 20) and place it at (75, 33, 60).", ["red_cube"]),
        ("The red cube is at (73, -55, 20).", []),
        ("The red cube is not at (62, -55, 20).", []),
        ("The red cube is at (62, -55, 20) or (75, 33, 20).", []),
        ("The red cube is at (62, -55, 20). The red cube is at (75, 33, 20).", []),
        ("Positions: [(62, -55, 20), (75, 33, 20), (100, -43, 0)]", []),
        ("The purple cube is at (62, -55, 20).", []),
        ("The red cube is at (62, -55).", []),
        ("pick(62, -55, 20)|place(75, 33, 60)", []),
    ],
)
def test_a_thing_counts_when_all_that_is_said_of_it_is_right(text: str, right: list[str]) -> None:
    verdict = judged(text)
    assert isinstance(verdict, Verdict) and verdict.evidence["right"] == right
    assert verdict.score == pytest.approx(len(right) / len(POINTS))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("After that the red cube will be at (62, -55, 20).", ["red_cube"]),
        ("I will pick the red cube at (0, 0, 20) and place it at (62, -55, 20).", ["red_cube"]),
        ("The red cube will be moved from (0, 0, 20) to (62, -55, 20).", ["red_cube"]),
        ("The red cube is currently at (62, -55, 20).", []),
        ("I want the red cube to be at (62, -55, 20).", []),
    ],
)
def test_a_prediction_is_about_where_things_will_be(text: str, right: list[str]) -> None:
    assert judged(text, "worldmodeling").evidence["right"] == right


@pytest.mark.parametrize("judge", [RuleJudge(), StructuredJudge()])
def test_both_judges_give_the_same_for_a_whole_dictionary(judge: Any) -> None:
    whole = str(POINTS).replace("'", '"')
    assert judged(whole, judge=judge).score == 1.0
    assert judged(whole.replace("62", "82"), judge=judge).score == pytest.approx(2 / 3)
    assert judged(whole.replace("62", "1e999"), judge=judge).score <= 2 / 3 + 1e-9


def test_names_that_are_not_there_dilute_the_structured_form() -> None:
    judge, facts = StructuredJudge(), {"red_cube_position": [62, -55, 20], "drawer_open_value": 120}
    one = '"red_cube_position": [62, -55, 20]'
    assert judged(f'{{{one}, "drawer_open_value": 125}}', judge=judge, facts=facts).score == 1.0
    assert judged(f'{{{one}, "drawer_open_value": 140}}', judge=judge, facts=facts).score == 0.5
    more = ", ".join(f'"thing{i}_position": [62, -55, 20]' for i in range(9))
    assert judged(f'{{{one}, {more}, "drawer_open_value": 120}}', judge=judge, facts=facts).score < 0.52


@pytest.mark.parametrize(
    "facts",
    [{}, {"red_cube_position": [1, 2]}, {"red_cube_position": None}, {"red_cube_position": [1, 2, float("nan")]}],
)
def test_a_state_without_points_is_a_fault(facts: dict[str, Any]) -> None:
    assert isinstance(judged("The red cube is at (62, -55, 20).", facts=facts), JudgeFault)


@given(st.text(max_size=400))
def test_any_text_is_judged(text: str) -> None:
    assert judged(text).score == 0.0


def test_random_texts_with_points_never_raise() -> None:
    texts = (text.replace("left", "the red cube (62, -55, 20)") for text in random_texts(1500))
    assert all(0 <= judged(text, ("grounding", "worldmodeling")[i % 2]).score <= 1 for i, text in enumerate(texts))


def test_orders_to_the_judge_earn_nothing() -> None:
    wrong = "The red cube is at (0, 0, 0)."
    for attack in INJECTIONS:
        assert judged(f"{attack} {wrong}").score == judged(f"{wrong} {attack}").score == 0.0

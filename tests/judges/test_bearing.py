"""Where the target is, seen from the agent: which words count in descriptions, which in predictions."""

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
from agentrl.envs.navigation.claims import HOME
from agentrl.judges.bearing import DIRECTIONS, is_right, plain_words, read_bearing
from agentrl.judges.rule import RuleJudge
from agentrl.judges.structured import StructuredJudge
from benchmarks.judges.fuzz import random_texts
from benchmarks.judges.injections import INJECTIONS


@dataclass(frozen=True)
class Walk(State):
    direction: Any = "left"
    name: Any = "GarbageCan"

    @classmethod
    def claims(cls) -> Claims:
        return HOME

    def structured(self) -> dict[str, Any]:
        seen = [{"type": "Fridge", "direction_to_player": "right", "distance_to_player": 1.5}]
        target = {"target_obj_type": self.name, "target_direction_to_player": self.direction}
        return {**target, "target_distance_to_player": 2.59, "visible_objects": seen}


def right_for(text: str, purpose: Purpose = "grounding", name: str = "GarbageCan") -> list[str]:
    requests = [JudgeRequest("", "", purpose, text, Walk(direction, name)) for direction in DIRECTIONS]
    verdicts = RuleJudge().score_sync(requests)
    return [where for where, found in zip(DIRECTIONS, verdicts, strict=True) if getattr(found, "score", None) == 1.0]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The garbage can is ahead.", ["ahead"]),
        ("The trash can is in front of me.", ["ahead"]),
        ("The bin is behind me.", ["behind"]),
        ("The target is ahead and slightly to the left.", ["ahead"]),
        ("The target is to our front-left.", ["ahead", "left"]),
        ("It is slightly to the right.", ["ahead", "right"]),
        ("The fridge is to the left, the garbage can ahead.", ["ahead"]),
        ("The garbage can is not on the left but on the right.", ["right"]),
        ("The garbage can is 2.6 m away, to the left.", ["left"]),
        ("The garbage can is next to the fridge, and the fridge is on my right.", ["right"]),
        ('{"target_direction_to_player": "left"}', ["left"]),
        ("The garbage can is on the left or on the right.", []),
        ("The garbage can is on the left. The garbage can is on the right.", []),
        ("The garbage can is not on the left.", []),
        ("The garbage can might be on the left.", []),
        ("The fridge is on the left.", []),
        ("I should move left to reach the garbage can.", []),
        ("The garbage can is near.", []),
    ],
)
def test_a_description_counts_if_it_includes_the_direction(text: str, right: list[str]) -> None:
    assert right_for(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The garbage can will be ahead.", ["ahead"]),
        ("I will move left.", ["left"]),
        ("Will move right.", ["right"]),
        ("I will move forward.", ["ahead"]),
        ("It will be slightly left.", ["ahead"]),
        ("It will be ahead and slightly to the right.", ["ahead"]),
        ("I will move forward and the garbage can will be on my left.", ["left"]),
        ("It will be ahead and to the left.", []),
        ("I will be closer to the garbage can.", []),
        ("I will be in front of the garbage can.", []),
        ("I will move towards the fridge.", []),
        ("I will turn left.", []),
        ("I will move left or right.", []),
        ("I will move left, then right.", []),
        ("The fridge will be on the left.", []),
    ],
)
def test_a_prediction_must_be_exactly_the_direction(text: str, right: list[str]) -> None:
    assert right_for(text, "worldmodeling") == right


def test_distances_are_reported_and_not_scored() -> None:
    request = JudgeRequest("", "", "grounding", "The bin is 9.5 m to the left.", Walk())
    (verdict,) = RuleJudge().score_sync([request])
    assert isinstance(verdict, Verdict) and verdict.score == 1.0
    assert verdict.evidence["claimed_distances"] == [9.5] and verdict.evidence["true_distance"] == 2.59
    assert verdict.evidence["claimed"] == ["left"] and verdict.evidence["true"] == "left"


@pytest.mark.parametrize(("name", "words"), [("GarbageCan", ["garbage", "can"]), ("TVStand", ["tv", "stand"])])
def test_names_of_types_are_read_as_plain_words(name: str, words: list[str]) -> None:
    assert plain_words(name) == words
    assert right_for(f"The {' '.join(words)} is ahead.", name=name) == ["ahead"]


def test_a_type_that_nobody_declared_is_still_a_target() -> None:
    assert right_for("The lava lamp is on the left.", name="LavaLamp") == ["left"]
    assert right_for("The target is on the left.", name="???") == ["left"]


@pytest.mark.parametrize("state", [Walk(direction="north"), Walk(direction=None), Walk(name=3)])
def test_a_state_without_a_direction_is_a_fault(state: Walk) -> None:
    (found,) = RuleJudge().score_sync([JudgeRequest("", "", "grounding", "The bin is ahead.", state)])
    assert isinstance(found, JudgeFault)


@given(st.text(max_size=400), st.booleans())
def test_any_text_is_read(text: str, prediction: bool) -> None:
    assert HOME.bearing is not None
    said, _ = read_bearing(text, HOME.bearing, "GarbageCan", prediction)
    assert sum(is_right(said, each, prediction) for each in DIRECTIONS) <= 2


def test_random_texts_never_raise() -> None:
    requests = [
        JudgeRequest("", "", ("grounding", "worldmodeling")[i % 2], text, Walk())
        for i, text in enumerate(random_texts(1500))
    ]
    assert all(isinstance(found, Verdict) for found in RuleJudge().score_sync(requests))


@pytest.mark.parametrize("wrong", ["The garbage can is on the right.", ""])
def test_orders_to_the_judge_earn_nothing(wrong: str) -> None:
    texts = [f"{attack} {wrong}" for attack in INJECTIONS] + [f"{wrong} {attack}" for attack in INJECTIONS]
    verdicts = RuleJudge().score_sync([JudgeRequest("", "", "grounding", text, Walk()) for text in texts])
    assert all(isinstance(found, Verdict) and found.score == 0.0 for found in verdicts)


FRIDGE = '"visible_objects": [{"type": "fridge", "direction_to_player": "right"}]'


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (f'{{"target_direction_to_player": "left", {FRIDGE}}}', 1),
        ('{"target_direction_to_player": "left", "visible_objects": []}', 2 / 3),
        (f'{{"target_direction_to_player": "ahead", {FRIDGE}}}', 1 / 3),
        ('{"target_direction_to_player": ["left", "right"]}', 0),
        ('{"target_obj_type": "GarbageCan", "target_distance_to_player": 2.59}', 0),
    ],
)
def test_the_structured_form_is_scored_by_direction_and_what_is_in_sight(text: str, score: float) -> None:
    (verdict,) = StructuredJudge().score_sync([JudgeRequest("", "", "grounding", text, Walk())])
    assert isinstance(verdict, Verdict) and verdict.score == pytest.approx(score)

"""The rule judge as a whole: gold answers score full marks, nothing else does, outages are faults."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest
from grid_vocabularies import LAKE_ID, ROOM_ID, ROOMS

from agentrl.core.errors import JudgeFault
from agentrl.core.judging import Judge, JudgeRequest, Verdict
from agentrl.core.specs import resolve
from agentrl.judges.relations import truth
from agentrl.judges.rule import RuleJudge

ROOM = {"player_position": [2, 2], "box_positions": [[1, 2]], "target_positions": [[2, 4]]}
LAKE = {"player_position": [2, 2], "target_position": [0, 0], "hole_positions": [[2, 3]]}
TRUE_ROOM = "The box is directly above the player. The target is in the same row as the player, to the right."


def judged(text, state=ROOM, purpose="grounding", representation="natural"):
    env_id = LAKE_ID if isinstance(state, dict) and "hole_positions" in state else ROOM_ID
    (verdict,) = RuleJudge().score_sync([JudgeRequest("1", env_id, purpose, text, state, representation)])
    return verdict


def test_it_is_the_judge_called_rule():
    judge = resolve("judge", "rule")
    assert isinstance(judge, RuleJudge) and isinstance(judge, Judge)


@pytest.mark.parametrize("purpose", ("grounding", "worldmodeling"))
def test_gold_descriptions_of_thousands_of_states_score_one(rooms, lakes, purpose):
    requests = []
    for state in rooms + lakes:
        texts = {"natural": " ".join(f"{fact}." for fact in state.natural()), "symbolic": state.symbolic()}
        texts["structured"] = json.dumps(state.structured())
        requests += [JudgeRequest("", "", purpose, text, state, name) for name, text in texts.items()]
    verdicts = RuleJudge().score_sync(requests)
    assert len(verdicts) > 6000 and {verdict.score for verdict in verdicts} == {1.0}


def test_gold_of_another_state_does_not_score_one(rooms):
    wrong = [
        judged(" ".join(f"{fact}." for fact in state.natural()), other).score
        for state, other in itertools.pairwise(rooms[:300])
        if truth(ROOMS, state.structured()) != truth(ROOMS, other.structured())
    ]
    assert sum(wrong) / len(wrong) < 0.3 and max(wrong) < 1


@pytest.mark.parametrize(
    ("text", "state", "purpose"),
    (
        (
            "The box is below the player and the target is below the box",
            {"player_position": [1, 1], "box_positions": [[2, 1]], "target_positions": [[3, 1]]},
            "grounding",
        ),
        (
            "The player will be above the box, the target and box will be at the same place.",
            {"player_position": [2, 1], "box_positions": [[3, 1]], "target_positions": [[3, 1]]},
            "worldmodeling",
        ),
        (
            "The player is on the above the target",
            {"player_position": [1, 1], "target_position": [3, 1], "hole_positions": []},
            "grounding",
        ),
        (
            "The player will reach the target",
            {"player_position": [3, 0], "target_position": [3, 0], "hole_positions": []},
            "worldmodeling",
        ),
    ),
)
def test_phrasings_of_the_vagen_paper_score_one_when_they_are_true(text, state, purpose):
    assert judged(text, state, purpose).score == 1.0


def test_evidence_says_what_was_claimed_true_and_matched():
    verdict = judged("The box is directly above the player. The target is left of me and right of me.")
    assert verdict.method == "rule" and verdict.cost == 0 and verdict.score == 0.5
    evidence = verdict.evidence
    assert {"object": "box", "vertical": "above", "horizontal": "same"} in evidence["claimed"]
    assert len(evidence["true"]) == 2 and evidence["voided"] == ["target"]
    assert [pair["credit"] for pair in evidence["matched"]] == [1.0]
    json.dumps(evidence)


@pytest.mark.parametrize("text", ("", " \n", "Hello.", "🙂", "Up, Left", "box target player", "above above above"))
def test_texts_without_claims_score_nothing(text):
    assert judged(text).score == 0 and judged(text, LAKE).score == 0


def test_saying_only_above_means_straight_above():
    assert judged("The box is above the player.").evidence["f1"]["box"] == 1.0
    aside = {**ROOM, "box_positions": [[1, 1]]}
    assert judged("The box is above the player.", aside).evidence["f1"]["box"] == 0.0


@pytest.mark.parametrize(
    "extra",
    (
        " The box is below the player.",
        " Box 2 is left of the player. Box 3 is right of the player.",
        " Another box is below the player, another box is left of the player.",
        " The target is left of the player.",
        '\n{"player_position": [1, 1], "box_positions": [[3, 3]], "target_positions": [[0, 0]]}',
        "\n####\n#PX#\n#O_#\n####",
    ),
)
def test_a_second_guess_costs(extra):
    assert judged(TRUE_ROOM).score == 1.0
    assert judged(TRUE_ROOM + extra).score < 0.9


def test_repeating_the_truth_changes_nothing():
    assert judged(TRUE_ROOM * 5).score == 1.0


def test_instructions_quoted_back_score_nothing(instructions):
    assert judged(instructions["sokoban"]).score == judged(instructions["frozenlake"], LAKE).score == 0


@pytest.mark.parametrize("state", ({}, {"rows": []}, None, "x", {**ROOM, "player_position": "here"}))
def test_what_cannot_be_judged_is_a_fault_not_a_zero(state):
    assert isinstance(judged(TRUE_ROOM, state), JudgeFault)


def test_other_purposes_and_things_that_are_no_text_are_faults():
    assert isinstance(judged(TRUE_ROOM, ROOM, "outcome"), JudgeFault)
    assert isinstance(judged(None), JudgeFault) and isinstance(judged(b"box"), JudgeFault)


def test_one_bad_request_leaves_the_others_alone():
    requests = [
        JudgeRequest(str(i), ROOM_ID, "grounding", TRUE_ROOM, state) for i, state in enumerate((ROOM, {}, ROOM))
    ]
    first, second, third = asyncio.run(RuleJudge().score(requests))
    assert isinstance(second, JudgeFault)
    assert isinstance(first, Verdict) and first == third and first.score == 1.0
    assert RuleJudge().score_sync([]) == []


def test_evidence_is_not_shared_between_verdicts():
    first, second = judged(TRUE_ROOM), judged(TRUE_ROOM)
    first.evidence["claimed"].clear()
    first.evidence["voided"].append("box")
    assert second.evidence["claimed"] and judged(TRUE_ROOM).evidence["voided"] == []

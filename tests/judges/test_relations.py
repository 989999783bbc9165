"""The truth that judges compare with comes from states and from their JSON alike."""

from __future__ import annotations

import pytest
from grid_vocabularies import LAKE_ID, LAKES, ROOM_ID, ROOMS

from agentrl.core.errors import JudgeFault
from agentrl.core.judging import JudgeRequest
from agentrl.core.state import State
from agentrl.judges.relations import Relation, between, relations_of, truth

ROOM = {"player_position": [3, 2], "box_positions": [[2, 2]], "target_positions": [[3, 1], [4, 4]]}
LAKE = {"player_position": [0, 0], "target_position": [0, 0], "hole_positions": [[0, 2], [3, 0]]}


def test_truth_of_a_room():
    assert truth(ROOMS, ROOM) == (
        Relation("target", "same", "left"),
        Relation("target", "below", "right"),
        Relation("box", "above", "same"),
    )


def test_truth_of_a_lake_with_the_player_on_the_goal():
    assert truth(LAKES, LAKE) == (
        Relation("target", "same", "same"),
        Relation("hole", "same", "right"),
        Relation("hole", "below", "same"),
    )


def found(state, env_id=ROOM_ID):
    return relations_of(JudgeRequest("1", env_id, "grounding", "", state))


def test_a_state_and_its_json_have_the_same_truth(rooms, lakes):
    for env_id, declared, states in ((ROOM_ID, ROOMS, rooms[:50]), (LAKE_ID, LAKES, lakes[:50])):
        for state in states:
            assert found(state, "") == found(state.to_json(), env_id) == found(state.structured(), env_id)
            assert found(state, "") == (declared, truth(declared, state.structured()))


@pytest.mark.parametrize("rows", (-2, 0, 3))
@pytest.mark.parametrize("columns", (-1, 0, 2))
def test_relations_are_signs(rows, columns):
    vertical = {-2: "above", 0: "same", 3: "below"}[rows]
    horizontal = {-1: "left", 0: "same", 2: "right"}[columns]
    assert between("box", (5 + rows, 5 + columns), (5, 5)) == Relation("box", vertical, horizontal)


@pytest.mark.parametrize(
    "state",
    (
        {},
        {"rows": ["P_"]},
        {**ROOM, "player_position": None},
        {**ROOM, "player_position": [1, 2, 3]},
        {**ROOM, "player_position": [[1, 2], [3, 4]]},
        {**ROOM, "box_positions": "23"},
        {**ROOM, "box_positions": [[1.5, 2]]},
        {**ROOM, "box_positions": [[True, 2]]},
        {**LAKE, "hole_positions": {"a": 1}},
        State(),
        "a text",
        None,
        7,
    ),
)
def test_other_states_are_a_fault_and_never_a_truth(state):
    with pytest.raises(JudgeFault):
        found(state, LAKE_ID if isinstance(state, dict) and "hole_positions" in state else ROOM_ID)


@pytest.mark.parametrize(
    ("env_id", "says"),
    (
        ("", "unknown environment ''"),
        ("example/Kitchen-v0", "unknown environment 'example/Kitchen-v0': import the package that registers it"),
        ("CartPole-v1", "CartPoleEnv must name the class of its states as state_type"),
        ("agentrl/WebShop-Text-v0", "declare no relations"),
    ),
)
def test_a_dictionary_of_an_environment_without_relations_says_what_is_missing(env_id, says):
    with pytest.raises(JudgeFault, match=says):
        found(ROOM, env_id)

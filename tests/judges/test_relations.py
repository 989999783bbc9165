"""The truth that judges compare with comes from states and from their JSON alike."""

from __future__ import annotations

import pytest

from agentrl.core.errors import JudgeFault
from agentrl.core.state import State
from agentrl.judges.relations import Relation, between, game_of, truth

ROOM = {"player_position": [3, 2], "box_positions": [[2, 2]], "target_positions": [[3, 1], [4, 4]]}
LAKE = {"player_position": [0, 0], "target_position": [0, 0], "hole_positions": [[0, 2], [3, 0]]}


def test_truth_of_a_room():
    assert truth(ROOM) == [
        Relation("target", "same", "left"),
        Relation("target", "below", "right"),
        Relation("box", "above", "same"),
    ]


def test_truth_of_a_lake_with_the_player_on_the_goal():
    assert truth(LAKE) == [
        Relation("target", "same", "same"),
        Relation("hole", "same", "right"),
        Relation("hole", "below", "same"),
    ]


def test_a_state_and_its_json_have_the_same_truth(rooms, lakes):
    for state in rooms[:50] + lakes[:50]:
        assert truth(state) == truth(state.to_json()) == truth(state.structured())


def test_games_are_recognised(rooms, lakes):
    assert game_of(rooms[0]) == game_of(rooms[0].to_json()) == "sokoban"
    assert game_of(lakes[0]) == game_of(lakes[0].to_json()) == "frozenlake"


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
        truth(state)

"""Dictionaries and drawings, alone and inside a text."""

from __future__ import annotations

import json

import pytest
from grid_vocabularies import LAKE_WORDS, ROOM_WORDS

from agentrl.judges.notation import read_notation
from agentrl.judges.relations import Relation, truth
from agentrl.judges.rule import read


def test_every_state_is_read_back_from_its_own_notations(rooms, lakes):
    for words, states in ((ROOM_WORDS, rooms[-100:]), (LAKE_WORDS, lakes[-100:])):
        for state in states:
            wanted = sorted(truth(words.relations, state.structured()))
            for text in (state.symbolic(), json.dumps(state.structured()), str(state.structured())):
                assert sorted(read(text, words).claims) == wanted
                assert sorted(read(f"I see:\n{text}\nThat is all.", words).claims) == wanted


@pytest.mark.parametrize(
    "text",
    (
        "{player_position: (4, 2), box_positions: [(3, 2)], target_positions: [(3, 1)], grid_size: (6, 6)}",
        "{'player': [4, 2], 'box': [3, 2], 'target': [3, 1]}",
        '{"player": {"row": 4, "col": 2}, "boxes": [{"row": 3, "col": 2}], "goals": [{"row": 3, "col": 1}]}',
        "player_position: (4, 2), box_positions: [(3, 2)], target_positions: [(3, 1)]",
        'The state is {"player_position": [4, 2], "box_positions": [[3, 2]], "target_positions": [[3, 1]]',
    ),
)
def test_dictionaries_of_many_spellings(text):
    claims = sorted(read(text, ROOM_WORDS).claims)
    assert claims == [Relation("box", "above", "same"), Relation("target", "above", "left")]


def test_symbols_mean_what_is_declared():
    assert read("P_O\n___\n___", LAKE_WORDS).claims == [Relation("hole", "same", "right")]
    assert read("#####\n#P_O#\n#X__#\n#####", ROOM_WORDS).claims == [
        Relation("target", "same", "right"),
        Relation("box", "below", "same"),
    ]
    assert read_notation("P_G\n_OG\nX_G", ROOM_WORDS).sources == []  # G is no symbol there
    assert read_notation("#P_XO#", ROOM_WORDS).sources == []  # one row is no drawing


def test_two_players_void_everything():
    assert set(read("P_G\n__P\nO__", LAKE_WORDS).claims) == {Relation("target"), Relation("hole")}
    text = '{"player": [1, 1], "player": [2, 2], "target": [0, 0]}'
    assert read(text, LAKE_WORDS).claims == [Relation("target")]


def test_a_sentence_that_agrees_with_the_drawing_adds_nothing():
    drawing = "P_G\n___\n___"
    assert len(read(f"{drawing}\nThe goal is right of me.", LAKE_WORDS).claims) == 1
    assert len(read(f"{drawing}\nThe goal is left of me.", LAKE_WORDS).claims) == 2


@pytest.mark.parametrize("text", ("{}", "{{{{", "}}}}{", "{]", '{"player": [1, 1]}', "{'box': [1, 2]}", "__\n__", "P"))
def test_notation_without_a_player_or_objects_claims_nothing(text):
    assert read(text, ROOM_WORDS).claims == [] and read(text, LAKE_WORDS).claims == []

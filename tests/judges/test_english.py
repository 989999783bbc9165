"""What is read out of English: the corpus, and the distinctions that matter for rewards."""

from __future__ import annotations

import pytest
from grid_vocabularies import LAKE_ID, LAKE_WORDS, ROOM_ID, ROOM_WORDS

from agentrl.judges.grammar.vocabulary import Vocabulary
from agentrl.judges.relations import Relation, truth
from agentrl.judges.rule import read
from benchmarks.judges import corpus


def said(text: str, words: Vocabulary = ROOM_WORDS, prediction: bool = False, **counts: int) -> list[tuple]:
    """The claims of a text, as plain tuples."""
    return sorted(map(tuple, read(text, words, prediction, counts).claims), key=str)


def test_the_corpus_is_large_varied_and_split_by_shape():
    train, heldout = corpus.load("train"), corpus.load("heldout")
    assert len(train) + len(heldout) >= 400 and len(heldout) >= 100
    assert not {s.shape for s in train} & {s.shape for s in heldout}
    assert not {s.text for s in train} & {s.text for s in heldout}
    for env_id in (ROOM_ID, LAKE_ID):
        for purpose in ("grounding", "worldmodeling"):
            assert sum(s.env == env_id and s.purpose == purpose for s in train + heldout) >= 20


@pytest.mark.parametrize(("split", "least"), (("train", 0.99), ("heldout", 0.95)))
def test_relations_of_the_corpus_are_read_right(split, least):
    figures = corpus.measure(corpus.load(split))
    assert figures.recall >= least and figures.precision >= least, figures


@pytest.mark.parametrize("statement", corpus.load("train")[::7], ids=lambda s: s.shape)
def test_reading_does_not_depend_on_case_or_spacing(statement):
    if "\n" in statement.text or any(c.isupper() and len(w) == 1 for w in statement.text.split() for c in w):
        return  # drawings and symbols used as names
    words, prediction = corpus.vocabulary(statement.env), statement.purpose == "worldmodeling"
    usual = said(statement.text, words, prediction)
    assert said(statement.text.lower(), words, prediction) == usual
    assert said(statement.text.replace(" ", "  "), words, prediction) == usual


@pytest.mark.parametrize(
    "text",
    (
        "Half of the holes are above the player.",
        "half the holes are above the player",
        "Half (of the holes) are above me.",
        "Half or so of the holes are above the player.",
        "Most of the holes are above the player.",
        "The majority of the holes is above the player.",
        "Above the player is a large part of the holes.",
        "A third of the holes are above the player.",
        "About half of all holes are above the player.",
    ),
)
def test_a_part_of_the_things_is_one_thing_however_many_there_are(text):
    assert said(text, LAKE_WORDS, hole=6) == said(text, LAKE_WORDS, hole=2) == [("hole", "above", None)]


def test_all_things_are_as_many_as_there_are():
    for text in ("All of the holes are above the player.", "The holes are above me.", "All holes are above me."):
        assert len(said(text, LAKE_WORDS, hole=6)) == 6, text


@pytest.mark.parametrize(
    "text",
    (
        "The box is right of the player.",
        "The player is left of the box.",
        "To the right of the player there is a box.",
        "On my right is the box.",
        "The player has the box on his right.",
        "I see a crate to my right.",
        "The box is east of you.",
    ),
)
def test_the_same_fact_from_either_side(text):
    assert said(text) == [("box", None, "right")]


@pytest.mark.parametrize(
    "text",
    (
        "The box is not above the player.",
        "The box isn't left of the player.",
        "There is no box below the player.",
        "I need to get to the left of the box.",
        "I want to push the box so that it is above the target.",
        "If I move up, the box is left of the player.",
        "The box might be above the player.",
        "Maybe the box is above the player.",
        "Is the box above the player?",
        "The box was above the player.",
        "The box is at the top of the grid.",
        "The player is on the left side of the room.",
        "The wall is above the player.",
    ),
)
def test_what_is_denied_wished_supposed_asked_or_absolute_is_no_claim(text):
    assert said(text) == []


def test_the_future_is_a_claim_of_predictions_only():
    text = "The box will be above the player."
    assert said(text) == [] and said(text, prediction=True) == [("box", "above", None)]


def test_what_is_so_before_the_move_is_no_prediction():
    text = "Currently the box is above the player. After the move the box will be below the player."
    assert said(text, prediction=True) == [("box", "below", None)]
    assert said(text) == [("box", "above", None)]


@pytest.mark.parametrize(
    "text",
    (
        "The box is above and below the player.",
        "The box is left or right of the player.",
        "The box is left of the player. The player is left of the box.",
        "The player is at (1, 1). The player is at (3, 3). The box is at (2, 2).",
    ),
)
def test_contradictions_void_the_claim(text):
    reading = read(text, ROOM_WORDS)
    assert reading.claims == [Relation("box")] and reading.voided == ["box"]


def test_relations_between_things_are_chained_only_when_certain():
    above = "The box is above the player. The target is above the box."
    unclear = "The box is above the player. The target is below the box."
    counted = "The box is one cell above the player. The target is three cells below the box."
    assert said(above) == [("box", "above", None), ("target", "above", None)]
    assert said(unclear) == [("box", "above", None)]
    assert said(counted) == [("box", "above", None), ("target", "below", None)]


def test_facts_may_stand_on_lines_of_their_own_without_full_stops(lakes, rooms):
    for words, states in ((LAKE_WORDS, lakes[:100]), (ROOM_WORDS, rooms[:100])):
        for state in states:
            for text in ("\n".join(state.natural()), str(state.natural())):
                assert sorted(read(text, words).claims) == sorted(truth(words.relations, state.structured()))


def test_a_line_may_break_inside_a_sentence():
    text = "The box is to the left\nof the player and the target\nis above the player."
    assert said(text) == said(text.replace("\n", " ")) == [("box", None, "left"), ("target", "above", None)]


def test_repeating_a_claim_adds_nothing():
    assert said("A hole is above me. " * 5, LAKE_WORDS) == [("hole", "above", None)]


def test_several_individuals_stay_apart():
    text = "One hole is above me, another hole is above me, hole3 is above me."
    assert said(text, LAKE_WORDS) == [("hole", "above", None)] * 3


def test_all_means_as_many_as_there_are():
    assert said("All the boxes are above the player.", box=3) == [("box", "above", None)] * 3
    assert said("The holes are left of me.", LAKE_WORDS, hole=2) == [("hole", None, "left")] * 2


def test_a_lake_has_one_goal_however_often_it_is_named():
    text = "A goal is above me. Another goal is below me. A third goal is left of me."
    assert read(text, LAKE_WORDS).claims == [Relation("target")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Holes lie to the west and to the south.", [(None, "left"), ("below", None)]),
        ("Holes: left, below.", [(None, "left"), ("below", None)]),
        (
            "Holes lie to the north, to the east and below me.",
            [("above", None), (None, "right"), ("below", None)],
        ),
        ("Two holes are to the left and to the right of me.", [(None, "left"), (None, "right")]),
        ("Two holes are above and to the left of me.", [("above", "left"), ("above", "left")]),
        ("The hole is to the left and to the top of me.", [("above", "left")]),
    ],
)
def test_listed_directions_of_a_plural_are_one_thing_each(text, expected):
    assert sorted(said(text, LAKE_WORDS), key=str) == sorted([("hole", *axes) for axes in expected], key=str)

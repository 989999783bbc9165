"""The two F1 rules: golden numbers, optimal pairing, and what surplus claims cost."""

from __future__ import annotations

import itertools
import random

import pytest
from grid_vocabularies import LAKES, ROOMS

from agentrl.judges.relations import Relation, credit, match_half, score_relations

BOX, TARGET, HOLE = (lambda v, h, name=name: Relation(name, v, h) for name in ("box", "target", "hole"))


def test_golden_numbers():
    lake = [TARGET("above", "left"), HOLE("same", "right"), HOLE("below", "left")]
    assert score_relations(LAKES, [TARGET("above", "right"), HOLE("below", "left")], lake)[0] == pytest.approx(0.55)
    room = [TARGET("above", "left"), BOX("same", "right")]
    assert score_relations(ROOMS, [TARGET("above", "left"), BOX("above", "right")], room)[0] == 0.5


def test_truth_scores_one_and_its_order_does_not_matter():
    room = [TARGET("above", "left"), BOX("same", "right"), BOX("below", "same")]
    for order in itertools.permutations(room):
        assert score_relations(ROOMS, order, room)[0] == 1.0


def test_half_a_relation_is_worth_nothing_unless_there_is_half_credit():
    assert score_relations(ROOMS, [BOX("above", None)], [BOX("above", "same")])[1]["f1"]["box"] == 0
    assert score_relations(LAKES, [TARGET("above", None)], [TARGET("above", "same")])[0] == 0.5


def test_a_truth_is_matched_once():
    said = [HOLE("above", "left")] * 3
    assert score_relations(LAKES, said, [HOLE("above", "left")])[0] == pytest.approx(0.5)


@pytest.mark.parametrize("declared", (ROOMS, LAKES), ids=("both axes", "half credit"))
def test_nothing_there_and_nothing_said_is_right(declared):
    assert score_relations(declared, [], [])[0] == 1.0


@pytest.mark.parametrize("declared", (ROOMS, LAKES), ids=("both axes", "half credit"))
def test_saying_nothing_about_something_is_worth_nothing(declared):
    other = BOX("above", "same") if declared is ROOMS else HOLE("above", "same")
    assert score_relations(declared, [], [TARGET("above", "left"), other])[0] == 0.0


def test_weights_count_the_kinds_that_are_there_or_claimed():
    assert score_relations(LAKES, [TARGET("above", "left")], [TARGET("above", "left")])[0] == 1.0
    invented = [TARGET("above", "left"), HOLE("below", "left")]
    assert score_relations(LAKES, invented, [TARGET("above", "left")])[0] == pytest.approx(0.7)


def test_other_kinds_of_objects_are_ignored():
    said = [TARGET("above", "left"), Relation("wall", "above", "left"), BOX("above", "left")]
    assert score_relations(LAKES, said, [TARGET("above", "left")])[0] == 1.0


def test_pairing_is_optimal_on_random_cases():
    rng = random.Random(1)
    verticals, horizontals = ("above", "below", "same", None), ("left", "right", "same", None)
    for _ in range(400):
        said = [HOLE(rng.choice(verticals), rng.choice(horizontals)) for _ in range(rng.randrange(6))]
        true = [HOLE(rng.choice(verticals[:3]), rng.choice(horizontals[:3])) for _ in range(rng.randrange(6))]
        pairs = match_half(said, true)
        assert sum(worth for _, _, worth in pairs) == best_by_trying_all(said, true)
        assert all(credit(claim, truth) == worth for claim, truth, worth in pairs)


def best_by_trying_all(said, true):
    few, many = sorted((said, true), key=len)
    worth = credit if few is said else lambda truth, claim: credit(claim, truth)
    return max(sum(map(worth, few, chosen)) for chosen in itertools.permutations(many, len(few)))


def test_many_holes_are_paired_quickly():
    rng = random.Random(2)
    draw = lambda: HOLE(rng.choice(("above", "below", "same")), rng.choice(("left", "right", "same")))  # noqa: E731
    said, true = [draw() for _ in range(400)], [draw() for _ in range(400)]
    assert 300 < sum(worth for _, _, worth in match_half(said, true)) <= 400


def test_dilution_makes_listing_everything_worth_less_than_one_guess():
    everything = [BOX(v, h) for v in ("above", "same", "below") for h in ("left", "same", "right")]
    true = [BOX("above", "left")]
    assert score_relations(ROOMS, everything, true)[1]["f1"]["box"] == pytest.approx(0.2)
    assert score_relations(ROOMS, everything, true, dilute=True)[1]["f1"]["box"] < 1 / 9


def test_dilution_leaves_honest_counts_alone():
    true = [BOX("above", "left"), BOX("below", "left")]
    for said in ([], true[:1], true):
        assert score_relations(ROOMS, said, true, dilute=True) == score_relations(ROOMS, said, true)

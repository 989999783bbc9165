"""The more a drawing is spoilt, the lower every scorer puts it; blank is 0 and equal is 1 where that is promised."""

from __future__ import annotations

import numpy as np
import pytest
from similarity_pictures import PICTURES, SPOILING, blank, icon

from agentrl.core.specs import resolve

AMOUNTS = (0.0, 0.25, 0.5, 1.0)
FROM_BLANK = ("edges", "colours", "classical", "stlpips")
# What a measure cannot see, it does not punish: edges know no colours, colours know no places.
BLIND = {("edges", "recolour"), ("colours", "shift")}


@pytest.fixture(scope="module")
def scorers() -> dict:
    specs = {name: {"kind": name} for name in (*FROM_BLANK, "msssim")}
    specs["stlpips"] |= {"threads": 1}
    return {name: resolve("scorer", spec) for name, spec in specs.items()}


@pytest.mark.parametrize("spoiling", SPOILING)
@pytest.mark.parametrize("name", [*FROM_BLANK, "msssim"])
def test_more_damage_scores_less_on_average_and_at_the_ends_always(scorers, name, spoiling):
    targets = list(PICTURES.values())[: 3 if name == "stlpips" else None]  # a network takes its time
    pairs = [(target, SPOILING[spoiling](target, amount)) for target in targets for amount in AMOUNTS]
    scores = np.array(scorers[name].score_pairs(pairs)).reshape(len(targets), len(AMOUNTS))
    assert scores[:, 0] == pytest.approx(1.0)
    if (name, spoiling) in BLIND:
        assert scores.min() > 0.85
        return
    means = scores.mean(axis=0)
    assert (np.diff(means) <= 0).all(), means
    assert (scores[:, -1] < scores[:, 0] - 0.1).all(), scores


@pytest.mark.parametrize("name", FROM_BLANK)
def test_a_blank_drawing_scores_nothing_and_an_equal_one_everything(scorers, name):
    pairs = [(target, drawing) for target in PICTURES.values() for drawing in (blank(), target.copy())]
    assert scorers[name].score_pairs(pairs) == pytest.approx([0.0, 1.0] * len(PICTURES), abs=1e-6)


@pytest.mark.parametrize("name", FROM_BLANK)
def test_more_parts_of_the_target_score_higher(scorers, name):
    scores = scorers[name].score_pairs([(icon(96), icon(96, parts=parts)) for parts in range(4)])
    assert scores == sorted(scores) and scores[0] == 0 < scores[1] < scores[2] < scores[3] == 1


@pytest.mark.parametrize("name", FROM_BLANK)
def test_a_blank_target_divides_by_nothing(scorers, name):
    equal, other = scorers[name].score_pairs([(blank(), blank()), (blank(), icon(96))])
    assert equal == 1.0 and 0.0 <= other < 1.0


def test_a_target_without_paper_is_still_measured_from_the_blank_drawing(scorers):
    night = np.full((96, 96, 3), (10, 20, 60), np.uint8)
    for name in FROM_BLANK:
        assert scorers[name].score_pairs([(night, blank()), (night, night)]) == pytest.approx([0, 1], abs=1e-6)

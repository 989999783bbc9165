"""Policies on the same levels: McNemar's test and the paired bootstrap, by numbers worked out elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.learning.compare import Pool, compare, pools, sentence
from benchmarks.learning.paired import bootstrap_interval, mcnemar, paired, summary, verdict


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [(6, 16, 0.0524788), (0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (1, 9, 0.0214844), (10, 30, 0.0022214)],
)
def test_mcnemars_exact_test(first, second, p):
    """Twice the binomial tail: (0, 5) is 2/32, (1, 9) is 2 * 11/1024; the others are those of `scipy`'s `binomtest`."""
    assert mcnemar(first, second) == mcnemar(second, first) == pytest.approx(p, rel=1e-4)


def test_pairs_are_counted_level_by_level_without_faults():
    found = paired({0: "1101-0"}, {0: "100011"}) or {}
    assert (found["seeds"], found["levels"], found["pairs"]) == (1, 6, 5)
    assert (found["only_higher"], found["only_lower"]) == (2, 1)
    assert found["difference"] == pytest.approx(1 / 5) and found["p"] == 1.0


def test_only_seeds_of_both_on_as_many_levels_are_compared():
    assert paired({}, {}) is None and paired({0: "11"}, {1: "11"}) is None and paired({0: "--"}, {0: "11"}) is None
    found = paired({0: "11", 1: "1", 2: "10"}, {0: "00", 1: "11", 2: "10"}) or {}
    assert (found["seeds"], found["pairs"], found["only_higher"]) == (2, 4, 2)


def test_the_bootstrap_of_one_seed_is_the_usual_one():
    """The mean of 400 differences: 100 of +1, 60 of -1; its standard error is 0.0311."""
    differences = np.array([[1.0] * 100 + [-1.0] * 60 + [0.0] * 240])
    low, high = bootstrap_interval(differences)
    assert (low, high) == pytest.approx((0.1 - 1.96 * 0.0311, 0.1 + 1.96 * 0.0311), abs=0.006)
    assert bootstrap_interval(differences) == (low, high)  # the same every time


def test_seeds_that_disagree_widen_the_interval():
    agreeing = np.array([[1.0] * 20 + [0.0] * 80] * 3)
    apart = np.array([[1.0] * 60 + [0.0] * 40, [0.0] * 100, [0.0] * 100])
    assert apart.mean() == agreeing.mean()
    (low, high), (wide_low, wide_high) = bootstrap_interval(agreeing), bootstrap_interval(apart)
    assert low > 0.1 and wide_low == 0.0 and wide_high - wide_low > 2 * (high - low)


@pytest.mark.parametrize(
    ("p", "interval", "word"),
    [
        (0.01, [0.1, 0.2], "holds"),
        (0.01, [-0.2, -0.1], "reversed"),
        (0.2, [0.1, 0.2], "open"),
        (0.01, [-0.1, 1], "open"),
    ],
)
def test_a_verdict_needs_both_tests(p, interval, word):
    assert verdict({"p": p, "interval": interval}) == word


def test_pairs_tell_what_two_intervals_leave_open():
    """40 levels are won by both, 40 by neither: the ten that differ all go one way."""
    high, low = "1" * 50 + "0" * 40, "1" * 40 + "0" * 50
    first, second = Pool("a", ((50, 90),), ((0, high),)), Pool("b", ((40, 90),), ((0, low),))
    found = compare(first, second)
    assert found["disjoint"] is False and found["verdict"] == "holds"
    assert compare(second, first)["verdict"] == "reversed"
    assert compare(Pool("a", ((50, 90),)), second)["paired"] is None  # results from before outcomes were kept
    said = sentence({**found, "source": "A paper"})
    assert "10 solved by the first alone and 0 by the second alone, McNemar's p 0.002" in said
    assert "90 levels and 1 seed(s)" in summary(found["paired"])


def test_outcomes_come_from_the_cells_with_their_seeds():
    end = {"wins": 1, "episodes": 2, "outcomes": "10"}
    cells = [{"label": "a", "seed": seed, "finished": True, "end": {"sampled": end}} for seed in (0, 2)]
    assert pools(cells, "sampled")["a"].outcomes == ((0, "10"), (2, "10"))

"""The table of the papers' claims: what holds, what does not, what cannot be told, and what was never run."""

from __future__ import annotations

import pytest

from benchmarks.learning.paper_claims import CLAIMS, Pair, PaperClaim, claim_row, compared, counts, overall, readings
from benchmarks.learning.provenance import CODE
from benchmarks.learning.separation_table import CANNOT
from benchmarks.learning.table import EXPERIMENTS


def cell(label: str, seed: int, wins: int, outcomes: str = "") -> dict:
    end = {mode: {"wins": wins, "episodes": 100, "outcomes": outcomes} for mode in ("sampled", "greedy")}
    return {"label": label, "seed": seed, "finished": True, "end": end}


def results(high: int, low: int, **more) -> dict:
    cells = [cell(label, seed, wins) for label, wins in (("new", high), ("old", low)) for seed in range(3)]
    return {"cells": cells, "comparisons": [], "separation": None, "code": CODE, **more}


CLAIM = PaperClaim("A paper", "New is better", (Pair("one", "new", ("old",)), Pair("two", "new", ("old",))))


def test_a_claim_holds_where_every_comparison_does():
    row = claim_row(CLAIM, {"one": results(80, 20), "two": results(90, 30)})
    assert row[2:6] == ("holds", "4 / 0 / 0", "+0.600", "3")
    assert row[6] == "[one](one.md), [two](two.md)"


@pytest.mark.parametrize(
    ("second", "verdict", "numbers"),
    [((50, 50), "cannot tell", "2 / 2 / 0"), ((20, 80), "cannot tell", "2 / 0 / 2")],
)
def test_comparisons_that_disagree_tell_nothing(second, verdict, numbers):
    row = claim_row(CLAIM, {"one": results(80, 20), "two": results(*second)})
    assert row[2:4] == (verdict, numbers)


def test_a_claim_does_not_hold_where_some_are_reversed_and_none_holds():
    assert claim_row(CLAIM, {"one": results(20, 80), "two": results(50, 50)})[2] == "does not hold"


def test_what_was_not_run_says_why():
    assert claim_row(CLAIM, {})[2:5] == ("not run", "", "its experiment has not been run")
    assert claim_row(PaperClaim("A paper", "Fast", missing="needs a GPU"), {})[2:5] == ("not run", "", "needs a GPU")
    half = claim_row(CLAIM, {"one": results(80, 20)})
    assert half[2] == "holds" and half[6].endswith("two (not run)")


def test_what_is_said_about_a_claim_rests_on_the_older_results_of_all_of_its_experiments():
    claim = PaperClaim("A paper", "New is better", CLAIM.pairs, reading="By a little.")
    both = {"one": results(80, 20, code=1), "two": results(50, 50, code=1)}
    assert readings([CLAIM, claim], both) == ["*New is better.* By a little."]
    assert readings([claim], {"one": both["one"]}) == []
    assert readings([claim], {**both, "two": results(50, 50)}) == []


def test_results_of_older_code_are_marked_and_count_only_where_there_are_no_others():
    older, present = results(20, 80, code=1), results(80, 20)
    row = claim_row(CLAIM, {"one": older, "two": present})
    assert row[2:5] == ("holds", "2 / 0 / 0", "+0.600")
    assert row[6] == "[one](one.md) (older code), [two](two.md)"
    row = claim_row(CLAIM, {"one": older, "two": older})
    assert row[2] == "does not hold" and row[6].count("(older code)") == 2


def test_conditions_that_cannot_be_told_apart_stay_open_whatever_they_ended_with():
    rows = [{"first": "old", "second": "new", "correlation": 0.995, "verdict": CANNOT, "besides": []}]
    found = compared(CLAIM.pairs[0], results(80, 20, separation={"pairs": rows}))
    assert [one["verdict"] for one in found] == ["open", "open"]


def test_counts_and_verdicts_of_comparisons():
    assert overall(["holds", "holds"]) == "holds" and overall(["open"]) == "cannot tell"
    assert overall(["open", "reversed"]) == "does not hold" and overall(["holds", "reversed"]) == "cannot tell"
    assert counts(["open", "holds", "open"]) == "1 / 2 / 0"


def test_every_claim_names_conditions_that_exist_or_says_what_is_missing():
    assert {claim.paper for claim in CLAIMS} == {"VAGEN", "StepPO", "WebRL", "RL-VLA3"}
    for claim in CLAIMS:
        assert bool(claim.pairs) is not bool(claim.missing)
        for pair in claim.pairs:
            assert {pair.higher, *pair.lower} <= set(EXPERIMENTS[pair.experiment].labels), pair

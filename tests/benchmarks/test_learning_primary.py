"""Planned comparisons: exact tests over seeds, Holm's correction, and what the plan could see."""

from __future__ import annotations

import random

import pytest

from benchmarks.learning.experiment import Cell, Claim, Experiment, Plan
from benchmarks.learning.experiment_page import primary_section
from benchmarks.learning.primary import detectable, holm, primary, sentences, sign_flip_p

LABELS = ("new", "old", "other")
PLAN = Plan((Claim("new", "old", "A paper"), Claim("new", "other", "A paper")), detects=0.046, matters=0.06)
CELLS = tuple(Cell(label, seed, ()) for seed in range(8) for label in LABELS)
EXPERIMENT = Experiment("made-up", "Which is better", CELLS, plan=PLAN)


def cells(rates: dict[str, float], seeds: int = 8, levels: int = 400) -> list[dict]:
    """Outcomes of the same levels, drawn anew for each seed."""
    found = []
    for seed in range(seeds):
        for label, rate in rates.items():
            rng = random.Random(f"{seed} {label}")
            outcomes = "".join("1" if rng.random() < rate else "0" for _ in range(levels))
            end = {"wins": outcomes.count("1"), "episodes": levels, "outcomes": outcomes}
            found.append({"label": label, "seed": seed, "finished": True, "end": {"sampled": end}})
    return found


def test_sign_flips_are_counted_exactly():
    assert sign_flip_p([0.1] * 8) == 2 / 256 and sign_flip_p([-0.1] * 8) == 2 / 256
    assert sign_flip_p([0.1, -0.1]) == 1.0
    # Of eight sign patterns, 3+2-1 = 4 is reached or passed by 4, 6 and their mirror images.
    assert sign_flip_p([3.0, 2.0, -1.0]) == 4 / 8


def test_holm_corrects_the_smallest_most_and_keeps_the_order():
    assert holm([0.01, 0.04]) == [0.02, 0.04] and holm([0.04, 0.03]) == [0.06, 0.06]
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == []


def test_the_detectable_difference_is_that_of_the_normal_approximation():
    # (z(0.9875) + z(0.8)) * 0.04 / sqrt(8)
    assert detectable(0.04, 8, 2) == pytest.approx((2.241403 + 0.841621) * 0.04 / 8**0.5, rel=1e-6)
    assert detectable(0.04, 8, 1) == pytest.approx((1.959964 + 0.841621) * 0.04 / 8**0.5, rel=1e-6)


def test_a_large_difference_holds_and_none_stays_open():
    found = primary(EXPERIMENT, cells({"new": 0.5, "old": 0.3, "other": 0.5}))
    assert [(one["higher"], one["lower"], one["verdict"]) for one in found] == [
        ("new", "old", "holds"),
        ("new", "other", "open"),
    ]
    assert found[0]["p"] == 2 / 256 and found[0]["holm"] == 4 / 256 and found[0]["seeds"] == 8
    assert found[0]["difference"] == pytest.approx(0.2, abs=0.03)
    reverse = primary(EXPERIMENT, cells({"new": 0.3, "old": 0.5, "other": 0.5}))
    assert [one["verdict"] for one in reverse] == ["reversed", "reversed"]


def test_a_difference_that_is_surely_small_is_said_to_be_so():
    found = primary(EXPERIMENT, cells({"new": 0.3, "old": 0.3, "other": 0.1}))
    power, small = sentences(PLAN, found)
    assert "a power of 0.8 for a difference of 0.046" in power and "by the spread of these seeds it was 0.0" in power
    assert small.startswith("**new is less than 0.06 above old**")
    text = primary_section(EXPERIMENT, {"primary": found})
    assert text.startswith("## Primary comparisons") and power in text and "| new above other |" in text


def test_seeds_that_only_one_side_has_are_left_out_and_no_pair_is_no_comparison():
    some = cells({"new": 0.5, "old": 0.3, "other": 0.3})
    short = [one for one in some if one["seed"] < 5 or one["label"] == "new"]
    assert [one["seeds"] for one in primary(EXPERIMENT, short)] == [5, 5]
    assert primary(EXPERIMENT, [one for one in some if one["label"] == "new"]) == []
    assert primary_section(EXPERIMENT, {"primary": []}) == ""

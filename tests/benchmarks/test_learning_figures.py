"""The figures of an experiment: made from compact results, whatever those lack."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from agentrl.rollout.statistics import wilson_interval
from benchmarks.learning.figures import curves, end_rows, figures
from tests.core.markup import HOSTILE

SAMPLED, GREEDY = "sampled, 95 % interval", "greedy, 95 % interval"


def measured(wins, episodes=100):
    return None if wins is None else {"wins": wins, "episodes": episodes, "reward_mean": None}


def cell(label, sampled, greedy=None, *, seed=0, start=30, finished=True, curve=None):
    """A cell as it is kept, with what the figures look at."""
    points = [[0, 0.0, start / 100], [8, 512.0, sampled / 100]] if curve is None and sampled else curve or []
    return {
        "label": label,
        "seed": seed,
        "finished": finished,
        "start": {"sampled": measured(start), "greedy": measured(start)},
        "end": {"sampled": measured(sampled), "greedy": measured(greedy)},
        "curve": {"sampled": points, "greedy": []},
    }


def ends(*cells):
    return figures({"experiment": "made-up", "cells": list(cells)}).get("_ends", "")


# ---------------------------------------------------------------------- while training


def test_seeds_are_a_mean_with_a_band_from_lowest_to_highest():
    cells = [cell("masked", wins, seed=seed, start=10) for seed, wins in enumerate((80, 90, 100))]
    masked, vanilla = curves([*cells, cell("vanilla", 40, start=10)])
    assert masked.band[1] == (512, 0.8, 1.0) and [y for _, y in masked.points] == pytest.approx([0.1, 0.9])
    assert vanilla.points == [(0, 0.1), (512, 0.4)] and vanilla.band[1] == (512, *wilson_interval(40, 100))
    assert masked.colour != vanilla.colour


def test_a_line_ends_where_the_first_seed_ends():
    longer = [[0, 0, 0.1], [1, 64, 0.5], [2, 128, 0.9]]
    (line,) = curves([cell("a", 90, curve=longer), cell("a", 70, seed=1, curve=[[0, 0, 0.3], [1, 64, 0.7]])])
    assert [y for _, y in line.points] == pytest.approx([0.2, 0.6])


def test_several_environments_of_one_evaluation_count_alike():
    (line,) = curves([cell("a", 90, curve=[[0, 0, 0.1], [0, 0, 0.3], [4, 64, 0.5], [4, 64, 0.9]])])
    assert line.points == [(0, 0.2), (64, 0.7)]


def test_more_labels_than_colours_are_told_apart_by_dashes_and_have_no_bands():
    many = [cell(f"label {n}", 50, seed=seed) for n in range(9) for seed in range(2)]
    found = curves(many)
    assert [one.dashed for one in found] == [False] * 8 + [True] and not any(one.band for one in found)
    assert all(one.band and not one.dashed for one in curves(many[:16]))


def test_without_sampled_measurements_there_is_no_curve():
    assert "" not in figures({"experiment": "made-up", "cells": [cell("a", None, 40), cell("b", None, 50)]})


# ---------------------------------------------------------------------- at the end


def test_rows_are_ordered_by_sampled_success_and_pool_the_seeds():
    cells = [cell("low", 40, 90), cell("high", 60, 50), cell("high", 80, 50, seed=1), cell("only greedy", None, 99)]
    rows = end_rows(cells)
    assert [row.label for row in rows] == ["high", "low", "only greedy"]
    best = rows[0].dots[SAMPLED]
    assert (best.value, best.interval, best.singles) == (0.7, wilson_interval(140, 200), (0.6, 0.8))
    assert best.start == 0.3 and rows[0].dots[GREEDY].interval == wilson_interval(100, 200)
    assert SAMPLED not in rows[2].dots


def test_a_single_seed_is_the_dot_and_no_mark_of_its_own():
    text = ends(cell("a", 40), cell("b", 60))
    assert "single seeds" not in text and '"line single' not in text and "greedy" not in text
    assert "a, sampled, 95 % interval: 40 % (30.9 % to 49.8 %)" in text


def test_starts_are_a_line_where_labels_share_them_and_ticks_where_not():
    seeds = [cell("a", 40, seed=0, start=30), cell("a", 42, seed=1, start=32)]
    same = ends(*seeds, cell("b", 60, seed=0, start=30), cell("b", 61, seed=1, start=32))
    other = ends(*seeds, cell("b", 60, seed=0, start=30))
    marks = [re.findall(r'"line start c0" d="M[\d.]+ [\d.]+(\w)', text) for text in (same, other)]
    assert marks == [["V"], ["v", "v"]]


@pytest.mark.parametrize(
    "cells",
    [[], [cell("a", 40)], [cell("a", 40), cell("a", 50, seed=1)], [cell("a", 40), cell("b", 50, finished=False)]],
)
def test_fewer_than_two_finished_labels_give_no_figure_of_ends(cells):
    assert ends(*cells) == ""


def test_labels_of_any_kind_stay_text():
    for svg in figures({"experiment": "made-up", "cells": [cell(HOSTILE, 40), cell("</svg><script>", 60)]}).values():
        found = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()]
        assert "script" not in found and "b" not in found

"""The figure of the ends: made from compact results, whatever those lack."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.statistics import wilson_interval
from benchmarks.learning.experiment_page import experiment_page
from benchmarks.learning.figures import end_rows, ends_figure, scores_figure, shows_ends
from benchmarks.learning.table import EXPERIMENTS

SAMPLED, GREEDY = "sampled, 95 % interval", "greedy, 95 % interval"


def measured(wins, episodes=100):
    return None if wins is None else {"wins": wins, "episodes": episodes, "reward_mean": None}


def cell(label, sampled, greedy=None, *, seed=0, start=30, finished=True):
    """A cell as it is kept, with what the figure and the page look at."""
    return {
        "label": label,
        "seed": seed,
        "finished": finished,
        "start": {"sampled": measured(start), "greedy": measured(start)},
        "end": {"sampled": measured(sampled), "greedy": measured(greedy)},
    }


def results(*cells):
    return {"experiment": "made-up", "cells": list(cells)}


def test_rows_are_ordered_by_sampled_success_and_pool_the_seeds():
    cells = [cell("low", 40, 90), cell("high", 60, 50), cell("high", 80, 50, seed=1), cell("only greedy", None, 99)]
    rows = end_rows(cells)
    assert [row.label for row in rows] == ["high", "low", "only greedy"]
    best = rows[0].dots[SAMPLED]
    assert (best.value, best.interval, best.singles) == (0.7, wilson_interval(140, 200), (0.6, 0.8))
    assert best.start == 0.3 and rows[0].dots[GREEDY].interval == wilson_interval(100, 200)
    assert SAMPLED not in rows[2].dots


def test_a_single_seed_is_the_dot_and_no_mark_of_its_own(tmp_path):
    (path,) = ends_figure(results(cell("a", 40), cell("b", 60)), tmp_path)
    assert path.name == "learning_made-up_ends.svg"
    text = path.read_text()
    assert "single seeds" not in text and '"line single' not in text and "greedy" not in text
    assert "a, sampled, 95 % interval: 40 % (30.9 % to 49.8 %)" in text
    ElementTree.fromstring(text)


def test_starts_are_a_line_where_labels_share_them_and_ticks_where_not(tmp_path):
    seeds = [cell("a", 40, seed=0, start=30), cell("a", 42, seed=1, start=32)]
    same = results(*seeds, cell("b", 60, seed=0, start=30), cell("b", 61, seed=1, start=32))
    other = results(*seeds, cell("b", 60, seed=0, start=30))
    marks = [re.findall(r'"line start c0" d="M[\d.]+ [\d.]+(\w)', ends_figure(r, tmp_path)[0].read_text())
             for r in (same, other)]  # fmt: skip
    assert marks == [["V"], ["v", "v"]]


@pytest.mark.parametrize(
    "cells",
    [[], [cell("a", 40)], [cell("a", 40), cell("a", 50, seed=1)], [cell("a", 40), cell("b", 50, finished=False)]],
)
def test_fewer_than_two_finished_labels_give_no_figure(tmp_path, cells):
    assert ends_figure(results(*cells), tmp_path) == [] and not shows_ends(cells)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_any_kind_stay_text(tmp_path):
    (path,) = ends_figure(results(cell("<b>&\"'", 40), cell("</svg><script>", 60)), tmp_path)
    found = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(path.read_text()).iter()]
    assert "script" not in found and "b" not in found


def test_a_figure_that_cannot_be_written_is_a_config_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write"):
        ends_figure(results(cell("a", 40), cell("b", 60)), tmp_path / "file")


def drawing(path):
    """A figure without its style, which may change while the kept figures stay right."""
    return re.sub(r"<style>.*?</style>", "", path.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_kept_figures_are_what_the_kept_results_give(name, tmp_path, request):
    folder = request.config.rootpath / "docs" / "results"
    path, kept = folder / f"learning_{name}.json", folder.glob(f"learning_{name}_ends.svg")
    found = json.loads(path.read_text()) if path.exists() else results()
    again = ends_figure(found, tmp_path)
    assert list(map(drawing, again)) == list(map(drawing, kept))
    shown = experiment_page(found, EXPERIMENTS[name]) if path.exists() else ""
    assert ("![Success at the end]" in shown) is bool(again)
    if EXPERIMENTS[name].graded:
        (scores,) = scores_figure(found, tmp_path)
        assert drawing(scores) == drawing(folder / scores.name) and f"](../{scores.name})" in shown

"""Curves of an experiment: seeds are joined, labels kept apart, intervals are what they say."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.statistics import wilson_interval
from agentrl.viewer.run_data import read_run
from benchmarks.learning.curves import begun_with, curves, write_curves
from tests.core.markup import HOSTILE
from tests.viewer.run_folders import eval_line, sft_lines, train_line, write_run


def evaluated(folder, ends, greedy=False):
    rng = random.Random(0)
    lines = [eval_line(i, s, greedy=greedy) for i, s in enumerate(ends)]
    return write_run(folder, [*lines, *(train_line(i, len(ends), rng) for i in range(1, len(ends)))])


def read_runs(folders):
    return {label: [read_run(folder) for folder in held] for label, held in folders.items()}


@pytest.fixture
def seeds(tmp_path):
    return {
        "masked": [evaluated(tmp_path / f"m{i}", (0.1, s)) for i, s in enumerate((0.8, 0.9, 1.0))],
        "vanilla": [evaluated(tmp_path / "v", (0.1, 0.4))],
    }


def test_seeds_are_a_mean_with_a_band_from_lowest_to_highest(seeds):
    masked, vanilla = curves(read_runs(seeds))
    assert masked.band[1] == (256, 0.8, 1.0)
    assert [y for _, y in masked.points] == pytest.approx([0.1, 0.9])
    assert vanilla.points == [(0, 0.1), (256, 0.4)] and vanilla.band[1] == (256, *wilson_interval(200, 500))
    assert masked.colour != vanilla.colour


def test_a_line_ends_where_the_first_seed_ends(tmp_path):
    runs = {"a": [evaluated(tmp_path / "1", (0.1, 0.5, 0.9)), evaluated(tmp_path / "2", (0.3, 0.7))]}
    (line,) = curves(read_runs(runs))
    assert [y for _, y in line.points] == pytest.approx([0.2, 0.6])


def test_the_x_axis_counts_training_episodes(tmp_path):
    rng = random.Random(0)
    lines = [eval_line(0, 0.1, greedy=False), train_line(1, 2, rng), train_line(2, 2, rng)]
    (line,) = curves(read_runs({"a": [write_run(tmp_path / "a", [*lines, eval_line(2, 0.5, greedy=False)])]}))
    assert line.points == [(0, 0.1), (512, 0.5)]


def test_greedy_evaluations_are_not_in_the_curve(tmp_path):
    (line,) = curves(read_runs({"a": [evaluated(tmp_path / "a", (0.1, 0.5), greedy=True)]}))
    assert line.points == []


def test_the_figure_is_a_whole_svg_file_in_which_labels_stay_text(tmp_path, seeds):
    path = write_curves({HOSTILE: seeds["masked"]}, tmp_path / "f.svg", "Held-out success", width=600)
    root = ElementTree.fromstring(path.read_text())
    assert root.tag.endswith("svg") and root.attrib["width"] == "600"
    assert "<script>" in "".join(root.itertext()) and not any(e.tag.endswith("script") for e in root.iter())


def test_runs_without_a_held_out_evaluation_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no run was evaluated"):
        write_curves({"sft": [write_run(tmp_path / "s", sft_lines())]}, tmp_path / "f.svg", "t")


def test_more_labels_than_colours_are_told_apart_by_dashes_and_have_no_bands(tmp_path):
    many = {f"label {n}": [evaluated(tmp_path / f"{n}-{seed}", (0.1, 0.5)) for seed in range(2)] for n in range(9)}
    found = curves(read_runs(many))
    assert [one.dashed for one in found] == [False] * 8 + [True]
    assert not any(one.band for one in found)
    eight = dict(list(many.items())[:8])
    assert all(one.band and not one.dashed for one in curves(read_runs(eight)))


def test_a_run_that_did_not_measure_its_beginning_begins_where_its_start_ended(tmp_path):
    start = write_run(
        tmp_path / "start", [*sft_lines(), eval_line(0, 0.1, greedy=False), eval_line(30, 0.3, greedy=False)]
    )
    run = read_run(write_run(tmp_path / "run", [eval_line(8, 0.7, greedy=False)]))
    first, last = begun_with(run, start).evals
    assert (first["iteration"], first["success"]) == (0, 0.3) and last["iteration"] == 8
    assert begun_with(run, None) is run
    own = read_run(write_run(tmp_path / "own", [eval_line(0, 0.2, greedy=False), eval_line(8, 0.7, greedy=False)]))
    assert begun_with(own, start) is own

"""Comparisons: seeds are joined, labels kept apart, intervals are what they say."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.statistics import wilson_interval
from agentrl.viewer.comparison import (
    METRICS,
    figure_svg,
    final_success,
    label_of,
    markdown_table,
    overlay,
    read_runs,
    write_comparison,
)
from tests.viewer.run_folders import eval_line, rl_lines, sft_lines, train_line, write_run
from tests.viewer.test_html_report import HOSTILE, Tags


def evaluated(folder, ends, greedy=False):
    lines = [eval_line(i, s, greedy=greedy) for i, s in enumerate(ends)]
    return write_run(folder, lines)


@pytest.fixture
def seeds(tmp_path):
    return {
        "masked": [evaluated(tmp_path / f"m{i}", (0.1, s)) for i, s in enumerate((0.8, 0.9, 1.0))],
        "vanilla": [evaluated(tmp_path / "v", (0.1, 0.4))],
    }


def test_seeds_are_a_mean_with_a_band_from_lowest_to_highest(seeds):
    masked, vanilla = overlay(read_runs(seeds), METRICS["success"])
    assert masked.band[1] == (1, 0.8, 1.0)
    assert [y for _, y in masked.points] == pytest.approx([0.1, 0.9]) and [x for x, _ in masked.points] == [0, 1]
    assert vanilla.points == [(0, 0.1), (1, 0.4)] and vanilla.band[1] == (1, *wilson_interval(200, 500))
    assert masked.colour != vanilla.colour


def test_a_line_ends_where_the_first_seed_ends(tmp_path):
    runs = {"a": [evaluated(tmp_path / "1", (0.1, 0.5, 0.9)), evaluated(tmp_path / "2", (0.3, 0.7))]}
    (line,) = overlay(read_runs(runs), METRICS["success"])
    assert [y for _, y in line.points] == pytest.approx([0.2, 0.6])


def test_the_x_axis_may_count_episodes(tmp_path):
    dice = random.Random(0)
    lines = [eval_line(0, 0.1, greedy=False), train_line(1, 2, dice), train_line(2, 2, dice)]
    runs = read_runs({"a": [write_run(tmp_path / "a", [*lines, eval_line(2, 0.5, greedy=False)])]})
    (line,) = overlay(runs, METRICS["success"], "episodes")
    assert line.points == [(0, 0.1), (512, 0.5)]


def test_the_final_interval_pools_the_episodes_of_all_seeds(seeds):
    final = final_success(read_runs(seeds)["masked"], greedy=False)
    assert final.seeds == [0.8, 0.9, 1.0] and final.episodes == 1500
    assert final.pooled == wilson_interval(1350, 1500)
    assert final_success(read_runs(seeds)["masked"], greedy=True) is None


def test_the_page_has_a_table_and_one_figure_a_metric(tmp_path):
    folders = [write_run(tmp_path / f"ppo-seed{i}", rl_lines(10, seed=i)) for i in range(2)]
    folders += [write_run(tmp_path / "steppo_seed0", rl_lines(10, seed=7))]
    tags = Tags(write_comparison(folders, tmp_path / "c.html", "Two methods").read_text())
    charts = [a["aria-label"] for tag, a in tags.found if tag == "svg"]
    assert charts[:4] == [
        "Held-out success, sampled",
        "Held-out success, greedy",
        "Training success",
        "Training reward",
    ]
    assert len(charts) == len(METRICS) - 1  # nobody learned by imitation here
    assert "3 runs under 2 labels" in tags.text and "lowest to highest seed" in tags.text


def test_runs_without_evaluations_can_be_compared(tmp_path):
    path = write_comparison({"sft": [write_run(tmp_path / "s", sft_lines())]}, tmp_path / "c.html", "t")
    text = Tags(path.read_text()).text
    assert "Negative log-likelihood" in text and "No run was evaluated" in text


def test_hostile_labels_stay_text(tmp_path, seeds):
    held = {HOSTILE: seeds["masked"], "a|b": seeds["vanilla"]}
    tags = Tags(write_comparison(held, tmp_path / "c.html", HOSTILE).read_text())
    assert not any(tag in ("script", "img") for tag, _ in tags.found)
    assert "| a\\|b | sampled | 1 |" in markdown_table({"a|b": seeds["vanilla"]})


def test_the_figure_is_a_whole_svg_file(tmp_path, seeds):
    path = figure_svg(seeds, tmp_path / "f.svg", title="Held-out success", width=600)
    root = ElementTree.fromstring(path.read_text())
    assert root.tag.endswith("svg") and root.attrib["width"] == "600"
    assert "masked" in "".join(root.itertext()) and not any(e.tag.endswith("script") for e in root.iter())


@pytest.mark.parametrize(
    ("folder", "label"),
    [
        ("masked-seed2", "masked"),
        ("masked_s0", "masked"),
        ("masked.seed=11", "masked"),
        ("ppo2", "ppo2"),
        ("runs/steppo/seed_3", "steppo"),
        ("runs/steppo/3", "steppo"),
        ("bilevel", "bilevel"),
    ],
)
def test_folders_of_one_label_differ_in_the_seed_alone(folder, label):
    assert label_of(folder) == label


def test_wrong_arguments_are_named(tmp_path, seeds):
    with pytest.raises(ConfigError, match="metric must be"):
        figure_svg(seeds, tmp_path / "f.svg", metric="succes")
    with pytest.raises(ConfigError, match="no run has"):
        figure_svg(seeds, tmp_path / "f.svg", metric="nll")
    with pytest.raises(ConfigError, match="x must be"):
        write_comparison(seeds, tmp_path / "c.html", "t", x="hours")
    for wrong in ([], "runs/a", {}):
        with pytest.raises(ConfigError, match="run_folders"):
            write_comparison(wrong, tmp_path / "c.html", "t")
    with pytest.raises(ConfigError, match="no run folder"):
        write_comparison([tmp_path / "none"], tmp_path / "c.html", "t")


def test_more_labels_than_colours_are_told_apart_by_dashes_and_have_no_bands(tmp_path):
    many = {f"label {n}": [evaluated(tmp_path / f"{n}-{seed}", (0.1, 0.5)) for seed in range(2)] for n in range(9)}
    found = overlay(read_runs(many), METRICS["success"])
    assert [one.dashed for one in found] == [False] * 8 + [True]
    assert not any(one.band for one in found)
    eight = dict(list(many.items())[:8])
    assert all(one.band and not one.dashed for one in overlay(read_runs(eight), METRICS["success"]))

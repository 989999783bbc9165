"""Compact results, comparisons and the page: made from run folders, in whatever state those are."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentrl.algorithms import Stage
from agentrl.core.errors import ConfigError
from agentrl.viewer.run_data import read_run
from benchmarks.learning.cell import DONE
from benchmarks.learning.claims_page import write_pages
from benchmarks.learning.compare import (
    Pool,
    ScorePool,
    compare,
    difference_interval,
    gain_row,
    pools,
    score_pools,
    sentence,
)
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.experiment_page import effort_table, success_table
from benchmarks.learning.paper_claims import overall as verdict
from benchmarks.learning.provenance import CODE
from benchmarks.learning.results import begun_with, results_of, summarise
from tests.viewer.run_folders import eval_line, rl_lines, sft_lines, train_line, write_run

START = Stage("sft", {"lr": 1e-3})
CONDITIONS = {"good": (START, Stage("ppo", {"lr": 1e-4})), "bad": (START, Stage("ppo", {"variant": "vanilla"}))}
CLAIMS = (Claim("good", "bad", "A paper"), Claim("bad", "good", "Another"))
EXPERIMENT = Experiment("made-up", "Which is better", over_seeds(CONDITIONS, range(3)), CLAIMS)


def finish(folder: Path, **code: int) -> None:
    machine = {"cpu": "A processor", "cores": 2, "python": "3.11"}
    (folder / DONE).write_text(json.dumps({"machine": machine, "code": CODE, **code}))


@pytest.fixture
def runs(tmp_path) -> Path:
    """Three seeds of both labels; "good" ends about 0.4 higher."""
    for cell in EXPERIMENT.cells:
        start, run = cell.runs()
        write_run(tmp_path / start.name, sft_lines())
        finish(tmp_path / start.name)
        lift = 0.1 if cell.label == "good" else -0.3
        finish(write_run(tmp_path / run.name, rl_lines(seed=cell.seed, lift=lift)))
    return tmp_path


def test_a_cells_figures_come_from_its_first_and_last_evaluation(runs):
    cell = results_of(runs, EXPERIMENT)["cells"][0]
    assert (cell["label"], cell["seed"], cell["finished"], cell["iterations"]) == ("good", 0, True, 40)
    start, end = cell["start"]["sampled"], cell["end"]["sampled"]
    assert (start["iteration"], end["iteration"], end["episodes"]) == (0, 40, 500)
    assert end["wins"] / 500 == end["success"] == pytest.approx(0.86, abs=0.05)
    assert cell["end"]["greedy"]["success"] != end["success"]
    assert [point[:2] for point in cell["curve"]["sampled"]] == [[n, 256.0 * n] for n in (0, 10, 20, 30, 40)]
    assert cell["episodes"] == 40 * 256
    lines = rl_lines(seed=0, lift=0.1)
    trained = sum(line["seconds"]["total"] for line in lines if line["kind"] == "train")
    assert cell["seconds"]["run"] == pytest.approx(trained + 4.0 * 10, abs=0.1)
    assert cell["seconds"]["start"] == pytest.approx(30 * 0.45, abs=0.1)
    assert [stage["options"] for stage in cell["stages"]] == [{"lr": 1e-3}, {"lr": 1e-4}]


def test_orderings_are_judged_in_both_directions_and_gains_for_every_label(runs):
    found = results_of(runs, EXPERIMENT)["comparisons"]
    verdicts = {(one["mode"], one["higher"], one["lower"]): one["verdict"] for one in found}
    for mode in ("sampled", "greedy"):
        assert verdicts[mode, "good", "bad"] == "holds" and verdicts[mode, "bad", "good"] == "reversed"
        assert verdicts[mode, "good after RL", "its imitation start"] == "holds"
    assert len(found) == 8


def test_where_rewards_are_degrees_of_success_scores_are_compared_as_well(runs, tmp_path):
    graded = replace(EXPERIMENT, graded=True)
    found = [one for one in results_of(runs, graded)["comparisons"] if one.get("measure") == "score"]
    assert len(found) == 8 and len(results_of(runs, graded)["comparisons"]) == 16
    ends = {cell["label"]: [] for cell in results_of(runs, graded)["cells"]}
    for cell in results_of(runs, graded)["cells"]:
        ends[cell["label"]].append(cell["end"]["sampled"]["reward_mean"])
    first = found[0]
    assert first["success"] == pytest.approx([sum(ends[label]) / 3 for label in ("good", "bad")])
    assert first["interval"][0] < first["difference"] < first["interval"][1]
    target = tmp_path / "graded"
    summarise(runs, [graded], target)
    assert "made-up_scores.svg" in [path.name for path in write_pages(target, target, [graded])]
    _, page = pages_of(target)
    assert "(sampled, score)" in page and "| good | greedy, score |" in page and "made-up_scores.svg" in page


def test_two_scores_are_compared_by_their_intervals():
    high, low = ScorePool("a", ((0.6, 0.03), (0.64, 0.04))), ScorePool("b", ((0.5, 0.02),))
    assert high.rate == pytest.approx(0.62) and high.rates == [0.6, 0.64]
    assert high.interval == pytest.approx((0.595, 0.645))  # 0.05 / 2 on either side
    found = compare(high, low)
    assert found["interval"] == pytest.approx([0.12 - math.hypot(0.025, 0.02), 0.12 + math.hypot(0.025, 0.02)])
    assert (found["verdict"], compare(low, high)["verdict"]) == ("holds", "reversed")
    assert compare(high, ScorePool("c", ((0.58, 0.02),)))["verdict"] == "open"


def test_a_score_without_an_interval_is_not_compared():
    measured = {"wins": 1, "episodes": 2, "reward_mean": 0.5, "reward_ci": None}
    cells = [{"label": "a", "seed": 0, "finished": True, "end": {"sampled": measured}}]
    assert score_pools(cells, "sampled") == {} and list(pools(cells, "sampled")) == ["a"]


def test_results_with_a_cell_of_older_code_are_marked(runs, tmp_path):
    assert results_of(runs, EXPERIMENT)["code"] == CODE
    finish(runs / EXPERIMENT.cells[0].runs()[-1].name, code=1)
    assert results_of(runs, EXPERIMENT)["code"] == 1
    summarise(runs, [EXPERIMENT], tmp_path / "results")
    write_pages(tmp_path / "results", tmp_path / "results", [EXPERIMENT])
    claims, page = pages_of(tmp_path / "results")
    assert "**Older code.**" in page and claims.count("](made-up.md) (older code) |") == 2


def test_comparisons_say_what_share_of_the_ratios_was_clipped(runs):
    for cell in EXPERIMENT.cells:
        path = runs / cell.runs()[-1].name / "metrics.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        share = 0.08 if cell.label == "good" else 0.002
        for line in lines:
            if line["kind"] == "train":
                line["loss"]["clip_fraction"] = share
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    results = results_of(runs, EXPERIMENT)
    first = results["comparisons"][0]
    assert first["clipped"] == pytest.approx([0.08, 0.002]) and "clipped 0.080 and 0.002 of the ratios" in sentence(
        first
    )
    assert success_table(results["cells"]).count("| 0.080 |") == 2


def test_a_run_cut_short_is_kept_but_not_compared(runs):
    bad = [cell for cell in EXPERIMENT.cells if cell.label == "bad"]
    for cell in bad:
        (runs / cell.runs()[-1].name / DONE).unlink()
    results = results_of(runs, EXPERIMENT)
    assert len(results["cells"]) == 6 and results["finished"] == 3
    assert {one["higher"] for one in results["comparisons"]} == {"good after RL"}


def test_a_run_that_did_not_measure_its_beginning_begins_where_its_start_ended(tmp_path):
    lines = [*sft_lines(), eval_line(0, 0.1, greedy=False), eval_line(30, 0.3, greedy=False)]
    start = read_run(write_run(tmp_path / "start", lines))
    run = read_run(write_run(tmp_path / "run", [eval_line(8, 0.7, greedy=False)]))
    first, last = begun_with(run, start).evals
    assert (first["iteration"], first["success"]) == (0, 0.3) and last["iteration"] == 8
    own = read_run(write_run(tmp_path / "own", [eval_line(0, 0.2, greedy=False), eval_line(8, 0.7, greedy=False)]))
    assert begun_with(own, start) is own


def with_curriculum(folder: Path, kept: int) -> None:
    """As if each iteration of the run had been a phase of 8 tasks."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        if line["kind"] == "train":
            line["phase"] = {"tasks": {"kept": kept, "played": 8}}
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(("kept", "verdicts"), [(0, set()), (2, {"holds", "reversed"})])
def test_a_run_whose_curriculum_never_had_a_new_task_is_named_and_not_compared(runs, tmp_path, kept, verdicts):
    bad = [cell for cell in EXPERIMENT.cells if cell.label == "bad"]
    for cell in bad:
        with_curriculum(runs / cell.runs()[-1].name, kept)
    results = results_of(runs, EXPERIMENT)
    assert {one["verdict"] for one in results["comparisons"] if one["source"]} == verdicts
    summarise(runs, [EXPERIMENT], tmp_path / "results")
    write_pages(tmp_path / "results", tmp_path / "pages", [EXPERIMENT])
    page = (tmp_path / "pages" / "made-up.md").read_text()
    assert ("left out of all comparisons:** bad (seed 0), bad (seed 1), bad (seed 2)." in page) is (kept == 0)
    assert f"| bad | {kept / 8:.0%} |" in page


def test_cells_that_were_never_evaluated_are_left_out(tmp_path):
    assert summarise(tmp_path, [EXPERIMENT], tmp_path / "results") == []
    run = EXPERIMENT.cells[0].runs()[-1]
    write_run(tmp_path / run.name, [{"iteration": 1, "kind": "train", "loss": {}}])
    assert results_of(tmp_path, EXPERIMENT)["cells"] == []


def test_faulty_episodes_do_not_count_as_lost_ones(tmp_path):
    run = EXPERIMENT.cells[0].runs()[-1]
    line = eval_line(0, 0.5, greedy=False, episodes=100) | {"episodes": 110, "faults": 10}
    write_run(tmp_path / run.name, [line])
    end = results_of(tmp_path, EXPERIMENT)["cells"][0]["end"]["sampled"]
    assert (end["wins"], end["episodes"]) == (50, 100)


def test_damaged_and_partial_metrics_are_survived(tmp_path):
    run = EXPERIMENT.cells[0].runs()[-1]
    torn = train_line(1, 2, random.Random(0), tokens=None, seconds=None, reward_mean=None)
    lines = [eval_line(0, 0.2, greedy=False), torn]
    folder = write_run(tmp_path / run.name, lines)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('{"iteration": 2, "kind": "ev')
    (folder / "config.json").write_text("{")
    (cell,) = results_of(tmp_path, EXPERIMENT)["cells"]
    assert cell["end"]["sampled"]["success"] == 0.2 and cell["end"]["greedy"] is None
    assert cell["versions"] == {} and cell["tokens"] == {"generated": 0, "trained": 0}


def pages_of(target: Path) -> tuple[str, str]:
    """The page of all claims and the page of the experiment."""
    return (target / "index.md").read_text(), (target / "made-up.md").read_text()


def test_the_pages_say_what_held_and_what_did_not(runs, tmp_path):
    target = tmp_path / "results"
    written = summarise(runs, [EXPERIMENT], target)
    assert [path.name for path in written] == ["learning_made-up.json"]
    written += write_pages(target, target, [EXPERIMENT])
    assert [path.name for path in written[1:]] == ["made-up.md", "made-up.svg", "made-up_ends.svg", "index.md"]
    assert all(path.read_text().startswith("<svg") for path in written if path.suffix == ".svg")
    claims, page = pages_of(target)
    assert "A paper: good above bad: holds here." in page
    assert "Another: bad above good: **did not reproduce**: the order is the other way round here." in page
    assert "6 of 6 cells finished" in page and "A processor" in page and "(made-up.svg)" in page
    assert "| label | actions | gain |" in page and "| yes | every seed of the one above" in page
    assert "![Success at the end](made-up_ends.svg)" in page
    assert (
        "| label | lr | variant |" in page and "| good | `0.0001` | - |" in page and "| bad | - | `vanilla` |" in page
    )
    rows = [line for line in claims.splitlines() if line.startswith(("| [good above bad]", "| [bad above good]"))]
    assert [("**holds**" in row, "**does\N{NO-BREAK SPACE}not\N{NO-BREAK SPACE}hold**" in row) for row in rows] == [
        (True, False),
        (False, True),
    ]
    assert all("](made-up.md) |" in row and row.endswith("| 3 |") for row in rows)
    assert "\nmade-up\n" in claims


def test_pages_are_written_again_from_the_kept_results_alone(runs, tmp_path):
    target = tmp_path / "results"
    summarise(runs, [EXPERIMENT], target)
    first, again = tmp_path / "first", tmp_path / "again"
    write_pages(target, first, [EXPERIMENT])
    shutil.rmtree(runs / EXPERIMENT.cells[0].runs()[-1].name)
    write_pages(target, again, [EXPERIMENT])
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {
        path.name: path.read_bytes() for path in again.iterdir()
    }
    write_pages(target, again, [EXPERIMENT, Experiment("later", "Something else", EXPERIMENT.cells)])
    assert "- `later`: Something else." in pages_of(again)[0]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "open"], "cannot tell"),
        (["open", "open"], "cannot tell"),
        (["open", "reversed"], "does not hold"),
        (["holds", "reversed"], "cannot tell"),
    ],
)
def test_a_claim_holds_only_where_every_comparison_does(found, said):
    assert verdict(found) == said


def with_effort(folder: Path, tokens: float) -> None:
    """Reply tokens into the evaluations of a run, as runs write them."""
    path = folder / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "eval":
            line |= {"reward_mean": 0.5, "reward_ci": [0.4, 0.6], "turns_mean": 4.0}
            line["metrics"] = {"turns_margin": 0.3, "response_tokens": tokens, "response_tokens_margin": 3.0}
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_score_turns_and_tokens_stand_on_the_page_where_they_were_counted(runs, tmp_path):
    assert write_pages(tmp_path / "a", tmp_path / "a", [EXPERIMENT]) == []  # nothing measured yet
    summarise(runs, [EXPERIMENT], tmp_path / "plain")
    write_pages(tmp_path / "plain", tmp_path / "plain", [EXPERIMENT])
    assert "reply tokens" not in pages_of(tmp_path / "plain")[1]
    for cell in EXPERIMENT.cells:
        with_effort(runs / cell.runs()[-1].name, 20.0 + cell.seed + (10 if cell.label == "bad" else 0))
    summarise(runs, [EXPERIMENT], tmp_path / "results")
    write_pages(tmp_path / "results", tmp_path / "results", [EXPERIMENT])
    _, page = pages_of(tmp_path / "results")
    # Three seeds: margins shrink by the root of three. The start is one model, however often it is measured.
    assert "| good | sampled | 0.500 | 0.442 to 0.558 | 4.00 | 3.83 to 4.17 | 21.0 | 19.3 to 22.7 |" in page
    assert "| bad | greedy | 0.500 | 0.442 to 0.558 | 4.00 | 3.83 to 4.17 | 31.0 | 29.3 to 32.7 |" in page
    assert "| imitation | sampled | 0.500 | 0.400 to 0.600 | 4.00 | 3.70 to 4.30 | 20.0 | 17.0 to 23.0 |" in page


def test_a_label_without_counts_has_no_row_of_effort(runs):
    for cell in EXPERIMENT.cells:
        if cell.label == "good":
            with_effort(runs / cell.runs()[-1].name, 20.0)
    text = effort_table(results_of(runs, EXPERIMENT)["cells"])
    assert re.findall(r"^\| (\w+) \| sampled", text, re.MULTILINE) == ["imitation", "good"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 2, "cells": []}', '{"schema": 1, "cells": 3}'])
def test_a_file_that_holds_no_results_is_a_config_error(tmp_path, content):
    (tmp_path / "learning_made-up.json").write_text(content)
    with pytest.raises(ConfigError, match="does not hold results"):
        write_pages(tmp_path, tmp_path, [EXPERIMENT])


def test_results_that_cannot_be_written_are_a_config_error(runs, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        summarise(runs, [EXPERIMENT], tmp_path / "file" / "results")


def test_the_interval_of_a_difference_is_the_published_one():
    """56 of 70 against 48 of 80: Newcombe's own example."""
    low, high = difference_interval(Pool("a", ((56, 70),)), Pool("b", ((48, 80),)))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


def test_seeds_and_intervals_are_told_apart():
    far = compare(Pool("a", ((90, 100), (80, 100))), Pool("b", ((10, 100), (20, 100))))
    assert far["verdict"] == "holds" and far["seeds"].startswith("every seed of the one above")
    mixed = compare(Pool("a", ((500, 1000), (900, 1000))), Pool("b", ((550, 1000), (560, 1000))))
    assert mixed["disjoint"] and mixed["seeds"] == "the seeds overlap"
    near = compare(Pool("a", ((50, 100),)), Pool("b", ((51, 100),)))
    assert near["verdict"] == "open" and near["seeds"] == "one seed only"
    said = sentence({**near, "source": "A paper"})
    assert "no difference beyond chance" in said and "intervals not disjoint" in said


def test_what_rl_added_is_a_line_of_a_table():
    found = compare(Pool("a after RL", ((90, 100),)), Pool("its imitation start", ((10, 100),)))
    line = gain_row({**found, "mode": "greedy"})
    assert line == ("a", "greedy", "+0.800", "+0.695 to +0.863", "yes", "one seed only")
    worse = compare(Pool("a after RL", ((10, 100),)), Pool("its imitation start", ((90, 100),)))
    assert gain_row({**worse, "mode": "sampled"})[4] == "**no, below it**"

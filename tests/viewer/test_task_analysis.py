"""Success by site, steps and complexity, types of error, phases and comparisons: the figures of the pages."""

from __future__ import annotations

import json
import math
import re

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.error_types import EpisodeFacts, to_columns
from agentrl.viewer.comparison import paired, read_conditions, sign_test, write_comparison
from agentrl.viewer.curriculum import Attempt, examples, phase_attempts
from agentrl.viewer.run_data import read_run
from agentrl.viewer.run_report import write_run_report
from agentrl.viewer.task_groups import (
    Bin,
    bins,
    error_shares,
    measured,
    success_by_group,
    success_in,
    with_steps,
)
from tests.viewer.run_folders import eval_line, phase_lines, played, rl_lines, write_replay, write_run

HOSTILE = "<script>alert(1)</script>\u202e"


def test_bins_hold_every_value_once():
    assert bins([]) == [] and bins([None]) == []
    assert bins([3, 1, 3, None]) == [Bin(1, 1), Bin(3, 3)]
    values = [*range(1, 30), *[2] * 50]
    found = bins(values)
    assert len(found) <= 5 and all(sum(value in one for one in found) == 1 for value in values)
    assert (found[0].low, found[-1].high) == (1, 29) and [one.label for one in bins([4, 5, 6])] == ["4", "5", "6"]


def test_shares_are_those_of_the_episodes():
    held = [EpisodeFacts(True, 2, "map", 1, 3), EpisodeFacts(False, 9, "map", 2, 8, "stuck"), EpisodeFacts(True, 1)]
    assert {name: (share.part, share.of) for name, share in success_by_group(held).items()} == {"map": (1, 2)}
    assert success_in(held, Bin(1, 4), lambda one: one.steps).part == 1
    errors = error_shares(held)
    assert (errors["stuck midway"].part, errors["stuck midway"].of) == (1, 3) and sum(
        e.part for e in errors.values()
    ) == 1


def test_without_an_oracle_the_shortest_solution_anyone_found_counts():
    slow, quick, never = EpisodeFacts(True, 9), EpisodeFacts(True, 4), EpisodeFacts(False, 2)
    (first, second), estimated = with_steps([[slow, never, None], [quick, never, never]])
    assert estimated and [one and one.steps for one in first] == [4, None, None]
    assert [one and one.steps for one in second] == [4, None, None]
    known = EpisodeFacts(True, 9, steps=7)
    assert with_steps([[known], [quick]]) == ([[known], [quick]], False)


def test_evaluations_of_several_environments_count_together(tmp_path):
    lines = [
        eval_line(0, 1.0, greedy=greedy, episodes=1, env_id=f"agentrl/{name}-v0", by_task=to_columns([facts]))
        for greedy in (False, True)
        for name, facts in (("A", EpisodeFacts(greedy, 1, "4x4")), ("B", EpisodeFacts(greedy, 1, "4x4")))
    ]
    how, found = measured(read_run(write_run(tmp_path, lines)))
    assert how == "greedy" and len(found) == 1
    assert {one.group for one in found[0].episodes} == {"A 4x4", "B 4x4"} and all(o.success for o in found[0].episodes)


def test_the_report_of_a_run_in_phases_says_it_all(tmp_path):
    config = {"algorithm": "webrl", "arguments": {"orm": "orm:/models/orm"}}
    folder = write_run(tmp_path / "run", phase_lines(4), config)
    write_replay(folder)
    text = write_run_report(folder).read_text()
    for said in (
        "Which held-out tasks succeed",
        "shopping_admin (35)",
        "required steps 2 to",
        "stuck midway",
        "Phases",
    ):
        assert said in text, said
    assert "more than needed, phase 1: 19" in text  # of 900: 480 kept, 41 seen before, 60 + 220 + 80 filtered out
    for said in ("too hard for the critic", "right labels", "recombined", "Order 1 of the cheapest product"):
        assert said in text, said
    assert "an outcome reward model" in text
    _, found = measured(read_run(folder))
    rate = f"{100 * sum(one.success for one in found[-1].episodes) / len(found[-1].episodes):.1f} %"
    assert rate in text


def test_a_run_without_labels_by_a_model_shows_no_agreement(tmp_path):
    text = write_run_report(write_run(tmp_path, phase_lines(2, orm=False))).read_text()
    assert "own evaluator" in text and "precision" not in text


def test_runs_from_before_have_neither_section(tmp_path):
    text = write_run_report(write_run(tmp_path, rl_lines(4))).read_text()
    assert "held-out tasks succeed" not in text and "<h2>Phases" not in text


@pytest.mark.parametrize(
    "by_task",
    [
        {"success": [True, 5, None], "turns": [1, 2], "group": [HOSTILE, 3, {}], "error": [None, "unknown"]},
        {"success": [False] * 3, "turns": [1] * 3, "group": [HOSTILE, "b", "c"], "steps": [-5, 10**30, None]},
        {"success": "yes"},
        [1, 2],
        None,
    ],
)
def test_hostile_figures_can_at_worst_look_odd(tmp_path, by_task):
    phase = {"tasks": {"proposed": math.inf, "kept": "many"}, "labels": [], "replay": None, "buffer": {"actions": -1}}
    lines = [eval_line(n, 0.5, greedy=True, by_task=by_task) for n in (0, 1)]
    lines.append({"iteration": 1, "kind": "train", "phase": phase, "success": 0.5})
    folder = write_run(tmp_path, lines)
    (folder / "replay").mkdir()
    label = {"score": 1.0, "task": {"id": "x", "instruction": HOSTILE, "kind": HOSTILE}}
    row = {"steps": [{"info": {"label": label}}], "about": {"group": HOSTILE, "steps": "many", "complexity": True}}
    (folder / "replay" / "phase_000001.jsonl").write_text(json.dumps(row) + '\n{"steps": []}\n[]\n\xff\n')
    (folder / "replay" / "phase_000002.jsonl").mkdir()
    text = write_run_report(folder).read_text()
    assert "<script>" not in text and "\u202e" not in text and "NaN" not in text


def test_labelled_trajectories_are_read_and_broken_lines_passed_over(tmp_path):
    write_replay(tmp_path)
    found = phase_attempts(tmp_path)
    assert list(found) == [0, 1, 2, 3] and all(len(held) == 12 for held in found.values())
    assert {one.kind for one in found[0]} == {""} and found[1][0].about["steps"] == 5
    assert sum(one.labelled for one in found[1]) == 6 and sum(one.success for one in found[1]) == 8


def test_examples_take_every_kind_in_turn():
    held = [Attempt("", text, kind, True, True, {}) for kind, text in zip("aaabbc", "1223 4", strict=True)]
    assert [one.instruction for one in examples(held, 4)] == ["1", "3", "4", "2"]


# ---------------------------------------------------------------------- comparisons


def test_runs_of_one_name_count_together_and_pairs_are_of_the_same_tasks(tmp_path):
    runs = [write_run(tmp_path / f"run{n}", phase_lines(2, lift=lift)) for n, lift in enumerate((0.0, 0.05, 0.6, 0.6))]
    sources = list(zip(("SFT", "SFT", "WebRL", "WebRL"), runs, strict=True))
    first, second = read_conditions(sources)
    assert len(first.runs) == 2 and len(first.episodes) == 320
    counts = paired(first, second)
    assert counts is not None and counts[2] == 320 and counts[1] > counts[0]
    text = write_comparison(sources, tmp_path / "page.html").read_text()
    for said in (
        "Comparison of SFT, WebRL",
        "shopping_admin",
        "Success by complexity",
        "Failed episodes by type",
        "below",
    ):
        assert said in text, said
    assert len(re.findall("<tr><td>WebRL", text)) == 2


def test_files_of_trajectories_are_compared_too(tmp_path):
    one = write_run(tmp_path / "a", rl_lines(2), good=played(0.9, 0, count=8), bad=played(0.1, 1, count=8))
    files = [(name, one / "trajectories" / f"{name}.jsonl") for name in ("good", "bad")]
    good, bad = read_conditions(files)
    assert sum(facts.success for facts in good.episodes) > sum(facts.success for facts in bad.episodes)
    assert "required steps" in write_comparison(files, tmp_path / "page.html").read_text()


def test_other_tasks_are_not_paired(tmp_path):
    short = [eval_line(0, 1.0, greedy=True, by_task=to_columns([EpisodeFacts(True, 1, "4x4")]))]
    sources = [("a", write_run(tmp_path / "a", phase_lines(1))), ("b", write_run(tmp_path / "b", short))]
    assert paired(*read_conditions(sources)) is None
    assert "Task by task" not in write_comparison(sources, tmp_path / "page.html").read_text()


def test_what_tells_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="eval_every"):
        read_conditions([("a", write_run(tmp_path / "a", rl_lines(2)))])
    with pytest.raises(ConfigError, match="does not exist"):
        read_conditions([("a", tmp_path / "nothing")])


def test_sign_test_equals_the_binomial_by_hand():
    assert sign_test(0, 0) == 1.0 and sign_test(3, 3) == 1.0
    assert sign_test(0, 5) == pytest.approx(2 / 32) and sign_test(1, 5) == pytest.approx(2 * 7 / 64)


def test_failed_episodes_say_how_they_failed(tmp_path):
    folder = write_run(tmp_path, rl_lines(2), iteration_000001=played(0.0, 0, count=6))
    assert "no reasonable attempt</span>" in write_run_report(folder).read_text()

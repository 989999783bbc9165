"""Success by site, steps and complexity, types of error and phases: the figures of the pages."""

from __future__ import annotations

import json
import math

import pytest

from agentrl.rollout.error_types import EpisodeFacts, to_columns
from agentrl.viewer.curriculum import Attempt, examples, phase_attempts
from agentrl.viewer.run_data import read_run
from agentrl.viewer.run_report import write_run_report
from agentrl.viewer.task_groups import (
    Bin,
    bins,
    error_names,
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
    errors = error_shares(held, error_names(held))
    assert (errors["stuck midway"].part, errors["stuck midway"].of) == (1, 3) and sum(
        e.part for e in errors.values()
    ) == 1


def test_without_an_oracle_the_shortest_solution_anyone_found_counts():
    slow, quick = (EpisodeFacts(True, turns, task="a") for turns in (9, 4))
    never = EpisodeFacts(False, 2, task="b")
    (first, second), estimated = with_steps([[slow, never, None], [never, quick, never]])
    assert estimated and [one and one.steps for one in first] == [4, None, None]
    assert [one and one.steps for one in second] == [None, 4, None]
    known = EpisodeFacts(True, 9, steps=7)
    assert with_steps([[known], [quick]]) == ([[known], [quick]], False)


def test_evaluations_of_several_environments_count_together(tmp_path):
    lines = [
        eval_line(0, 1.0, greedy=greedy, episodes=1, env_id=f"agentrl/{name}-v0", by_task=to_columns([facts]))
        for greedy in (False, True)
        for name, facts in (("A", EpisodeFacts(greedy, 1, "4x4")), ("B", EpisodeFacts(greedy, 1, "4x4")))
    ]
    setting, found = measured(read_run(write_run(tmp_path, lines)))
    assert setting and setting.mode == "greedy" and len(found) == 1
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
    odd = {
        "split": [HOSTILE],
        "env_kwargs": [HOSTILE],
        "temperature": 10**400,
        "from": {"run": HOSTILE, "iteration": 1},
    }
    lines = [eval_line(n, 0.5, greedy=n == 0, by_task=by_task, **odd) for n in (0, 1)]
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


def test_an_environment_names_its_ends():
    held = [EpisodeFacts(False, 2, error="wrong_end", ending="fell into a hole")] * 3 + [EpisodeFacts(True, 1)]
    held += [
        EpisodeFacts(False, 2, error="wrong_end"),
        EpisodeFacts(False, 2, error="stuck", ending="fell into a hole"),
    ]
    names = error_names(held)
    assert names[2:5] == ["failed to recover", "fell into a hole", "stopped at the wrong place"]
    shares = {name: share.part for name, share in error_shares(held, names).items()}
    assert shares == dict.fromkeys(names, 0) | {names[3]: 3, names[4]: 1, "stuck midway": 1}
    many = [EpisodeFacts(False, 2, error="wrong_end", ending=f"end {number}") for number in range(50)]
    assert (
        len(error_names(many)) == 9 and error_shares(many, error_names(many))["stopped at the wrong place"].part == 46
    )


def test_a_page_says_fell_into_a_hole(tmp_path):
    drowned = [one for one in played(0.0, 0, count=20) if one.terminated and not one.success]
    facts = [EpisodeFacts.of(one) for one in drowned]
    assert drowned and {one.ending for one in facts} == {"fell into a hole"}
    held = [EpisodeFacts(False, 2, error="wrong_end", ending=one.ending) for one in facts]
    lines = [eval_line(0, 0.0, greedy=True, episodes=len(held), by_task=to_columns(held))]
    text = write_run_report(write_run(tmp_path, lines, iteration_000001=drowned)).read_text()
    assert "<td>fell into a hole</td>" in text and 'bad">fell into a hole</span>' in text and ">lost<" not in text


def test_failed_episodes_say_how_they_failed(tmp_path):
    folder = write_run(tmp_path, rl_lines(2), iteration_000001=played(0.0, 0, count=6))
    assert "no reasonable attempt</span>" in write_run_report(folder).read_text()

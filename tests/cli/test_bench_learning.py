"""`agentrl bench learning`: what it lists, what it refuses, what it says about runs that are not there."""

from __future__ import annotations

from pathlib import Path

from agentrl.benchmarks.learning.page import write_learning_page
from agentrl.benchmarks.learning.table import EXPERIMENTS
from docs import generate


def test_without_an_experiment_it_lists_them(agentrl_cli):
    listed = agentrl_cli("bench", "learning", "--json").json["experiments"]
    assert [one["name"] for one in listed] == list(EXPERIMENTS)
    assert "masked-vanilla" in agentrl_cli("bench", "learning").out


def test_a_wrong_name_is_met_with_a_suggestion(agentrl_cli):
    done = agentrl_cli("bench", "learning", "stepo")
    assert done.status == 1 and "steppo" in done.err


def test_speed_benchmarks_have_no_experiments(agentrl_cli):
    done = agentrl_cli("bench", "grid", "steppo")
    assert done.status == 1 and "only learning has experiments" in done.err


def test_writing_up_an_empty_folder_trains_nothing_and_does_not_pass(agentrl_cli, tmp_path):
    out = tmp_path / "runs"
    done = agentrl_cli("bench", "learning", "vlm", "--summarise-only", "--out", str(out), "--json")
    assert done.status == 1 and done.json["finished"] == [] and done.json["written"] == []
    assert len(done.json["unfinished"]) == len(EXPERIMENTS["vlm"].cells) and not out.exists()


def test_the_kept_page_is_what_the_kept_results_say(tmp_path):
    """Nobody edits numbers by hand, and nobody forgets to write the page again."""
    kept = Path(generate.__file__).parent / "results"
    for path in kept.glob("learning_*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    page = write_learning_page(tmp_path, EXPERIMENTS.values())
    assert page.read_text() == (kept / "learning.md").read_text()

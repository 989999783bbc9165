"""`agentrl bench learning`: what it lists, what it refuses, what it says about runs that are not there."""

from __future__ import annotations

from pathlib import Path

from benchmarks.learning.claims_page import write_pages
from benchmarks.learning.provenance import NOTES
from benchmarks.learning.table import EXPERIMENTS
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
    assert done.status == 1 and "bench grid has no option 'experiment'" in done.err


def test_writing_up_an_empty_folder_trains_nothing_and_does_not_pass(agentrl_cli, tmp_path):
    out = tmp_path / "runs"
    done = agentrl_cli("bench", "learning", "vlm", "--summarise-only", "--out", str(out), "--json")
    assert done.status == 1 and done.json["finished"] == [] and done.json["written"] == []
    assert len(done.json["unfinished"]) == len(EXPERIMENTS["vlm"].cells) and not out.exists()


def test_the_kept_pages_are_what_the_kept_results_say(tmp_path):
    """Numbers are not edited by hand, and no page is out of date."""
    kept = Path(generate.__file__).parent / "results"
    for path in kept.glob("learning_*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    written = write_pages(tmp_path, EXPERIMENTS.values())
    for path in written:
        assert path.read_text() == (kept / path.relative_to(tmp_path)).read_text(), path.name
    measured = {path.stem.removeprefix("learning_") for path in kept.glob("learning_*.json")}
    assert {path.stem for path in (kept / "learning").glob("*.md")} == measured <= set(EXPERIMENTS)


def test_every_note_belongs_to_an_experiment():
    assert set(NOTES) <= set(EXPERIMENTS)


def test_pages_can_be_written_again_without_the_runs(agentrl_cli, tmp_path):
    kept = Path(generate.__file__).parent / "results" / "learning_farming.json"
    (tmp_path / kept.name).write_bytes(kept.read_bytes())
    words = ("bench", "learning", "farming", "--summarise-only", "--out", str(tmp_path / "runs"))
    done = agentrl_cli(*words, "--results", str(tmp_path), "--json")
    assert sorted(Path(path).name for path in done.json["written"]) == [
        "farming.md",
        "learning.md",
        "learning_farming_ends.svg",
    ]

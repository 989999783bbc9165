"""`agentrl bench learning`: what it lists, what it refuses, what it says about runs that are not there."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.learning.claims_page import write_pages
from benchmarks.learning.provenance import NOTES
from benchmarks.learning.results import KEPT
from benchmarks.learning.table import EXPERIMENTS


def test_without_an_experiment_it_lists_them(agentrl_cli):
    listed = agentrl_cli("bench", "learning", "--json").json["experiments"]
    assert [one["name"] for one in listed] == list(EXPERIMENTS)
    assert "masked-vanilla" in agentrl_cli("bench", "learning").out


def test_a_wrong_name_is_met_with_a_suggestion(agentrl_cli):
    done = agentrl_cli("bench", "learning", "stepo")
    assert done.status == 2 and "steppo" in done.err


def test_speed_benchmarks_have_no_experiments(agentrl_cli):
    done = agentrl_cli("bench", "grid", "steppo")
    assert done.status == 2 and "bench grid has no option 'experiment'" in done.err


def test_writing_up_an_empty_folder_trains_nothing_and_does_not_pass(agentrl_cli, tmp_path):
    out = tmp_path / "runs"
    done = agentrl_cli("bench", "learning", "vlm", "--summarise-only", "--output", str(out), "--json")
    assert done.status == 1 and done.json["finished"] == [] and done.json["written"] == []
    assert len(done.json["unfinished"]) == len(EXPERIMENTS["vlm"].cells) and not out.exists()


def test_every_kept_result_has_a_page_and_belongs_to_an_experiment(tmp_path):
    measured = {path.stem.removeprefix("learning_") for path in KEPT.glob("learning_*.json")}
    pages = {path.name for path in write_pages(KEPT, tmp_path, EXPERIMENTS.values())}
    assert measured <= set(EXPERIMENTS) and {f"{name}.md" for name in measured} | {"index.md"} <= pages
    for name in measured:
        text = (tmp_path / f"{name}.md").read_text()
        assert all((tmp_path / figure).exists() for figure in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text))


def test_every_note_belongs_to_an_experiment():
    assert set(NOTES) <= set(EXPERIMENTS)


def test_pages_can_be_written_again_without_the_runs(agentrl_cli, tmp_path):
    (tmp_path / "learning_farming.json").write_bytes((KEPT / "learning_farming.json").read_bytes())
    words = ("bench", "learning", "farming", "--summarise-only", "--output", str(tmp_path / "runs"))
    done = agentrl_cli(*words, "--results", str(tmp_path), "--json")
    assert [Path(path).relative_to(tmp_path).as_posix() for path in done.json["written"]] == [
        "runs/pages/farming.md",
        "runs/pages/farming.svg",
        "runs/pages/farming_ends.svg",
        "runs/pages/index.md",
    ]

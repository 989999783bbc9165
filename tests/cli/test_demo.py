"""The demo: a table, a page, and where it is."""

from __future__ import annotations

import pytest

from agentrl.cli import demo


@pytest.fixture(autouse=True)
def lakes_only(monkeypatch):
    """One game is enough to see that the parts fit, and starts fast on a machine without level caches."""
    monkeypatch.setattr(demo, "ENV_IDS", ("agentrl/FrozenLake-Text-v0", "agentrl/FrozenLake-Visual-v0"))


def test_the_demo_covers_both_games_in_both_kinds():
    assert {f"agentrl/{game}-{kind}-v0" for game in demo.GAMES for kind in demo.KINDS} == {
        "agentrl/FrozenLake-Text-v0",
        "agentrl/FrozenLake-Visual-v0",
        "agentrl/Sokoban-Text-v0",
        "agentrl/Sokoban-Visual-v0",
    }


def test_the_demo_prints_a_table_and_writes_a_page_with_pictures(agentrl_cli, tmp_path):
    path = tmp_path / "new" / "report.html"
    done = agentrl_cli("demo", "--episodes", "5", "--report", str(path))
    assert done.status == 0 and f"report: {path}" in done.out
    assert done.out.count("oracle") == done.out.count("random") == 2
    html = path.read_text(encoding="utf-8")
    assert html.count("data:image/png;base64,") >= 8
    assert html.count('class="strip"') == 4 and "<svg" in html and "<table>" in html


def test_the_demo_as_json(agentrl_cli, tmp_path):
    path = tmp_path / "report.html"
    result = agentrl_cli("demo", "--episodes", "5", "--report", str(path), "--json").json
    assert result["report"] == str(path)
    success = {(e["id"], e["policy"]): e["success"] for e in result["evaluations"]}
    assert len(success) == 4 and all(success[key] == 1.0 for key in success if key[1] == "oracle")


def test_both_policies_are_shown_on_the_same_task():
    strips = "".join(demo.example_strips("agentrl/FrozenLake-Text-v0", 3))
    assert strips.count("seed ") == 2
    first = [part.split('"')[0] for part in strips.split("data:image/png;base64,")[1:]]
    assert first[0] in first[1:]  # the oracle starts from the picture that random play started from


def test_a_report_that_cannot_be_written_is_one_line(agentrl_cli, tmp_path):
    (tmp_path / "file").write_text("")
    done = agentrl_cli("demo", "--episodes", "1", "--report", str(tmp_path / "file" / "report.html"))
    assert done.status == 1 and "choose another place with --report" in done.err


def test_bad_numbers_are_refused(agentrl_cli):
    assert "--episodes must be" in agentrl_cli("demo", "--episodes", "0").err

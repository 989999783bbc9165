"""`agentrl report`."""

from __future__ import annotations

from pathlib import Path

from tests.viewer.run_folders import rl_lines, write_run


def test_it_writes_the_page_and_says_where(agentrl_cli, tmp_path):
    folder = write_run(tmp_path / "run", rl_lines(3))
    done = agentrl_cli("report", str(folder))
    assert done.status == 0 and done.out == f"report: {(folder / 'report.html').resolve()}\n"
    assert Path(agentrl_cli("report", str(folder), "--json").json["report"]).is_file()


def test_a_folder_that_is_no_run_is_one_line(agentrl_cli, tmp_path):
    done = agentrl_cli("report", str(tmp_path), "--json")
    assert done.status == 1 and "no metrics.jsonl" in done.json["error"] and len(done.err.splitlines()) == 1

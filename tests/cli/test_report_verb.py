"""`agentrl report`."""

from __future__ import annotations

from pathlib import Path

from tests.viewer.run_folders import phase_lines, played, rl_lines, write_run


def test_it_writes_the_page_and_says_where(agentrl_cli, tmp_path):
    folder = write_run(tmp_path / "run", rl_lines(3))
    done = agentrl_cli("report", str(folder))
    assert done.status == 0 and done.out == f"report: {(folder / 'report.html').resolve()}\n"
    assert Path(agentrl_cli("report", str(folder), "--json").json["report"]).is_file()


def test_a_folder_that_is_no_run_is_one_line(agentrl_cli, tmp_path):
    done = agentrl_cli("report", str(tmp_path), "--json")
    assert done.status == 2 and "no metrics.jsonl" in done.json["error"] and len(done.err.splitlines()) == 1


def test_it_leafs_through_the_episodes_of_a_file(agentrl_cli, tmp_path):
    folder = write_run(tmp_path / "run", rl_lines(3), train_000001=played(0.5, 0, count=3))
    path = str(folder / "trajectories" / "train_000001.jsonl")
    done = agentrl_cli("report", path, "--per-page", "2", "--json").json
    assert (done["episodes"], done["pages"], done["more"]) == (3, 2, False) and Path(done["report"]).is_file()
    shown = agentrl_cli("report", path, "--output", str(tmp_path / "pages"), "--episodes", "1")
    assert shown.status == 0 and "the file holds more" in shown.out and (tmp_path / "pages" / "page_1.html").is_file()
    assert Path(agentrl_cli("report", str(folder), "--json").json["report"]).is_file()  # the pages are not in its way
    refused = agentrl_cli("report", str(folder), "--first", "2")
    assert refused.status == 2 and "for a file" in refused.err
    assert "does not exist" in agentrl_cli("report", str(tmp_path / "nothing")).err


def test_several_runs_are_compared(agentrl_cli, tmp_path):
    runs = [str(write_run(tmp_path / name, phase_lines(1))) for name in ("sft", "webrl")]
    page = tmp_path / "page.html"
    done = agentrl_cli("report", *runs, "--output", str(page))
    assert done.status == 0 and "Comparison of sft, webrl" in page.read_text()
    agentrl_cli("report", f"A={runs[0]}", f"A={runs[1]}", "--output", str(page))
    assert "<h1>Comparison of A</h1>" in page.read_text()
    refused = agentrl_cli("report", *runs, "--first", "2")
    assert refused.status == 2 and "for one run or file" in refused.err
    assert agentrl_cli("report").status != 0

"""`agentrl plan`: many GPUs from given seconds, and options from a run's timeline."""

from __future__ import annotations

import json
from pathlib import Path

from agentrl.cli.main import main


def test_many_gpus_are_planned_in_all_four_ways(capsys) -> None:
    assert main(["plan", "--gpus", "8", "16", "--steps", "4", "--json"]) == 0
    plans = json.loads(capsys.readouterr().out)["plans"]
    assert [(one["gpus"], one["way"]) for one in plans[:4]] == [(8, n) for n in ("sync", "rollout", "train", "both")]
    assert plans[3]["throughput"] > plans[0]["throughput"] and plans[3]["bottleneck"] == "simulators"


def write_run(folder: Path, processes: int = 1) -> None:
    spans, marks, now = [], [], 0.0
    for update in range(4):
        for _ in range(4):
            spans += [["simulators", 0, now, now + 0.02, 6], ["generators", 0, now, now + 0.03, 4]]
            now += 0.03
        spans.append(["trainer", 0, now - 0.1, now, 8])
        marks.append([now, update + 1])
    workers = {"simulators": 1, "generators": 1, "trainer": 1}
    told = {"workers": workers, "spans": spans, "updates": marks, "processes": processes}
    (folder / "timeline.json").write_text(json.dumps(told))
    options = {"asynchronous": True, "num_envs": 8 * processes, "generators": 1, "max_staleness": 2}
    options |= {"simulator_batch": 0, "max_batch": 0}
    (folder / "config.json").write_text(json.dumps({"arguments": options}))


def test_a_run_is_planned_further(tmp_path, capsys) -> None:
    write_run(tmp_path)
    assert main(["plan", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["measured"]["generate_each"] > 0 and told["simulated"]["bottleneck"] == "generators"
    assert told["proposed"]["throughput"] >= 0.99 * told["simulated"]["throughput"]
    assert main(["plan", str(tmp_path)]) == 0
    assert "--max-batch" in capsys.readouterr().out


def test_of_several_processes_one_is_simulated_and_the_options_are_for_all(tmp_path, capsys) -> None:
    found = []
    for processes in (1, 2):
        write_run(tmp_path, processes)
        assert main(["plan", str(tmp_path), "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    one, two = found
    assert two["proposed"].pop("num_envs") == 2 * one["proposed"].pop("num_envs") and one == two


def test_what_is_no_asynchronous_run_is_refused(tmp_path, capsys) -> None:
    assert main(["plan", str(tmp_path)]) == 2
    assert "no asynchronous run" in capsys.readouterr().err
    assert main(["plan", "--placement", "hybrid", "--gpus", "1"]) == 2
    assert main(["plan", "--share", "2"]) == 2

"""Learning experiments really run: in parallel, from shared starts, in pieces, and on after a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from agentrl.algorithms import Stage
from agentrl.core.errors import ConfigError
from benchmarks.learning.cell import DONE, alone_in, final_policy
from benchmarks.learning.command import run_learning
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.runner import Runner, last_words

COMMON = {"device": "cpu", "threads": 1, "num_envs": 4, "max_new_tokens": 4, "report": False, "save_every": 1}
COMMON |= {"iterations": 2, "eval_every": 2, "eval_episodes": 4, "eval_modes": ["sampled"], "save_trajectories": 1}
START = Stage("sft", {**COMMON, "steps_per_iteration": 1, "batch_size": 4, "demonstrations": 4})
RL = {**COMMON, "kl_coef": 0.0, "critic": "shared", "episodes": 4, "minibatches": 1}
CONDITIONS = {
    "imitated": (START,),
    "masked": (START, Stage("ppo", RL)),
    "broken": (START, Stage("ppo", {**RL, "no_such_option": 1})),
}
TINY = Experiment("tiny", "Two ways", over_seeds(CONDITIONS, [0]), (Claim("masked", "imitated", "a paper"),))
MASKED = TINY.cells[1]
KNOWN = {"tiny": TINY}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Path, dict, list[str]]:
    """All three cells, two at a time; one of them cannot work."""
    folder, said = tmp_path_factory.mktemp("learning"), []
    return folder, run_learning("ti*", jobs=2, output=folder, known=KNOWN, say=said.append), said


@pytest.mark.long
def test_cells_are_trained_from_one_shared_start_and_a_broken_one_holds_nobody_up(finished):
    folder, result, said = finished
    assert result["finished"] == ["imitated/seed0", "masked/seed0"] and result["unfinished"] == ["broken/seed0"]
    assert result["pass"] is False
    (words,) = result["failed"].values()
    assert "unknown option 'no_such_option'" in words
    starts = [line for line in said if line.startswith("sft-") and line.endswith("started")]
    assert len(starts) == 1 and len([line for line in said if line.endswith("finished")]) == 2
    start, run = MASKED.runs()
    config = json.loads((folder / run.name / "config.json").read_text())
    assert config["arguments"]["model"] == f"{start.name}/checkpoints/step_2/policy"  # no path of this machine
    assert not list(folder.glob("*/checkpoints/*/training.pt"))


@pytest.mark.long
def test_compact_results_figure_and_page_are_written(finished):
    folder, result, _ = finished
    names = [Path(path).name for path in result["written"]]
    assert names == ["learning_tiny.json", "tiny.md", "tiny.svg", "tiny_ends.svg", "index.md"]
    kept = json.loads((folder / "results" / "learning_tiny.json").read_text())
    assert (kept["planned"], kept["finished"]) == (3, 2)
    cell = kept["cells"][1]
    assert cell["end"]["sampled"]["episodes"] == 4 and cell["iterations"] == 2 and cell["episodes"] == 8
    assert [point[:2] for point in cell["curve"]["sampled"]] == [[0, 0.0], [2, 8.0]]
    assert cell["end"]["greedy"] is None  # was not asked for
    assert cell["seconds"]["run"] > 0 and cell["versions"]["torch"] and cell["machine"]["cores"]
    assert [stage["algorithm"] for stage in cell["stages"]] == ["sft", "ppo"]
    page = (folder / "pages" / "tiny.md").read_text()
    assert "a paper: masked above imitated" in page and str(folder) not in page + json.dumps(kept)


@pytest.mark.long
def test_what_is_finished_is_not_run_again(finished):
    folder, _, _ = finished
    said: list[str] = []
    assert Runner(folder, [MASKED], say=said.append).run().finished == ["masked/seed0"] and said == []


def metrics(folder: Path) -> list[dict]:
    """Without what a clock says."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if not key.startswith("seconds")} for line in lines]


@pytest.mark.long
def test_a_killed_run_goes_on_and_ends_with_the_same_numbers(finished, tmp_path):
    """In another folder, as if carried to another machine after the start."""
    source, _, _ = finished
    start, run = MASKED.runs()
    shutil.copytree(source / start.name, tmp_path / start.name)
    runner = Runner(tmp_path, [MASKED], say=lambda line: None)

    def kill_after_the_first_iteration() -> None:
        while not (tmp_path / run.name / "checkpoints" / "step_1").exists():
            time.sleep(0.01)
        os.kill(runner._children[run.name].pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_after_the_first_iteration)
    killer.start()
    outcome = runner.run()
    killer.join()
    assert list(outcome.failed) == [run.name] and not (tmp_path / run.name / DONE).exists()
    assert Runner(tmp_path, [MASKED], say=lambda line: None).run().finished == ["masked/seed0"]
    assert "resuming after iteration" in (tmp_path / run.name / "log.txt").read_text()
    assert metrics(tmp_path / run.name) == metrics(source / run.name)


def test_when_the_minutes_are_over_runs_stop_cleanly_and_are_no_failures(tmp_path):
    said: list[str] = []
    outcome = Runner(tmp_path, [MASKED], minutes=0.5 / 60, say=said.append).run()
    assert outcome.unfinished == ["masked/seed0"] and outcome.failed == {}
    assert said[-1].endswith("stopped, can be resumed")


def test_two_processes_never_share_a_run_folder(tmp_path):
    with alone_in(tmp_path), pytest.raises(ConfigError, match="another process"), alone_in(tmp_path):
        pass
    with alone_in(tmp_path):  # free again
        pass


@pytest.mark.parametrize(("arguments", "name"), [({"jobs": 0}, "jobs"), ({"minutes": -1.0}, "minutes")])
def test_bad_arguments_are_named(tmp_path, arguments, name):
    with pytest.raises(ConfigError, match=name):
        Runner(tmp_path, [MASKED], **arguments)


def test_a_folder_that_cannot_be_made_is_a_config_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="out"):
        Runner(tmp_path / "file" / "runs", [MASKED]).run()


def test_a_start_that_is_not_finished_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="not finished"):
        final_policy(tmp_path)
    (tmp_path / DONE).write_text("{}")
    with pytest.raises(ConfigError, match="no checkpoint"):
        final_policy(tmp_path)


def test_last_words_survive_missing_empty_and_binary_logs(tmp_path):
    log = tmp_path / "log.txt"
    assert last_words(log) == "it left no log"
    log.write_bytes(b"")
    assert last_words(log) == "it said nothing"
    log.write_bytes(b"one\n\xff two\nthree\nfour\n")
    assert last_words(log) == "\N{REPLACEMENT CHARACTER} two | three | four"

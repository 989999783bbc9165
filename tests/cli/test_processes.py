"""`agentrl train --processes N`: started, stopped and ended as one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentrl.cli import processes
from agentrl.cli.main import main
from agentrl.cli.train_options import read_words
from agentrl.core.errors import ConfigError

REPOSITORY = Path(__file__).parents[2]
TINY = ["--max-new-tokens", "3", "--threads", "1", "--no-report", "--num-envs", "4", "--env-kwargs", '{"max_turns": 2}']


def agentrl(*words: str) -> subprocess.Popen[str]:
    return python("agentrl.cli", *words)


def python(*words: str) -> subprocess.Popen[str]:
    """A module and its arguments."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-m", *words], cwd=REPOSITORY, env=environment, **pipes)


@pytest.mark.long
def test_two_processes_train_until_a_signal_and_leave_a_run_to_go_on_with(tmp_path) -> None:
    run = tmp_path / "run"
    options = ["--episodes", "3", "--minibatches", "1", "--iterations", "500", "--kl-coef", "0", *TINY]
    process = agentrl("train", "ppo", *options, "--output", str(run), "--json", "--processes", "2")
    metrics = run / "metrics.jsonl"
    while process.poll() is None and (not metrics.exists() or '"train"' not in metrics.read_text()):
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=200)
    assert process.returncode == 143, errors
    told = json.loads(out)  # one object, of one process
    assert told["stopped"] == "SIGTERM" and 1 <= told["iterations"] < 500
    assert errors.count("resume with: agentrl train --resume") == 1
    assert (run / "checkpoints" / f"step_{told['iterations']}" / "policy" / "model.safetensors").is_file()


@pytest.mark.long
def test_torchrun_trains_as_one_process_does(tmp_path) -> None:
    options = [
        "--demonstrations",
        "8",
        "--batch-size",
        "5",
        "--steps-per-iteration",
        "2",
        "--iterations",
        "2",
        "--lr",
        "1e-3",
    ]
    command = ["agentrl.cli", "train", "sft", *options, *TINY, "--output"]
    several = ["torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1", "--nproc-per-node", "2", "-m"]
    for process in (python(*command, str(tmp_path / "one")), python(*several, *command, str(tmp_path / "two"))):
        _, errors = process.communicate(timeout=250)
        assert process.returncode == 0, errors
    ours, theirs = training_losses(tmp_path / "one"), training_losses(tmp_path / "two")
    assert len(ours) == len(theirs) == 2 and ours[1]["nll"] < ours[0]["nll"]
    for one, other in zip(ours, theirs, strict=True):
        assert other == pytest.approx(one, abs=1e-4)


def training_losses(run: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if line["kind"] == "train"]


# ---------------------------------------------------------------------- the one that starts them


def fake(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Processes that run `script` in place of a training."""
    real = subprocess.Popen

    def started(command: list[str], **options: Any) -> Any:
        return real([sys.executable, "-c", script, *command[3:]], **options)

    monkeypatch.setattr(processes.subprocess, "Popen", started)


def test_each_process_knows_its_place_and_where_to_meet(monkeypatch, tmp_path) -> None:
    script = (
        "import os, sys, json, pathlib; names = ('RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'AGENTRL_MEETING',"
        "'GLOO_SOCKET_IFNAME'); content = json.dumps([[os.environ[n] for n in names], sys.argv[1:]]);"
        "pathlib.Path(sys.argv[-1], os.environ['RANK']).write_text(content)"
    )
    fake(monkeypatch, script)
    assert processes.launch(["sft", "--output", str(tmp_path)], 3) == 0
    told = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(3)]
    assert [places[:3] for places, _ in told] == [[str(rank), str(rank), "3"] for rank in range(3)]
    assert len({places[3] for places, _ in told}) == 1 and {places[4] for places, _ in told} == {"lo"}
    assert told[0][1] == ["agentrl.cli", "train", "sft", "--output", str(tmp_path)]


@pytest.mark.parametrize(
    ("end", "said"), [("sys.exit(7)", "ended with status 7"), ("os.kill(os.getpid(), 9)", "was ended by SIGKILL")]
)
def test_one_that_fails_is_explained_and_the_others_do_not_outlive_it(end, said, monkeypatch, capfd) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.3)
    script = (
        "import os, sys, time\n"
        f"if os.environ['RANK'] == '1':\n    print('what went wrong', file=sys.stderr, flush=True); {end}\n"
        "time.sleep(600)"
    )
    fake(monkeypatch, script)
    started = time.monotonic()
    assert processes.launch(["sft"], 3) in (1, 7)
    assert time.monotonic() - started < 60
    told = capfd.readouterr().err
    assert f"process 1 {said}" in told and "[1] what went wrong" in told


def test_a_process_whose_starter_is_gone_stops_by_itself() -> None:
    script = (
        "import time; from agentrl.cli.processes import stop_when_abandoned; stop_when_abandoned();"
        "print('ready', flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "AGENTRL_MEETING": "anywhere"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], cwd=REPOSITORY, env=environment, **pipes) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        process.stdin.close()
        assert process.wait(timeout=30) == -signal.SIGTERM


@pytest.mark.parametrize("given", [["--processes"], ["--processes", "0"], ["--processes", "two"], ["--processes=-1"]])
def test_a_number_of_processes_that_is_none_is_refused(given) -> None:
    with pytest.raises(ConfigError, match="--processes"):
        read_words(["sft", *given])


def test_the_number_of_processes_is_not_handed_on() -> None:
    found = read_words(["sft", "--lr", "1", "--processes", "2", "--seed", "3"])
    assert found.processes == 2 and found.words == ["sft", "--lr", "1", "--seed", "3"]
    assert read_words(["sft", "--processes=4"]).words == ["sft"] and read_words(["sft"]).processes == 1


def test_several_processes_without_an_output_would_write_to_several_folders(monkeypatch, capsys) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert main(["train", "sft"]) == 2
    assert "need --output" in capsys.readouterr().err

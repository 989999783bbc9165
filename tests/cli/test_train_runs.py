"""`agentrl train` for real: seconds-long runs of the tiny model on one thread."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import threading
import time
from pathlib import Path

import pytest

from agentrl.recipes import load_recipe, recipe_names
from tests.longer import only

LAKE = "agentrl/FrozenLake-Text-v0"
SMALL = ("--threads", "1", "--max-new-tokens", "8", "--num-envs", "8", "--no-report")
IMITATE = ("--demonstrations", "8", "--batch-size", "4", "--steps-per-iteration", "1", "--lr", "1e-3", *SMALL)
PLAY = ("--episodes", "8", "--minibatches", "2", *SMALL)
TEXT_RECIPES = [name for name in recipe_names() if not name.endswith("vlm") and not name.startswith("smollm2")]


@pytest.fixture(autouse=True)
def one_thread():
    """Runs choose the threads of the whole process; other tests keep theirs."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def lines(folder, kind="train"):
    held = (Path(folder) / "metrics.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, held) if line["kind"] == kind]


@pytest.fixture
def begun(agentrl_cli, tmp_path):
    """A finished run of imitation, two iterations long."""
    folder = tmp_path / "run"
    done = agentrl_cli("train", "sft", "--output", str(folder), "--iterations", "2", "--save-every", "1", *IMITATE)
    assert done.status == 0
    return folder


@pytest.fixture
def signalled():
    """Send a signal to this process as soon as a file holds a line of training."""
    threads = []

    def send(number, path):
        def wait():
            while not (path.exists() and '"train"' in path.read_text()):
                time.sleep(0.02)
            os.kill(os.getpid(), number)

        threads.append(threading.Thread(target=wait, daemon=True))
        threads[-1].start()

    yield send
    for thread in threads:
        thread.join(5)


# ---------------------------------------------------------------------- a run and its end


def test_a_run_ends_with_one_object_and_progress_on_stderr(agentrl_cli, tmp_path):
    words = ("--eval-every", "9", "--eval-episodes", "4", "--eval-modes", "greedy", "--iterations", "1")
    done = agentrl_cli("train", "sft", "--output", str(tmp_path / "run"), *IMITATE, *words, "--json")
    found = done.json
    assert done.status == 0 and found["folder"] == str(tmp_path / "run")
    assert found["iterations"] == 1 and found["seconds"] > 0 and found["stopped"] is None and found["warnings"] == []
    (final,) = found["evaluations"]
    assert (final["iteration"], final["greedy"], final["episodes"], final["env_id"]) == (1, True, 4, LAKE)
    assert "[1/1]" in done.err and "held-out success" in done.err


# The others differ from these by their algorithm.
@pytest.mark.parametrize("name", only(("frozenlake-demo", "web-webrl"), TEXT_RECIPES))
def test_a_small_version_of_every_text_recipe_runs_through_all_stages(agentrl_cli, tmp_path, name):
    words = ("--iterations", "1", "--max-new-tokens", "8", "--threads", "1", "--num-envs", "4", "--eval-every", "0")
    phases = "webrl" in {stage.algorithm for stage in load_recipe(name).stages}
    words += ("--no-report", *(("--tasks-per-phase", "4", "--start-tasks", "4") if phases else ("--episodes", "8")))
    words += ("--minibatches", "1")
    words += ("--demonstrations", "4", "--batch-size", "4", "--steps-per-iteration", "1")
    done = agentrl_cli("train", "--recipe", name, "--output", str(tmp_path / "run"), *words, "--json")
    assert done.status == 0, done.err
    stages = done.json["stages"]
    assert [stage["iterations"] for stage in stages] == [1, 1]
    imitation, rl = (json.loads((Path(stage["folder"]) / "config.json").read_text()) for stage in stages)
    assert rl["arguments"]["model"] == f"{stages[0]['folder']}/checkpoints/step_1/policy"
    assert imitation["arguments"]["env"] == rl["arguments"]["env"]
    assert "success" in lines(stages[1]["folder"])[0]


def test_a_vision_language_model_learns_from_steps_that_show_one_picture_each(agentrl_cli, tmp_path):
    words = ("--iterations", "1", "--num-envs", "2", "--eval-every", "0", "--demonstrations", "2", "--batch-size", "6")
    words += ("--steps-per-iteration", "1", "--threads", "1", "--no-report", "--prompt-style", "step", "--history", "0")
    words += ("--model", "tiny-vlm", "--env", "agentrl/Sokoban-Visual-v0", "--max-new-tokens", "10")
    done = agentrl_cli("train", "sft", "--output", str(tmp_path / "run"), *words)
    assert done.status == 0, done.err
    assert len(lines(tmp_path / "run")) == 1


# ---------------------------------------------------------------------- resuming


@pytest.mark.parametrize(
    "words",
    [
        ("--resume", "RUN"),
        pytest.param(("sft", "--output", "RUN", "--resume"), marks=pytest.mark.long),
        pytest.param(("sft", "--resume", "RUN"), marks=pytest.mark.long),
    ],
)
def test_a_run_goes_on_with_its_own_options(agentrl_cli, begun, words):
    before = (begun / "metrics.jsonl").read_bytes()
    words = [str(begun) if word == "RUN" else word for word in words]
    done = agentrl_cli("train", *words, "--iterations", "3")
    assert done.status == 0 and "resuming after iteration 2" in done.err
    assert [line["iteration"] for line in lines(begun)] == [1, 2, 3]
    assert (begun / "metrics.jsonl").read_bytes().startswith(before)


def test_a_finished_run_that_is_resumed_stays_as_it_is(agentrl_cli, begun):
    before = (begun / "metrics.jsonl").read_bytes()
    assert agentrl_cli("train", "--resume", str(begun)).status == 0
    assert (begun / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_run_with_a_checkpoint_and_a_word_how_to_go_on(
    agentrl_cli, signalled, tmp_path, number, status
):
    folder = tmp_path / "a run"
    words = ("--iterations", "100000", "--save-every", "100000")
    signalled(number, folder / "metrics.jsonl")
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    done = agentrl_cli("train", "sft", "--output", str(folder), *IMITATE, *words, "--json")
    assert done.status == status and done.json["stopped"] == number.name
    assert f"resume with: agentrl train --resume '{folder}'" in done.err
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == handlers
    reached = len(lines(folder))
    assert (folder / "checkpoints" / f"step_{reached}").is_dir() and 0 < reached < 100000
    again = agentrl_cli("train", "--resume", str(folder), "--iterations", str(reached + 1))
    assert again.status == 0 and f"resuming after iteration {reached}" in again.err
    assert [line["iteration"] for line in lines(folder)] == list(range(1, reached + 2))


def test_a_recipe_that_was_stopped_goes_on_as_a_whole(agentrl_cli, signalled, tmp_path):
    recipe, folder = tmp_path / "two.toml", tmp_path / "run"
    stage = "[[stage]]\nalgorithm = 'sft'\n"
    recipe.write_text(f"{stage}name = 'a'\niterations = 100000\n{stage}name = 'b'\niterations = 1\n")
    signalled(signal.SIGTERM, folder / "a" / "metrics.jsonl")
    done = agentrl_cli("train", "--recipe", str(recipe), "--output", str(folder), *IMITATE)
    assert done.status == 143 and "resume with" in done.err and not (folder / "b").exists()
    taken = agentrl_cli("train", "--recipe", str(recipe), "--output", str(folder))
    assert taken.status == 2 and "holds a run already" in taken.err
    reached = len(lines(folder / "a"))
    again = agentrl_cli("train", "--resume", str(folder), "--a.iterations", str(reached + 1), "--json")
    assert [stage["iterations"] for stage in again.json["stages"]] == [reached + 1, 1]
    third = agentrl_cli("train", "--resume", str(folder), "--json")
    assert third.status == 0 and third.err.count("finished before") == 2


# ---------------------------------------------------------------------- what cannot work


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "nowhere/model"), "unknown model"),
        (("--model", "tiny-txt"), 'Did you mean "tiny-text"?'),
        (("--device", "cuda:99"), "cannot be used here"),
        (("--env", "agentrl/FrozenLak-Text-v0"), "FrozenLake-Text"),
        (("--env-kwargs", '{"sise": 5}'), "sise"),
        (("--strategy", "guessing"), "guessing"),
        (("--trackers", "tensorbord"), "tensorbord"),
    ],
)
def test_a_run_that_cannot_begin_is_one_line(agentrl_cli, tmp_path, words, said):
    done = agentrl_cli("train", "sft", "--output", str(tmp_path / "run"), *IMITATE, *words, "--json")
    assert done.status == 2 and said in done.json["error"] and "Traceback" not in done.err
    assert done.err.rstrip().endswith(done.json["error"])


def test_a_recipe_that_could_not_begin_may_be_tried_again(agentrl_cli, tmp_path):
    recipe, folder = tmp_path / "two.toml", tmp_path / "run"
    recipe.write_text("[[stage]]\nalgorithm = 'sft'\niterations = 1\n" * 2)
    words = ("--recipe", str(recipe), "--output", str(folder), *IMITATE)
    assert agentrl_cli("train", *words, "--device", "cuda:99").status == 2
    again = agentrl_cli("train", *words, "--json")
    assert again.status == 0 and len(again.json["stages"]) == 2


def test_a_taken_folder_is_refused_and_left_alone(agentrl_cli, begun):
    before = sorted(begun.rglob("*"))
    done = agentrl_cli("train", "ppo", "--output", str(begun), *PLAY)
    assert done.status == 2 and "holds a run already" in done.err and f"--resume {begun}" in done.err
    assert sorted(begun.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ppo",), "is a run of sft, not of ppo"),
        (("--seed", "3"), "was started with seed=0"),
        (("--lora-rank", "2"), "was started with lora_rank=0"),
        (("--model", "tiny-vlm"), "was started with model='tiny-text'"),
    ],
)
def test_a_run_cannot_go_on_as_another(agentrl_cli, begun, words, said):
    done = agentrl_cli("train", *words, "--resume", str(begun))
    assert done.status == 2 and said in done.err


def test_damaged_checkpoints_are_passed_over_and_never_silently_begun_again(agentrl_cli, begun):
    older, newest = (begun / "checkpoints" / f"step_{step}" / "training.pt" for step in (1, 2))
    newest.write_bytes(newest.read_bytes()[:-9])
    done = agentrl_cli("train", "--resume", str(begun))
    assert done.status == 0 and "resuming after iteration 1" in done.err
    for path in (older, newest):
        path.write_bytes(b"x")
    before = (begun / "metrics.jsonl").read_bytes()
    done = agentrl_cli("train", "--resume", str(begun))
    assert done.status == 2 and "damaged" in done.err
    assert (begun / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"algorithm": "sft"}', '{"algorithm": "sft", "arguments": 3}'])
@pytest.mark.parametrize("file", ["config.json", "plan.json"])
def test_a_damaged_description_of_a_run_is_one_line(agentrl_cli, tmp_path, file, content):
    (tmp_path / file).write_text(content)
    done = agentrl_cli("train", "--resume", str(tmp_path))
    assert done.status == 2 and str(tmp_path) in done.err and done.err.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_one_line(agentrl_cli, tmp_path):
    (tmp_path / "file").write_text("")
    for words in (("sft", *IMITATE), ("--recipe", "frozenlake-demo")):
        done = agentrl_cli("train", *words, "--output", str(tmp_path / "file" / "run"))
        assert done.status == 2 and "choose another output" in done.err


def test_a_disk_without_room_for_a_checkpoint_is_one_line(agentrl_cli, tmp_path):
    # A limit on the size of files stands in for a full disk: writing fails half-way in the same manner.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        done = agentrl_cli("train", "sft", "--output", str(tmp_path / "run"), "--iterations", "1", *IMITATE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert done.status == 1 and "cannot be written" in done.err and "Traceback" not in done.err
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == []


def test_metrics_that_cannot_be_written_say_how_to_go_on(agentrl_cli, tmp_path, monkeypatch):
    from agentrl.trainers.run import run

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run.Run, "log", full)
    done = agentrl_cli("train", "sft", "--output", str(tmp_path / "run"), "--iterations", "1", *IMITATE)
    assert done.status == 1 and "No space left" in done.err and "resume with: agentrl train --resume" in done.err


def test_a_loss_that_is_no_number_is_one_line_and_keeps_the_last_good_checkpoint(agentrl_cli, tmp_path, monkeypatch):
    from agentrl.trainers.algorithms import sft

    whole, calls = sft.imitate, []

    def spoiled(learner, *others):
        calls.append(1)
        if len(calls) == 2:
            next(learner.policy.parameters()).data[:] = float("nan")
        return whole(learner, *others)

    monkeypatch.setattr(sft, "imitate", spoiled)
    words = ("--iterations", "3", "--save-every", "1")
    done = agentrl_cli("train", "sft", "--output", str(tmp_path / "run"), *words, *IMITATE)
    assert done.status == 1 and "the loss is nan" in done.err
    monkeypatch.setattr(sft, "imitate", whole)
    again = agentrl_cli("train", "--resume", str(tmp_path / "run"))
    assert again.status == 0 and "resuming after iteration 1" in again.err


def test_without_torch_one_line_names_the_extra(agentrl_cli, monkeypatch):
    from agentrl import algorithms
    from agentrl.core.errors import MissingExtra

    def missing(name):
        raise MissingExtra("torch", "train")

    monkeypatch.setattr(algorithms, "import_module", missing)
    done = agentrl_cli("train", "ppo", "--env", LAKE)
    assert done.status == 1 and "pip install 'agentrl-suite[train]'" in done.err

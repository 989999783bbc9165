"""Damage to a file that a resume reads: the older checkpoint, or an error that names it; never other weights."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.cli.main import main
from agentrl.core.errors import ConfigError
from agentrl.core.lock import FolderLock
from agentrl.core.manifest import write_manifest
from agentrl.models.loading import load_model
from agentrl.trainers.algorithms import ppo
from agentrl.trainers.run.checkpoint import newest_checkpoint
from agentrl.trainers.run.folder import RunState
from tests.trainers import toys
from tests.trainers.runs import assert_same_run, lines, training_state

REPOSITORY = Path(__file__).parents[3]
OPTIONS: dict[str, Any] = {"save_every": 1, "save_total_limit": 2, "eval_every": 0}


@pytest.fixture(scope="module")
def finished(nano: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three iterations, of which the last two have their checkpoints."""
    return ppo.train(toys.ppo(nano, tmp_path_factory.mktemp("finished") / "run", iterations=3, **OPTIONS))


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """The run, to be damaged."""
    return shutil.copytree(finished, tmp_path / "run")


def resume(nano: Path, folder: Path, told: list[str] | None = None) -> Path:
    """Go on with the run until its third iteration."""
    report = (told if told is not None else []).append
    return ppo.train(toys.ppo(nano, folder, iterations=3, resume=True, **OPTIONS), report)


def flipped(path: Path, rng: random.Random) -> None:
    """One bit is another."""
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def shortened(path: Path, rng: random.Random) -> None:
    """The end is missing."""
    os.truncate(path, rng.randrange(path.stat().st_size))


def deleted(path: Path, rng: random.Random) -> None:
    """All of it is missing."""
    path.unlink()


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (flipped, shortened, deleted)


def rewrite(path: Path, **changes: Any) -> None:
    """Change members of a JSON object; those set to None go."""
    content = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def same_tensors(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """The weights, critics and optimisers of two checkpoints are equal to the last bit."""
    return one.keys() == two.keys() and all(
        torch.equal(value, two[name]) for name, value in one.items() if torch.is_tensor(value)
    )


def test_no_damage_to_a_checkpoint_goes_unnoticed(copy: Path) -> None:
    folder, rng, tried = copy / "checkpoints", random.Random(3), 0
    assert newest_checkpoint(folder, RunState.from_json) == folder / "step_3"
    for path in sorted(path for path in (folder / "step_3").rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for damage in (*[flipped] * 8, *[shortened] * 2, deleted):
            damage(path, rng)
            harmless = path.exists() and path.name == "manifest.json" and _same_json(path, whole)
            found = newest_checkpoint(folder, RunState.from_json)
            assert found == folder / ("step_3" if harmless else "step_2"), (path, damage)
            path.write_bytes(whole)
            tried += not harmless
    print(f"\n{tried} kinds of damage to a checkpoint, all noticed")
    assert tried > 90


def _same_json(path: Path, whole: bytes) -> bool:
    """A bit of white space has changed, or the case of a digit of an escape: the same content."""
    try:
        return json.loads(path.read_bytes()) == json.loads(whole)
    except ValueError:
        return False


@pytest.mark.parametrize("name", ["state.json", "policy/model.safetensors"])
def test_a_run_falls_back_says_so_and_ends_with_the_same_bits(nano, finished, copy, caplog, name) -> None:
    flipped(copy / "checkpoints/step_3" / name, random.Random(1))
    resume(nano, copy)
    assert "step_3 is damaged" in caplog.text and name in caplog.text
    assert_same_run(finished, copy, 3)


def test_when_all_are_damaged_nothing_begins_again_in_silence(nano, copy) -> None:
    for number in (2, 3):
        (copy / f"checkpoints/step_{number}/state.json").unlink()
    before = (copy / "metrics.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=r"every checkpoint in .* is damaged"):
        resume(nano, copy)
    assert (copy / "metrics.jsonl").read_bytes() == before


def test_a_checkpoint_under_another_number_is_not_taken(copy) -> None:
    folder = copy / "checkpoints"
    (folder / "step_2").rename(folder / "step_7")
    assert newest_checkpoint(folder, RunState.from_json) == folder / "step_3"


@pytest.mark.parametrize("damage", DAMAGES)
def test_other_options_than_the_run_began_with_are_refused_on_the_command_line(copy, capsys, damage) -> None:
    before = training_state(copy, 3)
    if damage is flipped:
        text = (copy / "config.json").read_text()
        assert '"iterations": 3' in text
        (copy / "config.json").write_text(text.replace('"iterations": 3', '"iterations": 7'))
    else:
        damage(copy / "config.json", random.Random(1))
    assert main(["train", "--resume", str(copy)]) != 0
    assert "config.json" in capsys.readouterr().err
    assert same_tensors(before, training_state(copy, 3))


def test_a_run_without_its_options_is_not_begun_again_over_its_checkpoints(nano, copy) -> None:
    (copy / "config.json").unlink()
    with pytest.raises(ConfigError, match=r"step_3/config\.json is a copy"):
        resume(nano, copy)
    (copy / "metrics.jsonl").unlink()
    with pytest.raises(ConfigError, match="holds a run already"):
        ppo.train(toys.ppo(nano, copy))


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_to_metrics_is_said_and_costs_no_iteration(nano, finished, copy, damage) -> None:
    told: list[str] = []
    damage(copy / "metrics.jsonl", random.Random(5))
    resume(nano, copy, told)
    assert any(line.startswith("warning: ") and "metrics.jsonl" in line for line in told)
    assert same_tensors(training_state(finished, 3), training_state(copy, 3))
    content = (copy / "metrics.jsonl").read_bytes() if damage is not deleted else b"\n"
    assert content.endswith(b"\n")


def test_a_model_that_changed_since_is_another_run(nano, finished, tmp_path) -> None:
    model, folder = shutil.copytree(nano, tmp_path / "model"), tmp_path / "run"
    ppo.train(toys.ppo(model, folder, iterations=1, **OPTIONS))
    (model / "tokenizer_config.json").write_bytes((nano / "tokenizer_config.json").read_bytes() + b"\n")
    with pytest.raises(ConfigError, match=r"tokenizer_config\.json has changed since the run began"):
        ppo.train(toys.ppo(model, folder, iterations=2, resume=True, **OPTIONS))


def test_a_policy_is_checked_when_it_is_loaded(copy) -> None:
    policy = copy / "checkpoints/step_3/policy"
    load_model(policy, "cpu")
    flipped(policy / "model.safetensors", random.Random(2))
    with pytest.raises(ConfigError, match=r"policy/model\.safetensors is not what was written"):
        load_model(policy, "cpu")
    load_model(shutil.copytree(policy, copy / "mine"), "cpu")  # changed on purpose, perhaps


def test_a_field_that_is_missing_or_wrong_falls_back(nano, finished, copy, caplog) -> None:
    state, folder = copy / "checkpoints/step_3/state.json", copy / "checkpoints"
    whole = state.read_bytes()
    for changes in ({"calls": None}, {"monitor": {}}, {"metrics_bytes": "many"}, {"metrics_bytes": -1}, {"step": 2}):
        rewrite(state, **changes)
        write_manifest(folder / "step_3", 3)
        assert newest_checkpoint(folder, RunState.from_json) == folder / "step_2", changes
        state.write_bytes(whole)
    rewrite(state, episodes=None)
    write_manifest(folder / "step_3", 3)
    resume(nano, copy)
    assert "step_3 is damaged" in caplog.text
    assert_same_run(finished, copy, 3)


# ---------------------------------------------------------------------- one process at a time


def test_a_second_process_is_refused_with_the_first_one_s_number(nano, copy, capsys) -> None:
    script = "import sys, pathlib, time; from agentrl.core.lock import FolderLock as L;"
    script += "lock = L(pathlib.Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    holder = subprocess.Popen([sys.executable, "-c", script, str(copy)], stdout=subprocess.PIPE, env=environment)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(ConfigError, match=rf"in use by process {holder.pid} on "):
            resume(nano, copy)
        for processes in ([], ["--processes", "2"]):
            assert main(["train", "--resume", str(copy), *processes]) != 0
            assert f"process {holder.pid}" in capsys.readouterr().err
        assert len(lines(copy, "train")) == 3
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    FolderLock(copy).release()  # however it ended


def test_the_lock_ends_with_the_run_also_when_it_fails(nano, copy) -> None:
    with pytest.raises(ConfigError, match="lr"):
        ppo.train(toys.ppo(nano, copy, iterations=3, resume=True, lr=0.5, **OPTIONS))
    held = FolderLock(copy)
    with pytest.raises(ConfigError, match=f"process {os.getpid()} "):
        resume(nano, copy)
    held.release()
    resume(nano, copy)

"""Checkpoints: whole or not there, checked before they are believed, and useful to others."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.loading import load_model, tokenizer_hash
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.run import checkpoint as module
from agentrl.trainers.run.checkpoint import checkpoints, newest_checkpoint, save_checkpoint
from agentrl.trainers.update.learner import Learner, TrainingFault
from tests.trainers.toys import write_nano_model
from tests.trainers.update.test_learner import loss_on, rows, same, weights

# Said once by processors without bf16; the numbers are right all the same.
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")


@pytest.fixture
def options(nano) -> RunArguments:
    return RunArguments(model=str(nano), lr=1e-3, device="cpu", dtype="float32")


def trained(options: RunArguments, steps: int = 2, **more: Any) -> Learner:
    learner = Learner(options, critic="own", critic_lr=1e-2, **more)
    for _ in range(steps):
        learner.step(rows(), loss_on(learner, rows()))
    return learner


def load_checkpoint(folder: Path, learner: Learner) -> dict[str, Any] | None:
    """The state of the newest whole one, once it is in the learner."""
    path = newest_checkpoint(folder)
    return None if path is None else module.load_checkpoint(path, learner)


def numbers(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("step_")) for path in checkpoints(folder)]


def test_a_restored_learner_goes_on_bit_for_bit(options, tmp_path) -> None:
    first = trained(options)
    save_checkpoint(tmp_path, 2, first, {"episodes": 7}, keep=2)
    second = Learner(options, critic="own", critic_lr=1e-2)
    state = load_checkpoint(tmp_path, second)
    assert state is not None and state["step"] == 2 and state["episodes"] == 7 and second.steps == 2
    for learner in (first, second):
        learner.step(rows(), loss_on(learner, rows()))
    assert same(weights(first.policy), weights(second.policy))
    assert same(weights(first.critic), weights(second.critic))


@pytest.mark.parametrize("change", [{"lora_rank": 2}, {"dtype": "bfloat16"}])
def test_adapters_and_short_types_come_back_too_and_reach_the_engine(options, tmp_path, change) -> None:
    options = replace(options, **change)
    first = trained(options)
    save_checkpoint(tmp_path, 1, first, {}, keep=1)
    second = Learner(options, critic="own", critic_lr=1e-2)
    load_checkpoint(tmp_path, second)
    assert same(weights(first.engine.model), weights(second.engine.model))
    assert same(weights(first.policy), weights(second.policy))


def test_the_policy_of_a_checkpoint_is_an_ordinary_model_folder(options, tmp_path) -> None:
    learner = trained(options)
    folder = save_checkpoint(tmp_path, 1, learner, {}, keep=1) / "policy"
    engine = load_model(folder, "cpu", "float32")
    assert same(weights(engine.model), weights(learner.policy))
    assert tokenizer_hash(engine.tokenizer) == tokenizer_hash(learner.engine.tokenizer)
    assert engine.encoder.encode([{"role": "user", "content": "turn 0"}]).ids


def test_the_newest_are_kept(options, tmp_path) -> None:
    learner = trained(options, steps=0)
    for number in (1, 2, 3, 10):
        save_checkpoint(tmp_path, number, learner, {}, keep=2)
    assert numbers(tmp_path) == [10, 3]
    assert load_checkpoint(tmp_path / "nowhere", learner) is None


@pytest.mark.parametrize("damage", ["weights", "state", "not a state", "cut", "gone"])
def test_a_damaged_checkpoint_is_passed_over_with_a_warning(options, tmp_path, caplog, damage) -> None:
    learner = trained(options, steps=0)
    for number in (1, 2):
        save_checkpoint(tmp_path, number, learner, {}, keep=2)
    training, state = tmp_path / "step_2" / "training.pt", tmp_path / "step_2" / "state.json"
    if damage == "weights":
        content = bytearray(training.read_bytes())
        content[len(content) // 2] ^= 1
        training.write_bytes(content)
    elif damage == "state":
        state.write_text(state.read_text()[:-20])
    elif damage == "not a state":
        state.write_text("[1]")
    elif damage == "cut":
        training.write_bytes(training.read_bytes()[:100])
    else:
        training.unlink()
    found = load_checkpoint(tmp_path, learner)
    assert found is not None and found["step"] == 1
    assert "step_2 is damaged" in caplog.text


def test_a_damaged_newer_checkpoint_does_not_push_good_ones_out(options, tmp_path) -> None:
    learner = trained(options, steps=0)
    save_checkpoint(tmp_path, 4, learner, {}, keep=1)
    shutil.copytree(tmp_path / "step_4", tmp_path / "step_9")
    (tmp_path / "step_9" / "training.pt").write_bytes(b"")
    assert load_checkpoint(tmp_path, learner)["step"] == 4  # pyright: ignore[reportOptionalSubscript]
    save_checkpoint(tmp_path, 5, learner, {}, keep=1)
    assert numbers(tmp_path) == [5]


def test_a_checkpoint_of_another_model_critic_or_adapter_is_refused(options, tmp_path) -> None:
    save_checkpoint(tmp_path / "run", 1, trained(options, steps=0), {}, keep=1)
    wide = write_nano_model(tmp_path / "wide", width=48)
    for other in (replace(options, model=str(wide)), replace(options, lora_rank=2)):
        with pytest.raises(ConfigError, match="another model"):
            load_checkpoint(tmp_path / "run", Learner(other, critic="own"))
    for kind in ("none", "shared"):
        with pytest.raises(ConfigError, match="another critic"):
            load_checkpoint(tmp_path / "run", Learner(options, critic=kind))


def test_what_a_killed_writer_left_is_no_checkpoint_and_goes_away(options, tmp_path) -> None:
    learner = trained(options, steps=0)
    save_checkpoint(tmp_path, 1, learner, {}, keep=3)
    shutil.copytree(tmp_path / "step_1", tmp_path / ".step_2.99999")
    (tmp_path / "step_7").mkdir()  # was being removed
    (tmp_path / "step_x").mkdir()
    assert numbers(tmp_path) == [1]
    save_checkpoint(tmp_path, 3, learner, {}, keep=3)
    assert not list(tmp_path.glob(".step_*")) and numbers(tmp_path) == [3, 1]


def test_a_checkpoint_is_written_again_in_place(options, tmp_path) -> None:
    learner = trained(options, steps=0)
    save_checkpoint(tmp_path, 1, learner, {"episodes": 1}, keep=1)
    save_checkpoint(tmp_path, 1, learner, {"episodes": 2}, keep=1)
    assert json.loads((tmp_path / "step_1" / "state.json").read_text())["episodes"] == 2


def test_a_disk_that_refuses_leaves_older_checkpoints_alone(options, tmp_path, monkeypatch) -> None:
    learner = trained(options, steps=0)
    save_checkpoint(tmp_path, 1, learner, {}, keep=1)

    def full(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("PytorchStreamWriter failed writing file")

    monkeypatch.setattr(module.torch, "save", full)
    with pytest.raises(TrainingFault, match="older checkpoints are intact"):
        save_checkpoint(tmp_path, 2, learner, {}, keep=1)
    assert [path.name for path in tmp_path.iterdir()] == ["step_1"]
    assert load_checkpoint(tmp_path, learner) is not None


def test_checkpoints_hold_tensors_only_and_no_code(options, tmp_path) -> None:
    folder = save_checkpoint(tmp_path, 1, trained(options), {}, keep=1)
    content = torch.load(folder / "training.pt", weights_only=True)
    assert set(content) == {"policy", "critic", "optimiser"}

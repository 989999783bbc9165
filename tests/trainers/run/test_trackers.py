"""Trackers: real files with the figures in them, refused early, harmless when they break."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.trainers.run import trackers
from agentrl.trainers.run.trackers import Guarded, flatten, make_trackers

LINE = {
    "iteration": 3,
    "kind": "train",
    "success": 0.5,
    "success_ci": [0.4, 0.6],
    "format_rate": None,
    "loss": {"policy": -0.25, "critic": 1},
    "by_env": {"agentrl/A-v0": {"success": 0.5}},
}


def test_nested_figures_become_flat_names() -> None:
    assert flatten(LINE) == {
        "success": 0.5,
        "success_ci/low": 0.4,
        "success_ci/high": 0.6,
        "loss/policy": -0.25,
        "loss/critic": 1.0,
        "by_env/agentrl/A-v0/success": 0.5,
    }


def test_evaluations_are_curves_of_their_own() -> None:
    line = {"kind": "eval", "iteration": 3, "split": "test", "greedy": True, "env_id": "agentrl/A-v0", "success": 1.0}
    assert flatten(line)["eval/test/greedy/agentrl/A-v0/success"] == 1.0
    assert "success" not in flatten(line)
    assert flatten({"kind": "warning", "warning": "reward_hacking", "detail": "x", "iteration": 1}) == {}


def test_tensorboard_event_files_hold_every_figure(tmp_path: Path) -> None:
    (tracker,) = make_trackers(["tensorboard"], tmp_path, {"lr": 0.1, "api_key": "canary-key-0815"}, "run")
    for step in range(3):
        tracker.log({**LINE, "success": step / 4}, step)
    tracker.close()
    tracker.close()
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in events.Scalars("success")] == [(0, 0.0), (1, 0.25), (2, 0.5)]
    assert events.Scalars("loss/policy")[-1].value == -0.25
    assert set(events.Tags()["scalars"]) == set(flatten(LINE))
    (file,) = (tmp_path / "tensorboard").iterdir()
    assert b"lr: 0.1" in file.read_bytes() and b"canary" not in file.read_bytes()


@pytest.mark.long
def test_wandb_writes_an_offline_run_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    import wandb  # not before: it reads its environment while it is imported

    command = ["agentrl", "train", "--judge", '{"kind": "llm", "extra_body": {"api_key": "canary-key-0815"}}']
    monkeypatch.setattr(sys, "argv", command)
    (tracker,) = make_trackers(["wandb"], tmp_path / "new", {"lr": 0.1}, "run-name")
    assert sys.argv is command
    tracker.log(LINE, 1)
    tracker.close()
    wandb.teardown()  # its own process writes the file, at the latest when it goes
    (file,) = (tmp_path / "new" / "wandb").glob("offline-run-*/run-*.wandb")
    data = file.read_bytes()
    assert b"loss/policy" in data and b"-0.25" in data and b"run-name" in data
    assert b"extra_body" in data and b"canary" not in data


def test_wandb_stays_offline_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for mode, wanted, reports in ((None, "offline", "false"), ("online", "online", None)):
        monkeypatch.setattr(trackers.os, "environ", {} if mode is None else {"WANDB_MODE": mode})
        trackers._keep_wandb_offline()
        assert trackers.os.environ["WANDB_MODE"] == wanted
        assert trackers.os.environ.get("WANDB_ERROR_REPORTING") == reports


def test_trackio_is_called_as_it_wants_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not installed beside the pinned pillow: a stand-in with the parameters of the real functions.
    calls: list[Any] = []

    def init(project: str, name: str | None = None, config: dict | None = None, resume: str = "never") -> None:
        calls.append(("init", project, name, config, resume))

    def log(metrics: dict, step: int | None = None) -> None:
        calls.append(("log", metrics, step))

    stand_in = SimpleNamespace(init=init, log=log, finish=lambda: calls.append("finish"))
    monkeypatch.setitem(sys.modules, "trackio", stand_in)
    (tracker,) = make_trackers(["trackio"], tmp_path, {"lr": 0.1}, "run")
    tracker.log({"loss": {"nll": 2}}, 5)
    tracker.close()
    assert calls == [("init", "agentrl", "run", {"lr": 0.1}, "allow"), ("log", {"loss/nll": 2.0}, 5), "finish"]


@pytest.mark.parametrize(
    ("name", "extra"), [("tensorboard", "trackers"), ("wandb", "trackers"), ("trackio", "trackio")]
)
def test_a_missing_package_is_refused_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, extra: str
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setitem(sys.modules, name, None)
    others = [other for other in ("tensorboard",) if other != name]
    with pytest.raises(MissingExtra, match=rf"{name} is not installed.*agentrl-suite\[{extra}\]"):
        make_trackers([*others, name], tmp_path, {}, "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("names", "says"), [(["tensorbord"], 'Did you mean "tensorboard"'), ("wandb", "a list")])
def test_wrong_names_are_refused(tmp_path: Path, names: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make_trackers(names, tmp_path, {}, "run")


def test_no_tracker_and_the_same_twice(tmp_path: Path) -> None:
    assert make_trackers([], tmp_path, {}, "run") == []
    (tracker,) = make_trackers(["tensorboard", "tensorboard"], tmp_path, {}, "run")
    tracker.close()


def test_a_tracker_that_breaks_warns_once_and_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        calls = 0

        def log(self, metrics: dict[str, Any], step: int) -> None:
            self.calls += 1
            raise OSError("disk full")

        def close(self) -> None:
            raise RuntimeError("worse")

    broken = Broken()
    tracker = Guarded("tensorboard", broken)
    with caplog.at_level(logging.WARNING):
        for step in range(3):
            tracker.log({"loss": 1.0}, step)
        tracker.close()
    assert broken.calls == 1
    assert [record.message for record in caplog.records] == [
        "tensorboard failed and gets no more metrics; the run continues: disk full"
    ]

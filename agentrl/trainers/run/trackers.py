"""Metrics of a run for dashboards: tensorboard, wandb, trackio.

`metrics.jsonl` is the record; a tracker is a copy of it. So a tracker that is asked for and not installed is refused
before a run begins, and one that breaks during a run is given up with a warning while the run continues.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from agentrl.core.errors import ConfigError, MissingExtra, did_you_mean
from agentrl.core.secrecy import scrub

log = logging.getLogger(__name__)

PROJECT = "agentrl"
UNTRACKED = ("iteration", "kind")  # they say where a metric belongs


class Tracker(Protocol):
    """Receives the metrics of a run."""

    def log(self, metrics: dict[str, Any], step: int) -> None:
        """One line of metrics, as `metrics.jsonl` has it."""

    def close(self) -> None:
        """The run is over; may be called twice."""


def make_trackers(
    names: Sequence[str], folder: str | os.PathLike[str], config: Mapping[str, Any], run_name: str
) -> list[Tracker]:
    """The trackers of a run; `MissingExtra` or `ConfigError` before any of them has begun."""
    if isinstance(names, str):
        raise ConfigError(f"trackers must be a list such as [{names!r}]; got a string")
    for name in names:
        if name not in KNOWN:
            suggestion = did_you_mean(str(name), KNOWN)
            raise ConfigError(f"unknown tracker {name!r}.{suggestion} There are: {', '.join(KNOWN)}.")
    chosen = {name: KNOWN[name] for name in names}  # each once
    if "wandb" in chosen:
        _keep_wandb_offline()
    for _, package, extra in chosen.values():
        _installed(package, extra)
    clean = scrub(dict(config))
    return [Guarded(name, make(Path(folder), clean, run_name)) for name, (make, _, _) in chosen.items()]


def _installed(package: str, extra: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(package.partition(".")[0], extra) from error


def flatten(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Every number of a line of metrics under one name: "loss/policy", "success_ci/low".

    Metrics of evaluations get the split, how answers were chosen and the environment in front, so that they are curves
    of their own beside those of training.
    """
    prefix = ""
    if metrics.get("kind") == "eval":
        how = "greedy" if metrics.get("greedy") else "sampled"
        parts = ("eval", metrics.get("split"), how, metrics.get("env_id"))
        prefix = "".join(f"{part}/" for part in parts if part)
    held = {name: value for name, value in metrics.items() if name != "by_task"}  # lists of single episodes
    return {prefix + name: value for name, value in _numbers(held, "") if name not in UNTRACKED}


def _numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(item, f"{name}/{key}" if name else str(key))
    elif isinstance(value, (list, tuple)) and len(value) == 2:  # an interval
        yield from _numbers({"low": value[0], "high": value[1]}, name)
    elif isinstance(value, (int, float)):
        yield name, float(value)


class Guarded:
    """A tracker that may fail without ending the run."""

    def __init__(self, name: str, tracker: Tracker) -> None:
        self.name, self.tracker = name, tracker
        self.given_up = self.closed = False

    def log(self, metrics: dict[str, Any], step: int) -> None:
        """Pass the metrics on, as long as that works."""
        self._try(lambda: self.tracker.log(metrics, step))

    def close(self) -> None:
        """May be called twice."""
        if not self.closed:
            self.closed = True
            self._try(self.tracker.close)

    def _try(self, call: Callable[[], None]) -> None:
        if self.given_up:
            return
        try:
            call()
        except Exception as error:  # whatever a dashboard raises: the run matters more
            self.given_up = True
            log.warning("%s failed and gets no more metrics; the run continues: %s", self.name, error)


class TensorBoard:
    """Event files in the run's folder, for `tensorboard --logdir`."""

    def __init__(self, folder: Path, config: dict[str, Any], run_name: str) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tensorboard"))
        rows = "\n".join(f"    {name}: {value}" for name, value in config.items())
        self._writer.add_text("config", f"{run_name}\n\n{rows}")

    def log(self, metrics: dict[str, Any], step: int) -> None:
        """One point on every curve; on disk at once."""
        for name, value in flatten(metrics).items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class Wandb:
    """Weights & Biases, in the run's folder and offline unless WANDB_MODE says otherwise."""

    def __init__(self, folder: Path, config: dict[str, Any], run_name: str) -> None:
        import wandb

        folder.mkdir(parents=True, exist_ok=True)
        # A command's JSON must reach stdout as it is.
        settings = wandb.Settings(console="off")  # the mode it takes from WANDB_MODE
        with _command_line_without_secrets():
            self._run = wandb.init(project=PROJECT, name=run_name, dir=str(folder), config=config, settings=settings)

    def log(self, metrics: dict[str, Any], step: int) -> None:
        """One point on every curve."""
        self._run.log(flatten(metrics), step=step)

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()


@contextmanager
def _command_line_without_secrets() -> Iterator[None]:
    """wandb records the words that the program was started with."""
    words = sys.argv
    sys.argv = scrub(words)
    try:
        yield
    finally:
        sys.argv = words


def _keep_wandb_offline() -> None:
    """Nothing leaves the machine unless the user has said so; error reports would, as soon as wandb is imported."""
    if "WANDB_MODE" not in os.environ:
        os.environ["WANDB_MODE"] = "offline"
    if os.environ["WANDB_MODE"] == "offline":
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")


class Trackio:
    """Trackio's local database (its own folder, see TRACKIO_DIR)."""

    def __init__(self, folder: Path, config: dict[str, Any], run_name: str) -> None:
        self._trackio = importlib.import_module("trackio")
        self._trackio.init(project=PROJECT, name=run_name, config=config, resume="allow")

    def log(self, metrics: dict[str, Any], step: int) -> None:
        """One point on every curve."""
        self._trackio.log(flatten(metrics), step=step)

    def close(self) -> None:
        """Finish the run."""
        self._trackio.finish()


Make = Callable[[Path, dict[str, Any], str], Tracker]
# How each is made, the package that must be there, and the extra that brings it.
KNOWN: dict[str, tuple[Make, str, str]] = {
    "tensorboard": (TensorBoard, "tensorboard", "trackers"),
    "wandb": (Wandb, "wandb", "trackers"),
    "trackio": (Trackio, "trackio", "trackio"),
}

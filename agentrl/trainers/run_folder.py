"""The folder of a run: where it is, and whether a run with these arguments may resume in it."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.trainers.arguments import RunArguments

METRICS, CONFIG = "metrics.jsonl", "config.json"
# Everything else decides what is learned.
FREE_TO_CHANGE = {"output", "resume", "iterations", "save_every", "keep", "trackers", "report", "eval_every"} | {
    "eval_at_start",
    "eval_episodes",
    "save_trajectories",
    "engine_options",
    "token_budget",
    "threads",
    "peer_timeout",
}


def run_folder(arguments: RunArguments, algorithm: str) -> Path:
    """The folder of a run, made if it is not there."""
    if not arguments.output and arguments.resume:
        raise ConfigError("resume needs output, the folder of the run")
    name = arguments.output or f"runs/{algorithm}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder = Path(name).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the run folder {folder} cannot be made: {error}; choose another output") from error
    return folder


def check_same_run(config: dict[str, Any], arguments: RunArguments, algorithm: str) -> None:
    """A run is resumed as what it was; `ConfigError` names the first option that differs.

    An option that the run does not know was added since: until then every run had its default.
    """
    if config.get("algorithm") != algorithm:
        raise ConfigError(f"this is a run of {config.get('algorithm')}, not of {algorithm}")
    before, now = {**type(arguments)().to_json(), **config["arguments"]}, arguments.to_json()
    for name, value in now.items():
        old = before.get(name)
        if name not in FREE_TO_CHANGE and old != value:
            raise ConfigError(f"the run was started with {name}={old!r}; it cannot be resumed with {value!r}")


def versions() -> dict[str, str]:
    """Of everything that decides the numbers."""
    import transformers

    return {
        "agentrl": agentrl.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def cut(path: Path, size: int) -> None:
    """Forget what was written after the checkpoint: it will be written again."""
    if path.exists():
        os.truncate(path, min(size, path.stat().st_size))

"""Scripts in the virtual environments of other libraries (`scripts/setup.sh library:NAME`)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from agentrl.core.interpreter import CHECKOUT
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryReader


def run_in(library: str, script: str, *words: str, given: str | None = None, timeout: float = 800) -> str:
    """What a script of the checkout prints there; an `AssertionError` with the end of its errors where it fails."""
    bin = CHECKOUT / f".venv-{library}" / "bin"
    path = f"{bin}{os.pathsep}{os.environ.get('PATH', '')}"
    variables = {**os.environ, "PATH": path, "PYTHONPATH": str(CHECKOUT), "HF_HUB_OFFLINE": "1"}
    command = [bin / "python", CHECKOUT / script, *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=variables, timeout=timeout)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stdout


def trained(folder: Path, env_id: str, env_kwargs: dict[str, Any]) -> list[Trajectory]:
    """What a tiny model played in one iteration of `agentrl train ppo`, which must have learned from it."""
    from agentrl.cli.main import main

    words = ["train", "ppo", "--env", env_id, "--env-kwargs", json.dumps(env_kwargs), "--model", "tiny-text"]
    words += ["--iterations", "1", "--episodes", "4", "--minibatches", "1", "--eval-episodes", "2", "--no-report"]
    words += ["--threads", "1", "--max-new-tokens", "8", "--num-envs", "4", "--output", str(folder)]
    assert main(words) == 0
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    (found,) = [line for line in lines if line["kind"] == "train"]
    assert found["faults"] == 0 and found["iteration"] == 1
    played = list(TrajectoryReader(min((folder / "trajectories").iterdir())))
    assert len(played) == 4 and all(step.response_ids for episode in played for step in episode.steps)
    return played

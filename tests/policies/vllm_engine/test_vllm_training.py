"""Training with vLLM as the rollout engine, through the command line; the trainer agrees with its log-probabilities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.cli.main import main
from agentrl.trainers.algorithms import ppo
from tests.trainers import toys
from tests.trainers.arms import ARMS
from tests.trainers.conftest import nano, undecided  # noqa: F401  (fixtures)
from tests.trainers.runs import lines

pytestmark = pytest.mark.vllm

ITERATIONS = 15


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Of every iteration: the largest difference of what was recorded while playing and what the trainer computes."""
    found: list[float] = []
    real = ppo.score

    def compared(args: Any, learner: Any, batch: Any) -> Any:
        own = batch.by_trajectory(learner.logprobs(batch.rows))
        found.append(float(((own - batch.logprobs) * batch.action_mask).abs().max()))
        return real(args, learner, batch)

    monkeypatch.setattr(ppo, "score", compared)
    return found


def test_a_run_with_vllm_learns_and_its_log_probabilities_are_the_trainers(
    undecided: Path,  # noqa: F811
    tmp_path: Path,
    apart: list[float],
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = {
        **{"env": ARMS, "model": undecided, "output": tmp_path / "run", "env-kwargs": '{"turns": 2}'},
        **{"engine": "vllm", "engine-options": '{"max_model_len": 256}', "temperature": 0.9, "top-p": 0.95},
        **{"iterations": ITERATIONS, "episodes": 48, "num-envs": 48, "minibatches": 1, "lr": 5e-3, "critic-lr": 1e-2},
        **{"kl-coef": 0, "max-new-tokens": 3, "threads": 1, "save-every": 5, "save-trajectories": 4},
        # Solved after eight iterations; then all advantages are noise, which whitening scales up: the rate must fall.
        **{"schedule": "linear", "eval-every": ITERATIONS, "eval-episodes": 100, "eval-modes": "sampled"},
    }
    given = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    assert main(["train", "ppo", *given, "--no-report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == ITERATIONS
    first, last = lines(tmp_path / "run", "eval")
    assert first["success"] < 0.5 and last["success"] > first["success"] + 0.3
    assert len(apart) == ITERATIONS and max(apart) < 1e-4
    trained = lines(tmp_path / "run", "train")
    # One update before the first iteration, one after each; checkpoints and evaluations find them done.
    assert trained[-1]["engine"]["updates"] == ITERATIONS + 1 and trained[-1]["engine"]["restarts"] == 0
    assert trained[-1]["loss"]["clip_fraction"] is not None
    config = json.loads((tmp_path / "run/config.json").read_text())
    assert config["arguments"]["engine"] == "vllm" and config["versions"]["vllm"]
    self_check(tmp_path / "run")


def self_check(folder: Path) -> None:
    """Every recorded step names the iteration whose weights played it; the last weights are in the checkpoint."""
    from agentrl.rollout.trajectory_file import TrajectoryReader

    for path in sorted((folder / "trajectories").iterdir()):
        number = int(path.stem.removeprefix("iteration_"))
        versions = {step.version for trajectory in TrajectoryReader(path) for step in trajectory.steps}
        assert versions == {number - 1}, path
    saved = torch.load(folder / f"checkpoints/step_{ITERATIONS}/training.pt", weights_only=True)["policy"]
    assert all(bool(torch.isfinite(weight).all()) for weight in saved.values())


def test_a_resumed_run_hands_its_weights_to_a_fresh_engine(undecided: Path, tmp_path: Path, apart: list[float]) -> None:  # noqa: F811
    options: dict[str, Any] = {"engine": "vllm", "lora_rank": 4, "lr": 5e-2, "save_every": 1}
    args = toys.ppo(undecided, tmp_path / "adapters", iterations=1, **options)
    ppo.train(args)
    ppo.train(toys.ppo(undecided, tmp_path / "adapters", iterations=2, resume=True, **options))
    assert len(apart) == 2 and max(apart) < 1e-4
    assert [line["iteration"] for line in lines(tmp_path / "adapters", "train")] == [1, 2]

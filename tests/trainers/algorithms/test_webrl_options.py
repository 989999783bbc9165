"""What WebRL's options do to learning, on a chain of three choices between two words: only three right ones succeed.

Success is computed, not sampled: it is the probability of the one right conversation. `python -m
tests.trainers.algorithms.test_webrl_options FOLDER [SEEDS]` prints the mean over seeds for each option.
"""

from __future__ import annotations

import math
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import read_trajectories
from agentrl.trainers.algorithms import filtered_bc, sft, webrl
from agentrl.trainers.update.batch import rows_of
from agentrl.trainers.update.off_policy import make_off_policy_learner
from tests.trainers import toys

CHAIN: dict[str, Any] = {
    "env_kwargs": {"turns": 3},
    "iterations": 4,
    "start_tasks": 24,
    "tasks_per_phase": 24,
    "batch_size": 24,
    "num_envs": 24,
}
TOGETHER: dict[str, Any] = {"gamma": 1.0, "critic_on_all": True, "negative_weight": 0.3}
FORMS: dict[str, dict[str, Any]] = {
    "paper": {},
    "gamma 1": {"gamma": 1.0},
    "critic on all": {"critic_on_all": True},
    "negative weight 0.3": {"negative_weight": 0.3},
    "these three together": TOGETHER,
    "per token": {"per_token": True},
    "window of quantiles": {"replay_window": "quantiles"},
    "fresh optimiser": {"fresh_optimiser": True},
    "good actions": {"loss": "good_actions"},
    "released": {"loss": "released", "critic_heads": 2, "fresh_optimiser": True},
}


def right_conversation(model: Path, folder: Path) -> Trajectory:
    """What the oracle says, in the model's tokens."""
    args = toys.sft(model, folder, demonstrations=1, mistake_rate=0.0, iterations=1, save_demonstrations=True)
    args.env_kwargs = CHAIN["env_kwargs"]
    (found,) = read_trajectories(sft.train(args, report=None) / "demonstrations.jsonl")
    return found


def success(policy: Path, right: Trajectory) -> float:
    """The probability that a policy says exactly that."""
    learner = make_off_policy_learner(toys.webrl(policy, ""), critic=False)
    return math.exp(sum(float(one.sum()) for one in learner.logprobs(rows_of(right, 0))))


def learned(model: Path, output: Path, right: Trajectory, seed: int, **options: Any) -> float:
    """Success after the last phase."""
    args = toys.webrl(model, output, **{**CHAIN, **options}, seed=seed)
    return success(webrl.train(args, report=None) / "checkpoints/step_4/policy", right)


@pytest.mark.long
def test_gamma_1_a_critic_of_all_episodes_and_less_weight_on_bad_actions_teach_more(undecided, tmp_path) -> None:
    """Four seeds from 0.131: paper 0.829 (0.76, 0.79, 0.86, 0.91), gamma 1 0.869, critic on all 0.902, negative weight
    0.876, the three together 0.904 (0.93, 0.86, 0.90, 0.92).
    """
    right = right_conversation(undecided, tmp_path / "oracle")
    found = {
        name: fmean(learned(undecided, tmp_path / f"{name}-{seed}", right, seed, **options) for seed in range(4))
        for name, options in {"paper": {}, "together": TOGETHER}.items()
    }
    assert found["together"] > found["paper"] + 0.03 > success(undecided, right) + 0.5


def measured(root: Path, seeds: int) -> None:
    """A line for each form, and one for filtered BC with as many episodes and steps."""
    many: dict[str, Any] = {"mistake_rate": 1.0, "iterations": 6, "demonstrations": 64, "save_every": 6}
    taught = toys.sft(toys.write_nano_model(root / "nano"), root / "sft", **many, env_kwargs=CHAIN["env_kwargs"])
    start = sft.train(taught, report=None) / "checkpoints/step_6/policy"
    right = right_conversation(start, root / "oracle")
    print(f"{'start':25} {success(start, right):.3f}", flush=True)
    for name, options in FORMS.items():
        ends = [learned(start, root / f"{name}-{seed}", right, seed, **options) for seed in range(seeds)]
        print(f"{name:25} {fmean(ends):.3f} ", " ".join(f"{one:.2f}" for one in ends), flush=True)
    ends = []
    for seed in range(seeds):
        offline = CHAIN | {"tasks_per_phase": 4 * 24, "seed": seed}
        folder = filtered_bc.train(toys.filtered_bc(start, root / f"bc-{seed}", **offline), report=None)
        ends.append(success(folder / "checkpoints/step_4/policy", right))
    print(f"{'filtered BC':25} {fmean(ends):.3f} ", " ".join(f"{one:.2f}" for one in ends), flush=True)


if __name__ == "__main__":
    import sys

    measured(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8)

"""Two phases of WebRL raise success on lakes that were in neither the demonstrations nor any phase."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentrl.trainers.algorithms import sft, webrl
from tests.trainers.runs import lines

COMMON: dict[str, Any] = {
    "env": ("agentrl/FrozenLake-Text-v0",),
    "env_kwargs": {"size": 3},
    "prompt_style": "step",
    "history": 0,
    "max_new_tokens": 5,
    "num_envs": 256,
    "report": False,
    "save_trajectories": 0,
    "eval_episodes": 300,
    "eval_modes": ("sampled",),
}
IMITATION: dict[str, Any] = {
    "model": "tiny-text",
    "seed": 1,
    "demonstrations": 3000,
    "mistake_rate": 0.4,
    "iterations": 3,
    "steps_per_iteration": 50,
    "batch_size": 64,
    "optimiser": "muon",
    "lr": 0.02,
    "schedule": "linear",
    "save_every": 100,
    "eval_at_start": False,
    "eval_every": 100,
}
PHASES: dict[str, Any] = {
    "iterations": 2,
    "tasks_per_phase": 200,
    "lr": 1e-3,
    "critic_lr": 1e-3,
    "critic_head_lr": 1e-2,
    "batch_size": 64,
    "actor_epochs": 4,
    "critic_epochs": 2,
    "critic_on_replay": False,  # with the buffer's successes, too, the last of the five seeds gains 0.06 only
    "beta": 0.3,
    "eval_every": 2,
}


def imitated(root: Path) -> Path:
    """A policy that has seen demonstrations of which 0.4 of the turns are random."""
    folder = sft.train(sft.SFT(**(COMMON | IMITATION), output=str(root / "imitation")))
    return folder / "checkpoints" / "step_3" / "policy"


def held_out(policy: Path, root: Path, seed: int) -> list[float]:
    """Success on unseen lakes before the first phase and after the second."""
    args = webrl.WebRL(**(COMMON | PHASES), seed=seed, model=str(policy), output=str(root / f"webrl-{seed}"))
    return [line["success"] for line in lines(webrl.train(args), "eval")]


@pytest.mark.long
@pytest.mark.timeout(900)  # a minute and a half of one core, and more where it is shared
def test_two_phases_raise_success_on_unseen_lakes(tmp_path) -> None:
    """Phases with other seeds, from the same imitation (300 sampled episodes each, one thread): seed 0 from 0.473 to
    0.833, seed 1 from 0.463 to 0.887, seed 2 from 0.463 to 0.743, seed 3 from 0.417 to 0.813, seed 4 from 0.430 to
    0.733. `python -m tests.trainers.algorithms.test_webrl_learns FOLDER` measures them.
    """
    before, after = held_out(imitated(tmp_path), tmp_path, seed=1)
    assert after > before + 0.15


if __name__ == "__main__":  # how far seeds differ
    import sys

    place = Path(sys.argv[1])
    start = imitated(place)
    for number in range(5):
        print(number, held_out(start, place, number), flush=True)

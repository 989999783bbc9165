"""Runs of phases repeat to the last bit, in one piece, in two, and after being killed at any moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentrl.rollout.trajectory_file import read_trajectories
from agentrl.trainers.algorithms import awr, digirl, filtered_bc, webrl
from tests.longer import only
from tests.trainers import toys
from tests.trainers.run.kill_driver import phase_arguments
from tests.trainers.runs import assert_same_run, lines, timeless

TRAINERS: dict[str, Any] = {"webrl": webrl, "digirl": digirl, "awr": awr, "filtered_bc": filtered_bc}


def assert_same_memory(first: Path, second: Path) -> None:
    """The files of the replay buffer, too."""
    names = [sorted(path.name for path in (folder / "replay").glob("*.jsonl")) for folder in (first, second)]
    assert names[0] == names[1] and names[0]
    for name in names[0]:
        assert read_trajectories(first / "replay" / name) == read_trajectories(second / "replay" / name)


@pytest.mark.parametrize("algorithm", only(("webrl", "filtered_bc"), TRAINERS))
def test_a_run_of_phases_in_two_pieces_is_the_run_in_one(undecided, tmp_path, algorithm) -> None:
    train, make = TRAINERS[algorithm].train, getattr(toys, algorithm)
    options: dict[str, Any] = {"env_kwargs": {"turns": 2}, "save_trajectories": 3}
    whole = train(make(undecided, tmp_path / "whole", iterations=3, **options))
    pieces = tmp_path / "pieces"
    train(make(undecided, pieces, iterations=1, **options))
    train(make(undecided, pieces, iterations=3, resume=True, **options))
    assert_same_run(whole, pieces, 3)
    assert_same_memory(whole, pieces)
    assert [line["kind"] for line in lines(whole)] == ["start", *["train"] * 3]
    other = train(make(undecided, tmp_path / "other", iterations=3, seed=5, **options))
    assert timeless(whole) != timeless(other)


def test_a_run_with_all_options_in_two_pieces_is_the_run_in_one(nano, tmp_path) -> None:
    """What they remember is restored: all episodes, tasks that were played, labels that wait."""
    options: dict[str, Any] = {
        "critic_on_all": True,
        "critic_heads": 2,
        "fresh_optimiser": True,
        "negative_weight": 0.3,
        "one_success_per_task": True,
        "per_token": True,
        "repeat_tasks": False,
        "replay_window": "quantiles",
        "window_heads": "any",
        "eval_every": 0,
    }
    whole = webrl.train(phase_arguments(tmp_path / "whole", str(nano), **options))
    pieces = tmp_path / "pieces"
    for iterations in (1, 3):
        webrl.train(phase_arguments(pieces, str(nano), iterations=iterations, **options))
    assert_same_run(whole, pieces, 3)
    assert_same_memory(whole, pieces)
    found = lines(whole, "train")
    assert any(line["phase"]["labels"]["waiting"] for line in found)
    assert any(line["phase"]["replay"].get("actions") for line in found)
    assert found[2]["loss"]["critic_actions"] > found[1]["loss"]["critic_actions"] > found[0]["loss"]["critic_actions"]


@pytest.mark.long
def test_killed_at_random_moments_a_run_of_phases_ends_with_the_same_bits(nano, warm, tmp_path) -> None:
    """The reward model is away half of the time, so that labels wait in a file, too."""
    kills = 6
    told = warm.run("tests.trainers.run.kill_driver", str(tmp_path), str(nano), kills, "webrl")
    assert len(told["kills"]) == kills
    phases = [line["phase"] for line in lines(tmp_path / "whole", "train")]
    assert len(phases) == 3 and any(phase["labels"]["waiting"] for phase in phases)
    assert any(phase["replay"].get("actions") for phase in phases)
    for number in range(told["runs"]):
        assert_same_run(tmp_path / "whole", tmp_path / f"killed-{number}", 3)
        assert_same_memory(tmp_path / "whole", tmp_path / f"killed-{number}")

"""Long parts of a run say how far they are; quick ones say nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from agentrl.cli.demo import ITERATION
from agentrl.core.errors import ConfigError
from agentrl.trainers.algorithms import sft, steppo
from agentrl.trainers.run import progress
from agentrl.trainers.run.progress import SECONDS_BETWEEN_LINES, Progress


def test_a_first_thing_that_takes_long_is_heard_of_while_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.01)
    said: list[str] = []
    with Progress(said.append, "demonstrations", 10):
        deadline = time.monotonic() + 20
        while not said and time.monotonic() < deadline:
            time.sleep(0.01)
    assert said[0] == "demonstrations: 0 of 10, 0 s"


def test_a_line_now_and_then_with_an_estimate() -> None:
    said: list[str] = []
    clock = [0.0]
    advance = Progress(said.append, "demonstrations", 10, clock=lambda: clock[0])
    for done in range(1, 11):
        clock[0] = 40.0 + 4.0 * done  # before the first one something was loaded
        advance("any", "thing")
    assert SECONDS_BETWEEN_LINES == 10.0
    assert said == [
        "demonstrations: 1 of 10, 44 s",
        "demonstrations: 4 of 10, 56 s, about 24 s left",
        "demonstrations: 7 of 10, 68 s, about 12 s left",
    ]


SMALL = {"iterations": 1, "num_envs": 4, "save_trajectories": 0, "report": False, "device": "cpu", "max_new_tokens": 2}


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.001)


def test_imitation_is_heard_of_before_and_inside_its_iterations(talkative: None, tmp_path: Path) -> None:
    said: list[str] = []
    args = sft.SFT(
        **SMALL, demonstrations=4, steps_per_iteration=3, batch_size=2, eval_every=1, eval_episodes=3,
        eval_modes=("greedy",), eval_at_start=False, output=str(tmp_path / "run"),
    )  # fmt: skip
    sft.train(args, said.append)
    begins = [line.rpartition(": ")[0] for line in said]
    assert said[0] == "playing 4 demonstrations"
    assert {"demonstrations", "iteration 1, learning sequences", "held-out episodes"} <= set(begins)
    assert [line.partition(" ")[0] for line in said if ITERATION.match(line)] == [
        "[1/1]"
    ]  # the demo's bar counts these


def test_reinforcement_learning_is_heard_of_inside_its_iterations(talkative: None, tmp_path: Path) -> None:
    said: list[str] = []
    args = steppo.StepPO(**SMALL, episodes=3, minibatches=2, kl_coef=0.0, output=str(tmp_path / "run"))
    steppo.train(args, said.append)
    assert {"iteration 1, playing episodes", "iteration 1, learning sequences"} <= {
        line.rpartition(": ")[0] for line in said
    }


@pytest.mark.parametrize("env", ["agentrl/FrozenLak-Text-v0", {"id": "agentrl/FrozenLak-Text-v0"}])
def test_a_misspelt_environment_is_noticed_before_anything_is_done(env: Any) -> None:
    with pytest.raises(ConfigError, match='Did you mean "agentrl/FrozenLake-Text-v0"'):
        sft.SFT(env=("agentrl/Sokoban-Text-v0", env))

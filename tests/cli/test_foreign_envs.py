"""`agentrl eval` and `agentrl train` on Gymnasium environments that know nothing of agentrl."""

from __future__ import annotations

import json

import pytest

from agentrl.rollout.episode import make
from agentrl.rollout.trajectory_file import TrajectoryReader

COPY, TOLD, NUMBERED = (f"tests.cli.text_games:games/{name}-v0" for name in ("Copy", "Told", "Numbered"))
SMALL = ("--threads", "1", "--max-new-tokens", "8", "--num-envs", "4", "--no-report")


@pytest.mark.parametrize("env_id", [COPY, TOLD])
def test_text_of_another_package_stands_under_text(env_id):
    env = make(env_id, split="test")
    observation, info = env.reset(seed=3)
    assert observation["text"].startswith("write ") and info == {}
    assert observation in env.observation_space
    letter = observation["text"][-1]
    observation, reward, *ends, info = env.step(f"it is {letter}")
    assert (reward, ends, info) == (1.0, [False, False], {"is_success": True})
    assert observation in env.observation_space


def test_eval_plays_an_environment_of_another_package(agentrl_cli, tmp_path):
    words = ("eval", TOLD, "--episodes", "4", "--env-kwargs", '{"turns": 2}', "--json", "--output", str(tmp_path / "o"))
    done = agentrl_cli(*words)
    assert done.status == 0
    assert (done.json["episodes"], done.json["faults"], done.json["turns_mean"]) == (4, 0, 2.0)
    (records,) = (tmp_path / "o" / "trajectories").glob("*.jsonl")
    played = list(TrajectoryReader(records))
    assert [len(episode.steps) for episode in played] == [2] * 4
    assert all(episode.steps[0].observation.startswith("write ") and episode.split is None for episode in played)


def test_a_tiny_model_trains_on_an_environment_of_another_package(agentrl_cli, tmp_path):
    folder = tmp_path / "run"
    words = ("--env", COPY, "--model", "tiny-text", "--iterations", "1", "--episodes", "4", "--minibatches", "1")
    done = agentrl_cli("train", "ppo", *words, "--eval-episodes", "2", "--output", str(folder), *SMALL)
    assert done.status == 0, done.err
    held = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    (trained,) = [line for line in held if line["kind"] == "train"]
    assert trained["faults"] == 0
    records = min((folder / "trajectories").iterdir())
    (first, *_) = TrajectoryReader(records)
    assert first.steps[0].observation.startswith("write ") and first.steps[0].response_ids


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--env", NUMBERED), "environments that read and write text"),
        (("--env", TOLD, "--env-kwargs", '{"colour": 1}'), "cannot be made: Told got unexpected arguments"),
        (("--env", "no_such_package:games/Copy-v0"), "cannot be made: No module named 'no_such_package'"),
    ],
)
def test_what_cannot_be_trained_on_is_refused_in_one_line(agentrl_cli, tmp_path, words, said):
    done = agentrl_cli("train", "ppo", *words, "--iterations", "1", "--output", str(tmp_path / "run"), *SMALL)
    assert done.status == 2
    assert said in done.err.splitlines()[-1]

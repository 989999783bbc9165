"""WebRL with tasks that a language model writes: labelled by a judge, never written twice, not even after a resume."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory_file import read_trajectories
from agentrl.trainers.algorithms import webrl
from agentrl.trainers.run.phases import Labels
from agentrl.trainers.run.replay import Label, labelled
from benchmarks.judges.faulty_endpoint import Call, FaultyEndpoint, word_chances
from tests.trainers.episodes import conversation
from tests.trainers.runs import assert_same_run, lines

IDEAS = [f"Find the phone number of bakery number {number} on the map." for number in range(24)]
PER_PHASE = 3


def answer(call: Call) -> Any:
    """By the question alone: how an episode ended, whether a task is possible, or ten tasks out of 24."""
    number = zlib.crc32(call.question.encode())
    if "The new task:" in call.question:
        return "NO" if "number 3 " in call.question.split("The new task:")[1] else "YES"
    if "JSON list of" in call.body["messages"][0]["content"]:
        return json.dumps([IDEAS[(number + place) % len(IDEAS)] for place in range(10)])
    chances = (-0.1, -2.5) if number % 2 else (-2.5, -0.1)
    return word_chances(dict(zip(("YES", "NO"), chances, strict=True)))


def arguments(output: Path, endpoint: FaultyEndpoint, **options: Any) -> webrl.WebRL:
    asked = {"model": "any", "base_url": endpoint.base_url}
    return webrl.WebRL(
        env=("agentrl/WebArenaLite-Text-v0",),
        env_kwargs={"sites": ["map"], "observation_mode": "compact", "max_turns": 2},
        model="tiny-web",
        output=str(output),
        prompt_style="step",
        history=0,
        max_new_tokens=3,
        tasks_per_phase=PER_PHASE,
        start_tasks=2,
        generator={"kind": "llm", **asked},
        orm={"kind": "outcome", **asked},
        value_low=0.0,
        value_high=1.0,
        eval_every=0,
        save_trajectories=0,
        threads=1,
        **options,
    )


def instructions(run: Path) -> list[str]:
    """Of all tasks that were played after the first ones, in order."""
    files = sorted((run / "replay").glob("phase_*.jsonl"))[1:]
    records = [trajectory for file in files for trajectory in read_trajectories(file)]
    return [record.steps[-1].info["label"]["task"]["instruction"] for record in records]


@pytest.mark.long
def test_a_resumed_run_knows_what_was_written_before(tmp_path) -> None:
    with FaultyEndpoint(answer=answer) as endpoint:
        whole = webrl.train(arguments(tmp_path / "whole", endpoint, iterations=2))
        pieces = tmp_path / "pieces"
        webrl.train(arguments(pieces, endpoint, iterations=1))
        webrl.train(arguments(pieces, endpoint, iterations=2, resume=True))
    assert_same_run(whole, pieces, 2)
    for phase in (line["phase"] for line in lines(whole, "train")):
        assert phase["tasks"]["kept"] == phase["labels"]["labelled"] == PER_PHASE
    written = instructions(whole)
    assert len(set(written)) == len(written) == 2 * PER_PHASE and set(written) < set(IDEAS) - {IDEAS[3]}


@pytest.mark.parametrize("judge", ["rule", '{"kind": "llm", "model": "any", "base_url": "http://127.0.0.1:9/v1"}'])
def test_a_judge_that_cannot_label_outcomes_is_refused_before_anything_is_played(tmp_path, judge) -> None:
    with pytest.raises(ConfigError, match="outcome"):
        webrl.train(webrl.WebRL(env=("agentrl/FrozenLake-Text-v0",), orm=judge, output=str(tmp_path / "run")))
    assert not list(tmp_path.glob("run/**/*.jsonl"))


def test_what_an_environment_cannot_evaluate_counts_neither_for_nor_against_the_labels() -> None:
    records = [labelled(conversation([[4]]), Label(0.9, "orm", 1, truth=truth)) for truth in (True, None, None)]
    found = Labels(records, []).metrics()
    assert (found["labelled"], found["success"], found["accuracy"], found["precision"]) == (3, 1.0, 1.0, 1.0)
    assert Labels(records[1:], []).metrics()["accuracy"] is None

"""Records of episodes: what they keep, and that files give back exactly what was written, whatever happened."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Generation
from agentrl.policies import load_policy
from agentrl.rollout.episode import make, play_episode, record_episode
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.prompts import read_observation
from agentrl.rollout.trajectory import Step, Trajectory, picture_hash, plain
from agentrl.rollout.trajectory_file import (
    TrajectoryReader,
    TrajectoryWriter,
    images_folder,
    read_trajectories,
    write_trajectories,
)
from agentrl.wrappers import Reasoning, ReasoningReward
from tests import toy_judges as toys

LAKE = "agentrl/FrozenLake-{}-v0"
CANARY = "canary-key-0815"


def judged(judge: Any = "tests.toy_judges:Exact", kind: str = "Text", **options: Any) -> gym.Env:
    env = Reasoning(gym.make(f"agentrl/Sokoban-{kind}-v0"), "grounding_worldmodeling")
    return ReasoningReward(env, judge, **options)


def gold_run(env: gym.Env, seed: int = 1) -> Trajectory:
    return record_episode(env, load_policy("oracle"), seed)


# ---------------------------------------------------------------------- recording


@pytest.mark.parametrize("kind", ["Text", "Visual", "Grid"])
def test_a_record_agrees_with_the_episode_it_was_made_from(kind: str) -> None:
    env = make(LAKE.format(kind), split="dev")
    trajectory = record_episode(env, load_policy("random", seed=3), 7)
    assert trajectory == play_episode(env, load_policy("random", seed=3), 7)
    policy = load_policy("random", seed=3)
    observation, info = env.reset(seed=7)
    for step in trajectory.steps:
        assert step.observation == read_observation(observation)[0]
        (answer,) = policy.act([[]], [env])
        observation, reward, terminated, truncated, told = env.step(answer.action)
        assert (step.action, step.reward) == (plain(answer.action), reward)
    assert (trajectory.terminated, trajectory.truncated) == (terminated, truncated) != (False, False)
    assert trajectory.success == told["success"] and trajectory.reward == sum(step.reward for step in trajectory.steps)
    assert (trajectory.split, trajectory.seed, trajectory.task, trajectory.policy) == ("dev", 7, info["task"], "random")
    assert trajectory.final_observation == read_observation(observation)[0]
    assert trajectory.stop_reason == ("terminated" if terminated else "truncated")
    assert gym.make(gym.envs.registration.EnvSpec.from_json(json.dumps(trajectory.spec))).unwrapped.split == "dev"


def test_pictures_are_named_by_content_and_in_order() -> None:
    trajectory = record_episode(make(LAKE.format("Visual")), load_policy("oracle"), 1)
    names = [*(step.images[0] for step in trajectory.steps), *trajectory.final_images]
    assert len(names) == len(trajectory.steps) + 1 and set(names) == set(trajectory.pictures)
    assert all(picture_hash(picture) == name for name, picture in trajectory.pictures.items())
    assert picture_hash(np.zeros((2, 3, 3), np.uint8)) != picture_hash(np.zeros((3, 2, 3), np.uint8))


def test_tokens_are_kept_as_the_policy_produced_them(toy) -> None:
    class Model:
        name = "model"

        def act(self, conversations, envs=None):
            return [Generation("well: yes", "yes", [5, 6], [-0.5, -0.25], "length", 12)]

    (first, _) = record_episode(make(toy), Model(), 0).steps
    assert (first.response_ids, first.logprobs, first.finish_reason, first.version) == (
        [5, 6],
        [-0.5, -0.25],
        "length",
        12,
    )
    assert (first.response, first.action) == ("well: yes", "yes")


def test_a_fault_ends_the_record_and_keeps_what_was_played(toy, script) -> None:
    trajectory = record_episode(make(toy), script(["yes", "break"]), 0)
    assert len(trajectory.steps) == 1 and trajectory.stop_reason == "fault"
    assert trajectory.fault == {"kind": "EnvFault", "detail": "the backend is gone"}
    assert trajectory.reward is None


def test_the_reward_is_none_while_a_term_is_pending() -> None:
    owing, paid = gold_run(judged(deferred=True)), gold_run(judged())
    assert owing.reward is None and owing.pending
    assert paid.reward is not None and not paid.pending
    assert math.fsum(step.reward for step in owing.steps) == pytest.approx(paid.reward - len(paid.steps))


def test_ids_follow_from_the_content_or_are_given() -> None:
    env = judged()
    assert gold_run(env, 1).id == gold_run(env, 1).id != gold_run(env, 2).id
    named = record_episode(env, load_policy("oracle"), 1, id="a", group_id="g")
    assert (named.id, named.group_id) == ("a", "g")


def test_anything_an_environment_says_becomes_json() -> None:
    strange = {1: np.float32(0.5), "a": np.arange(2), "b": {1.5}, "c": float("nan"), "d": object(), "e": (None, True)}
    assert plain(strange) == {"1": 0.5, "a": [0, 1], "b": [1.5], "c": None, "d": "<object>", "e": [None, True]}
    assert plain(np.array([[0.5, 2]], np.float32)) == [[0.5, 2.0]] and plain(np.array([[np.inf], [1]])) == [[None], [1]]
    largest = 1.7e308  # finite, though their sum is not
    assert plain([np.longdouble(0.5), np.array([np.longdouble(2)]), np.clongdouble(1)]) == [0.5, [2.0], "<clongdouble>"]
    assert plain((0.5, math.nan, math.inf)) == [0.5, None, None] and plain([largest, largest]) == [largest, largest]


def test_terms_and_reward_stay_in_step() -> None:
    step = Step(reward=math.fsum([0.1, 0.2]), reward_terms={"a": 0.1, "b": 0.2})
    step.set_terms({"a": 0.1, "b": 0.2, "c": 0.1})
    assert step.reward == math.fsum([0.1, 0.2, 0.1])
    scaled = Step(reward=30.0, reward_terms={"a": 0.3})  # somebody outside changed the reward
    scaled.set_terms({"a": 0.3, "c": 1.0})
    assert scaled.reward == 31.0


# ---------------------------------------------------------------------- files


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    env = judged(toys.Flaky(3), "Visual")
    written = [gold_run(env, seed) for seed in range(5)]
    with TrajectoryWriter(tmp_path / "a.jsonl") as writer:
        for number, trajectory in enumerate(written, 1):
            writer.write(trajectory)
            assert len(list(TrajectoryReader(tmp_path / "a.jsonl"))) == number  # on disk at once, not at the end
    reader = TrajectoryReader(tmp_path / "a.jsonl")
    assert list(reader) == written and reader.damaged == []
    for trajectory in written:
        for name, picture in trajectory.pictures.items():
            assert (reader.picture(name) == picture).all()


def test_appending_goes_on_and_equal_pictures_are_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "trajectories" / "a.jsonl"
    for _ in range(2):
        with TrajectoryWriter(path) as writer:
            writer.write(gold_run(judged(kind="Visual")))
    first, second = read_trajectories(path)
    assert first == second
    assert {p.stem for p in (tmp_path / "images").iterdir()} == {*first.final_images} | {
        name for step in first.steps for name in step.images
    }


@pytest.mark.parametrize("cut", [1, 10, 100, 500])
def test_a_half_written_last_line_is_passed_over_and_never_appended_to(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.jsonl"
    whole = gold_run(judged())
    with TrajectoryWriter(path) as writer:
        writer.write(whole)
        writer.write(whole)
    path.write_bytes(path.read_bytes()[:-cut])  # killed while writing
    survivors = 2 if cut == 1 else 1  # without its line end alone the record is still whole
    assert read_trajectories(path) == [whole] * survivors
    with TrajectoryWriter(path) as writer:
        writer.write(whole)
    reader = TrajectoryReader(path)
    assert list(reader) == [whole] * (survivors + 1)
    assert [number for number, _ in reader.damaged] == ([] if cut == 1 else [2])


@pytest.mark.parametrize(
    "line",
    [
        "null",
        "3",
        "{}",
        '{"schema": 99, "steps": []}',
        '{"schema": 1, "steps": 4}',
        '{"schema": 1, "steps": [{"reward": "much"}]}',
        '{"schema": 1, "steps": [], "reward": NaN}',
        "[" * 100_000,
        "\x00\xff",
    ],
)
def test_lines_that_are_no_trajectories_are_named_and_passed_over(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    with TrajectoryWriter(path) as writer:
        writer.write(gold_run(judged()))
    with open(path, "a") as file:
        file.write(line + "\n")
    reader = TrajectoryReader(path)
    assert len(list(reader)) == 1
    assert [number for number, _ in reader.damaged] == [2]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    with pytest.raises(ConfigError, match="holds no trajectories"):
        TrajectoryWriter(path)
    assert path.read_text() == "dear diary"
    with pytest.raises(ConfigError, match=r"no trajectory in .*line 1"):
        read_trajectories(path)
    with pytest.raises(ConfigError, match="cannot read"):
        read_trajectories(tmp_path / "missing")
    with pytest.raises(ConfigError, match="cannot write"):
        TrajectoryWriter(tmp_path)


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a" * 31, "A" * 32, "0" * 32 + "\n", "", 3])
def test_a_picture_is_only_ever_found_by_its_hash(tmp_path: Path, name: Any) -> None:
    with pytest.raises(ConfigError, match="hash of a picture"):
        TrajectoryReader(tmp_path / "a.jsonl").picture(name)


def test_a_hostile_file_cannot_have_other_files_copied(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"private")
    with pytest.raises(ConfigError, match="hash of a picture"):
        write_trajectories(tmp_path / "out" / "b.jsonl", [Trajectory(final_images=["../x"])], tmp_path / "images")


def test_pictures_travel_with_a_rewritten_file(tmp_path: Path) -> None:
    with TrajectoryWriter(tmp_path / "a" / "a.jsonl") as writer:
        writer.write(gold_run(judged(kind="Visual")))
    (trajectory,) = read_trajectories(tmp_path / "a" / "a.jsonl")
    write_trajectories(tmp_path / "b" / "b.jsonl", [trajectory], images_folder(tmp_path / "a" / "a.jsonl"))
    reader = TrajectoryReader(tmp_path / "b" / "b.jsonl")
    assert list(reader) == [trajectory]
    assert reader.picture(trajectory.final_images[0]).shape == (192, 192, 3)


def test_no_secret_is_ever_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_TEST_API_KEY", "environment-canary")

    class Leaky(toys.Toy):
        def one(self, request):
            from agentrl.core.errors import JudgeFault

            return JudgeFault("401 for environment-canary, header Bearer bearer-canary-1")

    spoken = judged(Leaky())
    named = judged({"kind": "tests.toy_judges:Keyed", "api_key": CANARY}, deferred=True)
    with TrajectoryWriter(tmp_path / "a.jsonl") as writer:
        writer.write(gold_run(spoken))
        writer.write(gold_run(named))
    written = (tmp_path / "a.jsonl").read_text()
    assert "canary" not in written and written.count("[redacted]") > 2
    assert all(trajectory.pending for trajectory in read_trajectories(tmp_path / "a.jsonl"))


def test_half_characters_survive(tmp_path: Path, toy, script) -> None:
    with TrajectoryWriter(tmp_path / "a.jsonl") as writer:
        writer.write(record_episode(make(toy), script(["\ud800\n", "no"]), 0))
    assert read_trajectories(tmp_path / "a.jsonl")[0].steps[0].action == "\ud800\n"


# ---------------------------------------------------------------------- evaluations


def test_an_evaluation_hands_over_every_trajectory_also_the_broken_ones(toy, script) -> None:
    kept: list[Trajectory] = []
    policy = script(["yes", "yes"], ["no", "break"], ["no", "yes"])
    result = evaluate(toy, policy, 3, on_trajectory=kept.append)
    assert [trajectory.stop_reason for trajectory in kept] == ["terminated", "fault", "terminated"]
    assert [trajectory.reward for trajectory in kept] == [1.0, None, 1.0]
    assert (result.success, result.faults, result.metrics["scored"]) == (1.0, 1, 2)


def test_an_evaluation_puts_wrappers_around_the_environment() -> None:
    wrappers = [
        {"wrapper": "Reasoning", "strategy": "grounding"},
        {"wrapper": "ReasoningReward", "judge": "tests.toy_judges:Exact"},
    ]
    result = evaluate(LAKE.format("Text"), "oracle", 5, wrappers=wrappers)
    assert result.format_rate == 1.0 and result.reward_terms["grounding"] == 0.5 * result.turns_mean
    names = [entry["name"] for entry in result.spec["additional_wrappers"]]
    assert names == ["Reasoning", "ReasoningReward"]


@pytest.mark.parametrize(
    ("wrappers", "says"),
    [
        ([{"wrapper": "Resoning"}], 'Did you mean "Reasoning"'),
        ([{"wrapper": "Reasoning", "stratgy": "x"}], "stratgy"),
        ([{"wrapper": "Reasoning", "strategy": "x"}], "strategy must be one of"),
        ([{"strategy": "x"}], '"wrapper" and its arguments'),
        (["Reasoning"], '"wrapper" and its arguments'),
        ("Reasoning", "a list such as"),
        ({"wrapper": "Reasoning"}, "a list such as"),
        ([{"wrapper": "os:system"}], "must be a subclass of gymnasium.Wrapper"),
        ([{"wrapper": "tests.toy_judges:Exact"}], "must be a subclass of gymnasium.Wrapper"),
        ([{"wrapper": "no_such_module_here:X"}], "cannot be imported"),
        ([{"wrapper": "ReasoningReward"}], "what Reasoning asks for"),
    ],
)
def test_wrong_wrappers_are_refused(wrappers: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        evaluate(LAKE.format("Text"), "random", 1, wrappers=wrappers)


def test_wrappers_of_others_are_found_by_place() -> None:
    result = evaluate(
        LAKE.format("Text"),
        "random",
        1,
        wrappers=[{"wrapper": "gymnasium.wrappers:TimeLimit", "max_episode_steps": 1}],
    )
    assert result.turns_mean == 1.0


def test_a_pipe_is_no_place_for_trajectories(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(ConfigError, match="not a regular file"):
        TrajectoryWriter(tmp_path / "pipe.jsonl")

"""Prompts as deltas: nothing is lost, much is saved, and a delta that points nowhere is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from agentrl.core.errors import ConfigError
from agentrl.rollout.trajectory import Step, Trajectory, common_prefix, pack, unpack
from agentrl.rollout.trajectory_file import TrajectoryReader, TrajectoryWriter, read_trajectories
from tests.rollout.trajectories import trajectories

HEAD = list(range(100, 120))


def talk(turns: int = 10) -> Trajectory:
    """A conversation in which each turn adds five tokens to a head of twenty."""
    found, prompt = [], HEAD
    for turn in range(turns):
        found.append(Step(prompt_ids=prompt, response_ids=[turn, 1]))
        prompt = [*prompt, turn, 1, 7, 8, 9]
    return Trajectory(steps=found, final_prompt_ids=prompt)


@settings(max_examples=80, deadline=None)
@given(trajectories())
def test_packing_and_unpacking_are_inverse(trajectory: Trajectory) -> None:
    before = json.dumps(trajectory.to_json())
    packed = pack(trajectory.to_json())
    assert unpack(json.loads(json.dumps(packed))) == json.loads(before)
    assert json.dumps(trajectory.to_json()) == before  # the record itself was not touched
    assert Trajectory.from_json(json.loads(json.dumps(packed))) == trajectory


def test_a_conversation_stores_only_what_was_added() -> None:
    packed = pack(talk().to_json())
    assert packed["steps"][0]["prompt_ids"] == HEAD
    assert packed["steps"][3]["prompt_ids"] == {"shared": 20 + 2 * 5 + 2, "ids": [7, 8, 9]}
    assert packed["final_prompt_ids"] == {"shared": 20 + 9 * 5 + 2, "ids": [7, 8, 9]}


def test_step_style_stores_only_what_follows_the_shared_head() -> None:
    steps = [Step(prompt_ids=[*HEAD, 1, 2], response_ids=[3]), Step(prompt_ids=[*HEAD, 5, 2], response_ids=[3])]
    packed = pack(Trajectory(steps=steps).to_json())
    assert packed["steps"][1]["prompt_ids"] == {"shared": 20, "ids": [5, 2]}


def test_a_few_shared_tokens_are_not_worth_a_delta() -> None:
    steps = [Step(prompt_ids=[1, 2, 3]), Step(prompt_ids=[1, 2, 4])]
    assert pack(Trajectory(steps=steps).to_json())["steps"][1]["prompt_ids"] == [1, 2, 4]


def test_prompts_take_space_once(tmp_path: Path) -> None:
    with TrajectoryWriter(tmp_path / "a.jsonl") as writer:
        writer.write(talk(60))
    whole = len(json.dumps(talk(60).to_json(), separators=(",", ":")))
    assert (tmp_path / "a.jsonl").stat().st_size < whole / 2
    assert read_trajectories(tmp_path / "a.jsonl") == [talk(60)]


def test_files_from_before_deltas_are_still_read(tmp_path: Path) -> None:
    old = {**talk().to_json(), "schema": 1}
    (tmp_path / "a.jsonl").write_text(json.dumps(old) + "\n")
    assert read_trajectories(tmp_path / "a.jsonl") == [talk()]


@pytest.mark.parametrize(
    "delta",
    [
        {"shared": 23, "ids": []},
        {"shared": -1, "ids": []},
        {"shared": True, "ids": []},
        {"shared": 2.0, "ids": []},
        {"shared": 2, "ids": "12"},
        {"shared": 2, "ids": ["x"]},
        {"shared": 2},
        {"ids": []},
        {},
    ],
)
@pytest.mark.parametrize("place", ["step", "final"])
def test_a_delta_that_points_nowhere_is_a_damaged_line(tmp_path: Path, delta: Any, place: str) -> None:
    data = Trajectory(steps=[Step(prompt_ids=HEAD, response_ids=[1, 2]), Step()]).to_json()
    if place == "step":
        data["steps"][1]["prompt_ids"] = delta
    else:
        data["steps"].pop()
        data["final_prompt_ids"] = delta
    (tmp_path / "a.jsonl").write_text(json.dumps(data) + "\n")
    reader = TrajectoryReader(tmp_path / "a.jsonl")
    assert list(reader) == [] and len(reader.damaged) == 1


@pytest.mark.parametrize("first", [None, 3, "ids", {"shared": 0, "ids": []}])
def test_a_delta_needs_whole_tokens_before_it(first: Any) -> None:
    data = Trajectory(steps=[Step(), Step()]).to_json()
    data["steps"][0]["prompt_ids"], data["steps"][1]["prompt_ids"] = first, {"shared": 0, "ids": []}
    with pytest.raises(ConfigError, match="cannot be read"):
        Trajectory.from_json(data)


@pytest.mark.parametrize(
    ("first", "second", "shared"), [([], [1], 0), ([1, 2], [1, 2], 2), ([1, 2, 3], [1, 2], 2), ([1, 9], [1, 2, 3], 1)]
)
def test_common_prefixes(first: list[int], second: list[int], shared: int) -> None:
    assert common_prefix(first, second) == common_prefix(second, first) == shared

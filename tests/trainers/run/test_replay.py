"""The replay buffer: what it keeps, what is drawn from it, and that its files are exactly those of the checkpoint."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import Task
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.parallel.ranks import ProcessGroup
from agentrl.trainers.run.replay import (
    Label,
    Played,
    Record,
    ReplayBuffer,
    drawn,
    in_window,
    labelled,
    quantile_window,
    replayed,
)
from tests.trainers.episodes import conversation


def record(name: str, score: float, *, phase: int = 1, task: Task | None = None, actions: int = 2) -> Record:
    trajectory = conversation([[4, 5]] * actions, id=name)
    data = None if task is None else task.to_json()
    return labelled(trajectory, Label(score, "truth", phase, 0, data, score > 0.5))


def buffer(folder: Path, state: dict[str, Any], **options: Any) -> ReplayBuffer:
    return ReplayBuffer(folder, state, ProcessGroup(), **options)


def names(found: ReplayBuffer) -> list[str]:
    return [one.trajectory.id for one in found.records]


# ---------------------------------------------------------------------- what is kept


def test_successes_are_kept_and_failed_tasks_are_seeds(tmp_path) -> None:
    found = buffer(tmp_path, {})
    hard, wide = Task("hard"), Task("hard", {"size": 5})
    played = [record("a", 1.0), record("b", 0.0, task=hard), record("c", 0.5, task=wide), record("d", 0.0, task=hard)]
    found.add(1, played)
    assert names(found) == ["a"]  # 0.5 is no success: it must be likelier than failure
    assert found.failures.of(0) == [hard, wide] and len(found.failures) == 2
    assert found.failures.of(7) == []


def test_failures_may_be_kept_and_the_oldest_leave_a_full_buffer(tmp_path) -> None:
    found = buffer(tmp_path, {}, keep_failures=True, capacity=5)
    found.add(0, [record("a", 1.0, actions=2), record("b", 0.0, actions=2)])
    found.add(1, [record("c", 1.0, actions=3)])
    assert names(found) == ["b", "c"] and found.actions == 5
    found.add(2, [record("d", 1.0, actions=9)])
    assert names(found) == ["d"]  # larger than the buffer, and still better than nothing


def test_of_the_successes_at_a_task_the_newest_may_stay_alone(tmp_path) -> None:
    easy, hard = Task("easy"), Task("hard")
    state: dict[str, Any] = {}
    found = buffer(tmp_path, state, one_per_task=True)
    found.add(0, [record("a", 1.0, task=easy), record("b", 1.0, task=hard), record("c", 1.0), record("d", 1.0)])
    found.add(1, [record("e", 1.0, task=easy), record("f", 0.0, task=hard)])
    assert names(found) == ["b", "c", "d", "e"]  # without a task nothing can be told apart
    assert names(buffer(tmp_path, state, one_per_task=True)) == names(found)
    assert names(buffer(tmp_path, state)) == ["a", "b", "c", "d", "e"]


def test_demonstrations_that_succeed_are_in_the_buffer_and_stay_there(tmp_path) -> None:
    shown, task = [record("shown", 1.0), record("failed", 0.0)], Task("t")
    state: dict[str, Any] = {}
    found = buffer(tmp_path, state, one_per_task=True, demonstrations=shown)
    found.add(0, [record("a", 1.0, task=task)])
    assert names(found) == ["shown", "a"] and not len(found.failures)
    assert names(buffer(tmp_path, state, demonstrations=shown)) == ["shown", "a"]


def test_played_tasks_and_all_episodes_come_back_from_the_files(tmp_path) -> None:
    one, two, three = (Task(name) for name in "abc")
    state: dict[str, Any] = {}
    first = buffer(tmp_path, state, keep_all=True)
    first.add(0, [record("won", 1.0, task=one), record("lost", 0.0, task=two)])
    first.add(1, [record("again", 0.0)], [(conversation([[4]], id="w"), Played(0, three))])
    again = buffer(tmp_path, state, keep_all=True)
    for found in (first, again):
        assert set(found.played.of(0)) == {one, two, three} and found.failures.of(0) == [two]
        assert [one.trajectory.id for one in found.episodes] == ["won", "lost", "again"]
    assert not buffer(tmp_path, state).episodes


# ---------------------------------------------------------------------- files


def test_a_buffer_comes_back_from_its_files_with_what_waits(tmp_path) -> None:
    state: dict[str, Any] = {}
    first, task = buffer(tmp_path, state), Task("t", {"size": 5}, "go there")
    first.add(0, [record("a", 1.0), record("b", 0.0, task=task)])
    first.add(1, [record("c", 0.9)], [(conversation([[4]], id="w"), Played(0, task))])
    again = buffer(tmp_path, state)
    assert again.records == first.records
    assert again.failures.tasks == first.failures.tasks == {0: {task: None}}
    ((waiting, played),) = again.waiting
    assert waiting.id == "w" and played == Played(0, task)
    assert again.failures.of(0)[0].instruction == "go there"
    again.add(2, [record("w", 1.0)])
    assert names(buffer(tmp_path, state)) == ["a", "c", "w"] and not buffer(tmp_path, state).waiting


def test_what_was_written_after_the_checkpoint_is_removed_and_written_again(tmp_path) -> None:
    state: dict[str, Any] = {}
    found = buffer(tmp_path, state)
    found.add(0, [record("a", 1.0)])
    checkpoint = {"files": list(state["files"]), "waiting": None}
    found.add(1, [record("late", 1.0)], [(conversation([[4]], id="w"), Played())])
    (tmp_path / "replay/phase_000007.jsonl").write_text('{"half a line')
    resumed = buffer(tmp_path, checkpoint)
    assert names(resumed) == ["a"] and not resumed.waiting
    assert [path.name for path in (tmp_path / "replay").glob("*.jsonl")] == ["phase_000000.jsonl"]
    resumed.add(1, [record("b", 1.0)])
    assert names(buffer(tmp_path, checkpoint)) == ["a", "b"]


@pytest.mark.parametrize("damage", ["edited", "missing", "longer"])
def test_a_damaged_file_is_refused_by_name(tmp_path, damage) -> None:
    state: dict[str, Any] = {}
    buffer(tmp_path, state).add(0, [record("a", 1.0)])
    path = tmp_path / "replay/phase_000000.jsonl"
    if damage == "missing":
        path.unlink()
    elif damage == "longer":
        path.write_bytes(path.read_bytes() * 2)
    else:
        path.write_bytes(path.read_bytes().replace(b'"score":1.0', b'"score":0.9'))
    with pytest.raises(ConfigError, match="phase_000000"):
        buffer(tmp_path, state)


# ---------------------------------------------------------------------- what is replayed


def test_the_window_leaves_out_what_is_known_by_heart_and_what_is_strange() -> None:
    """Perplexities of tokens that all have probability 0.99, 0.95, 0.7, 0.5, 0.3, and of a reply without a token."""
    found = in_window([[1 / p for p in (0.99, 0.95, 0.7)], [1 / 0.5, 1 / 0.3, math.inf]], 1 / 0.95, 1 / 0.5)
    assert found == [[False, True, True], [True, False, False]]


def test_a_window_of_quantiles_leaves_the_middle_whatever_the_perplexities() -> None:
    known = [[1.001, 1.002], [1.003, 1.004, math.inf], [1.005]]  # the fixed window would leave nothing
    assert not any(map(any, in_window(known, 1 / 0.95, 1 / 0.5)))
    low, high = quantile_window(known, 0.25, 0.75)
    assert (low, high) == pytest.approx((1.002, 1.004))
    assert in_window(known, low, high) == [[False, True], [True, True, False], [False]]
    assert quantile_window(known, 0.0, 1.0) == pytest.approx((1.001, 1.005))
    assert quantile_window([[math.inf]], 0.25, 0.75) == (1.0, 1.0)


def test_at_most_so_many_eligible_actions_are_drawn_by_the_seed() -> None:
    eligible = [[True, False, True], [True] * 4, [False], [True, True]]

    def draw(most: int, seed: int = 0) -> list[list[bool]]:
        return drawn(eligible, most, torch.Generator().manual_seed(seed))

    assert draw(100) == eligible and sum(map(sum, draw(0))) == 0
    for most in range(9):
        assert sum(map(sum, draw(most))) == min(most, 8)
    assert draw(5) == draw(5)
    assert len({str(draw(3, seed)) for seed in range(20)}) > 3
    partly = [each for each, whole in zip(draw(5), eligible, strict=True) if any(each) and each != whole]
    assert len(partly) <= 1  # the last one only


def test_only_trajectories_with_a_drawn_action_are_learned_from() -> None:
    records = [record("a", 1.0), record("b", 1.0), record("c", 0.0)]
    found = replayed(records, [[True, False], [False, False], [True, True]])
    assert [one.id for one in found.trajectories] == ["a", "c"]
    assert found.outcomes == [1.0, 0.0] and found.kept == [[True, False], [True, True]] and found.actions == 3
    assert len(replayed([], [])) == 0


def test_a_file_without_labels_is_refused(tmp_path) -> None:
    from agentrl.trainers.run.replay import record_of

    with pytest.raises(ConfigError, match="no label"):
        record_of(Trajectory(id="x"))
    with pytest.raises(ConfigError, match="no label"):
        record_of(conversation([[4]], id="x"))

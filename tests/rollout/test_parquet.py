"""Closed trajectory files: parquet gives back exactly what the JSON lines held, and nothing is lost on the way."""

from __future__ import annotations

import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.policies import load_policy
from agentrl.rollout import parquet
from agentrl.rollout.episode import make, record_episode
from agentrl.rollout.parquet import iterate_parquet, to_parquet, write_parquet
from agentrl.rollout.trajectory import Step, Trajectory
from agentrl.rollout.trajectory_file import TrajectoryReader, TrajectoryWriter, read_trajectories, write_trajectories
from tests.rollout.trajectories import trajectories


def whole(path: Path) -> list[Trajectory]:
    return list(iterate_parquet(path))


def some(count: int = 3) -> list[Trajectory]:
    return [Trajectory(id=str(n), steps=[Step(prompt_ids=[n, 2], logprobs=[-0.1])] * n) for n in range(count)]


def written(path: Path, records: list[Trajectory]) -> Path:
    with TrajectoryWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


@settings(max_examples=40, deadline=None)
@given(st.lists(trajectories(), max_size=3))
def test_parquet_gives_back_exactly_what_was_written(records: list[Trajectory]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # Through the lines first: they strike out what looks like a secret.
        source = written(Path(folder) / "a.jsonl", records)
        lines = list(TrajectoryReader(source))
        assert len(lines) == len(records)
        target = to_parquet(source)
        assert [path.name for path in Path(folder).iterdir()] == ["a.parquet"]
        read = whole(target)
        assert read == lines and [repr(one) for one in read] == [repr(one) for one in lines]  # 1 is not 1.0 nor True


def test_a_real_episode_with_pictures_is_found_again_by_every_reader(tmp_path: Path) -> None:
    episode = record_episode(make("agentrl/FrozenLake-Visual-v0"), load_policy("oracle"), 1)
    target = to_parquet(written(tmp_path / "trajectories" / "a.jsonl", [episode]))
    assert read_trajectories(target) == whole(target) == [episode]
    reader = TrajectoryReader(target)
    assert list(reader) == [episode]
    assert (reader.picture(episode.final_images[0]) == episode.pictures[episode.final_images[0]]).all()


def test_one_row_per_step_with_typed_columns(tmp_path: Path) -> None:
    table = pq.read_table(to_parquet(written(tmp_path / "a.jsonl", some())))
    assert table.column("trajectory").to_pylist() == [0, 1, 2, 2]
    assert table.column("step").to_pylist() == [None, 0, 0, 1]
    assert table.column("id").to_pylist() == ["0", "1", "2", "2"]
    assert table.schema.field("step_prompt_ids").type == pa.list_(pa.int32())
    assert table.schema.field("step_logprobs").type == pa.list_(pa.float64())
    assert table.schema.metadata[b"agentrl.trajectories"] == b"1"
    assert table.column("exceptions").to_pylist() == [None] * 4


def test_damaged_lines_are_kept_aside(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", some())
    with open(source, "ab") as file:
        file.write(b'{"schema": 2, "steps"\n\xff half')
    assert whole(to_parquet(source)) == some()
    assert (tmp_path / "a.damaged").read_bytes() == b'{"schema": 2, "steps"\n\xff half\n'
    source.write_bytes(b"{}\n")
    with pytest.raises(ConfigError, match="no line of it can be read"):
        to_parquet(source, replace=True)
    assert source.read_bytes() == b"{}\n" and whole(tmp_path / "a.parquet") == some()


def test_an_interrupted_conversion_is_finished_by_the_next(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", some())
    lines = source.read_bytes()
    to_parquet(source)
    source.write_bytes(lines)  # as if the process had died just before removing it
    assert whole(to_parquet(source)) == some() and not source.exists()


def test_other_trajectories_under_the_same_name_are_never_overwritten_unasked(tmp_path: Path) -> None:
    to_parquet(written(tmp_path / "a.jsonl", some(2)))
    source = written(tmp_path / "a.jsonl", some(3))
    with pytest.raises(ConfigError, match="both were left alone"):
        to_parquet(source)
    assert read_trajectories(source) == some(3) and whole(tmp_path / "a.parquet") == some(2)
    assert whole(to_parquet(source, replace=True)) == some(3) and not source.exists()


@pytest.mark.parametrize("where", ["fill", "check", "replace"])
def test_a_full_disk_leaves_the_lines_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def full(*arguments: Any, **options: Any) -> Any:
        raise OSError(28, "No space left on device")

    place = {"fill": "agentrl.rollout.parquet.rows", "check": "agentrl.rollout.parquet._check_equal"}
    monkeypatch.setattr(place.get(where, "agentrl.rollout.parquet.os.replace"), full)
    source = written(tmp_path / "a.jsonl", some())
    with pytest.raises(ConfigError, match=r"was not converted.*No space left"):
        to_parquet(source)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"] and read_trajectories(source) == some()


def test_a_file_that_reads_back_wrong_never_replaces_the_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = parquet.rows
    monkeypatch.setattr(parquet, "rows", lambda index, data: honest(index, {**data, "id": "wrong"}))
    source = written(tmp_path / "a.jsonl", some())
    with pytest.raises(ConfigError, match="left alone"):
        to_parquet(source)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"] and read_trajectories(source) == some()


def test_a_file_that_is_still_written_to_is_not_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.jsonl", some())
    checked = parquet._check_equal

    def meanwhile(target: Path, wanted: Any) -> None:
        checked(target, wanted)
        written(source, some(1))

    monkeypatch.setattr(parquet, "_check_equal", meanwhile)
    with pytest.raises(ConfigError, match="still writing"):
        to_parquet(source)
    assert read_trajectories(source) == [*some(), *some(1)]


@pytest.mark.parametrize("name", ["a.txt", "a.parquet", "a", "missing.jsonl"])
def test_only_files_of_json_lines_are_turned_into_parquet(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text("dear diary")
    with pytest.raises(ConfigError, match=r"must be a \.jsonl file|No such file"):
        to_parquet(tmp_path / name)
    assert (tmp_path / "a.txt").read_text() == "dear diary"


def test_an_empty_file_becomes_an_empty_table(tmp_path: Path) -> None:
    assert whole(to_parquet(written(tmp_path / "a.jsonl", []))) == []
    with pytest.raises(ConfigError, match="no trajectory in"):
        read_trajectories(tmp_path / "a.parquet")


# ---------------------------------------------------------------------- files of others


def rewritten(path: Path, **changes: Any) -> Path:
    """The table of `some()` with columns or metadata replaced."""
    write_parquet(path, some())
    table = pq.read_table(path)
    for name, values in changes.items():
        if name == "version":
            table = table.replace_schema_metadata({"agentrl.trajectories": values} if values else None)
        else:
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pa.array(values)) if values else table.remove_column(place)
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": "2"}, 'version "2"'),
        ({"version": ""}, "holds no trajectories"),
        ({"step": []}, "holds no trajectories"),
        ({"id": [1, 2, 3, 4]}, "cannot be read"),
        ({"seed": ["a"] * 4}, "cannot be read"),
        ({"schema": [99] * 4}, "schema 99"),
        ({"step_info": ["{"] * 4}, "cannot be read"),
        ({"step_info": ["[" * 100_000] * 4}, "cannot be read"),
        ({"step_info": ['{"a": NaN}'] * 4}, "NaN is not allowed"),
        ({"step_prompt_ids": [[None]] * 4}, "cannot be read"),
        ({"exceptions": ["[]"] * 4}, "no JSON object"),
    ],
)
def test_tables_of_others_are_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        whole(rewritten(tmp_path / "a.parquet", **changes))


def test_a_column_from_before_a_field_gives_its_default(tmp_path: Path) -> None:
    assert whole(rewritten(tmp_path / "a.parquet", prompt_style=[])) == some()


@pytest.mark.parametrize("cut", [0, 3, 200])
def test_a_half_file_is_refused(tmp_path: Path, cut: int) -> None:
    write_parquet(tmp_path / "a.parquet", some())
    (tmp_path / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:cut])
    with pytest.raises(ConfigError, match="cannot read"):
        whole(tmp_path / "a.parquet")


def test_running_files_are_json_lines_and_whole_files_either(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"choose a \.jsonl file"):
        TrajectoryWriter(tmp_path / "a.parquet")
    secret = Trajectory(spec={"api_key": "canary-key-0815"}, system_prompt="canary-key-0815")
    write_trajectories(tmp_path / "b.parquet", [secret], tmp_path / "images")
    (read,) = read_trajectories(tmp_path / "b.parquet")
    assert read.spec == {"api_key": "[redacted]"} and read.system_prompt == "[redacted]"


def test_without_pyarrow_the_extra_is_named_and_the_lines_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "a.jsonl", some())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"agentrl-suite\[train\]"):
        to_parquet(source)
    assert read_trajectories(source) == some()


def test_a_large_file_is_never_in_memory_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 16)
    record = Trajectory(steps=[Step(prompt_ids=list(range(1000, 2000)), response_ids=[7])] * 4)
    with TrajectoryWriter(tmp_path / "a.jsonl") as writer:
        for _ in range(40):
            writer.write(record)
    tracemalloc.start()
    try:
        target = to_parquet(tmp_path / "a.jsonl")
        assert sum(1 for _ in iterate_parquet(target)) == 40
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 160 * 1000 * 36 / 2  # half of what the lists and numbers of all prompts would take

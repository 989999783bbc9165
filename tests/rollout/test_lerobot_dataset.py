"""LeRobotDataset v3: the files are laid out as lerobot's format says, come back equal, and refuse what cannot work.

`tests/adapters/test_lerobot.py` lets lerobot itself read and write them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import imageio_ffmpeg
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agentrl.core.errors import ConfigError
from agentrl.policies import load_policy
from agentrl.policies.human import HumanPolicy
from agentrl.rollout.demonstrations import GOLD
from agentrl.rollout.episode import play_episode
from agentrl.rollout.lerobot import Written, read_lerobot, write, write_lerobot
from agentrl.rollout.lerobot.names import camera_keys
from agentrl.rollout.lerobot.stats import combined, picture_stats, vector_stats
from agentrl.rollout.lerobot.write import tasks_table
from agentrl.rollout.trajectory import Trajectory
from agentrl.wrappers import ActionChunks
from tests.toy_control import PUCK

CAMERAS = ["observation.images.image", "observation.images.image2"]


def played(seed: int, policy: Any = "oracle", size: int = 0, **arguments: Any) -> Trajectory:
    env = gym.make(PUCK, disable_env_checker=True, **arguments)
    actor = load_policy(policy) if isinstance(policy, str) else policy
    return play_episode(ActionChunks(env, size) if size else env, actor, seed=seed)


@pytest.fixture(scope="module")
def episodes() -> list[Trajectory]:
    return [played(seed) for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def dataset(episodes: list[Trajectory], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "puck"
    assert write_lerobot(folder, episodes) == Written(3, sum(len(one.steps) for one in episodes), 1, 0)
    return folder


def parts(trajectory: Trajectory) -> list[Any]:
    """What a data set keeps of an episode."""
    facts = [trajectory.task, trajectory.success, trajectory.terminated, trajectory.reward]
    return facts + [
        (step.images, step.proprio, step.state, step.action, step.reward, step.info["instruction"])
        for step in trajectory.steps
    ]


# ---------------------------------------------------------------------- files


def test_the_files_are_those_of_version_3(dataset: Path, episodes: list[Trajectory]) -> None:
    names = sorted(str(path.relative_to(dataset)) for path in dataset.rglob("*") if path.is_file())
    assert names == [
        "data/chunk-000/file-000.parquet",
        "meta/episodes/chunk-000/file-000.parquet",
        "meta/info.json",
        "meta/stats.json",
        "meta/tasks.parquet",
    ]
    info = json.loads((dataset / "meta/info.json").read_text())
    frames = sum(len(one.steps) for one in episodes)
    assert info["codebase_version"] == "v3.0" and info["fps"] == 20
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (3, frames, 1)
    assert info["splits"] == {"train": "0:3"}
    assert info["data_path"] == "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
    picture = {"dtype": "image", "shape": [32, 32, 3], "names": ["height", "width", "channels"]}
    assert [info["features"][name] for name in CAMERAS] == [picture, picture]
    assert info["features"]["action"] == {"dtype": "float32", "shape": [2], "names": None}
    assert info["features"]["next.success"]["dtype"] == "bool"
    assert info["features"]["timestamp"] == {"dtype": "float32", "shape": [1], "names": None}
    assert info["agentrl"] == [{"env_id": PUCK, "env_kwargs": {}, "split": "train", "policy": "oracle"}]


def test_a_row_is_a_frame_and_a_row_group_an_episode(dataset: Path, episodes: list[Trajectory]) -> None:
    file = pq.ParquetFile(dataset / "data/chunk-000/file-000.parquet")
    schema = file.schema_arrow
    assert schema.field("action").type == pa.list_(pa.float32(), 2)
    assert schema.field("observation.state").type == pa.list_(pa.float32(), 2)
    assert schema.field(CAMERAS[0]).type == pa.struct({"bytes": pa.binary(), "path": pa.string()})
    assert schema.field("timestamp").type == pa.float32() and schema.field("next.done").type == pa.bool_()
    assert [file.metadata.row_group(group).num_rows for group in range(3)] == [len(one.steps) for one in episodes]
    rows = file.read().to_pydict()
    count = len(rows["index"])
    assert rows["index"] == list(range(count)) and rows["task_index"] == [0] * count
    assert rows["frame_index"] == [place for one in episodes for place in range(len(one.steps))]
    assert rows["episode_index"] == [number for number, one in enumerate(episodes) for _ in one.steps]
    assert np.allclose(rows["timestamp"], np.array(rows["frame_index"]) / 20)
    ends = np.cumsum([len(one.steps) for one in episodes]) - 1
    assert np.flatnonzero(rows["next.done"]).tolist() == np.flatnonzero(rows["next.success"]).tolist() == ends.tolist()
    told = pq.read_table(dataset / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [(row["dataset_from_index"], row["dataset_to_index"]) for row in told] == [
        (end + 1 - len(one.steps), end + 1) for end, one in zip(ends, episodes, strict=True)
    ]
    assert told[0]["tasks"] == ["Push the puck to the mark."] and told[2]["length"] == len(episodes[2].steps)
    assert np.shape(told[0][f"stats/{CAMERAS[0]}/mean"]) == (3, 1, 1) and len(told[0]["stats/action/q99"]) == 2


def test_pandas_would_read_the_instructions_as_the_index() -> None:
    about = json.loads(tasks_table(["push", "pull"]).schema.metadata[b"pandas"])
    assert about["index_columns"] == ["__index_level_0__"]
    assert [column["field_name"] for column in about["columns"]] == ["task_index", "__index_level_0__"]


def test_large_data_sets_have_several_files(
    episodes: list[Trajectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "FILE_MB", 0)
    monkeypatch.setattr(write, "CHUNK", 2)
    write_lerobot(tmp_path / "many", episodes)
    files = sorted(
        str(path.relative_to(tmp_path / "many/data")) for path in (tmp_path / "many/data").rglob("*.parquet")
    )
    assert files == ["chunk-000/file-000.parquet", "chunk-000/file-001.parquet", "chunk-001/file-000.parquet"]
    assert [parts(one) for one in read_lerobot(tmp_path / "many")] == [parts(one) for one in episodes]


def test_one_camera_and_many_have_lerobots_names() -> None:
    assert camera_keys(1) == ["observation.image"] and camera_keys(2) == CAMERAS
    assert camera_keys(3)[2] == "observation.images.image3" and camera_keys(0) == []


# ---------------------------------------------------------------------- statistics


def test_statistics_of_numbers() -> None:
    found = vector_stats(np.array([[0.0, 4.0], [1.0, 4.0], [2.0, 4.0], [5.0, 8.0]], np.float32))
    assert found["min"].tolist() == [0, 4] and found["max"].tolist() == [5, 8] and found["mean"].tolist() == [2, 5]
    assert found["std"] == pytest.approx([np.sqrt(3.5), np.sqrt(3)]) and found["count"].tolist() == [4]
    assert found["q50"].tolist() == [1, 4] and found["q01"].tolist() == [0, 4] and found["q90"].tolist() == [5, 8]


def test_statistics_of_pictures_are_by_channel_and_from_0_to_1() -> None:
    pictures = np.zeros((2, 2, 1, 3), np.uint8)
    pictures[0, :, :, 0], pictures[..., 1] = 255, 51
    found = picture_stats(pictures)
    assert found["mean"].ravel().tolist() == pytest.approx([0.5, 0.2, 0]) and found["mean"].shape == (3, 1, 1)
    assert found["std"].ravel().tolist() == pytest.approx([0.5, 0, 0])
    assert found["min"].ravel().tolist() == pytest.approx([0, 0.2, 0]) and found["max"].ravel()[0] == 1
    assert found["q50"].ravel().tolist() == pytest.approx([0, 0.2, 0]) and found["q90"].ravel()[0] == 1
    assert found["count"].tolist() == [2]


def test_statistics_of_episodes_are_weighted_by_their_frames() -> None:
    first, second = np.array([[0.0], [2.0], [4.0]]), np.array([[10.0]])
    found = combined([vector_stats(first), vector_stats(second)])
    assert (found["mean"][0], found["count"][0], found["min"][0], found["max"][0]) == (4, 4, 0, 10)
    assert found["std"] == pytest.approx([np.concatenate([first, second]).std()])
    assert found["q50"] == pytest.approx([0.75 * 2 + 0.25 * 10])  # lerobot averages quantiles of episodes


# ---------------------------------------------------------------------- there and back


def test_episodes_come_back_equal_and_are_demonstrations(dataset: Path, episodes: list[Trajectory]) -> None:
    back = list(read_lerobot(dataset))
    assert [parts(one) for one in back] == [parts(one) for one in episodes]
    for one, original in zip(back, episodes, strict=True):
        assert all(np.array_equal(picture, original.pictures[name]) for name, picture in one.pictures.items())
        assert all(step.sampling[GOLD] == step.action for step in one.steps)
        assert one.env_id == PUCK and one.policy == "oracle"


def test_numbers_alone_come_back_too(tmp_path: Path) -> None:
    episode = played(5, obs_mode="state")
    write_lerobot(tmp_path / "numbers", [episode])
    assert parts(next(read_lerobot(tmp_path / "numbers"))) == parts(episode)
    info = json.loads((tmp_path / "numbers/meta/info.json").read_text())
    assert info["features"]["observation.environment_state"]["shape"] == [4]
    assert info["agentrl"][0]["env_kwargs"] == {"obs_mode": "state"}


def test_what_a_person_played_is_exported_as_well(tmp_path: Path) -> None:
    typed = iter(["1 0", "0.5, -0.25", "-1 1"])
    person = HumanPolicy(read=lambda prompt: next(typed), show=lambda text: None)
    episode = played(1, person, max_turns=3, obs_text=False)
    assert write_lerobot(tmp_path / "person", [episode], failures=True).left_out == 0
    (back,) = read_lerobot(tmp_path / "person")
    assert [step.action for step in back.steps] == [[1, 0], [0.5, -0.25], [-1, 1]]
    assert not back.success and back.truncated and back.steps[0].observation == "Push the puck to the mark."


def test_pictures_are_made_as_large_as_asked_for(dataset: Path, episodes: list[Trajectory]) -> None:
    back = next(read_lerobot(dataset, image_size=16))
    small, large = back.pictures[back.steps[0].images[0]], episodes[0].pictures[episodes[0].steps[0].images[0]]
    assert small.shape == (16, 16, 3)
    assert np.abs(small - large.reshape(16, 2, 16, 2, 3).mean((1, 3))).max() <= 1


# ---------------------------------------------------------------------- videos


def film(path: Path, colours: list[int]) -> None:
    path.parent.mkdir(parents=True)
    writer = imageio_ffmpeg.write_frames(str(path), (32, 32), fps=10, codec="libx264", output_params=["-crf", "0"])
    writer.send(None)
    for colour in colours:
        writer.send(np.full((32, 32, 3), colour, np.uint8))
    writer.close()


def with_video(dataset: Path, folder: Path) -> None:
    """The same data set with the first camera as a video of plain colours, at 10 frames a second."""
    frames = pq.read_table(dataset / "data/chunk-000/file-000.parquet").drop([CAMERAS[0]])
    episodes = pq.read_table(dataset / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    for row in episodes:
        row |= {f"videos/{CAMERAS[0]}/chunk_index": 0, f"videos/{CAMERAS[0]}/file_index": 0}
        row[f"videos/{CAMERAS[0]}/from_timestamp"] = row["dataset_from_index"] / 10
    info = json.loads((dataset / "meta/info.json").read_text())
    info |= {"fps": 10, "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"}
    info["features"][CAMERAS[0]]["dtype"] = "video"
    for name in ("data/chunk-000", "meta/episodes/chunk-000"):
        (folder / name).mkdir(parents=True)
    pq.write_table(frames, folder / "data/chunk-000/file-000.parquet")
    pq.write_table(pa.Table.from_pylist(episodes), folder / "meta/episodes/chunk-000/file-000.parquet")
    (folder / "meta/tasks.parquet").write_bytes((dataset / "meta/tasks.parquet").read_bytes())
    (folder / "meta/info.json").write_text(json.dumps(info))


def test_videos_are_read_frame_by_frame(dataset: Path, episodes: list[Trajectory], tmp_path: Path) -> None:
    with_video(dataset, tmp_path / "filmed")
    colours = [10 * place for place in range(sum(len(one.steps) for one in episodes))]
    film(tmp_path / "filmed/videos" / CAMERAS[0] / "chunk-000/file-000.mp4", colours)
    back = list(read_lerobot(tmp_path / "filmed"))
    seen = [one.pictures[step.images[0]].mean() for one in back for step in one.steps]
    assert np.abs(np.array(seen) - colours).max() < 3
    assert [step.images[1] for one in back for step in one.steps] == [
        step.images[1] for one in episodes for step in one.steps
    ]


def test_a_video_that_is_missing_or_too_short_is_named(dataset: Path, tmp_path: Path) -> None:
    with_video(dataset, tmp_path / "filmed")
    with pytest.raises(ConfigError, match=r"file-000.mp4 is missing"):
        list(read_lerobot(tmp_path / "filmed"))
    video = tmp_path / "filmed/videos" / CAMERAS[0] / "chunk-000/file-000.mp4"
    film(video, [1, 2, 3])
    with pytest.raises(ConfigError, match="ends before frame 3"):
        list(read_lerobot(tmp_path / "filmed"))
    film(tmp_path / "other/film.mp4", [1, 2, 3])
    video.write_text(f"#EXTM3U\n#EXTINF:1,\n{tmp_path / 'other/film.mp4'}\n#EXT-X-ENDLIST\n")  # a play list
    with pytest.raises(ConfigError, match="ends before frame 0"):
        list(read_lerobot(tmp_path / "filmed"))
    path = tmp_path / "filmed/meta/info.json"
    path.write_text(path.read_text().replace("videos/{video_key}", "../other"))
    with pytest.raises(ConfigError, match="must be inside it"):
        list(read_lerobot(tmp_path / "filmed"))


# ---------------------------------------------------------------------- refusals


def test_failures_and_faults_are_left_out(tmp_path: Path, episodes: list[Trajectory]) -> None:
    lost, broken = played(1, "random", max_turns=2), played(2)
    broken.fault = {"kind": "EnvFault", "detail": "gone"}
    assert write_lerobot(tmp_path / "good", [lost, broken, episodes[0]]).left_out == 2
    assert write_lerobot(tmp_path / "all", [lost, broken, episodes[0]], failures=True)[::3] == (2, 1)
    with pytest.raises(ConfigError, match="no episode to write; 1 were left out"):
        write_lerobot(tmp_path / "none", [lost])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "good"]  # nothing half-written


def test_what_cannot_be_written_says_why(tmp_path: Path, episodes: list[Trajectory], dataset: Path) -> None:
    with pytest.raises(ConfigError, match="already exists"):
        write_lerobot(dataset, episodes)
    with pytest.raises(ConfigError, match="chunks have no pictures in between"):
        write_lerobot(tmp_path / "a", [played(1, size=3)])
    with pytest.raises(ConfigError, match="must have the same arrays"):
        write_lerobot(tmp_path / "a", [*episodes, played(1, image_size=16)])
    stranger = played(1)
    stranger.env_id = "nobody/knows-v0"
    with pytest.raises(ConfigError, match="fps must be given: nobody/knows-v0"):
        write_lerobot(tmp_path / "a", [stranger])
    assert write_lerobot(tmp_path / "a", [stranger], fps=5).episodes == 1
    blind = played(1)
    blind.pictures = {}
    with pytest.raises(ConfigError, match="their pictures must be there"):
        write_lerobot(tmp_path / "b", [blind])


def test_what_cannot_be_read_says_why(tmp_path: Path, dataset: Path) -> None:
    with pytest.raises(ConfigError, match="is no LeRobotDataset"):
        list(read_lerobot(tmp_path))
    (tmp_path / "meta").mkdir()
    info = json.loads((dataset / "meta/info.json").read_text())
    for changes, told in (
        ({"codebase_version": "v2.1"}, "must be a LeRobotDataset v3; got v2.1. lerobot converts older ones: python -m"),
        ({"features": {"observation.state": {"dtype": "float32"}}}, "must have the feature 'action'"),
        ({"features": None}, "info.json cannot be read"),
    ):
        (tmp_path / "meta/info.json").write_text(json.dumps({**info, **changes}))
        with pytest.raises(ConfigError, match=told):
            list(read_lerobot(tmp_path))
    (tmp_path / "meta/info.json").write_text(json.dumps(info))
    (tmp_path / "meta/tasks.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(ConfigError, match=r"tasks.parquet"):
        list(read_lerobot(tmp_path))
    (tmp_path / "meta/tasks.parquet").write_bytes((dataset / "meta/tasks.parquet").read_bytes())
    with pytest.raises(ConfigError, match="holds no frames"):
        list(read_lerobot(tmp_path))
    table = pq.read_table(dataset / "data/chunk-000/file-000.parquet")
    (tmp_path / "data/chunk-000").mkdir(parents=True)
    for column, value, told in (
        ("action", [float("nan"), 0.0], "not finite"),
        (CAMERAS[0], {"bytes": None, "path": "/etc/passwd"}, "no picture in it"),
        (CAMERAS[0], {"bytes": b"GIF89a", "path": None}, "cannot be read"),
    ):
        rows = table.to_pylist()
        rows[1][column] = value
        damaged = pa.Table.from_pylist(rows, schema=table.schema)
        pq.write_table(damaged, tmp_path / "data/chunk-000/file-000.parquet")
        with pytest.raises(ConfigError, match=told):
            list(read_lerobot(tmp_path))

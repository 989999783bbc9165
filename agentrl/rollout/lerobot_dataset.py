"""LeRobotDataset v3: episodes of continuous control in the files of lerobot, written and read without it.

    DIR/meta/info.json                        features, sizes, frames a second; under "agentrl" where it comes from
    DIR/meta/stats.json                       what policies normalise by
    DIR/meta/tasks.parquet                    the instructions, by number
    DIR/meta/episodes/chunk-000/file-000.parquet   where each episode lies, and its own statistics
    DIR/data/chunk-000/file-000.parquet       one row a frame

A frame is what was seen and the action that was then played. One camera is `observation.image`, several are
`observation.images.image`, `observation.images.image2` and so on, in the order of the environment's observation;
`proprio` is `observation.state`, `state` is `observation.environment_state`. Pictures are PNGs inside the rows, so that
nothing is lost and no codec is needed; videos are read as well.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from PIL import Image

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.rollout.demonstrations import GOLD
from agentrl.rollout.episode import own_arguments
from agentrl.rollout.lerobot_stats import Stats, combined, picture_stats, vector_stats
from agentrl.rollout.lerobot_video import VideoFrames
from agentrl.rollout.parquet import arrow
from agentrl.rollout.trajectory import Step, Trajectory, picture_hash

VERSION = "v3.0"
CONVERT = "python -m lerobot.datasets.v30.convert_dataset_v21_to_v30 --repo-id=NAME"
STATE, ENVIRONMENT_STATE, ACTION = "observation.state", "observation.environment_state", "action"
REWARD, DONE, SUCCESS = "next.reward", "next.done", "next.success"
COUNTED = ("timestamp", "frame_index", "episode_index", "index", "task_index")  # what every data set has
FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
DATA, EPISODES = f"data/{FILE}.parquet", f"meta/episodes/{FILE}.parquet"
CHUNK, FILE_MB = 1000, 100  # files of a chunk, megabytes of a file: lerobot's own
ROWS = 64  # in memory at a time while reading
PICTURES = ("image", "video")


def camera_keys(count: int) -> list[str]:
    """What lerobot calls the pictures of an observation, in order."""
    if count == 1:
        return ["observation.image"]
    return [f"observation.images.image{number if number > 1 else ''}" for number in range(1, count + 1)]


# ---------------------------------------------------------------------- writing


class Written(NamedTuple):
    """What is in a data set, and how many episodes of the source are not."""

    episodes: int
    frames: int
    tasks: int
    left_out: int


def write_lerobot(
    folder: str | Path, trajectories: Iterable[Trajectory], *, fps: int | None = None, failures: bool = False
) -> Written:
    """Write episodes (with their pictures in memory) into a new folder.

    Those without success are left out unless `failures` says otherwise; those that a fault cut short always are.
    `fps` is by default what the environment says about itself. The folder appears once it is complete.
    """
    target = Path(folder)
    if target.exists():
        raise ConfigError(f"{target} already exists; choose a new folder")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    left_out = 0
    try:
        temporary.mkdir(parents=True)
        writer = _Writer(temporary, fps)
        for trajectory in trajectories:
            if trajectory.fault is not None or not trajectory.steps or not (failures or trajectory.success):
                left_out += 1
            else:
                writer.add(trajectory)
        if not writer.episodes:
            raise ConfigError(f"there is no episode to write; {left_out} were left out, being unfinished or failures")
        writer.close()
        temporary.rename(target)
    except OSError as error:
        raise ConfigError(f"cannot write the data set: {error}; choose another folder") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Written(len(writer.episodes), writer.frames, len(writer.tasks), left_out)


@dataclass
class _Writer:
    """A data set that grows by whole episodes, a row group each."""

    root: Path
    fps: int | None
    features: dict[str, dict[str, Any]] = field(default_factory=dict)
    episodes: list[dict[str, Any]] = field(default_factory=list)
    stats: list[dict[str, Stats]] = field(default_factory=list)
    tasks: dict[str, int] = field(default_factory=dict)
    sources: list[dict[str, Any]] = field(default_factory=list)
    frames: int = 0
    _file: int = -1
    _parquet: Any = None
    _size: int = 0

    def add(self, trajectory: Trajectory) -> None:
        """One more episode."""
        self.fps = self.fps or control_frequency(trajectory.env_id)
        vectors, pictures = episode_arrays(trajectory)
        features = {key: _feature(values.shape[1:], str(values.dtype)) for key, values in vectors.items()}
        features |= {key: _feature(held.shape[1:], "image") for key, held in pictures.items()}
        if self.features and features != self.features:
            raise ConfigError(
                f"all episodes must have the same arrays; {trajectory.id} has {_in_short(features)}, "
                f"those before it {_in_short(self.features)}"
            )
        self.features = features
        instruction = instruction_of(trajectory.steps[0])
        vectors |= self._counted(len(trajectory.steps), self.tasks.setdefault(instruction, len(self.tasks)))
        self._write_rows(vectors, pictures)
        chunk, file = divmod(self._file, CHUNK)
        self.stats.append(
            {key: vector_stats(values.reshape(len(values), -1)) for key, values in vectors.items()}
            | {key: picture_stats(held) for key, held in pictures.items()}
        )
        self.episodes.append(
            {"episode_index": len(self.episodes), "tasks": [instruction], "length": len(trajectory.steps)}
            | {"data/chunk_index": chunk, "data/file_index": file}
            | {"dataset_from_index": self.frames, "dataset_to_index": self.frames + len(trajectory.steps)}
            | {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0, "agentrl/task": trajectory.task}
        )
        self.frames += len(trajectory.steps)
        source = {"env_id": trajectory.env_id, "env_kwargs": own_arguments(trajectory.spec)}
        source |= {"split": trajectory.split, "policy": trajectory.policy}
        if source not in self.sources:
            self.sources.append(source)

    def _counted(self, length: int, task: int) -> dict[str, np.ndarray]:
        count = np.arange(length)
        columns = (count / self.fps, count, np.full(length, len(self.episodes)), self.frames + count)
        whole = {name: column.astype(np.int64) for name, column in zip(COUNTED[1:], columns[1:], strict=False)}
        return {"timestamp": columns[0].astype(np.float32), **whole, "task_index": np.full(length, task, np.int64)}

    def _write_rows(self, vectors: dict[str, np.ndarray], pictures: dict[str, np.ndarray]) -> None:
        pa = arrow()
        columns = {key: _array(values) for key, values in vectors.items()}
        for key, held in pictures.items():
            columns[key] = pa.array([{"bytes": _png(one), "path": None} for one in held], _picture_type())
        table = pa.table(columns)
        if self._parquet is None or self._size + table.nbytes > FILE_MB << 20:
            self._close_file()
            self._file, self._size = self._file + 1, 0
            path = self.root / DATA.format(**_place(self._file))
            path.parent.mkdir(parents=True, exist_ok=True)
            self._parquet = pa.parquet.ParquetWriter(path, table.schema)
        self._parquet.write_table(table)
        self._size += table.nbytes

    def _close_file(self) -> None:
        if self._parquet is not None:
            self._parquet.close()

    def close(self) -> None:
        """Write what describes the episodes."""
        pa = arrow()
        self._close_file()
        keys = list(self.stats[0])
        rows = [
            row | {f"stats/{key}/{name}": value.tolist() for key in keys for name, value in stats[key].items()}
            for row, stats in zip(self.episodes, self.stats, strict=True)
        ]
        path = self.root / EPISODES.format(**_place(0))
        path.parent.mkdir(parents=True)
        pa.parquet.write_table(pa.Table.from_pylist(rows), path)
        pa.parquet.write_table(tasks_table(list(self.tasks)), self.root / "meta/tasks.parquet")
        whole = {key: combined([stats[key] for stats in self.stats]) for key in keys}
        told = {key: {name: value.tolist() for name, value in stats.items()} for key, stats in whole.items()}
        _write_json(self.root / "meta/stats.json", told)
        counted = {name: _feature((), "float32" if name == "timestamp" else "int64") for name in COUNTED}
        facts = {
            "codebase_version": VERSION,
            "robot_type": None,
            "total_episodes": len(self.episodes),
            "total_frames": self.frames,
            "total_tasks": len(self.tasks),
            "chunks_size": CHUNK,
            "data_files_size_in_mb": FILE_MB,
            "video_files_size_in_mb": 200,
            "fps": self.fps,
            "splits": {"train": f"0:{len(self.episodes)}"},
            "data_path": DATA,
            "video_path": None,
            "features": self.features | counted,
            "agentrl": self.sources,
        }
        _write_json(self.root / "meta/info.json", facts)


def episode_arrays(trajectory: Trajectory) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The numbers and the pictures of an episode, by lerobot's names, a row a step."""
    steps, told = trajectory.steps, f"episode {trajectory.id}"
    try:
        actions = np.array([step.action for step in steps], np.float32)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{told}: every action must be an array of numbers: {error}") from error
    if actions.ndim != 2 or not np.isfinite(actions).all():
        raise ConfigError(f"{told}: every step must play one action; chunks have no pictures in between")
    vectors = {ACTION: actions}
    for key, name in ((STATE, "proprio"), (ENVIRONMENT_STATE, "state")):
        values = [getattr(step, name) for step in steps]
        if all(value is not None for value in values):
            vectors[key] = np.array(values, np.float32)
    ends = np.arange(len(steps)) == len(steps) - 1
    vectors[REWARD] = np.array([step.reward for step in steps], np.float32)
    vectors[DONE] = ends & (trajectory.terminated or trajectory.truncated)
    vectors[SUCCESS] = np.array([bool(step.info.get("success")) for step in steps])
    count = len(steps[0].images)
    if any(len(step.images) != count or any(name not in trajectory.pictures for name in step.images) for step in steps):
        raise ConfigError(f"{told}: every step must have the same cameras, and their pictures must be there")
    held = [np.stack([trajectory.pictures[step.images[camera]] for step in steps]) for camera in range(count)]
    return vectors, dict(zip(camera_keys(count), held, strict=True))


def instruction_of(step: Step) -> str:
    """What is asked in an episode."""
    return str(step.info.get("instruction") or step.observation.partition("\n")[0])


def control_frequency(env_id: str) -> int:
    """Actions a second, as a registered environment says; `ConfigError` where it does not."""
    spec = gym.registry.get(env_id)
    creator = gym.envs.registration.load_env_creator(spec.entry_point) if spec and spec.entry_point else None
    found = getattr(creator, "control_frequency", None)
    if found is None:
        raise ConfigError(f"fps must be given: {env_id or 'an unknown environment'} does not say how often it acts")
    return int(found)


def tasks_table(tasks: Sequence[str]) -> Any:
    """The table that pandas reads with the instructions as its index."""
    pa = arrow()
    index = "__index_level_0__"
    number = {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"}
    text = {"name": None, "field_name": index, "pandas_type": "unicode", "numpy_type": "object"}
    columns = [{**column, "metadata": None} for column in (number, text)]
    about = {"index_columns": [index], "column_indexes": [], "columns": columns}
    table = pa.table({"task_index": pa.array(range(len(tasks)), pa.int64()), index: pa.array(tasks, pa.string())})
    return table.replace_schema_metadata({"pandas": json.dumps(about)})


def _feature(shape: Sequence[int], dtype: str) -> dict[str, Any]:
    names = ["height", "width", "channels"] if dtype in PICTURES else None
    return {"dtype": dtype, "shape": list(shape) or [1], "names": names}


def _in_short(features: dict[str, dict[str, Any]]) -> str:
    return ", ".join(f"{key} {tuple(one['shape'])}" for key, one in features.items() if not key.startswith("next."))


def _picture_type() -> Any:
    pa = arrow()
    return pa.struct({"bytes": pa.binary(), "path": pa.string()})


def _array(values: np.ndarray) -> Any:
    """A column; a vector of one number is that number, as lerobot has it."""
    pa = arrow()
    if values.ndim == 1 or values.shape[1] == 1:
        return pa.array(values.ravel())
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


def _png(picture: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return buffer.getvalue()


def _place(number: int) -> dict[str, int]:
    return dict(zip(("chunk_index", "file_index"), divmod(number, CHUNK), strict=True))


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=4, ensure_ascii=False), encoding="utf-8")


# ---------------------------------------------------------------------- reading


def read_lerobot(folder: str | Path, *, image_size: int | None = None) -> Iterator[Trajectory]:
    """The episodes of a data set as demonstrations, one after the other, with their pictures in memory.

    What was done is what is to be learned (`ControlDemonstrator` notes the same). Where the data set does not tell
    success, its episodes count as successes. `image_size` makes pictures that many pixels wide and high.
    """
    if image_size is not None:
        whole_number("image_size", image_size, at_least=1)
    source = _Source(Path(folder))
    for number, group in itertools.groupby(source.rows(), key=lambda row: row["episode_index"]):
        yield source.trajectory(int(number), list(group), image_size)


class _Source:
    """A data set that is read."""

    def __init__(self, root: Path) -> None:
        self.root, self.info = root, _read_info(root)
        self.features: dict[str, Any] = self.info["features"]
        self.cameras = [key for key, one in self.features.items() if one["dtype"] in PICTURES]
        rows = self._table(root / "meta/tasks.parquet")
        # The instruction is the index of a pandas table, whatever its column is called.
        self.tasks = {row["task_index"]: next(v for k, v in row.items() if k != "task_index") for row in rows}
        self.episodes: dict[int, dict[str, Any]] = {}
        for path in sorted(root.glob("meta/episodes/*/*.parquet")):
            self.episodes |= {row["episode_index"]: row for row in self._table(path)}
        self._videos = {key: VideoFrames() for key in self.cameras if self.features[key]["dtype"] == "video"}

    def rows(self) -> Iterator[dict[str, Any]]:
        """The frames, in order."""
        paths = sorted(self.root.glob("data/*/*.parquet"))
        if not paths:
            raise ConfigError(f"{self.root} holds no frames: data/chunk-000/file-000.parquet is missing")
        for path in paths:
            yield from self._table(path)

    def _table(self, path: Path) -> Iterator[dict[str, Any]]:
        pa = arrow()
        try:
            with pa.parquet.ParquetFile(io.BytesIO(read_regular(path))) as file:
                for batch in file.iter_batches(ROWS):
                    yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise ConfigError(f"the data set cannot be read: {path}: {error}") from error

    def trajectory(self, number: int, rows: list[dict[str, Any]], image_size: int | None) -> Trajectory:
        """One episode."""
        origin = (self.info.get("agentrl") or [{}])[0]
        found = Trajectory(id=f"{self.root.name}/{number}", env_id=str(origin.get("env_id", "")))
        found.policy, found.split = str(origin.get("policy", "")), origin.get("split")
        found.task = self.episodes.get(number, {}).get("agentrl/task")
        pictures = {key: self._pictures(key, number, rows) for key in self.cameras}
        for place, row in enumerate(rows):
            shown = [_resized(next(pictures[key]), image_size) for key in self.cameras]
            names = [picture_hash(picture) for picture in shown]
            found.pictures.update(zip(names, shown, strict=True))
            found.steps.append(self._step(row, names, last=place == len(rows) - 1))
        found.terminated, found.stop_reason = found.success, "terminated" if found.success else "truncated"
        found.truncated = not found.success
        found.add_up()
        return found

    def _step(self, row: dict[str, Any], images: list[str], last: bool) -> Step:
        instruction = str(self.tasks.get(row["task_index"], ""))
        action, reward = _numbers(row[ACTION]), float(row.get(REWARD) or 0.0)
        success = bool(row[SUCCESS]) if SUCCESS in row else last
        return Step(
            observation=instruction,
            images=images,
            proprio=_numbers(row.get(STATE)),
            state=_numbers(row.get(ENVIRONMENT_STATE)),
            action=action,
            sampling={GOLD: action},
            reward=reward,
            reward_terms={"reward": reward} if reward else {},
            info={"instruction": instruction, "success": success, "valid": True},
        )

    def _pictures(self, key: str, number: int, rows: list[dict[str, Any]]) -> Iterator[np.ndarray]:
        """What one camera saw in an episode."""
        if key not in self._videos:
            for row in rows:
                yield _opened(row[key], f"{key} of frame {row['index']}")
            return
        about = self.episodes.get(number, {})
        try:
            place = {name: about[f"videos/{key}/{name}"] for name in ("chunk_index", "file_index")}
            path = self.root / str(self.info["video_path"]).format(video_key=key, **place)
            first = round(about[f"videos/{key}/from_timestamp"] * self.info["fps"])
        except KeyError as error:
            raise ConfigError(f"{self.root} does not say where the video of episode {number} is: {error}") from error
        yield from self._videos[key].read(path, first, len(rows))


def _read_info(root: Path) -> dict[str, Any]:
    path = root / "meta/info.json"
    try:
        info = json.loads(read_regular(path))
        version, features = str(info["codebase_version"]), info["features"]
        dtypes = {key: one["dtype"] for key, one in features.items()}
    except OSError as error:
        raise ConfigError(f"{root} is no LeRobotDataset: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if not version.startswith("v3."):
        raise ConfigError(f"{root} must be a LeRobotDataset v3; got {version}. lerobot converts older ones: {CONVERT}")
    if ACTION not in dtypes:
        raise ConfigError(f"{root} must have the feature {ACTION!r}; got {', '.join(dtypes)}")
    return info


def _numbers(value: Any) -> list[float] | None:
    if value is None:
        return None
    numbers = [float(one) for one in np.ravel(value)]
    if not all(map(math.isfinite, numbers)):
        raise ConfigError("the data set cannot be learned from: it holds numbers that are not finite")
    return numbers


def _opened(cell: Any, what: str) -> np.ndarray:
    held = cell.get("bytes") if isinstance(cell, dict) else None
    if not held:
        raise ConfigError(f"{what} has no picture in it; write the data set anew with its pictures embedded")
    try:
        with Image.open(io.BytesIO(held), formats=("PNG", "JPEG", "WEBP")) as picture:
            return np.asarray(picture.convert("RGB"))
    except OSError as error:
        raise ConfigError(f"{what} cannot be read: {error}") from error


def _resized(picture: np.ndarray, size: int | None) -> np.ndarray:
    if size is None or picture.shape[:2] == (size, size):
        return picture
    return np.asarray(Image.fromarray(picture).resize((size, size), Image.Resampling.BOX))

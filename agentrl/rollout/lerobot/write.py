"""Writing a LeRobotDataset."""

from __future__ import annotations

import io
import json
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import load_env_creator
from PIL import Image

from agentrl.core.errors import ConfigError
from agentrl.rollout.episode import own_arguments
from agentrl.rollout.lerobot.names import (
    ACTION,
    DATA,
    DONE,
    ENVIRONMENT_STATE,
    EPISODES,
    INFO,
    ORIGIN,
    PICTURES,
    REWARD,
    STATE,
    STATS,
    SUCCESS,
    TASK,
    TASKS,
    VERSION,
    camera_keys,
)
from agentrl.rollout.lerobot.stats import Stats, combined, picture_stats, vector_stats
from agentrl.rollout.parquet import arrow
from agentrl.rollout.trajectory import Step, Trajectory

COUNTED = ("timestamp", "frame_index", "episode_index", "index", "task_index")  # what every data set has
CHUNK, FILE_MB = 1000, 100  # files of a chunk, megabytes of a file: lerobot's own


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
        if self.fps is None:
            self.fps = control_frequency(trajectory.env_id)
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
        task = self.tasks.setdefault(instruction, len(self.tasks))
        vectors |= self._counted(len(trajectory.steps), task, self.fps)
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
            | {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0, TASK: trajectory.task}
        )
        self.frames += len(trajectory.steps)
        source = {"env_id": trajectory.env_id, "env_kwargs": own_arguments(trajectory.spec)}
        source |= {"split": trajectory.split, "policy": trajectory.policy}
        if source not in self.sources:
            self.sources.append(source)

    def _counted(self, length: int, task: int, fps: int) -> dict[str, np.ndarray]:
        count = np.arange(length)
        whole = (count, np.full(length, len(self.episodes)), self.frames + count, np.full(length, task))
        columns = [(count / fps).astype(np.float32), *(column.astype(np.int64) for column in whole)]
        return dict(zip(COUNTED, columns, strict=True))

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
        pa.parquet.write_table(tasks_table(list(self.tasks)), self.root / TASKS)
        whole = {key: combined([stats[key] for stats in self.stats]) for key in keys}
        told = {key: {name: value.tolist() for name, value in stats.items()} for key, stats in whole.items()}
        _write_json(self.root / STATS, told)
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
            ORIGIN: self.sources,
        }
        _write_json(self.root / INFO, facts)


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
    entry = None if spec is None else spec.entry_point
    found = getattr(load_env_creator(entry) if isinstance(entry, str) else entry, "control_frequency", None)
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

"""Reading a LeRobotDataset as demonstrations."""

from __future__ import annotations

import io
import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular, read_regular
from agentrl.rollout.demonstrations import GOLD
from agentrl.rollout.lerobot.names import (
    ACTION,
    ENVIRONMENT_STATE,
    INFO,
    ORIGIN,
    PICTURES,
    REWARD,
    STATE,
    SUCCESS,
    TASK,
    TASKS,
)
from agentrl.rollout.lerobot.video import VideoFrames
from agentrl.rollout.parquet import arrow
from agentrl.rollout.trajectory import Step, Trajectory, picture_hash

CONVERT = "python -m lerobot.datasets.v30.convert_dataset_v21_to_v30 --repo-id=NAME"
ROWS = 64  # in memory at a time


def read_lerobot(folder: str | Path, *, image_size: int | None = None) -> Iterator[Trajectory]:
    """The episodes of a data set as demonstrations, one after the other, with their pictures in memory.

    What was done is what is to be learned (`ControlDemonstrator` notes the same). Where the data set does not tell
    success, its episodes count as successes. `image_size` makes pictures that many pixels wide and high.
    """
    if image_size is not None:
        whole_number("image_size", image_size, at_least=1)
    source = _Source(Path(folder))
    try:
        for number, group in itertools.groupby(source.rows(), key=lambda row: row["episode_index"]):
            yield source.trajectory(int(number), list(group), image_size)
    finally:
        source.close()


class _Source:
    """A data set that is read."""

    def __init__(self, root: Path) -> None:
        self.root, self.info = root, _read_info(root)
        self.features: dict[str, Any] = self.info["features"]
        self.cameras = [key for key, one in self.features.items() if one["dtype"] in PICTURES]
        rows = self._table(root / TASKS)
        # The instruction is the index of a pandas table, whatever its column is called.
        self.tasks = {row["task_index"]: next(v for k, v in row.items() if k != "task_index") for row in rows}
        self.episodes: dict[int, dict[str, Any]] = {}
        for path in sorted(root.glob("meta/episodes/*/*.parquet")):
            self.episodes |= {row["episode_index"]: row for row in self._table(path)}
        self._videos = {key: VideoFrames() for key in self.cameras if self.features[key]["dtype"] == "video"}

    def close(self) -> None:
        """End what decodes videos."""
        for video in self._videos.values():
            video.close()

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
            with open_regular(path) as source, pa.parquet.ParquetFile(source) as file:
                for batch in file.iter_batches(ROWS):
                    yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise ConfigError(f"the data set cannot be read: {path}: {error}") from error

    def trajectory(self, number: int, rows: list[dict[str, Any]], image_size: int | None) -> Trajectory:
        """One episode."""
        origin = (self.info.get(ORIGIN) or [{}])[0]
        found = Trajectory(id=f"{self.root.name}/{number}", env_id=str(origin.get("env_id", "")))
        found.policy, found.split = str(origin.get("policy", "")), origin.get("split")
        found.task = self.episodes.get(number, {}).get(TASK)
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
            path = Path(str(self.info["video_path"]).format(video_key=key, **place))
            first = round(about[f"videos/{key}/from_timestamp"] * self.info["fps"])
        except KeyError as error:
            raise ConfigError(f"{self.root} does not say where the video of episode {number} is: {error}") from error
        if path.is_absolute() or ".." in path.parts:
            raise ConfigError(f"the videos of {self.root} must be inside it; got {path}")
        yield from self._videos[key].read(self.root / path, first, len(rows))


def _read_info(root: Path) -> dict[str, Any]:
    path = root / INFO
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

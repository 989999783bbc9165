"""What lerobot calls the parts of an observation, the columns of a data set and its files."""

from __future__ import annotations

VERSION = "v3.0"
STATE, ENVIRONMENT_STATE, ACTION = "observation.state", "observation.environment_state", "action"
REWARD, DONE, SUCCESS = "next.reward", "next.done", "next.success"
PICTURES = ("image", "video")  # the types of columns that are pictures
INFO, STATS, TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
DATA, EPISODES = f"data/{FILE}.parquet", f"meta/episodes/{FILE}.parquet"
ORIGIN, TASK = "agentrl", "agentrl/task"  # what is ours: where episodes come from, and the task that each begins with


def camera_keys(count: int) -> list[str]:
    """What lerobot calls the pictures of an observation, in order."""
    if count == 1:
        return ["observation.image"]
    return [f"observation.images.image{number if number > 1 else ''}" for number in range(1, count + 1)]

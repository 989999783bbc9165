"""Writes docs/_static/primitiveskill.png: each task as it begins, above what the oracle makes of it.

python scripts/primitiveskill_pictures.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.envs.primitiveskill.tasks import TASKS

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "_static" / "primitiveskill.png"
SIZE, GAP, SEED = 320, 6, 12
PAPER = (255, 255, 255)


def start_and_end(task: str) -> np.ndarray:
    """The two pictures of an episode, one above the other."""
    env = PrimitiveSkillEnv(kind="visual", task=task, image_size=SIZE, split="test")
    observation, info = env.reset(seed=SEED)
    pictures: list[Any] = [observation["image"]]
    while not info["success"]:
        observation, _, _, _, info = env.step(env.oracle())
    env.close()
    gap = np.full((GAP, SIZE, 3), PAPER, np.uint8)
    return np.vstack([pictures[0], gap, observation["image"]])


def main() -> None:
    """All tasks side by side."""
    columns = [start_and_end(task) for task in TASKS]
    gap = np.full((len(columns[0]), GAP, 3), PAPER, np.uint8)
    parts = [part for column in columns for part in (column, gap)][:-1]
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    Image.fromarray(np.hstack(parts)).save(path, optimize=True)  # a palette would lose the colours of small things
    print(f"{path}: {', '.join(TASKS)}, {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()

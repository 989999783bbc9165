"""Writes docs/_static/navigation-tasks.png: what the agent sees at the start of four tasks, above maps of the homes.

python scripts/navigation_tasks.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from agentrl.envs.navigation.env import NavigationEnv

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "_static" / "navigation-tasks.png"
SIZE, GAP, SEEDS = 320, 6, (1, 4, 11, 17)
PAPER = (255, 255, 255)


def view_and_map(seed: int) -> np.ndarray:
    """The two halves of a rendered frame, one above the other."""
    env = NavigationEnv(kind="visual", image_size=SIZE, split="test", in_view=True, render_mode="rgb_array")
    env.reset(seed=seed)
    frame = np.asarray(env.render())
    env.close()
    return np.vstack([frame[:, :SIZE], np.full((GAP, SIZE, 3), PAPER, np.uint8), frame[:, SIZE:]])


def main() -> None:
    """All homes side by side."""
    columns = [view_and_map(seed) for seed in SEEDS]
    gap = np.full((len(columns[0]), GAP, 3), PAPER, np.uint8)
    parts = [part for column in columns for part in (column, gap)][:-1]
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    Image.fromarray(np.hstack(parts)).quantize(192).save(path, optimize=True)
    print(f"{path}: {len(SEEDS)} homes, {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()

"""Writes docs/_static/libero.png: a task of each suite as it begins, seen by the camera and from the wrist.

python scripts/libero_pictures.py [FILE]
python scripts/libero_pictures.py --sheets FOLDER      all tasks of every suite, one picture for each suite
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from agentrl.envs.libero.world import AGENT_VIEW, WRIST, World, suites

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "_static" / "libero.png"
SIZE, GAP, COLUMNS = 256, 4, 10
SHOWN = (("libero_spatial", 4), ("libero_object", 5), ("libero_goal", 4), ("libero_10", 8), ("libero_90", 41))


def view(suite: str, task: int, camera: str = AGENT_VIEW, size: int = SIZE) -> np.ndarray:
    """A task as it begins; drawn larger and made smaller, for smooth edges."""
    world = World(suite, task)
    world.reset(world.start("test/0"))
    picture = Image.fromarray(world.draw(camera, 3 * size)).resize((size, size), Image.Resampling.LANCZOS)
    return np.asarray(picture)


def grid(pictures: list[np.ndarray], columns: int) -> np.ndarray:
    """Pictures in rows, with white between them."""
    size = len(pictures[0])
    rows = -(-len(pictures) // columns)
    paper = np.full((rows * (size + GAP) - GAP, columns * (size + GAP) - GAP, 3), 255, np.uint8)
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        y, x = row * (size + GAP), column * (size + GAP)
        paper[y : y + size, x : x + size] = picture
    return paper


def main() -> None:
    """The picture of the page, or the sheets."""
    if sys.argv[1:2] == ["--sheets"]:
        folder = Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        for suite, tasks in suites().items():
            pictures = [view(suite, task) for task in range(len(tasks))]
            Image.fromarray(grid(pictures, COLUMNS // 2 if len(tasks) == 10 else COLUMNS)).save(folder / f"{suite}.png")
            print(folder / f"{suite}.png")
        return
    pictures = [view(*task, camera=camera) for camera in (AGENT_VIEW, WRIST) for task in SHOWN]
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    Image.fromarray(grid(pictures, len(SHOWN))).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()

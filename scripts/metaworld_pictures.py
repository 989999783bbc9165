"""Draws the picture of the documentation that shows all tasks of Meta-World: docs/_static/metaworld.png.

    .venv/bin/python scripts/metaworld_pictures.py

Each tile is the first start of a task's test split, seen by the default camera.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agentrl.envs.metaworld.env import MetaWorldEnv
from agentrl.envs.metaworld.tasks import INSTRUCTIONS

TARGET = Path(__file__).resolve().parent.parent / "docs" / "_static" / "metaworld.png"
SIZE, COLUMNS, LINE = 128, 10, 16


def tile(task: str) -> np.ndarray:
    """A task with its name below."""
    env = MetaWorldEnv(task=task, split="test", render_mode="rgb_array", image_size=2 * SIZE)
    env.reset(options={"task": f"{task}:test:0"})
    picture = Image.fromarray(env.render()).resize((SIZE, SIZE), Image.Resampling.LANCZOS)  # smoother than drawn small
    env.close()
    whole = Image.new("RGB", (SIZE, SIZE + LINE), "white")
    whole.paste(picture, (0, 0))
    font = ImageFont.load_default(9.5 if len(task) < 22 else 8.5)
    ImageDraw.Draw(whole).text((SIZE // 2, SIZE + LINE // 2), task, fill="black", font=font, anchor="mm")
    return np.asarray(whole)


def main() -> None:
    """Draw all of them."""
    tiles = [tile(task) for task in INSTRUCTIONS]
    rows = [np.hstack(tiles[first : first + COLUMNS]) for first in range(0, len(tiles), COLUMNS)]
    Image.fromarray(np.vstack(rows)).quantize(255, method=Image.Quantize.MAXCOVERAGE).save(TARGET, optimize=True)
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()

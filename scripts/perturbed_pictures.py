"""Writes docs/_static/libero_perturbed.png and primitiveskill_perturbed.png: each factor at levels 0 to 3.

python scripts/perturbed_pictures.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
from PIL import Image

import agentrl  # noqa: F401  (registers the ids)
from agentrl.envs.common.perturb import HIGHEST

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
SHOWN = {
    "libero": ("agentrl/LIBERO-Spatial-v0", "libero_spatial/5:test:11"),
    "primitiveskill": ("agentrl/PrimitiveSkill-Place-Visual-v0", "place:test:3"),
}
FACTORS = ("light", "camera", "textures", "distractors", "poses")
SIZE = 160


def picture(env_id: str, task: str, perturb: str) -> np.ndarray:
    """The first picture of a task."""
    with gym.make(env_id, split="test", image_size=SIZE, perturb=perturb) as env:
        return env.reset(options={"task": task})[0]["image"]


def main(folder: Path) -> None:
    """One line a factor, one column a level."""
    for family, (env_id, task) in SHOWN.items():
        rows = [
            np.hstack([picture(env_id, task, f"{factor}:{level}") for level in range(HIGHEST + 1)])
            for factor in FACTORS
        ]
        Image.fromarray(np.vstack(rows)).save(folder / f"{family}_perturbed.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)

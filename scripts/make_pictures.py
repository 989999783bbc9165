"""Draws the pictures of the README and the documentation's front page from the environments themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from PIL import Image

import agentrl  # noqa: F401  (registers the environments)

STATIC = Path(__file__).resolve().parent.parent / "docs" / "_static"
PIXELS, MARGIN = 240, 12
ICON_PIXELS, ICON_MARGIN, ICONS_A_ROW = 64, 4, 12
# The picture is about tasks that look different from each other: small and large, one box and several.
SCENES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("FrozenLake", 3, {}),
    ("FrozenLake", 5, {"size": 8, "max_turns": 6, "min_solution": 8}),
    ("Sokoban", 7, {}),
    ("Sokoban", 4, {"size": 8, "boxes": 2, "max_turns": 8, "levels": 64}),
)


def scene(name: str, seed: int, arguments: dict[str, Any]) -> np.ndarray:
    """The first observation of a task, as a model sees it."""
    env = gym.make(f"agentrl/{name}-Visual-v0", image_size=PIXELS, **arguments)
    obs, _ = env.reset(seed=seed)
    env.close()
    return obs["image"]


def strip(pictures: list[np.ndarray]) -> np.ndarray:
    """Pictures side by side on white."""
    width = len(pictures) * (PIXELS + MARGIN) - MARGIN
    canvas = np.full((PIXELS, width, 3), 255, np.uint8)
    for i, picture in enumerate(pictures):
        left = i * (PIXELS + MARGIN)
        canvas[:, left : left + PIXELS] = picture
    return canvas


def icon_sheet() -> np.ndarray:
    """Generated SVG targets, one row a grade of difficulty."""
    from agentrl.envs.svg.sandbox.renderer import shared_renderer
    from agentrl.envs.svg.targets.icons import GRADES, icon

    side = ICON_PIXELS + ICON_MARGIN
    canvas = np.full((len(GRADES) * side - ICON_MARGIN, ICONS_A_ROW * side - ICON_MARGIN, 3), 225, np.uint8)
    for row, grade in enumerate(GRADES):
        codes = [icon("train", grade, index) for index in range(ICONS_A_ROW)]
        for column, picture in enumerate(shared_renderer(ICON_PIXELS).draw_many(codes)):
            if not isinstance(picture, np.ndarray):
                raise picture  # a refusal: an icon of our own must pass the gate
            top, left = row * side, column * side
            canvas[top : top + ICON_PIXELS, left : left + ICON_PIXELS] = picture
    return canvas


def main(folder: Path = STATIC) -> list[Path]:
    """Write `worlds.png` and `icons.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    worlds, icons = folder / "worlds.png", folder / "icons.png"
    Image.fromarray(strip([scene(*each) for each in SCENES])).save(worlds, optimize=True)
    Image.fromarray(icon_sheet()).save(icons, optimize=True)
    return [worlds, icons]


if __name__ == "__main__":
    print(*main())

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
SHOP_PIXELS, SHOP_SEED = 560, 12
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


def shop_pages() -> np.ndarray:
    """A shopping trip of the oracle: search, results, the product with its options chosen, the receipt."""
    env = gym.make("agentrl/WebShop-Visual-v0", image_size=SHOP_PIXELS)
    pages = {}
    obs, info = env.reset(seed=SHOP_SEED)
    while (action := env.unwrapped.oracle()) is not None:  # pyright: ignore[reportAttributeAccessIssue]
        pages[info["state"]["page"]] = obs["image"]
        obs, *_, info = env.step(action)
    pages["done"] = obs["image"]
    env.close()
    side = SHOP_PIXELS + MARGIN
    canvas = np.full((2 * side - MARGIN, 2 * side - MARGIN, 3), 225, np.uint8)
    for place, name in enumerate(("search", "results", "item", "done")):
        top, left = place // 2 * side, place % 2 * side
        canvas[top : top + SHOP_PIXELS, left : left + SHOP_PIXELS] = pages[name]
    return canvas


def main(folder: Path = STATIC) -> list[Path]:
    """Write `worlds.png`, `icons.png` and `webshop.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {"worlds": strip([scene(*each) for each in SCENES]), "icons": icon_sheet(), "webshop": shop_pages()}
    for name, picture in made.items():
        Image.fromarray(picture).save(folder / f"{name}.png", optimize=True)
    return [folder / f"{name}.png" for name in made]


if __name__ == "__main__":
    print(*main())

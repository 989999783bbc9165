"""Pictures can be read: a decoder that knows the art only by its description gets the exact state back.

The decoder looks at the share of each cell that has a certain colour and at nothing else. It shares no code with the
renderer, so it fails when two tiles become hard to tell apart, when a tile lands in the wrong place, or when a picture
shows anything but the state.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401  (registers the ids)
from agentrl.core.errors import ConfigError

MOVES = ("Left", "Down", "Right", "Up")


def is_red(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
    return (red > 190) & (green < 110) & (blue < 120)


def is_green(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
    return (green > red + 45) & (green > blue + 25)


def is_water(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
    return (red < 60) & (green < 90) & (blue < 140) & (blue > green + 15) & (green > red)


def is_blue(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
    return (blue > red + 70) & (blue > green + 40)


def is_slate(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
    return (abs(red - green) < 24) & (blue > red + 8) & (blue < red + 50) & (red < 140) & (red > 40)


def is_brown(red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> np.ndarray:
    return (red > blue + 75) & (red < 225) & (green > blue + 20) & (red > green + 30)


def shares(picture: np.ndarray, size: int, *colours: Callable[..., np.ndarray]) -> list[np.ndarray]:
    """For each colour the share of every cell's pixels that have it: float [size, size]."""
    tile = picture.shape[0] // size
    margin = (picture.shape[0] - tile * size) // 2
    board = picture[margin : margin + tile * size, margin : margin + tile * size]
    channels = [board[:, :, channel].astype(np.int16) for channel in range(3)]
    return [colour(*channels).reshape(size, tile, size, tile).mean(axis=(1, 3)) for colour in colours]


def read_lake(picture: np.ndarray, size: int) -> list[str]:
    """Dark water is a hole, red the gift, green the player; the player with one of the others stands there."""
    green, dark, red = shares(picture, size, is_green, is_water, is_red)
    player, water, gift = green > 0.04, dark > 0.04, red > 0.03
    return _rows([(player & water, "X"), (player & gift, "*"), (player, "P"), (water, "O"), (gift, "G")], "_", size)


def read_room(picture: np.ndarray, size: int) -> list[str]:
    """Slate is wall, brown a crate, green a stored crate, blue the player, red a target around it or alone."""
    slate, brown, green, blue, red = shares(picture, size, is_slate, is_brown, is_green, is_blue, is_red)
    wall, crate, stored, player, target = slate > 0.5, brown > 0.3, green > 0.4, blue > 0.05, red > 0.05
    return _rows(
        [(wall, "#"), (stored, "*"), (crate, "X"), (player & target, "S"), (player, "P"), (target, "O")], "_", size
    )


def _rows(signs: list[tuple[np.ndarray, str]], otherwise: str, size: int) -> list[str]:
    symbols = np.full((size, size), otherwise)
    for where, symbol in reversed(signs):  # the first sign that applies counts
        symbols[where] = symbol
    return ["".join(row) for row in symbols]


GAMES = {
    "FrozenLake": (read_lake, "_OGPX*", {"size": 4}),
    "FrozenLake-8": (read_lake, "_OGPX*", {"size": 8, "levels": 2000}),
    "Sokoban": (read_room, "#_OXP*S", {"size": 6}),
    "Sokoban-boxes": (read_room, "#_OXP*S", {"size": 7, "boxes": 2, "levels": 500}),
    "Sokoban-10": (read_room, "#_OXP*S", {"size": 10, "boxes": 3, "levels": 100, "max_solution": 9}),
}
# 255, 101, 130 ... do not divide by any of the board sizes: those pictures have margins.
CASES = [
    *[("FrozenLake", px, n) for px, n in ((96, 1000), (128, 250), (192, 200), (255, 100), (256, 100), (101, 200))],
    *[("FrozenLake-8", px, n) for px, n in ((192, 100), (255, 40), (130, 80))],
    *[("Sokoban", px, n) for px, n in ((96, 1000), (128, 250), (192, 200), (255, 100), (256, 100), (101, 200))],
    *[("Sokoban-boxes", px, n) for px, n in ((112, 200), (192, 100), (255, 40))],
    *[("Sokoban-10", px, n) for px, n in ((192, 80), (203, 40))],
]


def make(game: str, pixels: int, **others: Any) -> gym.Env:
    settings = GAMES[game][2] | {"image_size": pixels} | others
    return gym.make(f"agentrl/{game.split('-')[0]}-Visual-v0", **settings)


@pytest.mark.parametrize(
    ("game", "pixels", "levels"),
    [pytest.param(*case, marks=[] if case in CASES[::3] else pytest.mark.long) for case in CASES],
)
def test_every_picture_reads_back_to_its_state(game: str, pixels: int, levels: int) -> None:
    read, symbols, settings = GAMES[game]
    env, dice, met = make(game, pixels), random.Random(pixels), Counter()
    for level in range(levels):
        observation, info = env.reset(seed=pixels if level == 0 else None)
        # Some levels end as the oracle ends them, so that goals and stored crates are met; the rest by chance.
        solve = level % 4 == 0
        for _ in range(3):
            assert read(observation["image"], settings["size"]) == info["state"]["rows"]
            met.update("".join(info["state"]["rows"]))
            move = (env.unwrapped.oracle() if solve else None) or ", ".join(dice.choices(MOVES, k=dice.randint(1, 3)))
            observation, _, terminated, truncated, info = env.step(move)
            if terminated or truncated:
                break
        assert read(observation["image"], settings["size"]) == info["state"]["rows"]
        met.update("".join(info["state"]["rows"]))
    assert set(met) == set(symbols), "some kind of tile was never shown"


def test_the_decoder_notices_a_wrong_tile() -> None:
    env = make("Sokoban", 96)
    observation, info = env.reset(seed=1)
    picture = observation["image"].copy()
    (row, column), (r, c) = info["state"]["box_positions"][0], info["state"]["player_position"]
    box = picture[row * 16 : row * 16 + 16, column * 16 : column * 16 + 16].copy()
    picture[r * 16 : r * 16 + 16, c * 16 : c * 16 + 16] = box
    assert read_room(picture, 6) != info["state"]["rows"]


def test_render_shows_the_same_picture_as_the_observation() -> None:
    env = make("FrozenLake", 128, render_mode="rgb_array")
    observation, _ = env.reset(seed=3)
    assert np.array_equal(env.render(), observation["image"])


def test_what_tiles_do_not_fill_is_a_plain_margin_on_every_side() -> None:
    picture = make("Sokoban", 255).reset(seed=5)[0]["image"]
    assert picture.shape == (255, 255, 3)  # 6 tiles of 42 make 252: margins of 1 before and 2 behind
    frame = np.concatenate([picture[0], picture[-2], picture[-1], picture[:, 0], picture[:, -2], picture[:, -1]])
    assert len(np.unique(frame, axis=0)) == 1
    assert len(np.unique(picture[1, 1:-2], axis=0)) > 1


def test_observations_are_fresh_arrays_nobody_else_holds() -> None:
    env = make("FrozenLake", 96)
    first, _ = env.reset(seed=1)
    kept = first["image"].copy()
    first["image"][:] = 0
    again, _ = env.reset(seed=1)
    assert np.array_equal(again["image"], kept)


DIGEST = """
import hashlib, sys
import gymnasium as gym
import agentrl
from agentrl.envs.grid.kernel import kernel_name
digest = hashlib.sha256()
for game, sizes in (("FrozenLake", (96, 101, 256)), ("Sokoban", (96, 255))):
    for pixels in sizes:
        env = gym.make(f"agentrl/{game}-Visual-v0", image_size=pixels)
        for seed in range(40):
            digest.update(env.reset(seed=seed)[0]["image"].tobytes())
            digest.update(env.step("Left, Up, Down")[0]["image"].tobytes())
        many = gym.make_vec(f"agentrl/{game}-Grid-v0", num_envs=16, observation="image", image_size=pixels)
        digest.update(many.reset(seed=7)[0].tobytes())
print(kernel_name(), digest.hexdigest())
"""


@pytest.mark.c_kernel
def test_compiled_and_numpy_kernels_draw_the_same_pictures() -> None:
    found = {}
    for kernel in ("", "numpy"):
        environment = os.environ | {"AGENTRL_KERNEL": kernel}
        done = subprocess.run(
            [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        name, found[kernel] = done.stdout.split()
        assert not kernel or name == kernel
    assert found[""] == found["numpy"]


@pytest.mark.long  # the kit compares processes of different hash seeds in tests/envs/test_contract.py
def test_pictures_never_change_by_themselves() -> None:
    """The art is drawn afresh in every process; the same level must always be the same picture."""
    runs = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "12345")
    }
    assert len(runs) == 1


@pytest.mark.parametrize("pixels", [0, -1, 15, 4097, 10**9, 96.0, "96", None, True, [96]])
def test_impossible_picture_sizes_are_refused_with_the_limits(pixels: Any) -> None:
    with pytest.raises(ConfigError, match="image_size must be a whole number of at least 16 and at most 4096"):
        make("FrozenLake", pixels)


@pytest.mark.parametrize(("game", "pixels"), [("FrozenLake", 16), ("Sokoban", 24), ("FrozenLake", 1024)])
def test_the_smallest_and_large_sizes_draw(game: str, pixels: int) -> None:
    env = make(game, pixels)
    observation, _ = env.reset(seed=2)
    assert observation["image"].shape == (pixels, pixels, 3)
    assert env.observation_space.contains(observation)
    assert hashlib.sha256(observation["image"]).digest() == hashlib.sha256(env.reset(seed=2)[0]["image"]).digest()

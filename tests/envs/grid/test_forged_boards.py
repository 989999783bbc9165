"""Boards from elsewhere: a forged snapshot or a poisoned cache is refused, or can be played to its end."""

from __future__ import annotations

import hashlib
import io
import logging
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401 (registers the ids)
from agentrl.core.cache import forget_caches
from agentrl.core.errors import SnapshotError
from agentrl.core.snapshot import open_blob, seal_blob
from agentrl.envs.grid.sokoban_duo import AGENTS, SokobanDuo

IDS = ("agentrl/FrozenLake-Text-v0", "agentrl/Sokoban-Text-v0")
STRANGE = (-1, 0, 1, 2**31, 2**63 - 1, 2**64 - 1, -(2**63), "", [], None, True, 1.5)


def boards(codes: bytes, rng: np.random.Generator, count: int) -> list[bytes]:
    """Boards with one to four cells changed."""
    found = []
    for _ in range(count):
        board = np.frombuffer(codes, np.uint8).copy()
        cells = rng.integers(len(board), size=rng.integers(1, 5))
        board[cells] = rng.integers(9, size=len(cells))
        found.append(board.tobytes())
    return found


def play(env: Any) -> None:
    """Everything that a user may ask of an environment."""
    for action in ("Left, Up, Right", "Down, Down, Left", "Up, Up, Right"):
        for ask in (env.state().to_json, env.state().natural, env.oracle, env.snapshot):
            ask()
        if env._over:
            break
        env.step(action)
    env.reset()
    env.reset(seed=3)


@pytest.mark.parametrize("name", IDS)
def test_a_forged_board_is_refused_or_can_be_played(name: str) -> None:
    env: Any = gym.make(name).unwrapped
    rng, refused = np.random.default_rng(1), 0
    for seed in range(6):
        env.reset(seed=seed)
        data = open_blob(env.snapshot(), env._identity())
        for board in boards(data["world"]["codes"], rng, 60):
            forged = {**data, "world": {**data["world"], "codes": board}}
            refused += tried(env, seal_blob(env._identity(), forged))
    assert 100 < refused < 360


@pytest.mark.parametrize("name", IDS)
def test_forged_numbers_are_refused_or_harmless(name: str) -> None:
    env: Any = gym.make(name).unwrapped
    env.reset(seed=0)
    data = open_blob(env.snapshot(), env._identity())
    for strange in STRANGE:
        for key in ("turn", "terminated", "seed"):
            tried(env, seal_blob(env._identity(), {**data, key: strange}))
        for key in ("key", "level", "stride", "named"):
            tried(env, seal_blob(env._identity(), {**data, "world": {**data["world"], key: strange}}))


def tried(env: Any, blob: bytes) -> bool:
    """Whether a blob is refused; one that is not must do no harm."""
    try:
        env.restore(blob)
    except SnapshotError:
        return True
    play(env)
    return False


def test_two_players_refuse_forged_rooms_too() -> None:
    env, rng, refused = SokobanDuo(), np.random.default_rng(2), 0
    env.reset(seed=1)
    data = open_blob(env.snapshot(), env._identity())
    for board in boards(data["codes"], rng, 150):
        try:
            env.restore(seal_blob(env._identity(), {**data, "codes": board}))
        except SnapshotError:
            refused += 1
            continue
        for move in ("Left, Up", "Down, Right", "Right, Up"):
            if env.agents:
                env.step(dict.fromkeys(AGENTS, move))
            env.state().to_json()
    assert refused > 100


# ---------------------------------------------------------------------- the cache of levels


def poisoned(arrays: dict[str, np.ndarray]) -> bytes:
    """A cache file with a right hash."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return hashlib.sha256(buffer.getvalue()).digest() + buffer.getvalue()


def open_rooms(n: int) -> np.ndarray:
    """Rooms without walls: the player would walk over the edge of the array."""
    grids = np.ones((n, 5, 5), np.uint8)
    grids[:, 0, 0], grids[:, 2, 2], grids[:, 2, 3] = 4, 3, 2
    return grids


@pytest.mark.parametrize(
    "arrays",
    [
        {"grids": open_rooms(3), "lengths": np.full(3, 5)},
        {"grids": open_rooms(3)[:, :4, :4], "lengths": np.full(3, 5)},
        {"grids": np.zeros((3, 5, 5), np.uint8), "lengths": np.full(3, 5)},
        {"grids": np.full((3, 5, 5), 200, np.uint8), "lengths": np.full(3, 5)},
        {"grids": open_rooms(3).astype(np.int64), "lengths": np.full(3, 5)},
        {"grids": open_rooms(3), "lengths": np.full(2, 5)},
        {"boards": open_rooms(3)},
    ],
)
def test_a_poisoned_level_cache_is_built_again(tmp_path, monkeypatch, caplog, arrays) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    options: dict[str, Any] = {"size": 5, "min_solution": 5, "max_solution": 5}

    def tasks() -> list[str]:
        forget_caches()
        return list(gym.make("agentrl/Sokoban-Grid-v0", **options).unwrapped.tasks())  # pyright: ignore[reportAttributeAccessIssue]

    right = tasks()
    (path,) = (tmp_path / "levels").glob("*.npz")
    for content in (poisoned(arrays), hashlib.sha256(b"no zip").digest() + b"no zip"):
        path.write_bytes(content)
        with caplog.at_level(logging.WARNING):
            assert tasks() == right
        assert "is damaged" in caplog.text
    assert tasks() == right

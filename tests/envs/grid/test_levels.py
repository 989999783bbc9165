"""Which levels exist, who owns them, and in which order they come."""

from __future__ import annotations

import numpy as np
import pytest

import agentrl  # noqa: F401
from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.envs.grid.frozenlake import GOAL, FrozenLakeEnv
from agentrl.envs.grid.levels import LevelNames, LevelPool, content_hash, spelled, split_of, take_levels
from agentrl.envs.grid.sokoban import FLOOR, SokobanEnv

GAMES = [FrozenLakeEnv, SokobanEnv]


def pools(game, **arguments) -> list[LevelPool]:
    return [game(split=split, **arguments)._pool for split in SPLITS]


def test_the_default_lake_pool_is_every_lake_there_is():
    assert sum(map(len, pools(FrozenLakeEnv))) == 199_712


def test_every_split_of_the_default_rooms_has_a_hundred_thousand_distinct_levels():
    for pool in pools(SokobanEnv):
        assert len({grid.tobytes() for grid in pool.grids}) == len(pool) >= 100_000


def layouts_of(game, pool: LevelPool) -> np.ndarray:
    """Levels without what moves: the part that decides the split."""
    grids = pool.grids
    if game is FrozenLakeEnv:
        return np.where(grids == 3, 0, grids)  # the player stands on ice
    by_code = np.array([0, 1, 2, 1, 1, 2, 2], np.uint8)  # boxes and player off, targets seen
    return by_code[grids]


@pytest.mark.parametrize("game", GAMES)
def test_no_layout_of_one_split_is_a_rotation_or_reflection_of_one_in_another(game):
    found = []
    for pool in pools(game):
        distinct = {grid.tobytes() for grid in layouts_of(game, pool)}
        layouts = np.frombuffer(b"".join(sorted(distinct)), np.uint8).reshape(-1, *pool.grids.shape[1:])
        turned = [np.rot90(side, turns, (1, 2)) for side in (layouts, layouts[:, :, ::-1]) for turns in range(4)]
        found.append({grid.tobytes() for grids in turned for grid in np.ascontiguousarray(grids)})
    assert not found[0] & found[1] and not found[0] & found[2] and not found[1] & found[2]


@pytest.mark.parametrize("game", GAMES)
def test_lengths_lie_between_the_minimum_and_what_the_limits_allow(game):
    for pool in pools(game):
        assert pool.lengths.min() == 5 and pool.lengths.max() == 9


@pytest.mark.parametrize(
    ("game", "arguments"),
    [
        (FrozenLakeEnv, {"size": 6, "levels": 500}),
        (FrozenLakeEnv, {"size": 4, "hole_probability": 0.1, "levels": 300}),
        (SokobanEnv, {"size": 7, "levels": 300}),
        (SokobanEnv, {"size": 8, "boxes": 3, "levels": 200}),
    ],
)
def test_random_pools_are_distinct_disjoint_and_of_the_size_asked_for(game, arguments):
    seen: set[bytes] = set()
    for pool in pools(game, **arguments):
        levels = {grid.tobytes() for grid in pool.grids}
        assert len(levels) == len(pool) == arguments["levels"]
        assert not levels & seen
        seen |= levels


def test_a_smaller_pool_is_the_beginning_of_a_larger_one():
    small, large = SokobanEnv(size=7, levels=50)._pool, SokobanEnv(size=7, levels=200)._pool
    assert (small.grids == large.grids[:50]).all()


@pytest.mark.parametrize("n", [1, 2, 7, 32, 100])
def test_a_walk_visits_every_level_once_before_it_repeats(n):
    pool = LevelPool(np.zeros((n, 1, 1), np.uint8), np.zeros(n, np.int16))
    for key in range(200):
        first, stride = pool.walk(key)
        assert sorted((first + k * stride) % n for k in range(n)) == list(range(n))


def test_resets_walk_through_all_levels_before_one_comes_again():
    env = FrozenLakeEnv(levels=32)
    tasks = [env.reset(seed=3 if k == 0 else None)[1]["task"] for k in range(64)]
    assert len(set(tasks[:32])) == 32 and tasks[32:] == tasks[:32]


def test_different_seeds_reach_most_of_a_small_pool():
    env = FrozenLakeEnv(levels=32)
    assert len({env.reset(seed=seed)[1]["task"] for seed in range(300)}) == 32


def test_content_decides_the_split_not_orientation():
    grids = np.random.default_rng(0).integers(0, 6, (500, 5, 5)).astype(np.uint8)
    for turned in (np.rot90(grids, 1, (1, 2)), grids[:, ::-1], grids.swapaxes(1, 2)):
        assert (split_of(turned) == split_of(grids)).all()
    shares = np.bincount(split_of(grids), minlength=3) / len(grids)
    assert np.allclose(shares, [0.5, 0.25, 0.25], atol=0.07)


def test_pinned_values_so_that_no_update_moves_a_level():
    assert content_hash(np.arange(9, dtype=np.uint8).reshape(1, 3, 3)).tolist() == [PINNED_HASH]
    assert FrozenLakeEnv().tasks()[0] == PINNED_LAKE
    assert SokobanEnv().tasks()[0] == PINNED_ROOM
    assert SokobanEnv(size=7, boxes=2, levels=8).tasks()[0] == PINNED_RANDOM_ROOM


PINNED_HASH = 7588101765834889548
PINNED_LAKE = "OO_P/OOO_/____/_G_O"
PINNED_ROOM = "######/#_##P#/#____#/#__X_#/#_O###/######"
PINNED_RANDOM_ROOM = "#######/#__####/#_###_#/#*OX__#/#___#_#/#_##P_#/#######"


def test_streams_that_repeat_themselves_end():
    grid = np.zeros((4, 2, 2), np.uint8)

    def for_ever():
        while True:
            yield grid, np.ones(4, np.int16)

    assert len(take_levels(for_ever(), 10)["grids"]) == 1


def test_names_are_lazy_and_sliceable():
    names = LevelNames(LevelPool(np.array([[[0, 1], [2, 3]], [[3, 2], [1, 0]]], np.uint8), np.ones(2)), "abcd")
    assert len(names) == 2 and names[0] == "ab/cd" and names[-1] == "dc/ba" and names[:2] == ["ab/cd", "dc/ba"]
    with pytest.raises(IndexError):
        names[2]


@pytest.mark.parametrize(
    ("game", "arguments", "word"),
    [
        (FrozenLakeEnv, {"size": 2}, "min_solution"),
        (FrozenLakeEnv, {"size": 1}, "size"),
        (FrozenLakeEnv, {"size": "4"}, "size"),
        (FrozenLakeEnv, {"size": True}, "size"),
        (FrozenLakeEnv, {"hole_probability": 1.0}, "hole_probability"),
        (FrozenLakeEnv, {"hole_probability": float("nan")}, "hole_probability"),
        (FrozenLakeEnv, {"size": 8, "hole_probability": 0.97}, "holes"),
        (FrozenLakeEnv, {"min_solution": 8, "max_solution": 6}, "min_solution"),
        (FrozenLakeEnv, {"max_solution": 10}, "max_turns"),
        (FrozenLakeEnv, {"max_turns": 1}, "min_solution"),
        (FrozenLakeEnv, {"levels": 0}, "levels"),
        (FrozenLakeEnv, {"levels": 10**6}, "levels"),
        (FrozenLakeEnv, {"image_size": 3}, "image_size"),
        (FrozenLakeEnv, {"kind": "sound"}, "kind"),
        (FrozenLakeEnv, {"split": "validation"}, "split"),
        (FrozenLakeEnv, {"render_mode": "vr"}, "render_mode"),
        (FrozenLakeEnv, {"hole_probabilty": 0.1}, "hole_probability"),
        (SokobanEnv, {"size": 4}, "size"),
        (SokobanEnv, {"size": 5, "boxes": 5}, "boxes"),
        (SokobanEnv, {"boxes": 0}, "boxes"),
        (SokobanEnv, {"boxes": 1.0}, "boxes"),
        (SokobanEnv, {"step_penalty": None}, "step_penalty"),
    ],
)
def test_what_cannot_work_is_refused_with_a_word_about_the_cure(game, arguments, word):
    with pytest.raises(ConfigError, match=word):
        game(**arguments)


def test_symbols_and_codes_used_here_are_the_environments_own():
    assert FrozenLakeEnv.symbols[GOAL] == "G" and SokobanEnv.symbols[FLOOR] == "_"


def test_a_grid_is_spelled_row_by_row_whatever_its_type_and_shape():
    codes = np.array([[0, 1, 2], [5, 4, 3]])
    assert spelled(codes, "_OGPX*") == spelled(codes.astype(np.uint8), "_OGPX*") == ["_OG", "*XP"]
    assert spelled(codes.T, "_OGPX*") == ["_*", "OX", "GP"]  # not contiguous

"""FrozenLake: the rules of Gymnasium's `FrozenLake-v1`, the figures of the contract, levels as long as they claim."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv as GymnasiumLake

import agentrl  # noqa: F401  (registers the ids)
from agentrl.core.errors import ConfigError
from agentrl.envs.grid.frozenlake import FrozenLakeEnv

NAMES = ("Left", "Down", "Right", "Up")
MAPS = [100, pytest.param(1000, marks=pytest.mark.long)]
LETTERS = {"_": "F", "O": "H", "G": "G", "P": "S"}


def random_map(dice: random.Random, size: int) -> list[str]:
    """Ice and holes by chance with a goal; no player yet."""
    chance = dice.uniform(0.0, 0.6)
    cells = ["O" if dice.random() < chance else "_" for _ in range(size * size)]
    goal = dice.randrange(size * size)
    cells[goal] = "G"
    cells[(goal + 1 + dice.randrange(size * size - 1)) % (size * size)] = "_"  # at least one tile to stand on
    return cells


def place(cells: list[str], player: int, size: int) -> str:
    """The task whose player stands on that cell."""
    cells = [*cells[:player], "P", *cells[player + 1 :]]
    return "/".join("".join(cells[row * size : (row + 1) * size]) for row in range(size))


def gymnasium_table(cells: list[str], size: int, slippery: bool) -> dict[int, dict[int, list[tuple]]]:
    """Gymnasium's transitions: state -> action -> [(probability, next state, reward, terminated)]."""
    letters = [LETTERS[cell] for cell in cells]
    letters[letters.index("F")] = "S"
    description = ["".join(letters[row * size : (row + 1) * size]) for row in range(size)]
    return GymnasiumLake(desc=description, is_slippery=slippery).P


def standing_places(cells: list[str]) -> Iterator[int]:
    return (cell for cell, symbol in enumerate(cells) if symbol == "_")


def lake_of(size: int, slippery: bool, made: dict[int, FrozenLakeEnv]) -> FrozenLakeEnv:
    if size not in made:
        made[size] = FrozenLakeEnv(
            kind="grid",
            size=size,
            slippery=slippery,
            min_solution=1,
            max_solution=3,
            levels=1,
        )
        made[size].reset(seed=size)
    return made[size]


def step_from(env: FrozenLakeEnv, cells: list[str], cell: int, action: int) -> tuple[int, bool, bool]:
    """Where one action leads: (cell, terminated, success)."""
    env.reset(options={"task": place(cells, cell, env.size)})
    codes, _, terminated, _, info = env.step(action)
    return int(np.flatnonzero(codes.ravel() >= 3)[0]), terminated, info["success"]


@pytest.mark.parametrize("maps", MAPS)
def test_every_transition_of_many_maps_is_gymnasiums(maps: int) -> None:
    dice, made, compared = random.Random(1), {}, 0
    for number in range(maps):
        size = (2, 3, 4, 4, 5)[number % 5]
        env, cells = lake_of(size, False, made), random_map(dice, size)
        table = gymnasium_table(cells, size, slippery=False)
        for cell in standing_places(cells):
            for action in range(4):
                [(_, expected, reward, ends)] = table[cell][action]
                assert step_from(env, cells, cell, action) == (
                    expected,
                    ends,
                    reward == 1.0,
                ), (cells, cell, action)
                compared += 1
    assert compared > 20 * maps


@pytest.mark.parametrize("maps", MAPS)
def test_every_slippery_transition_of_many_maps_is_one_of_gymnasiums(maps: int) -> None:
    """One throw from every state with every action; a direction that can be told from the outcome is counted."""
    dice, made, turned = random.Random(2), {}, Counter()
    for number in range(maps):
        size = (2, 3, 4, 4, 5)[number % 5]
        env, cells = lake_of(size, True, made), random_map(dice, size)
        table = gymnasium_table(cells, size, slippery=True)
        for cell in standing_places(cells):
            for action in range(4):
                possible = {(place, ends, reward == 1.0) for _, place, reward, ends in table[cell][action]}
                outcome = step_from(env, cells, cell, action)
                assert outcome in possible, (cells, cell, action)
                if len(possible) == 3:
                    turned[[place for _, place, _, _ in table[cell][action]].index(outcome[0])] += 1
    total = sum(turned.values())
    assert total > 10 * maps
    assert all(abs(turned[way] / total - 1 / 3) < 0.5 / maps**0.5 for way in range(3)), turned


def test_slippery_frequencies_are_gymnasiums_in_every_kind_of_place() -> None:
    cells = list("____O____G__O___")
    env, table = lake_of(4, True, {}), gymnasium_table(cells, 4, slippery=True)
    for cell in (0, 3, 5, 8, 15):  # corners, beside a hole, beside the goal
        for action in range(4):
            expected: Counter[int] = Counter()
            for probability, place, _, _ in table[cell][action]:
                expected[place] += probability
            found = Counter(step_from(env, cells, cell, action)[0] for _ in range(600))
            assert set(found) == set(expected)
            assert all(abs(found[place] / 600 - expected[place]) < 0.09 for place in expected), (found, expected)


# ---------------------------------------------------------------------- rewards, limits, ends


def text_env(**arguments: Any) -> gym.Env:
    return gym.make("agentrl/FrozenLake-Text-v0", **arguments)


TASK = "P___/___O/____/___G"


def test_rewards_and_ends_are_those_of_the_contract() -> None:
    env = text_env()
    env.reset(options={"task": TASK})
    _, reward, terminated, truncated, info = env.step("Down, Down, Left")
    assert reward == pytest.approx(-0.3)
    assert (terminated, truncated) == (False, False)
    assert info["reward_terms"] == pytest.approx({"step": -0.3})
    assert info["effective"] and info["valid"] and info["actions"] == ["Down", "Down", "Left"]
    _, reward, *_ = env.step("Down, Right, Right")
    assert reward == pytest.approx(-0.3)
    _, reward, terminated, truncated, info = env.step("Right")
    assert (reward, terminated, truncated) == (
        10.0,
        True,
        False,
    )  # on the last turn: success, not the limit
    assert info["success"] and info["limit"] is None and info["reward_terms"] == {"success": 10.0}
    assert info["state"]["rows"] == ["____", "___O", "____", "___*"]


def test_a_hole_ends_the_walk_and_the_turn() -> None:
    env = text_env()
    env.reset(options={"task": TASK})
    env.step("Right, Right, Right")
    _, reward, terminated, truncated, info = env.step("Down, Down, Down")
    assert (reward, terminated, truncated) == (pytest.approx(-0.1), True, False)
    assert info["actions"] == ["Down"] and not info["success"]
    assert info["state"]["rows"][1] == "___X"


def test_the_last_turn_truncates_as_a_task_limit() -> None:
    env = text_env()
    env.reset(options={"task": TASK})
    ends = [env.step("Left")[2:] for _ in range(3)]
    assert [(terminated, truncated) for terminated, truncated, _ in ends] == [(False, False)] * 2 + [(False, True)]
    assert [info["limit"] for _, _, info in ends] == [None, None, "task"]
    assert not any(info["effective"] for _, _, info in ends)  # it leaned against the edge all the time


def test_the_grid_kind_has_as_many_steps_as_turns_times_actions() -> None:
    env = gym.make("agentrl/FrozenLake-Grid-v0")
    env.reset(options={"task": TASK})
    ends = [env.step(0)[3] for _ in range(9)]
    assert ends == [False] * 8 + [True]


def test_earlier_actions_count_when_a_later_one_is_invalid() -> None:
    env = text_env()
    env.reset(options={"task": TASK})
    _, reward, _, _, info = env.step("Right, jump, Right")
    assert reward == pytest.approx(-0.2)
    assert info["reward_terms"] == pytest.approx({"step": -0.1, "invalid": -0.1})
    assert not info["valid"] and info["state"]["player_position"] == [0, 1]


def test_rewards_can_be_chosen() -> None:
    env = text_env(success_reward=1.0, step_penalty=0.0, invalid_penalty=-2.0)
    env.reset(options={"task": "____/____/___P/___G"})
    assert env.step("nonsense")[1] == -2.0
    assert env.step("Up")[1] == 0.0
    assert env.step("Down, Down")[1] == 1.0


@pytest.mark.parametrize(
    ("turn", "plain", "whole"),
    [
        ("nonsense", -0.1, -0.3),
        ("Right, jump, Right", -0.2, -0.3),
        ("Right, Right, jump", -0.3, -0.3),
        ("", -0.1, -0.3),
    ],
)
def test_an_invalid_turn_can_be_made_no_cheaper_than_a_full_one(turn: str, plain: float, whole: float) -> None:
    for option, cost in ((False, plain), (True, whole)):
        env = text_env(whole_turn_penalty=option)
        env.reset(options={"task": TASK})
        assert env.step(turn)[1] == pytest.approx(cost)
        assert env.step("Down")[1] == pytest.approx(-0.1)  # valid turns cost what they did
    with pytest.raises(ConfigError, match="whole_turn_penalty must be True or False"):
        text_env(whole_turn_penalty="yes")


def test_invalid_numbers_cost_the_same_one_at_a_time_and_vectorised() -> None:
    options = {"step_penalty": -0.4, "whole_turn_penalty": True, "levels": 8}
    one, many = (
        gym.make("agentrl/FrozenLake-Grid-v0", **options),
        gym.make_vec("agentrl/FrozenLake-Grid-v0", 2, **options),
    )
    one.reset(seed=0)
    many.reset(seed=0)
    assert one.step(9)[1] == many.step(np.array([9, 9]))[1][0] == pytest.approx(-0.4)


# ---------------------------------------------------------------------- levels


def walk_length(task: str) -> int | None:
    """Shortest number of moves from P to G around the holes: sets of cells, ring by ring."""
    tiles = {(r, c): symbol for r, row in enumerate(task.split("/")) for c, symbol in enumerate(row)}
    ring = {cell for cell, symbol in tiles.items() if symbol == "P"}
    visited, length = set(), 0
    while ring:
        if any(tiles[cell] == "G" for cell in ring):
            return length
        visited |= ring
        steps = {(r + dr, c + dc) for r, c in ring for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0))}
        ring = {cell for cell in steps - visited if tiles.get(cell, "O") != "O"}
        length += 1
    return None


SETTINGS = [
    {},
    {"min_solution": 7},
    {"size": 3, "min_solution": 2},
    {"size": 6, "levels": 400},
    {"slippery": True},
]


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_levels_are_exactly_as_long_as_the_pool_says(settings: dict[str, Any], split: str) -> None:
    env = FrozenLakeEnv(split=split, **settings)
    tasks, lengths = env.tasks(), env._pool.lengths
    for index in random.Random(0).sample(range(len(tasks)), min(150, len(tasks))):
        assert walk_length(tasks[index]) == lengths[index]
        assert env.min_solution <= lengths[index] <= 9


@pytest.mark.parametrize(
    "settings",
    [{}, {"size": 6, "levels": 400}, {"size": 8, "levels": 200, "max_turns": 5}],
)
def test_the_oracle_solves_every_level_in_the_shortest_number_of_moves(
    settings: dict[str, Any],
) -> None:
    env = gym.make("agentrl/FrozenLake-Grid-v0", **settings)
    for seed in range(150):
        _, info = env.reset(seed=seed)
        best = walk_length(info["task"])
        moves, done = 0, False
        while not done:
            _, _, done, truncated, info = env.step(env.unwrapped.oracle())
            assert not truncated
            moves += 1
        assert info["success"] and moves == best


def test_four_by_four_has_every_level_there_is() -> None:
    pools = [FrozenLakeEnv(split=split) for split in ("train", "dev", "test")]
    tasks = [set(map(bytes, env._pool.grids.reshape(len(env.tasks()), -1))) for env in pools]
    assert sum(map(len, tasks)) == len(set.union(*tasks)) == 199_712


def canonical(layouts: np.ndarray) -> set[bytes]:
    """Each layout as the smallest of its eight rotations and reflections."""
    turned = [np.rot90(grid, k, (1, 2)) for grid in (layouts, layouts[:, :, ::-1]) for k in range(4)]
    rows = [[bytes(grid) for grid in np.ascontiguousarray(way)] for way in turned]
    return {min(ways) for ways in zip(*rows, strict=True)}


@pytest.mark.parametrize("settings", [{}, {"size": 3, "min_solution": 2}, {"size": 5, "levels": 3000}])
def test_splits_share_no_lake_not_even_a_turned_one(settings: dict[str, Any]) -> None:
    found = []
    for split in ("train", "dev", "test"):
        grids = FrozenLakeEnv(split=split, **settings)._pool.grids
        # The symbols in order _OGPX*: the player's tile is ice.
        found.append(canonical(np.unique(np.where(grids == 3, 0, grids).astype(np.uint8), axis=0)))
    train, dev, test = found
    assert all(found)
    assert not (train & dev or train & test or dev & test)


def test_a_seed_walks_through_different_levels_and_repeats_only_when_all_were_seen() -> None:
    env = FrozenLakeEnv(levels=40)
    tasks = [env.reset(seed=5 if number == 0 else None)[1]["task"] for number in range(80)]
    assert len(set(tasks[:40])) == 40
    assert tasks[:40] == tasks[40:]


# ---------------------------------------------------------------------- bad input

IMPOSSIBLE = [
    ({"size": 2, "min_solution": 9}, "no frozenlake level"),
    ({"size": 3, "min_solution": 9}, "no frozenlake level"),
    ({"hole_probability": 1.0}, "hole_probability must be at least 0 and below 1"),
    ({"hole_probability": -0.1}, "hole_probability"),
    ({"hole_probability": float("nan")}, "hole_probability"),
    ({"hole_probability": "0.2"}, "hole_probability"),
    ({"hole_probability": 0.9999, "size": 6}, "no frozenlake level"),
    ({"size": 1}, "size must be a whole number of at least 2 and at most 32"),
    ({"size": 33}, "size"),
    ({"size": 4.0}, "size"),
    ({"size": "4"}, "size"),
    ({"size": None}, "size"),
    ({"size": True}, "size"),
    ({"min_solution": 0}, "min_solution"),
    ({"min_solution": 10}, "min_solution=10 is above max_solution=9"),
    ({"max_solution": 10}, "do not fit into 9"),
    ({"levels": 0}, "levels"),
    ({"levels": 10**9}, "only .* such levels exist"),
    ({"max_turns": 0}, "max_turns"),
    ({"max_actions_per_turn": 1.5}, "max_actions_per_turn"),
    ({"success_reward": float("inf")}, "success_reward"),
    ({"step_penalty": "cheap"}, "step_penalty"),
    ({"split": "valid"}, "split must be one of"),
    ({"kind": "audio"}, "kind must be one of"),
    ({"render_mode": "hologram"}, "render_mode"),
    ({"hole_probabilty": 0.1}, 'Did you mean "hole_probability"'),
]


@pytest.mark.parametrize(("arguments", "message"), IMPOSSIBLE)
def test_impossible_arguments_raise_an_error_that_says_what_is_wrong(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        FrozenLakeEnv(**arguments)


BAD_TASKS = [
    7, b"P___", ["P___"], "", "P__G", "P___/____/____/___", "P___/____/____/___Z", "____/____/____/___G",
    "P___/____/____/____", "P__P/____/____/___G", "P__G/____/____/___G", "X___/____/____/___G", "*___/____/____/____",
    "P___/____/____/___G/", "P" * 10_000, "P___\n____\n____\n___G",
]  # fmt: skip


@pytest.mark.parametrize("task", BAD_TASKS)
def test_a_bad_task_is_refused_and_the_episode_goes_on(task: Any) -> None:
    env = FrozenLakeEnv()
    env.reset(options={"task": TASK})
    before = env.snapshot()
    with pytest.raises(ConfigError):
        env.reset(options={"task": task})
    assert env.snapshot() == before


def test_any_well_formed_level_can_be_a_task() -> None:
    env = FrozenLakeEnv()
    unsolvable = "PO__/O___/____/___G"
    _, info = env.reset(options={"task": unsolvable})
    assert info["task"] == unsolvable
    assert env.oracle() is None
    assert info["state"]["hole_positions"] == [[0, 1], [1, 0]]

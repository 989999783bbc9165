"""Sokoban: the rules of an independent reference (and of gym-sokoban), the figures of the contract, honest levels."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401  (registers the ids)
from agentrl.core.errors import ConfigError
from agentrl.core.measure import peers_python
from agentrl.envs.grid.sokoban import SokobanEnv

# Where each action goes, by number in the Grid kind.
WAYS = ((0, -1), (1, 0), (0, 1), (-1, 0))
Spot = tuple[int, int]


@dataclass
class Reference:
    """Sokoban as one would explain it: sets of places, and a man who walks."""

    walls: set[Spot]
    targets: set[Spot]
    boxes: set[Spot]
    man: Spot

    @classmethod
    def parse(cls, drawing: str) -> Reference:
        spots = {(r, c): symbol for r, row in enumerate(drawing.split("/")) for c, symbol in enumerate(row)}

        def where(symbols: str) -> set[Spot]:
            return {spot for spot, symbol in spots.items() if symbol in symbols}

        return cls(where("#"), where("O*S"), where("X*"), where("PS").pop())

    def move(self, action: int) -> tuple[bool, str]:
        """(did anything change, what it earned: "success", "box" or "step")."""
        next_to = (self.man[0] + WAYS[action][0], self.man[1] + WAYS[action][1])
        behind = (next_to[0] + WAYS[action][0], next_to[1] + WAYS[action][1])
        if next_to in self.walls or (next_to in self.boxes and behind in self.walls | self.boxes):
            return False, "step"
        self.man = next_to
        if next_to not in self.boxes:
            return True, "step"
        self.boxes = self.boxes - {next_to} | {behind}
        if behind not in self.targets:
            return True, "step"
        return True, "success" if self.boxes == self.targets else "box"

    def drawing(self, size: int) -> list[str]:
        def symbol(spot: Spot) -> str:
            if spot in self.walls:
                return "#"
            plain, marked = ("X", "*") if spot in self.boxes else ("P", "S") if spot == self.man else ("_", "O")
            return marked if spot in self.targets else plain

        return ["".join(symbol((r, c)) for c in range(size)) for r in range(size)]


ROOMS = {
    1: {"size": 6},
    2: {"size": 7, "boxes": 2, "levels": 300},
    3: {"size": 7, "boxes": 3, "levels": 200},
}
EARNS = {"success": 10.0, "box": 1.0, "step": -0.1}


def wandering(env: SokobanEnv, dice: random.Random) -> int:
    """A random action that mostly follows the oracle, so that boxes do reach targets."""
    best = env.oracle() if dice.random() < 0.3 else None
    return dice.randrange(4) if best is None else best


@pytest.mark.parametrize(("boxes", "steps"), [(1, 6000), (2, 4000), (3, 3000)])
def test_every_step_is_the_references(boxes: int, steps: int) -> None:
    env = SokobanEnv(kind="grid", max_turns=15, max_solution=9, **ROOMS[boxes])
    dice, earned, over = random.Random(boxes), Counter(), True
    for _ in range(steps):
        if over:
            _, info = env.reset(seed=boxes if not earned else None)
            reference = Reference.parse(info["task"])
        action = wandering(env, dice)
        changed, term = reference.move(action)
        _, reward, terminated, truncated, info = env.step(action)
        assert info["state"]["rows"] == reference.drawing(env.size)
        assert (info["effective"], reward, info["reward_terms"]) == (
            changed,
            EARNS[term],
            {term: EARNS[term]},
        )
        assert terminated == info["success"] == (term == "success")
        over = terminated or truncated
        earned[term] += 1
    assert earned["success"] > 20
    assert boxes == 1 or earned["box"] > 20


# What the peer plays: rooms as rows of symbols, actions as our numbers; out come the rows after every action.
PEER = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from gym_sokoban.envs.sokoban_env import SokobanEnv
theirs = {"#": (0, 0), "_": (1, 1), "O": (2, 2), "X": (1, 4), "*": (2, 3), "P": (1, 5), "S": (2, 5)}
ours = {pair: symbol for symbol, pair in theirs.items()}
number = {0: 3, 1: 2, 2: 4, 3: 1}
answers = []
for rows, actions in json.load(sys.stdin):
    env = SokobanEnv(dim_room=(len(rows), len(rows)), num_boxes=sum(map("".join(rows).count, "X*")), reset=False)
    env.room_fixed = np.array([[theirs[symbol][0] for symbol in row] for row in rows])
    env.room_state = np.array([[theirs[symbol][1] for symbol in row] for row in rows])
    env.player_position = np.argwhere(env.room_state == 5)[0]
    seen = []
    for action in actions:
        env._push(number[action])
        pairs = zip(env.room_fixed.tolist(), env.room_state.tolist())
        seen.append(["".join(ours[pair] for pair in zip(*lines)) for lines in pairs])
    answers.append([seen, bool(env._check_if_all_boxes_on_target())])
json.dump(answers, sys.stdout)
"""


def gym_sokoban_plays(
    games: list[tuple[list[str], list[int]]],
) -> list[tuple[list[list[str]], bool]] | None:
    """The same games played by gym-sokoban in whichever interpreter has it; None if none has."""
    for python in filter(None, (peers_python(), Path(sys.executable))):
        asked = subprocess.run(
            [str(python), "-c", PEER],
            input=json.dumps(games),
            capture_output=True,
            text=True,
        )
        if asked.returncode == 0:
            return json.loads(asked.stdout)
        assert "ModuleNotFoundError" in asked.stderr, asked.stderr
    return None


def reference_plays(
    games: list[tuple[list[str], list[int]]],
) -> list[tuple[list[list[str]], bool]]:
    answers = []
    for rows, actions in games:
        reference, seen = Reference.parse("/".join(rows)), []
        for action in actions:
            reference.move(action)
            seen.append(reference.drawing(len(rows)))
        answers.append((seen, reference.boxes == reference.targets))
    return answers


def test_whole_games_are_those_of_every_other_implementation_there_is() -> None:
    """The reference always takes part; gym-sokoban wherever it can be imported."""
    dice, games, ours = random.Random(4), [], []
    for boxes, settings in ROOMS.items():
        env = SokobanEnv(kind="grid", max_turns=8, max_solution=9, **settings)
        for number in range(120):
            env.reset(seed=number)
            start, actions, seen, over = list(env.state().rows), [], [], False
            while not over:
                actions.append(wandering(env, dice))
                _, _, terminated, truncated, info = env.step(actions[-1])
                seen.append(info["state"]["rows"])
                over = terminated or truncated
            games.append((start, actions))
            ours.append((seen, info["success"]))
        assert boxes == len(info["state"]["box_positions"])
    assert sum(success for _, success in ours) > 50
    for answers in filter(None, (reference_plays(games), gym_sokoban_plays(games))):
        assert [(list(seen), success) for seen, success in answers] == ours


# ---------------------------------------------------------------------- rewards, limits, ends

TASK = "######/#P___#/#_XO_#/#____#/#____#/######"
TWO = "#######/#P____#/#_XO__#/#_____#/#_X_O_#/#_____#/#######"


def text_env(**arguments: Any) -> gym.Env:
    return gym.make("agentrl/Sokoban-Text-v0", **arguments)


def test_rewards_and_ends_are_those_of_the_contract() -> None:
    env = text_env()
    env.reset(options={"task": TASK})
    _, reward, terminated, truncated, info = env.step("Down, Left, Right")
    assert reward == pytest.approx(9.8) and (terminated, truncated) == (True, False)
    assert info["reward_terms"] == pytest.approx({"step": -0.2, "success": 10.0})
    assert info["success"] and info["state"]["rows"][2] == "#_P*_#"


def test_a_box_on_a_target_earns_one_and_pushing_it_off_costs_no_extra() -> None:
    env = text_env(size=7, boxes=2, levels=1, max_turns=4)
    env.reset(options={"task": TWO})
    _, reward, terminated, _, info = env.step("Down, Right")
    assert reward == pytest.approx(0.9) and not terminated
    assert info["reward_terms"] == pytest.approx({"step": -0.1, "box": 1.0})
    _, reward, *_, info = env.step("Right")  # off again: the player now stands on the target
    assert reward == pytest.approx(-0.1)
    assert info["state"]["rows"][2] == "#__SX_#"


def test_success_on_the_last_turn_is_success_and_not_the_limit() -> None:
    env = text_env(max_turns=3)
    env.reset(options={"task": TASK})
    env.step("Left")
    env.step("Down")
    _, _, terminated, truncated, info = env.step("Right")
    assert (terminated, truncated, info["limit"]) == (True, False, None)


def test_walls_and_stuck_boxes_cost_a_step_and_change_nothing() -> None:
    env = text_env()
    env.reset(options={"task": "######/#PX_##/#__O_#/#____#/#____#/######"})
    _, reward, *_, info = env.step("Up, Left, Up")
    assert reward == pytest.approx(-0.3) and info["valid"] and not info["effective"]
    env.step("Right")
    _, _, _, truncated, info = env.step("Right")
    assert truncated and info["limit"] == "task"
    assert info["state"]["rows"][1] == "#_PX##"
    assert env.unwrapped.oracle() is None


def test_the_grid_kind_has_as_many_steps_as_turns_times_actions() -> None:
    env = gym.make("agentrl/Sokoban-Grid-v0", max_turns=4, max_actions_per_turn=2, max_solution=8)
    env.reset(options={"task": TASK})
    assert [env.step(3)[3] for _ in range(8)] == [False] * 7 + [True]


def test_rewards_can_be_chosen() -> None:
    env = text_env(success_reward=2.0, box_reward=0.5, step_penalty=-1.0, invalid_penalty=-3.0)
    env.reset(options={"task": TASK})
    assert env.step("dance")[1] == -3.0
    assert env.step("Down, Right")[1] == 1.0


# ---------------------------------------------------------------------- levels


def shortest_solution(task: str, most: int = 12) -> int | None:
    """The number of moves of a shortest solution: rings of (man, boxes), nothing clever."""
    first = Reference.parse(task)
    ring, seen = {(first.man, frozenset(first.boxes))}, set()
    for length in range(most + 1):
        if any(boxes == first.targets for _, boxes in ring):
            return length
        seen |= ring
        grown = set()
        for man, boxes in ring:
            for action in range(4):
                world = Reference(first.walls, first.targets, set(boxes), man)
                if world.move(action)[0]:
                    grown.add((world.man, frozenset(world.boxes)))
        ring = grown - seen
    return None


@pytest.mark.parametrize(
    ("settings", "count"),
    [({}, 120), ({"split": "dev"}, 60), ({"split": "test"}, 60), ({"min_solution": 8}, 40), ({"size": 5}, 60),
     (ROOMS[2], 40), (ROOMS[3], 20), ({"size": 9, "levels": 100}, 30)],
)  # fmt: skip
def test_levels_are_exactly_as_long_as_the_pool_says(settings: dict[str, Any], count: int) -> None:
    env = SokobanEnv(**settings)
    tasks, lengths = env.tasks(), env._pool.lengths
    for index in random.Random(1).sample(range(len(tasks)), count):
        assert shortest_solution(tasks[index]) == lengths[index]
        assert env.min_solution <= lengths[index] <= 9


@pytest.mark.parametrize("boxes", [1, 2, 3])
def test_the_oracle_solves_every_level_in_the_shortest_number_of_moves(
    boxes: int,
) -> None:
    env = SokobanEnv(kind="grid", **ROOMS[boxes])
    lengths = dict(zip(env.tasks()[:5000], env._pool.lengths[:5000].tolist(), strict=True))
    for task in random.Random(2).sample(sorted(lengths), 60):
        env.reset(options={"task": task})
        moves, over = 0, False
        while not over:
            _, _, over, truncated, info = env.step(env.oracle())
            assert not truncated
            moves += 1
        assert info["success"] and moves == lengths[task]


def test_the_oracle_finishes_every_level_within_its_turns() -> None:
    env = text_env()
    for seed in range(100):
        env.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(f"<answer>{env.unwrapped.oracle()}</answer>")
            over = terminated or truncated
        assert info["success"]


def canonical(layouts: np.ndarray) -> set[bytes]:
    """Each layout as the smallest of its eight rotations and reflections."""
    turned = [np.rot90(grid, k, (1, 2)) for grid in (layouts, layouts[:, :, ::-1]) for k in range(4)]
    rows = [[bytes(grid) for grid in np.ascontiguousarray(way)] for way in turned]
    return {min(ways) for ways in zip(*rows, strict=True)}


@pytest.mark.parametrize("settings", [{}, {"size": 5}, ROOMS[2]])
def test_splits_share_no_room_not_even_a_turned_one(settings: dict[str, Any]) -> None:
    # What is left of each of #_OXP*S when boxes and player are taken out.
    emptied = np.array([0, 1, 2, 1, 1, 2, 2], np.uint8)
    found = []
    for split in ("train", "dev", "test"):
        rooms = emptied[SokobanEnv(split=split, **settings)._pool.grids]
        distinct = {room.tobytes() for room in rooms}
        shape = (len(distinct), *rooms.shape[1:])
        found.append(canonical(np.frombuffer(b"".join(distinct), np.uint8).reshape(shape)))
    train, dev, test = found
    assert all(found)
    assert not (train & dev or train & test or dev & test)


# ---------------------------------------------------------------------- bad input

IMPOSSIBLE = [
    ({"size": 4, "boxes": 8}, "size"),
    ({"size": 4}, "size must be a whole number of at least 5 and at most 16"),
    ({"size": 5, "boxes": 5}, "do not fit into size=5"),
    ({"size": 5, "min_solution": 25, "max_turns": 9}, "no sokoban level"),
    ({"size": 17}, "size"),
    ({"size": 6.0}, "size"),
    ({"size": "6"}, "size"),
    ({"size": None}, "size"),
    ({"boxes": 0}, "boxes must be a whole number of at least 1 and at most 8"),
    ({"boxes": 9, "size": 16}, "boxes"),
    ({"boxes": "one"}, "boxes"),
    ({"boxes": True}, "boxes"),
    ({"min_solution": 10}, "min_solution=10 is above max_solution=9"),
    ({"max_solution": 10}, "do not fit into 9"),
    ({"levels": -1}, "levels"),
    ({"levels": 10**9}, "only .* such levels exist"),
    ({"box_reward": None}, "box_reward"),
    ({"success_reward": float("nan")}, "success_reward"),
    ({"split": 0}, "split"),
    ({"kind": "Grid"}, "kind must be one of"),
    ({"boxs": 2}, 'Did you mean "boxes"'),
]


@pytest.mark.parametrize(("arguments", "message"), IMPOSSIBLE)
def test_impossible_arguments_raise_an_error_that_says_what_is_wrong(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SokobanEnv(**arguments)


BAD_TASKS = [
    3, b"", None.__class__, "", "######", TASK[:-1], TASK.replace("P", "_"), TASK.replace("O", "P"), TASK + "/",
    TASK.replace("X", "_"), TASK.replace("XO", "*_"), TASK.replace("O", "_"), TASK.replace("#", "_", 1),
    TASK.replace("X", "Q"), "P" + TASK[1:], TWO, TASK.replace("/", "\n"), "\u2028" * 41,
]  # fmt: skip


@pytest.mark.parametrize("task", BAD_TASKS)
def test_a_bad_task_is_refused_and_the_episode_goes_on(task: Any) -> None:
    env = SokobanEnv()
    env.reset(options={"task": TASK})
    env.step("Down")
    before = env.snapshot()
    with pytest.raises(ConfigError):
        env.reset(options={"task": task})
    assert env.snapshot() == before


def test_any_well_formed_room_can_be_a_task() -> None:
    env = SokobanEnv()
    stuck = "######/#X_P_#/#__O_#/#____#/#____#/######"
    _, info = env.reset(options={"task": stuck})
    assert info["task"] == stuck
    assert env.oracle() is None
    on_target = "######/#__S_#/#__X_#/#____#/#____#/######"
    env.reset(options={"task": on_target})
    assert env.state().structured()["player_position"] == env.state().structured()["target_positions"][0]

"""Games from files: as ALFWorld writes them, as they must not be, and rooms rebuilt from trajectories."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.alfworld import homes
from agentrl.envs.alfworld.env import ALFWorldEnv
from agentrl.envs.alfworld.games import EARLIER, FAMILIES, Wording
from agentrl.envs.alfworld.pddl import read_problem, write_problem

GRAMMAR = (
    'grammar :: """ "rhs": "Your task is to: {sentence}." "You arrive at {{lend.name}}." """ '
    'template :: "put {{o}} in/on {{r}}"'
)
DOMAIN = """(define (domain alfred) (:action CleanObject :precondition (and
  ;(receptacleType ?r ToiletType)
  (or (receptacleType ?r SinkType) (receptacleType ?r SinkBasinType)))) (:action HeatObject))"""
TASKS = [next(task for task in homes.task_ids("train") if homes.family_of(task) == family) for family in FAMILIES]


def write_game(folder: Path, task: str, **changes: Any) -> Path:
    """A game of ours in the benchmark's format, in the earlier wording."""
    game = homes.build(task, EARLIER)
    data = {
        "pddl_domain": DOMAIN, "grammar": GRAMMAR.format(sentence=game.instruction),
        "pddl_problem": write_problem(game), "solvable": True, "walkthrough": None,
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "game.tw-pddl"
    path.write_text(json.dumps({**data, **changes}))
    return path


@pytest.mark.parametrize("task", TASKS)
def test_a_problem_that_was_written_is_read_as_the_same_game(task: str) -> None:
    game = homes.build(task, Wording())
    read = read_problem(write_problem(game), "problem", game.name, game.instruction)
    assert sorted(read.things, key=lambda each: each.id) == sorted(game.things, key=lambda each: each.id)
    assert set(read.receptacles) == set(game.receptacles) and read.fits < game.fits
    assert replace(read, things=(), receptacles=(), fits=frozenset()) == replace(
        game, things=(), receptacles=(), fits=frozenset()
    )


def test_files_are_found_by_split_and_played_in_their_own_wording(tmp_path: Path) -> None:
    for split, task in zip(("train", "valid_seen", "valid_unseen"), TASKS, strict=False):
        write_game(tmp_path / split / f"{homes.family_of(task)}-A-None-B-1" / "trial", task)
    write_game(tmp_path / "train" / "x-unsolvable" / "trial", TASKS[3], solvable=False)
    write_game(tmp_path / "train" / "pick_and_place_with_movable_recep-A-B-C-1" / "trial", TASKS[3])
    for split, task in zip(("train", "dev", "test"), TASKS, strict=False):
        env = ALFWorldEnv(data_dir=tmp_path, split=split)
        assert len(env.tasks()) == 1
        env.reset()
        assert env.state().family == homes.family_of(task) and env._world.game.wording == EARLIER
        while (command := env.oracle()) is not None:
            info = env.step(command)[4]
        assert info["success"]
    with pytest.raises(ConfigError, match="no tasks in split"):
        ALFWorldEnv(data_dir=tmp_path, families=[FAMILIES[5]]).reset()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"pddl_problem": "(define (problem x)\n(:init\n(flies pig)))"},
            r"pddl_problem: a problem must have a part \(:goal",
        ),
        (
            {"pddl_problem": "(define (problem x)\n(:init\n(flies pig))\n(:goal))"},
            r"line 3: '\(flies pig\)' is no fact",
        ),
        ({"pddl_problem": "(define (problem x)\n(:init\n"}, r"line 2: a bracket is never closed"),
        ({"pddl_problem": "\n)"}, r"line 2: a bracket is closed that was never opened"),
        ({"pddl_problem": "(" * 100}, r"line 1: brackets are nested more than 60 deep"),
        ({"pddl_problem": 5}, r"line 1: it must be a game.tw-pddl of the benchmark; Expected `str`, got `int`"),
        ({"grammar": "x"}, r'its grammar must say "Your task is to'),
    ],
)
def test_a_malformed_game_is_one_sentence_with_the_line(tmp_path: Path, changes: dict, words: str) -> None:
    write_game(tmp_path / "a", TASKS[0], **changes)
    with pytest.raises(ConfigError, match=words) as error:
        ALFWorldEnv(data_dir=tmp_path).reset()
    assert "game.tw-pddl" in str(error.value) and "\n" not in str(error.value)


def test_facts_and_goals_that_make_no_game_are_named_with_their_line(tmp_path: Path) -> None:
    text = write_problem(homes.build(TASKS[0], Wording()))
    lines = text.splitlines()
    goal = next(number for number, line in enumerate(lines, 1) if line.startswith("(:goal"))
    place = next(line for line in lines if line.startswith("  (receptacleAtLocation"))
    for changed, words in (
        (text.replace("(inReceptacle ?o ?r)", "(opened ?r)"), f"line {goal}: the goal must be that of one of the six"),
        (text.replace("(atLocation agent1 loc_bar_00)", ""), "the agent must stand at one place; got 0"),
        (text.replace(place, place + "\n" + place.rpartition(" ")[0] + " elsewhere)"), "stands at two"),
        (text.replace(place, "  (openable)"), "line .*'\\(openable\\)' is no fact"),
    ):
        with pytest.raises(ConfigError, match=words):
            read_problem(changed, "problem", "x")


@pytest.mark.parametrize("text", ["", "{\n\n]", "[]", '{"task_type": 1}', "\udcff"])
def test_a_file_that_is_no_json_or_another_one_is_one_sentence(tmp_path: Path, text: str) -> None:
    for name in ("game.tw-pddl", "traj_data.json"):
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(ConfigError, match=name) as error:
            ALFWorldEnv(data_dir=tmp_path).reset()
        assert "\n" not in str(error.value)
        (tmp_path / name).rename(tmp_path / "traj_data.json")
        from agentrl.envs.alfworld.files import listed

        listed.cache_clear()


# ---------------------------------------------------------------------- trajectories

TRAJECTORY = {
    "task_type": "pick_heat_then_place_in_recep",
    "pddl_params": {"object_target": "Mug", "parent_target": "CoffeeMachine", "mrecep_target": "", "toggle_target": "",
                    "object_sliced": False},
    "scene": {"scene_num": 7, "random_seed": 3810970210, "floor_plan": "FloorPlan7",
              "object_poses": [{"objectName": f"{name}_1a2b"} for name in ("Mug", "Mug", "Mug", "Egg", "Boots")]},
}  # fmt: skip


def trajectory(folder: Path, **changes: Any) -> ALFWorldEnv:
    """An environment on one trajectory file."""
    folder.mkdir()
    (folder / "traj_data.json").write_text(json.dumps({**TRAJECTORY, **changes}))
    return ALFWorldEnv(data_dir=folder)


def test_a_trajectory_gives_a_rebuilt_scene_that_is_called_so_and_can_be_solved(tmp_path: Path) -> None:
    env = trajectory(tmp_path / "a")
    assert env.tasks() == ["rebuilt:."]
    env.reset()
    assert env.state().instruction == "put a hot mug in coffeemachine"
    things = [thing.type for thing in env._world.game.things]
    assert things.count("mug") == 3 and things.count("egg") == 1 and "boots" not in things
    while (command := env.oracle()) is not None:
        info = env.step(command)[4]
    assert info["success"]
    look = {"object_target": "Book", "toggle_target": "FloorLamp"}
    scene = {**TRAJECTORY["scene"], "scene_num": 212}
    env = trajectory(tmp_path / "b", task_type="look_at_obj_in_light", pddl_params=look, scene=scene)
    env.reset()
    assert env.state().instruction == "look at book under the floorlamp" and env.oracle() is not None


def test_a_trajectory_that_no_room_can_hold_is_one_sentence(tmp_path: Path) -> None:
    for place, (changes, words) in enumerate(
        (
            ({"task_type": "pick_and_place_with_movable_recep"}, "task_type must be one of the six families"),
            ({"scene": {**TRAJECTORY["scene"], "scene_num": 999}}, "scene_num that of a room"),
            ({"pddl_params": {"object_target": "Boots", "parent_target": "Bed"}}, "must name things and receptacles"),
            ({"pddl_params": {"object_target": "Mug", "parent_target": "Moon"}}, "must name things and receptacles"),
        )
    ):
        with pytest.raises(ConfigError, match=words):
            trajectory(tmp_path / str(place), **changes).reset()

"""Games from files: ALFWorld's `game.tw-pddl`, and rooms rebuilt from ALFRED's `traj_data.json`."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from agentrl.core.errors import ConfigError
from agentrl.core.parsing import quote
from agentrl.envs.alfworld.games import FAMILIES, LOOK, Game, Goal, Wording
from agentrl.envs.alfworld.homes import rebuilt_room
from agentrl.envs.alfworld.pddl import read_problem

GAME, TRAJECTORY = "game.tw-pddl", "traj_data.json"
SPLITS = {"valid_seen": "dev", "valid_unseen": "test"}  # folder -> split; all others are train
UNSUPPORTED = ("movable", "Sliced")  # in a path: kinds of tasks that the benchmark leaves out, too
REBUILT = "rebuilt:"
SENTENCE = re.compile(r'Your task is to: ((?:[^"\\]|\\.)*?)\.?"')
FIRST_SCENES = {0: "kitchen", 2: "living room", 3: "bedroom", 4: "bathroom"}  # hundreds of the number of a scene


class GameFile(msgspec.Struct):
    """What is read of a `game.tw-pddl`."""

    pddl_domain: str
    grammar: str
    pddl_problem: str
    solvable: bool | None = None


class Parameters(msgspec.Struct):
    """The goal in a `traj_data.json`."""

    object_target: str
    parent_target: str = ""
    toggle_target: str = ""
    mrecep_target: str = ""
    object_sliced: bool = False


class Pose(msgspec.Struct):
    """A thing of a scene; the name is its type and a hash."""

    objectName: str


class Scene(msgspec.Struct):
    """A scene of AI2-THOR and what is in it."""

    scene_num: int
    object_poses: list[Pose]
    random_seed: int = 0


class Trajectory(msgspec.Struct):
    """What is read of a `traj_data.json`."""

    task_type: str
    pddl_params: Parameters
    scene: Scene
    plan: dict[str, Any] = {}


def file_ids(data_dir: str | os.PathLike[str], split: str, families: Sequence[str]) -> list[str]:
    """The games of a folder that belong to a split, each by its own folder, with a mark where it is rebuilt."""
    folder = Path(data_dir).expanduser()
    found = listed(str(folder)) if folder.is_dir() else ()
    if not found:
        wrong = "there is none in" if folder.is_dir() else "got"
        raise ConfigError(f"data_dir must be a folder with {GAME} or {TRAJECTORY} files; {wrong} {data_dir}")
    chosen, every, ids = tuple(f"{family}-" for family in families), set(families) == set(FAMILIES), []
    for task in found:
        parts = Path(task).parts
        its_split = next((SPLITS[part] for part in parts if part in SPLITS), "train")
        if its_split == split and (every or any(part.startswith(chosen) for part in parts)):
            ids.append(task)
    return ids


def file_game(data_dir: str | os.PathLike[str], task: str, wording: Wording) -> Game:
    """The game of an id."""
    folder = Path(data_dir).expanduser()
    if task.startswith(REBUILT):
        return rebuilt(folder / task.removeprefix(REBUILT) / TRAJECTORY, task, wording)
    return read_game(folder / task / GAME, task)


def file_data(data_dir: str | os.PathLike[str], task: str) -> dict[str, Any] | None:
    """The game file for TextWorld; None where the game is rebuilt."""
    path = Path(data_dir).expanduser() / task / GAME
    return None if task.startswith(REBUILT) else msgspec.to_builtins(decoded(path, GameFile))


@lru_cache(maxsize=4)
def listed(folder: str) -> tuple[str, ...]:
    """The ids of all games below a folder."""
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        task = os.path.relpath(place, folder)
        if any(word in task for word in UNSUPPORTED):
            continue
        if GAME in names:
            text = (Path(place) / GAME).read_bytes()
            if re.search(rb'"solvable":\s*false', text) is None:
                found.append(task)
        elif TRAJECTORY in names:
            found.append(REBUILT + task)
    return tuple(found)


def decoded(path: Path, kind: type[Any]) -> Any:
    """A JSON file as a record; `ConfigError` with the line where it is none."""
    try:
        text = path.read_text(encoding="utf-8")
        return msgspec.convert(json.loads(text), kind)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}, line {error.lineno}: it must be JSON; {error.msg}") from error
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}, line 1: it must be a {path.name} of the benchmark; {error}") from error


def read_game(path: Path, name: str) -> Game:
    """A game file as it is: its own wording, and its own rule of what cleans."""
    file = decoded(path, GameFile)
    sentence = SENTENCE.search(file.grammar)
    if sentence is None:
        raise ConfigError(f'{path}: its grammar must say "Your task is to: ..."')
    domain = re.sub(r";[^\n]*", "", file.pddl_domain).lower()
    cleaning = domain.partition("(:action cleanobject")[2].partition("(:action")[0]
    wording = Wording(
        put="put {o} in/on {r}" in file.grammar,
        places="You arrive at {lend.name}." in file.grammar,
        help="action help" in file.grammar,
        cleaners=frozenset(re.findall(r"\(receptacletype \?r (\w+)type\)", cleaning)),
    )
    return read_problem(file.pddl_problem, f"{path}, pddl_problem", name, sentence[1], wording)


def rebuilt(path: Path, name: str, wording: Wording) -> Game:
    """A scene of our own with the task of a trajectory and as many things of each kind."""
    file = decoded(path, Trajectory)
    asked, scene = file.pddl_params, file.scene
    kind = FIRST_SCENES.get(scene.scene_num // 100)
    if file.task_type not in FAMILIES or asked.mrecep_target or asked.object_sliced or kind is None:
        raise ConfigError(
            f"{path}: task_type must be one of the six families, without slices or movable receptacles, and scene_num "
            f"that of a room; got {quote(file.task_type)}, {scene.scene_num}"
        )
    lamp = asked.toggle_target.lower() if file.task_type == LOOK else ""
    goal = Goal(file.task_type, asked.object_target.lower(), "" if lamp else asked.parent_target.lower(), lamp)
    counts = Counter(pose.objectName.partition("_")[0].lower() for pose in scene.object_poses)
    return rebuilt_room(name, kind, scene.scene_num % 100 - 1, scene.random_seed, goal, counts, wording)

"""Tasks: what their stages mean, how they are planned after mistakes, and which starts they have."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from math import hypot
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import agentrl  # noqa: F401
from agentrl.core.errors import ConfigError
from agentrl.envs.primitiveskill.backend import WORKSPACE
from agentrl.envs.primitiveskill.starts import COUNTS, StartNames, candidate, solves
from agentrl.envs.primitiveskill.tasks import TASKS, find_task
from agentrl.envs.primitiveskill.tasks.scene import APART, Scene

Point = tuple[float, float, float]


def scene_of(name: str, held: str | None = None, opening: float = 100.0, **positions: Point) -> Scene:
    """A scene with the things of a task, the given ones moved."""
    start = TASKS[name]().draw(np.random.default_rng(0))
    things = {thing.name: thing for thing in start.things}
    heights = {"cube": 20.0, "sphere": 30.0, "disc": 0.0, "drawer": 29.0}
    standing = {key: (x, y, heights[things[key].shape]) for key, (x, y, _) in start.places.items()}
    values = {"drawer_open_value": opening} if name == "drawer" else {}
    return Scene(things, {**standing, **positions}, values, held)


LEFT, RIGHT = {"left_target": (60.0, -100.0, 0.0)}, {"right_target": (60.0, 100.0, 0.0)}
AIR = (0.0, 0.0, 200.0)


@pytest.mark.parametrize(
    ("name", "scene", "stage"),
    [
        ("place", scene_of("place"), -1),
        ("place", scene_of("place", "green_cube", green_cube=AIR), 0),
        ("place", scene_of("place", **LEFT, red_cube=(79.0, -119.0, 20.0)), 1),
        ("place", scene_of("place", **LEFT, red_cube=(81.0, -100.0, 20.0)), -1),
        ("place", scene_of("place", **LEFT, red_cube=(60.0, -100.0, 60.0)), -1),  # on top of something there
        ("place", scene_of("place", **LEFT, green_cube=(60.0, -100.0, 20.0)), -1),  # the wrong cube
        ("place", scene_of("place", "red_cube", **LEFT, red_cube=(60.0, -100.0, 20.0)), 0),  # still held
        ("place", scene_of("place", "green_cube", **LEFT, red_cube=(60.0, -100.0, 20.0), green_cube=AIR), 2),
        ("place", scene_of("place", **LEFT, **RIGHT, red_cube=(60.0, -99.0, 20.0), green_cube=(62.0, 99.0, 20.0)), 3),
        ("stack", scene_of("stack", "yellow_cube", yellow_cube=AIR), -1),
        ("stack", scene_of("stack", "red_cube", red_cube=AIR), 0),
        ("stack", scene_of("stack", green_cube=(0.0, 0.0, 20.0), red_cube=(5.0, 5.0, 60.0)), 1),
        ("stack", scene_of("stack", green_cube=(0.0, 0.0, 60.0), red_cube=(5.0, 5.0, 20.0)), -1),  # upside down
        (
            "stack",
            scene_of("stack", green_cube=(0.0, 0.0, 20.0), red_cube=(5.0, 5.0, 60.0), yellow_cube=(9.0, 9.0, 99.0)),
            3,
        ),
        ("drawer", scene_of("drawer", "apple", apple=AIR), 0),
        ("drawer", scene_of("drawer", apple=(-75.0, -170.0, 37.0), drawer=(-80.0, -160.0, 29.0)), 1),
        ("drawer", scene_of("drawer", apple=(-75.0, -170.0, 85.0), drawer=(-80.0, -160.0, 29.0)), -1),  # on the rim
        ("drawer", scene_of("drawer", opening=10.0, apple=(-75.0, -170.0, 37.0), drawer=(-80.0, -160.0, 29.0)), 2),
        ("drawer", scene_of("drawer", opening=0.0, apple=(50.0, 100.0, 30.0)), -1),
        ("align", scene_of("align"), -1),
        ("align", scene_of("align", red_cube=(10.0, 0.0, 20.0)), 0),
        ("align", scene_of("align", red_cube=(11.0, 0.0, 20.0)), -1),
        ("align", scene_of("align", "red_cube", red_cube=(0.0, 0.0, 20.0)), -1),
        ("align", scene_of("align", red_cube=(10.0, 0.0, 20.0), green_cube=(-10.0, 90.0, 20.0)), 1),
    ],
)
def test_stages_mean_what_the_documentation_says(name: str, scene: Scene, stage: int) -> None:
    task = TASKS[name]()
    assert task.stage(scene) == stage
    assert task.solved(scene) == (stage == len(task.stage_names) - 1)


def planned(name: str, scene: Scene) -> list[str]:
    plan = TASKS[name]().plan(scene)
    assert plan is not None
    return [str(action) for action in plan]


def test_a_fresh_start_takes_at_most_four_actions() -> None:
    for name in TASKS:
        plan = planned(name, scene_of(name))
        assert 0 < len(plan) <= 4 and plan[0].startswith("pick")


def test_what_is_held_is_used_first() -> None:
    assert len(planned("place", scene_of("place", "green_cube", green_cube=AIR))) == 3
    assert planned("place", scene_of("place", "green_cube", **RIGHT, green_cube=AIR))[0] == "place(60,100,20)"
    assert planned("align", scene_of("align", "red_cube", red_cube=(50.0, 30.0, 200.0)))[0].startswith("place(0,")


def test_the_wrong_cube_on_a_target_goes_to_its_own() -> None:
    scene = scene_of("place", **LEFT, **RIGHT, green_cube=(60.0, -100.0, 20.0), red_cube=(-100.0, 0.0, 20.0))
    assert planned("place", scene)[:2] == ["pick(60,-100,20)", "place(60,100,20)"]


def test_swapped_cubes_need_a_spare_place() -> None:
    scene = scene_of("place", **LEFT, **RIGHT, green_cube=(60.0, -100.0, 20.0), red_cube=(60.0, 100.0, 20.0))
    assert len(planned("place", scene)) == 6


def test_a_tower_in_the_wrong_order_is_taken_down() -> None:
    places = {"green_cube": (0.0, 0.0, 20.0), "yellow_cube": (0.0, 0.0, 60.0), "red_cube": (0.0, 120.0, 20.0)}
    plan = planned("stack", scene_of("stack", **places))
    assert plan[0] == "pick(0,0,60)" and plan[2:4] == ["pick(0,120,20)", "place(0,0,60)"] and len(plan) == 6
    holding = replace(scene_of("stack", **{**places, "red_cube": AIR}), held="red_cube")
    assert planned("stack", holding)[0].startswith("place(") and planned("stack", holding)[1] == "pick(0,0,60)"


def test_what_cannot_be_mended_has_no_plan() -> None:
    assert TASKS["drawer"]().plan(scene_of("drawer", opening=0.0)) is None
    assert TASKS["place"]().plan(scene_of("place", red_cube=(0.0, 400.0, 20.0))) is None
    assert TASKS["stack"]().plan(scene_of("stack", green_cube=(0.0, -400.0, 20.0))) is None
    assert TASKS["align"]().plan(scene_of("align", red_cube=(300.0, 0.0, 20.0))) is None


# ---------------------------------------------------------------------- starts


@pytest.mark.parametrize("name", TASKS)
def test_starts_are_in_the_workspace_apart_and_unlike_each_other(name: str) -> None:
    task, seen = TASKS[name](), set()
    for split in COUNTS:
        for number in range(60):
            start = candidate(task, split, number, 0)
            places = list(start.places.values())
            for place in places:
                assert all(low <= value <= high for value, (low, high) in zip(place, WORKSPACE[:2], strict=False))
            gaps = [hypot(a[0] - b[0], a[1] - b[1]) for a in places for b in places if a is not b]
            assert min(gaps) >= APART and start.places.keys() == {thing.name for thing in start.things}
            seen.add(repr(start))
    assert len(seen) == 180
    assert candidate(task, "dev", 3, 0) == candidate(task, "dev", 3, 0) != candidate(task, "dev", 3, 1)


def test_ids_of_starts_are_lazy_and_strict() -> None:
    names = StartNames("place", "dev")
    assert len(names) == 200 and names[0] == "place:dev:0" and names[-1] == "place:dev:199"
    assert names[3:5] == ["place:dev:3", "place:dev:4"]
    assert [names.index_of(name) for name in names[:3]] == [0, 1, 2]
    for wrong in ("place:dev:200", "place:train:0", "stack:dev:0", "place:dev:00", "place:dev:-1", "0", "", "x" * 99):
        assert names.index_of(wrong) is None
    for wrong in ("place:dev:\u0663", "place:dev:" + "9" * 5000, "place:dev:1 "):
        assert names.index_of(wrong) is None
    with pytest.raises(IndexError):
        names[200]


@pytest.mark.extra_robots
@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_solves_the_first_candidates(name: str) -> None:
    from agentrl.envs.primitiveskill.table import Table

    task, table = TASKS[name](), Table("mujoco")
    assert [number for number in range(3) if not solves(task, table, candidate(task, "test", number, 0))] == []


# ---------------------------------------------------------------------- tasks of one's own


@pytest.mark.parametrize(
    "name", ["Place", "plac", None, 3, "no_such_module:Task", "math:pi", "math:", "a b:c", ":", ".:x"]
)
def test_unknown_tasks_are_refused_in_one_sentence(name: object) -> None:
    with pytest.raises(ConfigError, match="task"):
        find_task(name)


@pytest.mark.extra_robots
def test_the_task_of_the_documentation_can_be_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv

    documented = inspect.getdoc(PrimitiveSkillEnv) or ""
    code = re.search(r"```python\n(.*?)```", documented, re.DOTALL)
    assert code is not None and 'task="my_tasks:Swap"' in documented
    (tmp_path / "my_tasks.py").write_text(code[1])
    monkeypatch.syspath_prepend(tmp_path)
    env = gym.make("agentrl/PrimitiveSkill-Place-Text-v0", task="my_tasks:Swap")
    observation, info = env.reset(seed=1)
    assert "Bring the yellow cube" in observation["text"] and info["task"].startswith("my_tasks:Swap:train:")
    _, reward, terminated, _, info = env.step(env.unwrapped.oracle())
    assert terminated and info["success"] and reward == 12.0
    env.reset(options={"task": info["task"]})
    env.close()

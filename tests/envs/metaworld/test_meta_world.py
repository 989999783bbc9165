"""Meta-World's tasks, bridged: all of them play, draw and fork; starts, splits, suites, rewards and pictures."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.registry import FAMILIES
from tests.longer import only

pytestmark = pytest.mark.extra_metaworld
(FAMILY,) = [family for family in FAMILIES if family.name == "metaworld"]
TASKS = [entry.kwargs["task"] for entry in FAMILY.envs if entry.kwargs["task"].islower()]


def make(task: str, /, **kwargs: Any) -> Any:
    return gym.make(f"agentrl/MetaWorld-{task}-v0", **{"obs_mode": "state", "split": "test", **kwargs}).unwrapped


def played(env: Any, actions: list[np.ndarray]) -> list[Any]:
    results = [env.step(action) for action in actions]
    return [(obs["state"].tobytes(), reward, info["state"]) for obs, reward, _, _, info in results]


# ---------------------------------------------------------------------- every task


@pytest.mark.parametrize("task", only(TASKS[::5], TASKS))
def test_every_task_is_played_drawn_forked_and_continued_to_the_bit(task: str) -> None:
    env = make(task, reward="dense", render_mode="rgb_array", image_size=64, max_turns=1000)
    env.reset(options={"task": f"{task}:test:0"})
    for _ in range(8):
        env.step(env.oracle())
    assert env.instruction and env.render().std() > 10
    blob = env.snapshot()
    actions = [env.action_space.sample() for _ in range(6)]
    expected = played(env, actions)
    env.restore(blob)  # where the simulation has this start already
    assert played(env, actions) == expected
    env.reset(options={"task": f"{task}:test:1"})
    env.restore(blob)  # where it has another one
    assert played(env, actions) == expected


@pytest.mark.parametrize("task", ["reach", "bin-picking", "stick-push"])
def test_a_step_gives_what_the_package_gives_to_the_bit(task: str) -> None:
    from agentrl.envs.metaworld import package

    env = make(task, reward="dense", max_turns=1000)
    env.reset(seed=3)
    world = env._world
    raw = package.load().ALL_V3_ENVIRONMENTS[f"{task}-v3"]()  # without any of our changes
    raw._set_task_called, raw._partially_observable = True, False
    vars(raw).pop("sawyer_observation_space", None)
    raw._freeze_rand_vec, raw._last_rand_vec = True, world._sim._last_rand_vec.copy()
    raw.reset()
    for turn in range(60):
        action = env.oracle()
        if action is None:
            break
        env.step(action)
        observation, reward, _, _, told = raw.step(action)
        same = observation.tobytes() == world.observation.tobytes()
        assert same and reward == world.reward and bool(told["success"]) == world.success, turn


@pytest.mark.long  # the kit does it in tests/envs/test_contract.py
def test_a_snapshot_continues_in_another_process() -> None:
    env = make("bin-picking", reward="dense")
    env.reset(seed=0)
    for _ in range(30):
        env.step(env.oracle())
    blob = env.snapshot()
    expected = played(env, [np.full(4, 0.5, np.float32)] * 3)
    code = (
        "import sys, agentrl, gymnasium as gym, numpy as np\n"
        "env = gym.make('agentrl/MetaWorld-bin-picking-v0', obs_mode='state', split='test', reward='dense').unwrapped\n"
        "env.reset(seed=9); env.restore(sys.stdin.buffer.read())\n"
        "for _ in range(3):\n"
        "    obs, reward, *_ = env.step(np.full(4, 0.5, np.float32))\n"
        "    print(obs['state'].tobytes().hex(), repr(reward))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=blob, capture_output=True, timeout=120, check=True)
    assert done.stdout.decode().splitlines() == [f"{state.hex()} {reward!r}" for state, reward, _ in expected]


def test_a_snapshot_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    env, other = make("reach"), make("push")
    env.reset(seed=0)
    other.reset(seed=0)
    before = env.snapshot()
    with pytest.raises(SnapshotError):
        env.restore(other.snapshot())
    assert env.snapshot() == before


def test_a_pickled_environment_continues() -> None:
    env = make("drawer-open")
    env.reset(seed=1)
    env.step(env.oracle())
    copied = pickle.loads(pickle.dumps(env))
    action = env.oracle()
    assert played(env, [action]) == played(copied, [action])


# ---------------------------------------------------------------------- starts, splits, suites


def test_a_start_is_the_same_whatever_came_before_it() -> None:
    env, fresh = make("box-close"), make("box-close")
    for number in (7, 3, 9):
        env.reset(options={"task": f"box-close:test:{number}"})
        env.step(np.ones(4, np.float32))
    again, _ = env.reset(options={"task": "box-close:test:3"})
    first, _ = fresh.reset(options={"task": "box-close:test:3"})
    assert again["state"].tobytes() == first["state"].tobytes()
    assert np.array_equal(env._world._sim._last_rand_vec, fresh._world._sim._last_rand_vec)


def test_a_start_never_changes() -> None:
    from agentrl.envs.metaworld.starts import Draws, Start

    drawn = Draws(Start("reach", "test", 3)).uniform(np.zeros(3), np.ones(3), 3)
    assert drawn.tolist() == [0.48025207124680247, 0.26583745450732743, 0.7559685922105194]


def test_splits_share_no_start() -> None:
    from agentrl.envs.metaworld.starts import COUNTS, Draws, Start

    drawn = {
        Draws(Start("reach", split, number)).uniform(np.zeros(6), np.ones(6), 6).tobytes()
        for split, count in COUNTS.items()
        for number in range(count)
    }
    assert len(drawn) == sum(COUNTS.values())


@pytest.mark.parametrize(
    ("suite", "split", "count"),
    [("ML10", "train", 10), ("ML10", "dev", 10), ("ML10", "test", 5), ("ML45", "train", 45), ("ML45", "test", 5)]
    + [("MT10", split, 10) for split in ("train", "test")]
    + [("MT50", "dev", 50)],
)
def test_suites_have_the_tasks_of_the_package(suite: str, split: str, count: int) -> None:
    from agentrl.envs.metaworld import package

    names = make(suite, split=split).tasks()
    tasks = [name.partition(":")[0] for name in names[:count]]
    assert len(set(tasks)) == count and len(names) == count * (2000 if split == "train" else 200)
    assert set(tasks) == set(package.suite_tasks(suite, split)) and set(tasks) <= set(TASKS)
    if suite.startswith("ML"):
        assert set(package.suite_tasks(suite, "train")).isdisjoint(package.suite_tasks(suite, "test"))


def test_a_suite_changes_its_task_and_its_instruction() -> None:
    env = make("ML10")
    told = set()
    for name in env.tasks()[:3]:
        _, info = env.reset(options={"task": name})
        assert info["task"] == name
        told.add(env.instruction)
        env.step(env.oracle())
    blob = env.snapshot()
    other = make("ML10")
    other.restore(blob)
    assert len(told) == 3 and other.instruction == env.instruction


@pytest.mark.parametrize(
    "task", ["reach:train:0", "reach:test:200", "reach:test:-1", "push:test:0", "reach:test:03", 3]
)
def test_unknown_starts_are_refused(task: Any) -> None:
    with pytest.raises(ConfigError, match="a task must be one of the 200"):
        make("reach").reset(options={"task": task})


BAD: list[dict[str, Any]] = [
    {"camera": "front"}, {"reward": "shaped"}, {"show_goal": 1}, {"task": "reech"}, {"instructions": "mine"},
    {"protocol": "openvla"}, {"picture_convention": "openvla"},
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
def test_bad_arguments_are_named(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        make("reach", **bad)


# ---------------------------------------------------------------------- rewards and truth


def test_success_pays_one_and_ends_the_episode() -> None:
    env = make("reach")
    env.reset(seed=0)
    total, ended = 0.0, False
    while not ended:
        _, reward, ended, truncated, info = env.step(env.oracle())
        total += reward
        assert not truncated
    assert total == 1.0 and info["success"] and info["reward_terms"] == {"success": 1.0} and env.oracle() is None


def test_with_the_dense_reward_nothing_pays_more_than_finishing() -> None:
    env = make("reach", reward="dense")
    env.reset(seed=0)
    terms: dict[str, float] = {}
    while not terms.get("finish"):
        _, reward, ended, _, info = env.step(env.oracle())
        terms = info["reward_terms"]
        assert 0.0 <= terms["dense"] <= 10.0
    assert ended and terms["finish"] == 10.0 * (100 - info["turn"]) and reward == sum(terms.values())


def test_the_goal_is_hidden_where_it_must_be_found_out() -> None:
    shown, hidden = make("reach"), make("reach", show_goal=False)
    seen, unseen = (env.reset(options={"task": "reach:test:0"})[0]["state"] for env in (shown, hidden))
    assert seen[:36].tobytes() == unseen[:36].tobytes() and seen[36:].all() and not unseen[36:].any()
    assert hidden.state().objects["goal_position"] == shown.state().objects["goal_position"]
    assert make("MT10").show_goal and not make("ML10").show_goal
    assert not np.array_equal(shown.picture(), hidden.picture())  # the marker


def test_the_truth_names_positions() -> None:
    env = make("hammer")
    env.reset(seed=0)
    named = env.state().structured()
    assert set(named) >= {"hand_position", "gripper_opening", "hammer_position", "nail_position", "goal_position"}
    assert np.allclose(named["hammer_position"], env._world.data.body("hammer").xpos)


@pytest.mark.parametrize(
    "action", [np.zeros(3, np.float32), np.full(4, np.nan), np.full(4, np.inf), "up", None, [0, 0]]
)
def test_a_bad_action_moves_nothing_and_costs_a_turn(action: Any) -> None:
    env = make("reach")
    env.reset(seed=0)
    before = env._world.data.time
    _, reward, _, _, info = env.step(action)
    assert not info["valid"] and "an action must be" in info["feedback"] and reward == 0.0
    assert env._world.data.time == before and info["turn"] == 1


# ---------------------------------------------------------------------- pictures


def pixel(world: Any, camera: str, point: np.ndarray, size: int) -> tuple[float, float]:
    """Where a point of the world is in a picture: column and row."""
    number = world.model.camera(camera).id
    away = (point - world.data.cam_xpos[number]) @ world.data.cam_xmat[number].reshape(3, 3)
    scale = size / 2 / np.tan(np.radians(world.model.cam_fovy[number]) / 2) / -away[2]
    return size / 2 + scale * away[0], size / 2 - scale * away[1]


@pytest.mark.parametrize("camera", ["corner", "corner2", "corner3", "corner4"])
def test_pictures_are_the_right_way_up(camera: str) -> None:
    env = make("reach", obs_mode="image", camera=camera, image_size=256)
    env.reset(options={"task": "reach:test:0"})
    world = env._world
    goal = np.array(env.state().objects["goal_position"])
    up = np.array([0.0, 0.0, 0.1])
    higher, lower = pixel(world, camera, goal + up, 256), pixel(world, camera, goal - up, 256)
    assert higher[1] < lower[1] - 5  # what is higher is nearer to the first row
    column, row = (round(value) for value in pixel(world, camera, goal, 256))
    marker = env.picture()[row, column].astype(int)
    assert marker[0] > 120 and marker[0] > 2 * marker[1:].max()  # and that is where the red marker is drawn


def test_lerobots_protocol_has_its_words_its_size_its_camera_and_its_limit() -> None:
    env = make("drawer-open", protocol="lerobot", obs_mode="image", obs_text=False)
    _, info = env.reset(options={"task": "drawer-open:test:0"})
    assert env.instruction == info["instruction"] == "Open a drawer"
    assert (env.image_size, env.camera, env.max_turns) == (480, "corner4", 500)
    assert "text" not in env.observation_space.spaces and make("reach").instructions == "agentrl"
    small = make("reach", protocol="lerobot", image_size=64, instructions="agentrl")
    assert (small.image_size, small.instructions, small.max_turns) == (64, "agentrl", 500), "options beside it win"


def test_both_lists_of_instructions_have_all_tasks() -> None:
    from agentrl.envs.metaworld.tasks import WORDS

    assert all(set(words) == set(TASKS) for words in WORDS.values())
    assert WORDS["lerobot"]["assembly"] == "Pick up a nut and place it onto a peg"


def test_reversing_both_axes_of_corner2_where_lerobot_moves_it_is_our_picture() -> None:
    """lerobot moves `corner2` and reverses both axes of what the package draws, which is upside down."""
    ours, raw = (make("reach", obs_mode="image", image_size=64, picture_convention=how) for how in ("upright", "raw"))
    for env in (ours, raw):
        env.reset(options={"task": "reach:test:0"})
    assert np.array_equal(raw.picture()[::-1, ::-1], ours.picture())
    model = ours._world.model
    corner2, corner4 = model.camera("corner2"), model.camera("corner4")
    assert corner4.pos == pytest.approx([0.75, 0.075, 0.7]) and corner4.quat == pytest.approx(corner2.quat)
    assert corner2.fovy == corner4.fovy
    above = make("reach", obs_mode="image", image_size=64, camera="topview", picture_convention="raw")
    above.reset(options={"task": "reach:test:0"})
    assert np.array_equal(above.picture(), above._upright("image")), "it is mounted the right way up"


def test_a_picture_follows_the_arm_and_is_drawn_once_for_each_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrl.envs.common.mujoco import pictures

    drawn: list[int] = []
    original = pictures.draw
    monkeypatch.setattr(pictures, "draw", lambda *arguments: drawn.append(1) or original(*arguments))
    env = make("reach", obs_mode="image", image_size=64, render_mode="rgb_array")
    first, _ = env.reset(seed=0)
    env.render()
    for _ in range(5):
        moved, *_ = env.step(np.ones(4, np.float32))
    assert len(drawn) == 6 and not np.array_equal(first["image"], moved["image"])
    make("reach").reset(seed=0)
    assert len(drawn) == 6  # states are not drawn


def test_simulations_run_in_processes_of_their_own() -> None:
    ids = [lambda: gym.make("agentrl:agentrl/MetaWorld-reach-v0", obs_mode="state", full_info=False)] * 2
    envs = gym.vector.AsyncVectorEnv(ids, context="spawn", shared_memory=False)
    try:
        envs.reset(seed=[1, 1])
        seen, rewards, *_ = envs.step(np.full((2, 4), 0.25, np.float32))
        assert seen["state"][0].tobytes() == seen["state"][1].tobytes() and rewards.shape == (2,)
    finally:
        envs.close()


@pytest.mark.parametrize("task", ["door-open", "reach"])
def test_asking_the_expert_changes_nothing(task: str) -> None:
    """The expert for doors writes into the observation that it is given."""
    env = make(task)
    env.reset(seed=0)
    before = env.state().to_json()
    env.oracle()
    assert env.state().to_json() == before


def test_a_closed_environment_leaves_no_pictures_with_the_driver() -> None:
    from agentrl.envs.common.mujoco import pictures

    env = make("reach", render_mode="rgb_array", image_size=64)
    env.reset(seed=0)
    env.render()
    model = env._world.model
    kept = pictures._by_process[os.getpid()]._kept
    assert id(model) in {number for number, _ in kept}
    env.close()
    assert id(model) not in {number for number, _ in kept}

"""The environment around the arm: turns, rewards, forks, pictures, faults."""

from __future__ import annotations

import os
import pickle
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

import agentrl
from agentrl.core.errors import ConfigError, EnvFault, SnapshotError, WorkerFault
from agentrl.envs.primitiveskill import starts
from agentrl.envs.primitiveskill.backend import Result
from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.rollout.hosts import Host
from agentrl.rollout.isolated import IsolatedEnv
from agentrl.rollout.starts import Stack

pytestmark = pytest.mark.extra_robots
PLACE = "agentrl/PrimitiveSkill-Place-Text-v0"


@pytest.fixture(scope="module")
def played() -> Iterator[PrimitiveSkillEnv]:
    """One environment for the tests that only need some episode."""
    env = PrimitiveSkillEnv(kind="text", task="place")
    yield env
    env.close()


def turn(env: PrimitiveSkillEnv, action: str | None = None) -> tuple[dict[str, Any], float, dict[str, Any]]:
    observation, reward, _, _, info = env.step(env.oracle() if action is None else action)
    return observation, reward, info


def split_oracle(env: PrimitiveSkillEnv) -> list[str]:
    return (env.oracle() or "").split("|")


# ---------------------------------------------------------------------- rewards


@pytest.mark.parametrize(
    ("task", "stage_reward", "terms"),
    [
        ("place", "highest", [{"stage": 6.0}, {"stage": 6.0, "success": 10.0}]),
        ("stack", "subgoal", [{"stage": 2.0}, {"stage": 1.0, "success": 10.0}]),
        ("drawer", "highest", [{"stage": 6.0}, {"success": 10.0}]),
        ("align", "subgoal", [{"step": -0.1, "stage": 1.0}, {"step": -0.1, "success": 10.0}]),
    ],
)
def test_the_oracle_earns_what_the_documentation_says(task: str, stage_reward: str, terms: list[dict]) -> None:
    env = PrimitiveSkillEnv(task=task, stage_reward=stage_reward)
    env.reset(seed=1)
    assert [turn(env)[2]["reward_terms"] for _ in terms] == terms
    assert env.oracle() is None and env.actions_needed() is None
    env.close()


def test_a_stage_is_paid_once(played: PrimitiveSkillEnv) -> None:
    played.reset(seed=2)
    grasp, drop = split_oracle(played)
    assert turn(played, f"{grasp}|{drop}")[2]["reward_terms"] == {"stage": 6.0}
    x, y, z = played.state().positions["red_cube"]
    _, _, info = turn(played, f"pick({x},{y},{z})|{drop}")  # undone and done again
    # The stage above was never reached: the cube in the gripper is the one that was on its target.
    assert info["reward_terms"] == {"step": -0.2} and info["state"]["stage"] == 1


def test_failures_are_valid_cost_a_step_and_change_nothing(played: PrimitiveSkillEnv) -> None:
    played.reset(seed=3)
    before = played.state()
    _, reward, info = turn(played, "place(0,0,20)|pick(190,290,250)")
    assert info["valid"] and not info["effective"] and reward == -0.2 and played.state() == before
    assert info["actions"] == ["place(0,0,20)", "pick(190,290,250)"] and info["feedback"].count(".") == 2


def test_a_point_outside_the_workspace_is_invalid_and_what_ran_before_counts(played: PrimitiveSkillEnv) -> None:
    played.reset(seed=3)
    grasp = split_oracle(played)[0]
    _, reward, info = turn(played, f"{grasp}|place(900,0,20)")
    assert info["reward_terms"] == {"stage": 2.0, "invalid": -0.1} and reward == 1.9
    assert not info["valid"] and info["fault"] == "invalid_action" and info["actions"] == [grasp]
    assert "x = 900 is outside the workspace, -200 to 200 mm; the arm did not move" in info["feedback"]
    assert played.state().held == "red_cube"


def test_the_oracle_plans_again_after_a_mistake() -> None:
    env = PrimitiveSkillEnv(task="stack", max_turns=6)
    env.reset(seed=4)
    at = env.state().positions
    x, y, _ = at["green_cube"]
    turn(env, "pick({},{},{})".format(*at["yellow_cube"]) + f"|place({x},{y},60)")  # yellow belongs on top
    assert env.state().stage == -1 and env.actions_needed() == 6
    for _ in range(3):
        info = turn(env)[2]
    assert info["success"]
    env.close()


def test_a_closed_drawer_without_the_apple_is_beyond_help() -> None:
    env = PrimitiveSkillEnv(task="drawer")
    env.reset(seed=1)
    x, y, z = env.state().positions["drawer"]
    _, _, info = turn(env, f"push({x + 95},{y},{z},{x - 40},{y},{z})")
    assert info["state"]["drawer_open_value"] < 40 and env.oracle() is None
    env.close()


# ---------------------------------------------------------------------- what is seen


def test_positions_stand_without_names_in_one_order_for_the_episode(played: PrimitiveSkillEnv) -> None:
    orders = set()
    for seed in range(4):
        observation, _ = played.reset(seed=seed)
        for _ in range(2):
            listed = re.search(r"Object positions: \[(.*)\]", observation["text"])
            assert listed is not None
            points = [tuple(map(int, point.split(","))) for point in re.findall(r"\(([^)]*)\)", listed[1])]
            names = {at: name for name, at in played.state().positions.items()}
            order = tuple(names[point] for point in points)  # type: ignore[index]
            orders.add((seed, order))
            observation = turn(played, "pick(190,290,250)")[0]
    assert len(orders) == 4 and len({order for _, order in orders}) > 1  # one for each episode, and not always the same


def test_a_picture_is_drawn_once_for_each_state_and_changes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    env = PrimitiveSkillEnv(kind="visual", task="place", image_size=64, render_mode="rgb_array")
    drawn, draw = [], type(env._table._backend).picture
    monkeypatch.setattr(type(env._table._backend), "picture", lambda self, size: drawn.append(size) or draw(self, size))
    observation, _ = env.reset(seed=5)
    first = env.render()
    assert isinstance(first, np.ndarray) and (first == observation["image"]).all()
    first[:] = 0  # the caller's own
    invalid = turn(env, "nonsense")[0]
    assert (invalid["image"] == observation["image"]).all() and drawn == [64]
    moved = turn(env)[0]["image"]
    assert drawn == [64, 64] and (np.abs(moved.astype(int) - observation["image"]) > 40).any(axis=2).sum() > 10
    assert "<image>" in invalid["text"] and "The red cube is" not in invalid["text"]
    env.close()


# ---------------------------------------------------------------------- forks


def test_a_snapshot_with_something_in_the_gripper_goes_on_to_the_last_bit(played: PrimitiveSkillEnv) -> None:
    played.reset(seed=6)
    grasp, drop = split_oracle(played)
    turn(played, grasp)
    blob, other = played.snapshot(), PrimitiveSkillEnv(kind="text", task="place")
    other.restore(blob)
    assert other.snapshot() == blob and other.state().held == "red_cube"
    copy = pickle.loads(pickle.dumps(played))
    expected = turn(played, drop)
    for fork in (other, copy):
        assert turn(fork, drop) == expected and fork.snapshot() == played.snapshot()
        fork.close()
    played.restore(blob)
    assert turn(played, drop) == expected


def test_a_snapshot_with_a_foreign_table_is_refused_without_a_trace(played: PrimitiveSkillEnv) -> None:
    played.reset(seed=6)
    stack = PrimitiveSkillEnv(kind="text", task="stack")
    stack.reset(seed=6)
    before, data = played.snapshot(), played._save_all()
    for table in ({}, {"physics": b""}, stack._table.save(), {"physics": b"\xff" * 8}):
        forged = agentrl.core.snapshot.seal_blob(
            played._identity(), {**data, "world": {**data["world"], "table": table}}
        )
        with pytest.raises(SnapshotError):
            played.restore(forged)
        assert played.snapshot() == before
    stack.close()


def test_environments_in_threads_do_not_disturb_each_other() -> None:
    def play(seed: int, kept: dict[int, Any]) -> None:
        env = gym.make("agentrl/PrimitiveSkill-Drawer-Visual-v0", image_size=64)
        images = [env.reset(seed=seed)[0]["image"]]
        images += [env.step(env.unwrapped.oracle())[0]["image"] for _ in range(2)]  # type: ignore[attr-defined]
        kept[seed] = (env.unwrapped.state(), np.array(images))  # type: ignore[attr-defined]
        env.close()

    alone: dict[int, Any] = {}
    together: dict[int, Any] = {}
    for seed in range(3):
        play(seed, alone)
    threads = [threading.Thread(target=play, args=(seed, together)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(3):
        assert alone[seed][0] == together[seed][0] and (alone[seed][1] == together[seed][1]).all()


# ---------------------------------------------------------------------- starts and the cache


def test_a_start_is_tried_out_once_and_the_next_candidate_taken_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    tried: list[Any] = []
    monkeypatch.setattr(starts, "solves", lambda task, table, start: tried.append(start) or len(tried) == 3)
    env = PrimitiveSkillEnv(task="align", split="dev")
    _, info = env.reset(options={"task": "align:dev:7"})
    assert tried[2] == starts.candidate(env.task, "dev", 7, 2) == env._table.start
    env.reset(options={"task": "align:dev:7"})
    assert len(tried) == 3 and info["task"] == "align:dev:7"
    (kept,) = tmp_path.rglob("dev-7.npz")
    kept.write_bytes(b"damaged")
    monkeypatch.setattr(starts, "solves", lambda task, table, start: False)
    with pytest.raises(EnvFault, match="the oracle of Align solves none of 20 starts"):
        env.reset(options={"task": "align:dev:7"})
    env.close()


# ---------------------------------------------------------------------- trouble


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"kind": "grid"}, "kind must be one of text, visual"),
        ({"task": "plac"}, 'Did you mean "place"'),
        ({"stage_reward": "all"}, "stage_reward must be one of highest, subgoal"),
        ({"backend": "bullet"}, "backend must be one of mujoco, mani_skill"),
        ({"backend": None}, "backend must be one of"),
        ({"image_size": 0}, "image_size"),
        ({"success_reward": float("nan")}, "success_reward must be a finite number"),
        ({"gripper": 1}, "no argument 'gripper'"),
    ],
)
def test_arguments_that_cannot_work_are_refused_in_one_sentence(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        PrimitiveSkillEnv(**arguments)


def test_a_simulator_that_fails_or_diverges_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    env = PrimitiveSkillEnv(task="align")
    env.reset(seed=0)
    backend: Any = env._table._backend

    def fail(at: Any) -> Result:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(backend, "pick", fail)
    with pytest.raises(EnvFault, match="the simulator failed: RuntimeError: out of memory"):
        env.step("pick(0,0,20)")
    monkeypatch.setattr(backend, "pick", lambda at: Result(True, "Fine."))
    monkeypatch.setattr(backend, "positions", lambda: {"red_cube": (float("nan"), 0.0, 0.0)})
    with pytest.raises(EnvFault, match="the simulation diverged"):
        env.step("pick(0,0,20)")
    monkeypatch.undo()
    env.reset(seed=0)  # a new episode is a new simulation
    env.step("pick(0,0,20)")
    env.close()
    with pytest.raises((EnvFault, ResetNeeded)):
        env.step("pick(0,0,20)")
    env.reset(seed=0)
    env.close()
    env.close()


def test_a_killed_process_costs_its_episode_and_is_replaced() -> None:
    host = Host(timeout=60.0)
    env = IsolatedEnv(Stack(PLACE), host)
    try:
        env.reset(seed=1)
        assert env.step(env.oracle())[1] == 6.0  # type: ignore[attr-defined]
        assert env.pid is not None
        os.kill(env.pid, signal.SIGKILL)
        with pytest.raises(WorkerFault) as fault:
            env.step("pick(0,0,20)")
        assert fault.value.reason == "died"
        with pytest.raises(EnvFault, match="its environment is gone"):
            env.step("pick(0,0,20)")
    finally:
        host.close()


def test_environments_run_in_processes_of_gymnasium() -> None:
    envs = gym.make_vec(
        "agentrl/PrimitiveSkill-Drawer-Text-v0", 2, vectorization_mode="async", vector_kwargs={"shared_memory": False}
    )
    observations, info = envs.reset(seed=[1, 1])
    assert observations["text"][0] == observations["text"][1] and len(set(info["task"])) == 1
    actions = envs.call("oracle")
    observations, rewards, *_ = envs.step(actions)
    assert rewards.tolist() == [6.0, 6.0] and "in the drawer" in observations["text"][0]
    envs.close()


def test_tool_calls_are_actions_and_back(played: PrimitiveSkillEnv) -> None:
    played.reset(seed=1)
    action = played.oracle() or ""
    calls = played.tool_calls(action)
    assert (
        [call["name"] for call in calls] == ["pick", "place"] == [tool["function"]["name"] for tool in played.tools[:2]]
    )
    assert "|".join(str(played.tool_action(call["name"], call["arguments"])) for call in calls) == action
    assert played.tool_action("drop", {}) is None


def test_random_play_tries_the_listed_points(played: PrimitiveSkillEnv) -> None:
    played.reset(seed=1)
    red = "pick({},{},{})".format(*played.state().positions["red_cube"])
    assert red in played.legal_actions() and len(played.legal_actions()) == 4
    turn(played, red)
    assert all(action.startswith("place(") for action in played.legal_actions())

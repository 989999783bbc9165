"""LIBERO in many worlds by MuJoCo Warp, on a processor: the same physics, goals and pictures as MuJoCo's."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import agentrl
from agentrl.core.errors import ConfigError
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.oracle import next_action
from agentrl.envs.libero.simulation import PICTURES, ProceduralSimulation
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import World

pytestmark = pytest.mark.warp
SUITE, SIZE, SETTLE = "libero_goal", 64, 1
TASK = 4  # put the bowl on top of the cabinet
STATE = ("qpos", "qvel", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")
ID = "agentrl/LIBERO-Goal-v0"


def make(count: int, **kwargs: Any) -> Any:
    """Worlds of one task on a processor."""
    given = {"task": TASK, "split": "test", "starts": 2, "settle_steps": SETTLE, "image_size": SIZE, "device": "cpu"}
    return gym.make_vec(ID, count, "vector_entry_point", simulator="warp", **{**given, **kwargs})


@pytest.fixture(scope="module")
def envs() -> Any:
    """Three worlds, which tests reset."""
    assert agentrl.__version__
    return make(3, max_turns=4, robot_state=True)


@pytest.fixture(scope="module")
def simulation() -> ProceduralSimulation:
    """The first start in MuJoCo."""
    made = ProceduralSimulation(SETTLE)
    made.begin(Chosen(SUITE, TASK, "test", 0))
    return made


def enter(envs: Any, states: list[dict[str, np.ndarray]]) -> Any:
    """Put each world at a state of MuJoCo's and look."""
    batch = envs.tasks[0].batch
    rows = {part: batch.state[part].new_tensor(np.array([state[part] for state in states])) for part in STATE}
    batch.write(rows, batch.state["qpos"].new_ones(batch.count).bool())
    return envs.look()


def test_worlds_go_as_in_mujoco(envs: Any) -> None:
    """Settled starts, joints and observations after two actions are MuJoCo's to a tenth of a millimetre."""
    single = LiberoEnv(
        suite=SUITE, task=TASK, split="test", settle_steps=SETTLE, image_size=SIZE, robot_state=True, obs_text=False
    )
    name = f"{SUITE}/{TASK}:test:0"
    seen, info = envs.reset(options={"task": name})
    wanted, _ = single.reset(options={"task": name})
    actions = np.random.default_rng(0).uniform(-1, 1, (2, 7)).astype(np.float32)
    assert info["instruction"][0] == single.instruction and info["task"].tolist() == [name] * 3
    for action in (None, *actions):
        if action is not None:
            seen, *_ = envs.step(np.tile(action, (3, 1)))
            wanted, *_ = single.step(action)
        for part in ("proprio", "eef_quat", "gripper_qpos", "joint_pos", "gripper_qvel", "joint_vel"):
            assert np.abs(seen[part].numpy() - wanted[part]).max() < (1e-3 if part.endswith("vel") else 1e-4), part
    assert set(seen) == set(wanted) and all(seen[part].shape[1:] == wanted[part].shape for part in wanted)


def test_goals_and_pictures_are_those_of_mujoco(envs: Any, simulation: ProceduralSimulation) -> None:
    """On the way of the oracle every condition holds exactly where it does in MuJoCo, and pictures look alike."""
    states, truths, drawn, world = [], [], [], simulation.world
    for _ in range(400):
        states.append({part: getattr(world.data, part).copy() for part in STATE})
        truths.append({**world.conditions(), "goal": world.goal_holds()})
        drawn.append({picture: world.draw(camera, SIZE) for picture, camera in PICTURES.items()})
        if truths[-1]["goal"]:
            break
        action = next_action(world)
        assert action is not None
        simulation.step(action)
    assert truths[-1]["goal"]
    picked, worlds = [0, len(states) // 2, len(states) - 1], envs.tasks[0].worlds
    seen = enter(envs, [states[k] for k in picked])
    for fact in world.problem.goal.facts():
        assert worlds.holds(fact).tolist() == [truths[k][str(fact)] for k in picked]
    assert worlds.goal().tolist() == [truths[k]["goal"] for k in picked]
    for picture in PICTURES:
        wanted = np.array([drawn[k][picture] for k in picked]).astype(int)
        assert np.abs(seen[picture].numpy().astype(int) - wanted).mean() < 3, picture


def test_touching_is_that_of_mujoco(envs: Any, simulation: ProceduralSimulation) -> None:
    """Which things touch which, for all pairs of the scene."""
    world = World(SUITE, TASK)
    world.reset(world.start("test/1"))
    envs.reset(options={"task": f"{SUITE}/{TASK}:test:1"})
    enter(envs, [{part: getattr(world.data, part).copy() for part in STATE}] * 3)
    names = [*world.objects, *world.fixtures, next(iter(world.problem.fixtures))]
    pairs = [(a, b) for a in names for b in names if a < b]
    touching = {pair: envs.tasks[0].worlds.touching(*pair).tolist() for pair in pairs}
    assert any(any(found) for found in touching.values())
    assert touching == {pair: [world.touching(*pair)] * 3 for pair in pairs}


def test_a_broken_world_is_a_fault_of_its_own(envs: Any) -> None:
    """One world diverges and one is given no number: the third goes on as if it were alone; all begin again."""
    seen, _ = envs.reset(seed=1)
    first = envs.names()
    actions = np.zeros((3, 7), np.float32)
    actions[1, 2] = np.nan
    envs.tasks[0].batch.state["qvel"][0, 5] = 1e30
    after, rewards, terminated, truncated, info = envs.step(actions)
    assert truncated.tolist() == [True, False, False] and not rewards.any() and not terminated.any()
    assert info["fault"].tolist() == ["EnvFault", None, None] and info["limit"][0] == "external"
    assert info["valid"].tolist() == [True, False, True]
    assert after["proprio"].isfinite().all() and (after["proprio"][1] == seen["proprio"][1]).all()
    assert (after["joint_vel"][2] != seen["joint_vel"][2]).any()
    _, _, _, truncated, info = envs.step(np.full((3, 7), 2.0, np.float32))
    assert not truncated.any() and "fault" not in info and info["clipped"].tolist() == [7, 7, 7]
    assert envs.names()[0] != first[0] and envs.names()[1:] == first[1:]
    for _ in range(2):
        *_, truncated, info = envs.step(actions[[0, 0, 0]])
    assert truncated.tolist() == [False, True, True]  # the limit of four actions; the first one began later


def test_what_cannot_be_is_refused(envs: Any) -> None:
    """Wrong shapes, starts and arguments, in one sentence."""
    envs.reset()
    with pytest.raises(ConfigError, match=r"actions must be numbers \[3, 7\]; got \[3, 6\]"):
        envs.step(np.zeros((3, 6), np.float32))
    with pytest.raises(ConfigError, match=r"world 0 plays libero_goal/4:test:0 to libero_goal/4:test:1; got"):
        envs.reset(options={"task": "libero_goal/4:test:7"})
    with pytest.raises(ConfigError, match=r"assets=\"procedural\", reward=\"success\" and perturb=None alone"):
        make(1, assets="official")
    with pytest.raises(ConfigError, match="device must be None"):
        make(1, device="abacus")


def test_a_missing_gpu_is_said() -> None:
    """Without a GPU and without device="cpu"."""
    from agentrl.envs.common.warp.loading import find_device, torch

    if torch.cuda.is_available():
        assert find_device(None).type == "cuda"
    else:
        with pytest.raises(ConfigError, match="needs an NVIDIA GPU and its driver, and none was found"):
            find_device(None)


def test_tasks_side_by_side_begin_again_in_the_same_step() -> None:
    """Three tasks, a model each: every world plays its own, and after its only action begins at the next start."""
    envs = make(3, task=None, obs_mode="state", max_turns=1, autoreset_mode="SameStep")
    seen, info = envs.reset()
    assert info["task"].tolist() == [f"{SUITE}/{number}:test:0" for number in range(3)]
    assert len(set(envs.instructions)) == 3 and seen["state"].shape == envs.observation_space["state"].shape
    after, _, terminated, truncated, told = envs.step(np.zeros((3, 7), np.float32))
    assert truncated.all() and not terminated.any() and told["_final_obs"].all()
    assert envs.names() == [f"{SUITE}/{number}:test:1" for number in range(3)]
    for task, first, final, now in zip(
        envs.tasks, seen["state"], told["final_obs"]["state"], after["state"], strict=True
    ):
        world, size = World(SUITE, task.worlds.world.task), len(task.worlds.observe("state")[0])
        assert (first[size:] == 0).all() and size == 7 * len(world.objects) + len(world.joints)
        assert (final - first).abs().max() < 1e-3 < (now - first).abs().max()

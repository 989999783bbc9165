"""PrimitiveSkill in many worlds by MuJoCo Warp, on a processor: motions, primitives and rewards are MuJoCo's."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.gripper import pointing_down
from agentrl.envs.primitiveskill.env import PrimitiveSkillEnv
from agentrl.envs.primitiveskill.motion import HARD
from agentrl.envs.primitiveskill.mujoco.backend import MujocoBackend

pytestmark = pytest.mark.warp
SIZE, STARTS, WORLDS = 64, 3, 4
STATE = ("qpos", "qvel", "ctrl", "qacc_warmstart", "mocap_pos", "mocap_quat")
APART = 3.0  # mm between where both simulators leave things
# The same of a ball that was dropped into a drawer and pushed with it: MuJoCo itself leaves it 5 mm elsewhere if a
# joint begins 1e-7 rad away.
ROLLED = {"apple": 10.0}


def make(count: int, task: str = "Place", kind: str = "Visual", **kwargs: Any) -> Any:
    """Worlds of a task on a processor."""
    given = {"split": "test", "starts": STARTS, "image_size": SIZE, "device": "cpu"}
    env_id = f"agentrl/PrimitiveSkill-{task}-{kind}-v0"
    return gym.make_vec(env_id, count, "vector_entry_point", simulator="warp", **{**given, **kwargs})


@pytest.fixture(scope="module")
def envs() -> Any:
    """Four worlds, which tests reset."""
    return make(WORLDS)


@pytest.fixture
def table(envs: Any) -> MujocoBackend:
    """The first start in MuJoCo."""
    backend = MujocoBackend()
    backend.begin(envs.tasks[0].worlds.begun[0].start)
    return backend


def enter(envs: Any, tables: list[MujocoBackend]) -> Any:
    """Put each world at the state of a table, and look."""
    batch = envs.tasks[0].batch
    rows = {part: np.array([getattr(one.data, part) for one in tables]) for part in STATE}
    batch.write({part: batch.state[part].new_tensor(values) for part, values in rows.items()}, ~envs._none)
    return envs.look()


def single(task: str = "place", kind: str = "text", **kwargs: Any) -> PrimitiveSkillEnv:
    return PrimitiveSkillEnv(task=task, kind=kind, split="test", image_size=SIZE, **kwargs)


def assert_alike(seen: Any, world: int, env: PrimitiveSkillEnv) -> None:
    """The things of a world are where those of a single environment are."""
    for number, (name, there) in enumerate(env._table.scene.positions.items()):
        apart = np.abs(seen["state"][world, 3 * number : 3 * number + 3].numpy() - there).max()
        assert apart < ROLLED.get(name, APART), (world, name)


def test_a_tick_steers_and_moves_as_in_mujoco(envs: Any, table: MujocoBackend) -> None:
    """Targets of the servos, and joints after a tick, for goals beside, above and turned away from the gripper."""
    envs.reset()
    batch, arm = envs.tasks[0].batch, table._motion.arm
    enter(envs, [table] * WORLDS)
    at = arm.pose()[0]
    goals = [(at + move, yaw) for move, yaw in zip(np.eye(4, 3) * 0.03, (0.0, 0.2, -0.4, 0.0), strict=True)]
    steered = [0.0 if world == 3 else 1.0 for world in range(WORLDS)]
    rows = [[*goal, yaw, 0.01, on] for (goal, yaw), on in zip(goals, steered, strict=True)]
    with batch.working():
        batch.act(batch.state["qpos"].new_tensor(rows))
    for world, ((goal, yaw), on) in enumerate(zip(goals, steered, strict=True)):
        peer = MujocoBackend()
        peer.begin(envs.tasks[0].worlds.begun[0].start)
        peer._motion.arm.grip(0.01)
        if on:
            peer._motion.arm.steer(goal, pointing_down(yaw))
        peer._motion.arm.advance()
        for part, within in (("ctrl", 1e-4), ("qpos", 1e-5)):
            assert np.abs(batch.state[part][world].numpy() - getattr(peer.data, part)).max() < within, (part, world)


def test_what_the_gripper_feels_is_what_it_feels_in_mujoco(envs: Any, table: MujocoBackend) -> None:
    """A cube is held in the air, another stands on the table: what is held, what touches, and with what force."""
    worlds, (x, y, _) = envs.tasks[0].worlds, table.positions()["red_cube"]
    assert table.pick((x, y, 20)).done
    assert enter(envs, [table] * WORLDS)["state"][:, -2:].tolist() == [[1.0, 0.0]] * WORLDS
    table._motion.arm.advance()
    batch, of_arm, pressure = worlds.batch, worlds._arms._of_arm, table._motion.arm.pressure()
    bodies = [table.model.body(name).id for name in ("red_cube", "green_cube", "red_cube", "green_cube")]
    with batch.working():
        batch.act(batch.state["qpos"].new_zeros((WORLDS, 6)))
        blocked, touches = worlds._arms._feel(batch.state["qpos"].new_tensor(bodies))
        pressures = batch.pressure(of_arm, ~of_arm)
    assert pressure > HARD and np.abs(pressures.numpy() - pressure).max() < 0.01 * pressure
    assert blocked.tolist() == [False, True] * 2  # by anything but what is held
    assert touches.tolist() == [False, True] * 2


def test_pictures_are_those_of_mujoco(envs: Any, table: MujocoBackend) -> None:
    drawn = enter(envs, [table] * WORLDS)["image"].numpy().astype(int)
    assert np.abs(drawn[0] - table.picture(SIZE)).mean() < 3 and (drawn[1:] == drawn[0]).all()


def test_turns_of_many_kinds_go_on_side_by_side_as_they_do_alone(envs: Any) -> None:
    """A right turn, one that grasps nothing, one that comes down on a cube, and a text that is no action: each does
    what it does in MuJoCo, says the same, and takes its own time."""
    peers = [single(kind="visual") for _ in range(WORLDS)]
    names = [envs.tasks[0].names[number % STARTS] for number in range(WORLDS)]
    seen, info = envs.reset(options={"task": names})
    for peer, name, text in zip(peers, names, info["text"], strict=True):
        peer.reset(options={"task": name})
        assert peer._text() == text
    x, y, _ = peers[2]._table.scene.positions["red_cube"]
    misses = f"pick(-150,250,20)|place({x:.0f},{y:.0f},20)"
    turns = [envs.oracle()[0], misses, f"pick({x + 24:.0f},{y + 24:.0f},20)", "dance()"]
    before = seen["state"].clone()
    seen, rewards, terminated, truncated, info = envs.step(turns)
    for world, (peer, turn) in enumerate(zip(peers, turns, strict=True)):
        _, reward, *_, told = peer.step(turn)
        assert float(rewards[world]) == pytest.approx(reward), world
        assert_alike(seen, world, peer)
        assert told["feedback"].split("(")[0] == info["text"][world].split("(")[0], world
        for flag in ("valid", "success", "effective"):
            assert bool(info[flag][world]) == told[flag], (world, flag)
    assert (seen["state"][3] == before[3]).all() and not terminated.any() and not truncated.any()


@pytest.mark.parametrize("task", ["Place", "Stack", "Drawer", "Align"])
def test_the_oracle_solves_every_task_and_leaves_things_where_mujoco_does(task: str) -> None:
    envs = make(2, task, kind="Text", starts=2, autoreset_mode="Disabled")
    peers = [single(task.lower()) for _ in range(2)]
    envs.reset(options={"task": envs.tasks[0].names})
    for peer, name in zip(peers, envs.tasks[0].names, strict=True):
        peer.reset(options={"task": name})
    total, wanted = np.zeros(2), np.zeros(2)
    for _ in range(3):
        seen, rewards, terminated, *_ = envs.step([turn or "" for turn in envs.oracle()])
        total += rewards.numpy()
        for world, peer in enumerate(peers):
            wanted[world] += peer.step(peer.oracle() or "")[1]
        if terminated.all():
            break
    assert terminated.all() and all(peer._terminated for peer in peers)
    assert total == pytest.approx(wanted)
    for world, peer in enumerate(peers):
        assert_alike(seen, world, peer)


def test_a_broken_world_is_a_fault_of_its_own_and_begins_again(envs: Any) -> None:
    seen, _ = envs.reset(seed=1)
    first = envs.names()
    envs.tasks[0].batch.state["qvel"][0, 12] = 1e30
    after, rewards, terminated, truncated, info = envs.step(["pick(-150,250,20)", "", "", ""])
    assert truncated.tolist() == [True, False, False, False] and not terminated.any() and rewards[0] == 0
    assert info["fault"].tolist() == ["EnvFault", None, None, None] and info["limit"][0] == "external"
    assert (after["state"][0] == seen["state"][0]).all()
    *_, truncated, info = envs.step([""] * WORLDS)
    assert not truncated.any() and envs.names()[0] != first[0] and envs.names()[1:] == first[1:]
    *_, truncated, info = envs.step([""] * WORLDS)
    assert truncated.tolist() == [False, True, True, True]  # the limit of three turns; the first one began later
    assert info["text"][1].startswith("Invalid: no action given") and "episode is over" in info["text"][1]


def test_what_cannot_be_is_refused(envs: Any) -> None:
    for actions in ("pick(0,0,20)", ["pick(0,0,20)"], None):
        with pytest.raises(ConfigError, match="actions must be 4 texts, one for each world"):
            envs.step(actions)
    for arguments in ({"perturb": "light:1"}, {"backend": "mani_skill"}):
        with pytest.raises(ConfigError, match="perturb=None alone"):
            make(1, **arguments)

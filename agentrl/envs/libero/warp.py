"""LIBERO on a GPU: `gym.make_vec("agentrl/LIBERO-Spatial-v0", 1024, vectorization_mode="vector_entry_point",
simulator="warp")`. The same models, law of control, starts and conditions, in many worlds at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.warp.batch import STATE, Batch, Rows
from agentrl.envs.common.warp.control import ControlWarpEnv
from agentrl.envs.common.warp.law import ArmPlace
from agentrl.envs.common.warp.loading import find_device, torch
from agentrl.envs.common.warp.pictures import Camera
from agentrl.envs.common.warp.torques import Gains, Posture, SpringTorques
from agentrl.envs.common.warp.vector import Task
from agentrl.envs.libero.bddl import Condition, Fact
from agentrl.envs.libero.controller import (
    BACKWARDS,
    DAMPING,
    FINGER_SPEED,
    METRES,
    POSTURE,
    RADIANS,
    RATE,
    STIFFNESS,
    TICKS,
)
from agentrl.envs.libero.env import LiberoEnv
from agentrl.envs.libero.objects import model_of
from agentrl.envs.libero.objects.sculptor import GLOWING
from agentrl.envs.libero.predicates import LEVEL, NEAR, SLACK, TALL
from agentrl.envs.libero.simulation import PICTURES, REST, columns_of
from agentrl.envs.libero.starts import READY
from agentrl.envs.libero.task_ids import STARTS, Chosen, find_numbers
from agentrl.envs.libero.world import World

mujoco = load()
GAINS = Gains(METRES, RADIANS, STIFFNESS, DAMPING, FINGER_SPEED, TICKS, 1 / RATE)
LAW = partial(SpringTorques, gains=GAINS, posture=Posture(READY, stiffness=POSTURE))


class LiberoWarpEnv(ControlWarpEnv):
    """`num_envs` worlds of a suite. `starts`: how many starts of each task are kept on the device, the first ones of
    the split; `tasks`: the numbers of those that are played, None: all, or the one that `task` names; `device`: None
    (the GPU), "cuda:1" or "cpu". All other arguments are `LiberoEnv`'s, without text."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        starts: int = 50,
        tasks: Sequence[int] | None = None,
        device: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        obs_text: bool = False,
        **kwargs: Any,
    ) -> None:
        count = whole_number("num_envs", num_envs, at_least=1)
        starts = whole_number("starts", starts, at_least=1)
        usual = {"assets": "procedural", "reward": "success", "perturb": None}
        if obs_text is not False or any(kwargs.get(name, value) != value for name, value in usual.items()):
            known = 'obs_text=False, assets="procedural", reward="success" and perturb=None'
            raise ConfigError(f'simulator="warp" knows {known} alone')
        single = LiberoEnv(obs_text=False, **kwargs)  # refuses what is wrong, and has the spaces
        where = find_device(device)
        try:
            numbers = _chosen(find_numbers(single.suite, kwargs.get("task")), tasks)[:count]
            alike: dict[Hashable, dict[int, World]] = {}
            for number in numbers:
                world = World(single.suite, number)
                alike.setdefault(_looks(world), {})[number] = world
            turns, played = [numbers[world % len(numbers)] for world in range(count)], {}
            for worlds in alike.values():
                playing = [number for number in turns if number in worlds]
                played |= LiberoWorlds(single, worlds, playing, where, starts).tasks
        finally:
            single.close()
        super().__init__(
            [played[number] for number in numbers],
            single.observation_space,
            single.action_space,
            max_turns=single.max_turns,
            out_of_range=single.out_of_range,
            autoreset_mode=autoreset_mode,
            render_mode=single.render_mode,
        )


class LiberoWorlds:
    """Tasks that have the same model, by their numbers, each with the first `starts` starts of a split, settled.
    `playing`: the number of the task in each world."""

    def __init__(
        self, env: LiberoEnv, worlds: dict[int, World], playing: list[int], device: torch.device, starts: int
    ) -> None:
        rows: list[dict[str, np.ndarray]] = []
        self._playing, self.tasks = torch.tensor(playing, device=device), dict[int, Task]()
        first, known = 0, range(min(starts, STARTS[env.split]))
        for number, world in worlds.items():
            chosen = [Chosen(env.suite, number, env.split, start) for start in known]
            rows.append(_place(world, [f"{env.split}/{start}" for start in known]))
            places = (self._playing == number).nonzero().flatten()
            names = [str(one) for one in chosen]
            self.tasks[number] = Task(self, places, chosen[0].instruction, names, first)
            first += len(names)
        self.world = max(worlds.values(), key=lambda world: world.data.ncon)
        self._goals = {number: world.problem.goal for number, world in worlds.items()}
        self.batch = Batch(self.world.model, self.world.data, len(playing), device, LAW)
        self._place, self._lies = ArmPlace.of(self.world.model), env.conventions[env.picture_convention]
        columns = {number: columns_of(world) for number, world in worlds.items()}  # a task's own things come first
        self._columns = torch.tensor(np.array([columns[number] for number in playing]), device=device)
        self._kept: dict[tuple[str, str], torch.Tensor] = {}  # constants that were used before, by use and name
        model, size = self.world.model, env.image_size
        self._cameras = {
            picture: Camera(model, self.world.data, self.batch, camera, size, GLOWING)
            for picture, camera in PICTURES.items()
            if env.obs_mode == "image"
        }
        placed = {name: np.concatenate([some[name] for some in rows]) for name in STATE}
        self.starts = self._settle({name: torch.tensor(one, device=device) for name, one in placed.items()}, env)

    def _settle(self, placed: Rows, env: LiberoEnv) -> Rows:
        """The states after the actions before the first observation, as many at once as there are worlds."""
        batch, settled, total = self.batch, [], len(placed["qpos"])
        rest = torch.tensor(REST, dtype=torch.float32, device=batch.device).expand(batch.count, 7)
        for first in range(0, total, batch.count):
            which = torch.arange(first, first + batch.count, device=batch.device).clamp(max=total - 1)
            with batch.working():
                batch.begin({name: rows[which] for name, rows in placed.items()})
                for _ in range(env.settle_steps):
                    batch.act(rest)
                settled.append(batch.rows())
            batch.join()
        return {name: torch.cat([rows[name] for rows in settled])[:total] for name in batch.state}

    # ------------------------------------------------------------------ what is seen

    def observe(self, name: str) -> torch.Tensor:
        """A part of the observations, as `LiberoEnv` has it."""
        if name in self._cameras:
            rows, columns = self._lies
            picture = self._cameras[name].draw(self._glowing())
            flipped = [axis for axis, part in ((1, rows), (2, columns)) if part.step == -1]
            return picture.flip(flipped) if flipped else picture
        if name == "state":
            return self.batch.state["qpos"].gather(1, self._columns)
        if name == "proprio":
            position, quaternion, fingers = (self.observe(part) for part in ("eef_pos", "eef_quat", "gripper_qpos"))
            return torch.cat([position, quat2axisangle(quaternion), fingers], dim=1)
        place, qpos, qvel = self._place, self.batch.state["qpos"], self.batch.state["qvel"]
        backwards = self._constant("gripper", "backwards", BACKWARDS)
        return {
            "eef_pos": lambda: self.batch.seen["site_xpos"][:, place.site],
            "eef_quat": lambda: self.batch.seen["xquat"][:, place.hand][:, [1, 2, 3, 0]],
            "gripper_qpos": lambda: qpos[:, place.qpos + 7 : place.qpos + 9] * backwards,
            "gripper_qvel": lambda: qvel[:, place.dof + 7 : place.dof + 9] * backwards,
            "joint_pos": lambda: qpos[:, place.qpos : place.qpos + 7],
            "joint_vel": lambda: qvel[:, place.dof : place.dof + 7],
        }[name]()

    def _glowing(self) -> torch.Tensor:
        """Where a stove is on."""
        world = self.world
        stoves = [name for name in world.fixtures if world.kinds[name] == "flat_stove"]
        joints = [pair for stove in stoves for pair in world.joints_about(stove)]
        return self._one_of([joint.holds("turnon", self._joint(name)) for name, joint in joints])

    # ------------------------------------------------------------------ the goal: `predicates.holds`, in all worlds

    def goal(self) -> torch.Tensor:
        """Which worlds have done their task."""
        return self._one_of([self.holds(goal) & (self._playing == number) for number, goal in self._goals.items()])

    def holds(self, condition: Condition | Fact) -> torch.Tensor:
        """Where it is true now."""
        world = self.world
        if isinstance(condition, Fact):
            predicate = condition.predicate
            if predicate in ("open", "close", "turnon", "turnoff"):
                joints = world.joints_about(condition.arguments[0])
                each = [joint.holds(predicate, self._joint(name)) for name, joint in joints]
                return self._one_of(each) if predicate in ("open", "turnon") else torch.stack(each).all(0)
            thing, where = condition.arguments
            if where in world.problem.regions:
                return self._at_region(predicate, thing, where)
            apart = self._pose(thing)[0] - self._pose(where)[0]
            near = apart[:, :2].square().sum(1) < NEAR**2
            return (apart[:, 2] > 0) & near & self.touching(thing, where)
        parts = [self.holds(part) for part in condition.parts]
        if condition.operator == "not":
            return ~parts[0]
        return torch.stack(parts).all(0) if condition.operator == "and" else torch.stack(parts).any(0)

    def _at_region(self, predicate: str, thing: str, region: str) -> torch.Tensor:
        """Where a thing is in or on a region."""
        (middle, rotation), (position, turned) = self._pose(region), self._pose(thing)
        half, extent = (self._constant("half", name, self.world.size(name)) for name in (region, thing))
        offset = (rotation.transpose(1, 2) @ (position - middle)[:, :, None])[:, :, 0]
        above = (offset[:, :2].abs() < half[:2]).all(1)
        height = turned[:, 2].abs() @ extent  # of its middle over its lowest point
        if predicate == "in":
            low = offset[:, 2] - height + height.clamp(max=TALL)
            return above & (low > -half[2] - SLACK) & (low < half[2])
        level = (position[:, 2] - height - middle[:, 2]).abs() < LEVEL
        return above & level & self.touching(thing, self.world.problem.regions[region].target)

    def _pose(self, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        """The middle of an object, fixture or region in each world, and its rotation."""
        seen, model = self.batch.seen, self.world.model
        if name not in self.world.kinds:
            site = model.site(name).id
            return seen["site_xpos"][:, site], seen["site_xmat"][:, site]
        body = model.body(name).id
        rotation = seen["xmat"][:, body]
        middle = self._constant("middle", name, model_of(self.world.kinds[name]).middle)
        return seen["xpos"][:, body] + rotation @ middle, rotation

    def _joint(self, name: str) -> torch.Tensor:
        return self.batch.state["qpos"][:, int(self.world.model.joint(name).qposadr[0])]

    def touching(self, name: str, other: str) -> torch.Tensor:
        """Where two things touch."""
        first, second = (self._constant("geoms", one, self.world.geoms_of(one)) > 0 for one in (name, other))
        return self.batch.touching(first, second)

    def _one_of(self, masks: list[torch.Tensor]) -> torch.Tensor:
        none = torch.zeros(self.batch.count, dtype=torch.bool, device=self.batch.device)
        return torch.stack([none, *masks]).any(0)

    def _constant(self, use: str, name: str, values: Any) -> torch.Tensor:
        if (use, name) not in self._kept:
            self._kept[use, name] = torch.tensor(values, dtype=torch.float32, device=self.batch.device)
        return self._kept[use, name]


def _looks(world: World) -> Hashable:
    """What tasks must have in common to share worlds: the model to the byte, and what its parts are."""
    model = np.zeros(mujoco.mj_sizeModel(world.model), np.uint8)
    mujoco.mj_saveModel(world.model, None, model)
    regions = tuple((name, region.target) for name, region in world.problem.regions.items())
    return sha256(model.tobytes()).digest(), tuple(world.kinds.items()), regions


def _chosen(known: Sequence[int], tasks: Sequence[int] | None) -> list[int]:
    """The numbers of the tasks that are meant."""
    chosen = list(known if tasks is None else tasks)
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(known):
        raise ConfigError(f"tasks must be different numbers from {min(known)} to {max(known)}; got {tasks!r}")
    return chosen


def quat2axisangle(quaternion: torch.Tensor) -> torch.Tensor:
    """`controller.quat2axisangle` for rows of quaternions."""
    w = quaternion[:, 3:].clamp(-1.0, 1.0)
    sine = (1.0 - w * w).sqrt()
    return torch.where(sine > 0, quaternion[:, :3] * (2.0 * w.acos() / sine.clamp(min=1e-12)), 0.0)


def _place(world: World, names: list[str]) -> dict[str, np.ndarray]:
    """Every start, put in its place by MuJoCo; leaves the world at the one with most contacts."""
    rows: dict[str, list[np.ndarray]] = {part: [] for part in STATE}
    fullest, most = names[0], -1
    for name in names:
        world.reset(world.start(name))
        for part in STATE:
            rows[part].append(getattr(world.data, part).copy())
        if world.data.ncon > most:
            fullest, most = name, world.data.ncon
    world.reset(world.start(fullest))
    return {part: np.array(values, dtype=np.float32) for part, values in rows.items()}

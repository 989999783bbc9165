"""One task of Meta-World as a simulation: starts by name, exact snapshots, pictures the right way up."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import numpy as np

from agentrl.core.errors import EnvFault
from agentrl.envs.common.mujoco import physics, pictures
from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.metaworld import package
from agentrl.envs.metaworld.fast_step import step
from agentrl.envs.metaworld.starts import Draws, Start

mujoco = load()
CAMERAS = ("corner", "corner2", "corner3", "corner4", "topview", "behindGripper", "gripperPOV")
HAND, OBJECTS, PLACE, SIZE = slice(0, 4), (slice(4, 7), slice(11, 14)), slice(36, 39), 39  # of an observation
NOW = 18  # numbers of an observation are about this moment, as many about the one before
HIGHEST_REWARD = 10.0
ROOM = 5.0  # metres: nothing that is meant to be seen is further away
FRONT_TO_BACK = np.array([0.0, 0.0, 0.0, 1.0])  # half a turn about the axis that a camera looks along


class World:
    """A simulation of the package, and what it last said."""

    def __init__(self, task: str, show_goal: bool = True) -> None:
        self.task, self.show_goal = task, show_goal
        self._sim = package.simulation(task)
        self.model, self.data = self._sim.model, self._sim.data
        pictures.prepare(self.model)  # cheap to draw: no shadows, no mirrors, one sample a pixel
        self.model.mat_reflectance[:] = 0.0
        mujoco.mj_forward(self.model, self.data)  # the corner cameras are mounted upside down
        for camera in range(self.model.ncam):
            up = self.data.cam_xmat[camera].reshape(3, 3)[2, 1]  # how much "up in the picture" is up in the world
            if up < -0.1:
                turned = np.empty(4)
                mujoco.mju_mulQuat(turned, self.model.cam_quat[camera], FRONT_TO_BACK)
                self.model.cam_quat[camera] = turned
        if not show_goal:
            for site in range(self.model.nsite):
                if "goal" in self.model.site(site).name.lower():
                    self.model.site_rgba[site, 3] = 0.0
        # All that a start changes of a model. Set back before the next one, so that no start knows what came before.
        self._shipped = {name: getattr(self.model, name).copy() for name in ("body_pos", "site_pos", "site_rgba")}
        self.start: Start | None = None
        self.observation = np.zeros(SIZE)
        self.reward, self.success = 0.0, False

    def begin(self, start: Start) -> None:
        """Set the task up as Meta-World does after a draw: twice, the second time from MuJoCo's initial state."""
        sim = self._sim
        for name, values in self._shipped.items():
            getattr(self.model, name)[:] = values
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        sim.curr_path_length = 0
        sim._np_random, sim.seeded_rand_vec, sim._freeze_rand_vec = Draws(start), True, False
        sim.reset_model()
        sim._freeze_rand_vec = True
        mujoco.mj_resetData(self.model, self.data)
        sim.reset_model()
        # Models that serve two tasks have a marker for each; Meta-World means to put the other one out of sight.
        for site, place in sim._target_site_config:
            if np.abs(place).max() > ROOM:
                self.model.site(site).rgba[3] = 0.0
        # The first observation is of the state as it is: some tasks have moved a joint since they last looked.
        warm_start = self.data.qacc_warmstart.copy()
        mujoco.mj_forward(self.model, self.data)
        self.data.qacc_warmstart[:] = warm_start
        self._sim._get_obs()
        self.observation = self._sim._get_obs()  # of this moment and the same moment before
        self.start, self.reward, self.success = start, 0.0, False

    def step(self, action: np.ndarray) -> None:
        """One control step."""
        before = self.data.time
        self.observation, self.reward, self.success = step(self._sim, action)
        if self.data.time <= before:  # MuJoCo starts afresh without a word when its numbers explode
            raise EnvFault(f"the simulation of {self.task} diverged")

    def expert_action(self) -> np.ndarray:
        """What the scripted expert does now."""
        return np.clip(package.expert(self.task)(self.observation), -1.0, 1.0).astype(np.float32)

    def picture(self, camera: str, size: int) -> np.ndarray:
        """This moment, seen by a camera."""
        return pictures.draw(self.model, self.data, camera, size)

    def close(self) -> None:
        """Give back what was kept for its pictures."""
        pictures.forget(self.model)

    # ------------------------------------------------------------------ fork

    def save(self) -> dict[str, Any]:
        """Everything the future depends on."""
        first = getattr(self._sim, FIRST_DISTANCE, None)
        return {
            "physics": physics.save(self.model, self.data),
            "observation": self.observation.tobytes(),
            "before": self._sim._prev_obs.tobytes(),
            "steps": self._sim.curr_path_length,
            "first_distance": None if first is None else float(first),
            "reward": self.reward,
            "success": self.success,
        }

    def load(self, start: Start, data: dict[str, Any]) -> None:
        """Inverse of `save`; an error if the data does not fit."""
        saved = msgspec.convert(data, _Saved)
        observation, before = _numbers(saved.observation, SIZE), _numbers(saved.before, NOW)
        if self.start != start:
            self.begin(start)
        physics.load_into(self.model, self.data, saved.physics)
        self.observation, self._sim._prev_obs, self._sim.curr_path_length = observation, before, saved.steps
        if hasattr(self._sim, FIRST_DISTANCE):
            setattr(self._sim, FIRST_DISTANCE, saved.first_distance)
        self.reward, self.success = saved.reward, saved.success

    def __getstate__(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "show_goal": self.show_goal,
            "start": self.start,
            "saved": None if self.start is None else self.save(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["task"], state["show_goal"])
        if state["start"] is not None:
            self.load(state["start"], state["saved"])


# The one attribute besides the former observation and the counter that a task sets while it is played (bin-picking).
FIRST_DISTANCE = "_target_to_obj_init"


class _Saved(msgspec.Struct):
    physics: bytes
    observation: bytes
    before: bytes
    steps: Annotated[int, msgspec.Meta(ge=0)]
    first_distance: float | None
    reward: float
    success: bool


def _numbers(blob: bytes, count: int) -> np.ndarray:
    values = np.frombuffer(blob, dtype=np.float64).copy()
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ValueError(f"{count} finite numbers are needed")
    return values

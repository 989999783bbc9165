"""A control step of the package's simulations, written to be quick: the same numbers to the bit.

Most of the time of a step of Meta-World is spent in Python, not in MuJoCo: names are looked up again and again, and
contacts are walked through one by one.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from agentrl.envs.common.mujoco.loading import load

mujoco = load()
PADS = ("leftpad_geom", "rightpad_geom")
DOWNWARDS = (1.0, 0.0, 1.0, 0.0)  # how the hand is held, as a quaternion that MuJoCo normalises
WIDEST = 0.1  # metres between the fingers of an open gripper


def use_fast_step(sim: Any) -> None:
    """Give a simulation the quick methods."""
    sim.touching_object = partial(_touching, sim)
    sim._get_curr_obs_combined_no_goal = _Seen(sim)


def step(sim: Any, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
    """What `sim.step` does: the observation, the reward, and whether the task is done."""
    data = sim.data
    target = data.mocap_pos[0] + action[:3] * sim.action_scale
    data.mocap_pos[0] = np.minimum(np.maximum(target, sim.mocap_low), sim.mocap_high)
    data.mocap_quat[0] = DOWNWARDS
    data.ctrl[:] = action[3], -action[3]
    mujoco.mj_step(sim.model, data, nstep=sim.frame_skip)
    sim.curr_path_length += 1
    mujoco.mj_forward(sim.model, data)
    bounds = sim.sawyer_observation_space
    observation = np.minimum(np.maximum(sim._get_obs(), bounds.low), bounds.high)
    reward, told = sim.evaluate_state(observation, action)
    return observation, float(reward), bool(told["success"] > 0)


def _touching(sim: Any, thing: int) -> bool:
    """Do both pads press on a geom?"""
    contact, forces = sim.data.contact, sim.data.efc_force
    first, second = contact.geom1, contact.geom2
    with_thing = (first == thing) | (second == thing)
    if not with_thing.any():
        return False
    for pad in PADS:
        number = sim.data.geom(pad).id
        found = with_thing & ((first == number) | (second == number))
        if not sum(forces[contact.efc_address[found]].tolist()) > 0:
            return False
    return True


class _Seen:
    """The half of an observation that is about this moment: hand, opening of the gripper, objects."""

    def __init__(self, sim: Any) -> None:
        self._sim, self._places = sim, sim.data.xpos
        self._hand, self._right, self._left = (sim.model.body(name).id for name in ("hand", "rightclaw", "leftclaw"))

    def __call__(self) -> np.ndarray:
        places = self._places
        apart = places[self._right] - places[self._left]
        seen = np.zeros(18)
        seen[:3] = places[self._hand]
        seen[3] = min(max(math.sqrt(apart.dot(apart)) / WIDEST, 0.0), 1.0)
        where, turned = self._sim._get_pos_objects(), self._sim._get_quat_objects()
        for number in range(len(where) // 3):
            start = 4 + 7 * number
            seen[start : start + 3] = where[3 * number : 3 * number + 3]
            seen[start + 3 : start + 7] = turned[4 * number : 4 * number + 4]
        return seen

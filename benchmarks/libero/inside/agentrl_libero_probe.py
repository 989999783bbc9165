"""LIBERO's own package, with what the comparison needs beside what the environment calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from agentrl_libero import CAMERAS, Server  # pyright: ignore[reportMissingImports]

STEPS = 600  # of the simulator, 1.2 s, in which things come to rest
SLOW = 0.02  # share of the velocities that is taken away in each


class Probe(Server):
    """Puts things where it is told, and says where the cameras are."""

    def place(self, fixtures: dict[str, Any], things: dict[str, Any], joints: dict[str, float]) -> dict[str, Any]:
        """Put fixtures (x, y), things (position, quaternion) and joints where they are told, wait until all rest while
        arm and joints are kept, and look."""
        inner = self._env.env
        sim = inner.sim
        for name, (x, y) in fixtures.items():
            body = inner.obj_body_id[name]
            sim.model.body_pos[body][:2] = x, y
        for name, pose in things.items():
            sim.data.set_joint_qpos(inner.objects_dict[name].joints[-1], np.asarray(pose, dtype=float))
        for name, value in joints.items():
            sim.data.set_joint_qpos(name, value)
        free = [sim.model.get_joint_qpos_addr(thing.joints[-1]) for thing in inner.objects_dict.values()]
        kept = np.setdiff1d(np.arange(sim.model.nq), np.concatenate([np.arange(*span) for span in free]))
        held = sim.data.qpos[kept].copy()
        sim.data.qvel[:] = 0.0
        sim.forward()
        for _ in range(STEPS):
            sim.step()
            sim.data.qpos[kept] = held
            sim.data.qvel[:] *= 1 - SLOW
        sim.forward()
        return self.look()

    def fixtures(self) -> dict[str, Any]:
        """Where cabinets, stoves and the like stand."""
        inner = self._env.env
        return {name: inner.sim.data.body_xpos[inner.obj_body_id[name]].copy() for name in inner.fixtures_dict}

    def cameras(self) -> dict[str, Any]:
        """Position, rotation and field of view of each camera now."""
        sim = self._env.sim
        found = {}
        for ours, theirs in CAMERAS.items():
            number = sim.model.camera_name2id(theirs)
            pose = sim.data.cam_xpos[number].copy(), sim.data.cam_xmat[number].copy()
            found[ours] = {"position": pose[0], "rotation": pose[1], "fovy": float(sim.model.cam_fovy[number])}
        return found

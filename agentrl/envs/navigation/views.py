"""Pictures of homes as the agent sees them."""

from __future__ import annotations

import threading
from functools import lru_cache

import numpy as np

from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.mujoco.pictures import draw as draw_scene
from agentrl.envs.navigation.homes.home import Home
from agentrl.envs.navigation.scene import compile_home, place_eye
from agentrl.envs.navigation.sight import Eye

mujoco = load()
CAMERA = "eye"
KEPT = 16  # models of a process


class View:
    """One home with one camera; environments in the same home take turns."""

    def __init__(self, home: Home) -> None:
        self.model = compile_home(home)
        self._data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self._data)
        self._lock = threading.Lock()

    def draw(self, eye: Eye, size: int, fov: float, *, segmentation: bool = False) -> np.ndarray:
        """What is seen from there; with `segmentation` the ids of the geoms."""
        with self._lock:
            self.model.camera(CAMERA).fovy = fov
            place_eye(self.model, self._data, eye.x, eye.y, 90 * eye.heading, eye.tilt)
            return draw_scene(self.model, self._data, CAMERA, size, segmentation=segmentation)


@lru_cache(maxsize=KEPT)
def view_of(home: Home) -> View:
    """The view of a home; compiling it costs more than drawing it."""
    return View(home)


def draw(home: Home, eye: Eye, size: int, fov: float) -> np.ndarray:
    """What is seen from a place in a home: uint8 [size, size, 3]."""
    return view_of(home).draw(eye, size, fov)

"""Pictures of a simulation, from any thread.

An OpenGL context belongs to one thread, and environments are stepped in threads that change. So one thread a process
draws for everybody. It keeps a few renderers, by model and size: making one costs far more than a picture.

MuJoCo's settings that cost most on a processor belong to the model and must be set before it is first drawn: `prepare`.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load

mujoco = load()
KEPT = 8  # renderers of a process


def prepare(spec: Any, shadows: int = 0) -> None:
    """Make a scene cheap to draw: no multisampling, and a shadow map of this size (0: none)."""
    spec.visual.quality.offsamples = 0
    spec.visual.quality.shadowsize = shadows


def draw(model: Any, data: Any, camera: str | int, size: int, *, segmentation: bool = False) -> np.ndarray:
    """A square picture through a camera of the model, uint8 [size, size, 3]; with `segmentation` the ids of the geoms,
    int32 [size, size], -1 where there is none. `data` must be forwarded and must not change until this returns."""
    return _painter().draw(model, data, camera, size, segmentation)


class _Painter:
    """The drawing thread of a process and the renderers it keeps."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="agentrl-mujoco")
        self._kept: OrderedDict[tuple[int, int], tuple[Any, Any]] = OrderedDict()  # with the model, so its id stays

    def draw(self, model: Any, data: Any, camera: str | int, size: int, segmentation: bool) -> np.ndarray:
        return self._thread.submit(self._draw, model, data, camera, size, segmentation).result()

    def _draw(self, model: Any, data: Any, camera: str | int, size: int, segmentation: bool) -> np.ndarray:
        renderer = self._renderer(model, size)
        if segmentation:
            renderer.enable_segmentation_rendering()
        try:
            renderer.update_scene(data, camera=camera)
            picture = renderer.render()
        finally:
            if segmentation:
                renderer.disable_segmentation_rendering()
        return picture[:, :, 0].copy() if segmentation else picture.copy()

    def _renderer(self, model: Any, size: int) -> Any:
        key = (id(model), size)
        if key not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.popitem(last=False)[1][1].close()
            self._kept[key] = model, _make(model, size)
        self._kept.move_to_end(key)
        return self._kept[key][1]


def _make(model: Any, size: int) -> Any:
    if os.environ.get("MUJOCO_GL") == "disable":
        raise ConfigError(
            "pictures need an OpenGL driver, and none was found (Debian: apt-get install -y libegl1 libgl1-mesa-dri). "
            "Or set MUJOCO_GL (egl, osmesa or glfw). Kinds with text only work without."
        )
    try:
        return mujoco.Renderer(model, height=size, width=size)
    except Exception as error:  # each driver has errors of its own
        raise ConfigError(
            f"the OpenGL driver {os.environ.get('MUJOCO_GL', 'of the display')} cannot draw ({error}). "
            "Set MUJOCO_GL to another one (egl, osmesa or glfw), or use a kind with text only."
        ) from error


_lock = threading.Lock()
_by_process: dict[int, _Painter] = {}


def _painter() -> _Painter:
    """This process's own: threads and contexts do not survive a fork."""
    with _lock:
        return _by_process.setdefault(os.getpid(), _by_process.get(os.getpid()) or _Painter())


os.register_at_fork(after_in_child=_by_process.clear)

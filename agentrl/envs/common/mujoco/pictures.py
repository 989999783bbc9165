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


def prepare(spec: Any, shadows: int = 0, samples: int = 0) -> None:
    """Make a scene cheap to draw: a shadow map of this size (0: none), so many samples a pixel (0: one), and bodies
    of few triangles. A side of a box is one square, not sixteen: that alone took 200 boxes from 18 to 4 ms."""
    quality = spec.visual.quality
    quality.offsamples, quality.shadowsize = samples, shadows
    quality.numquads, quality.numslices, quality.numstacks = 1, 20, 10


def draw(
    model: Any, data: Any, camera: str | int, size: int, *, segmentation: bool = False, hidden: tuple[int, ...] = ()
) -> np.ndarray:
    """A square picture through a camera of the model, uint8 [size, size, 3]; with `segmentation` the ids of the geoms,
    int32 [size, size], -1 where there is none. Geoms of `hidden` groups are left out. `data` must be forwarded and
    must not change until this returns."""
    return _painter().draw(model, data, camera, size, segmentation, hidden)


class _Painter:
    """The drawing thread of a process and the renderers it keeps."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="agentrl-mujoco")
        self._kept: OrderedDict[tuple[int, int], tuple[Any, Any]] = OrderedDict()  # with the model, so its id stays

    def draw(self, *request: Any) -> np.ndarray:
        return self._thread.submit(self._draw, *request).result()

    def _draw(
        self, model: Any, data: Any, camera: str | int, size: int, segmentation: bool, hidden: tuple[int, ...]
    ) -> np.ndarray:
        renderer = self._renderer(model, size)
        option = mujoco.MjvOption()
        for group in hidden:
            option.geomgroup[group] = 0
        if segmentation:
            renderer.enable_segmentation_rendering()
        try:
            renderer.update_scene(data, camera=camera, scene_option=option)
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

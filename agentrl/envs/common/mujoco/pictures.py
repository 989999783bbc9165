"""Pictures of a simulation, from any thread.

An OpenGL context belongs to one thread, and environments are stepped in threads that change. So one thread a process
draws for everybody, in one context. It keeps what it uploaded of the last models, since that costs more than a picture.

MuJoCo's settings that cost most on a processor belong to the model and must be set before it is first drawn: `prepare`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from math import radians, tan
from typing import Any

import numpy as np

from agentrl.core.cache import on_forget
from agentrl.core.errors import ConfigError
from agentrl.envs.common.mujoco.loading import load

mujoco = load()
KEPT = 8  # models, at one size each, whose shapes and textures stay with the driver
MAX_SIZE = 4096  # pixels a side
SMALLEST = 0.5  # pixels from the middle of a geom to its corners, to be drawn
UNSEEN = 5  # a group of geoms that is not drawn
SPARE_GEOMS = 100  # for what a drawing adds to the geoms of a model
_CONTEXTS = {"egl": "mujoco.egl", "osmesa": "mujoco.osmesa", "cgl": "mujoco.cgl"}


def prepare(scene: Any, shadows: int = 0, samples: int = 0) -> None:
    """Make a scene (a spec, or a model that was not drawn yet) cheap to draw: a shadow map of `shadows` texels a side
    (0: none), `samples` samples a pixel (0: one) and bodies of few triangles. A side of a box is one square, not
    sixteen: that took 200 boxes from 18 to 4 ms."""
    quality = (scene.visual if hasattr(scene, "visual") else scene.vis).quality
    quality.offsamples, quality.shadowsize = samples, shadows
    quality.numquads, quality.numslices, quality.numstacks = 1, 16, 8


def draw(
    model: Any, data: Any, camera: str | int, size: int, *, segmentation: bool = False, hidden: tuple[int, ...] = ()
) -> np.ndarray:
    """A square picture through a camera of the model, uint8 [size, size, 3]; with `segmentation` the ids of the geoms,
    int32 [size, size], -1 where there is none. Geoms of `hidden` groups are left out. `data` must be forwarded and
    must not change until this returns."""
    if not 1 <= size <= MAX_SIZE:
        raise ValueError(f"the size of a picture must be 1 to {MAX_SIZE} pixels; got {size}")
    with _lock:  # this process's own painter: threads and contexts do not survive a fork
        painter = _by_process.setdefault(os.getpid(), _by_process.get(os.getpid()) or _Painter())
    return painter.draw(model, data, camera, size, segmentation, hidden)


def forget(model: Any = None) -> None:
    """Give back what the driver holds of a model that is drawn no more, or of all: tens of megabytes for meshes."""
    if painter := _by_process.get(os.getpid()):
        painter.forget(model)


class _Painter:
    """The drawing thread of a process, its context, and the models it has uploaded."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="agentrl-mujoco")
        self._context: Any = None
        self._kept: OrderedDict[tuple[int, int], _Canvas] = OrderedDict()

    def draw(self, *request: Any) -> np.ndarray:
        return self._thread.submit(self._draw, *request).result()

    def forget(self, model: Any) -> None:
        self._thread.submit(self._forget, model).result()

    def _forget(self, model: Any) -> None:
        for key in [key for key in self._kept if model is None or key[0] == id(model)]:
            self._kept.pop(key).close()

    def _draw(
        self, model: Any, data: Any, camera: str | int, size: int, segmentation: bool, hidden: tuple[int, ...]
    ) -> np.ndarray:
        key = (id(model), size)  # a canvas keeps its model, so the id is not given to another one
        if key not in self._kept:
            if self._context is None:
                self._context = _open_context()
            while len(self._kept) >= KEPT:
                self._kept.popitem(last=False)[1].close()
            self._kept[key] = _Canvas(model, size)
        self._kept.move_to_end(key)
        canvas = self._kept[key]
        canvas.look(data, camera, hidden)
        return canvas.geoms() if segmentation else canvas.colours()


class _Canvas:
    """A model with the driver, and a frame of one size."""

    def __init__(self, model: Any, size: int) -> None:
        self.model = model
        self._frame = mujoco.MjrRect(0, 0, size, size)
        self._scene = mujoco.MjvScene(model=model, maxgeom=model.ngeom + SPARE_GEOMS)
        limits = model.vis.global_
        before = limits.offwidth, limits.offheight
        limits.offwidth = limits.offheight = size  # clearing a larger buffer would cost time
        try:
            self._uploaded = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50.value)
        finally:
            limits.offwidth, limits.offheight = before

    def look(self, data: Any, camera: str | int, hidden: tuple[int, ...]) -> None:
        """Take the state of the simulation."""
        number = (
            mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_CAMERA, camera) if isinstance(camera, str) else camera
        )
        if not 0 <= number < self.model.ncam:
            raise ValueError(f"the model has no camera {camera!r}")
        view = mujoco.MjvCamera()
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, number
        option = mujoco.MjvOption()
        for group in hidden:
            option.geomgroup[group] = 0
        groups, model = self.model.geom_group, self.model
        before = groups.copy()
        # Shadows and reflections show things beside the picture; `_out_of_sight` knows plain perspective only.
        mirrors = model.vis.quality.shadowsize > 0 or model.mat_reflectance.any()
        flat = getattr(model, "cam_orthographic", getattr(model, "cam_projection", np.zeros(model.ncam)))[number]
        if not mirrors and not flat and not model.cam_sensorsize[number].any():
            groups[self._out_of_sight(data, number)] = UNSEEN
        try:
            mujoco.mjv_updateScene(self.model, data, option, None, view, mujoco.mjtCatBit.mjCAT_ALL, self._scene)
        finally:
            groups[:] = before

    def _out_of_sight(self, data: Any, camera: int) -> np.ndarray:
        """Geoms behind the camera, beside the picture, or smaller than half a pixel: the driver would find out late."""
        reach = self.model.geom_rbound
        away = (data.geom_xpos - data.cam_xpos[camera]) @ data.cam_xmat[camera].reshape(3, 3)  # right, up, backwards
        slope = tan(radians(self.model.cam_fovy[camera]) / 2)
        ahead, beside = -away[:, 2], np.maximum(np.abs(away[:, 0]), np.abs(away[:, 1]))
        outside = (beside - slope * ahead) > reach * (1 + slope * slope) ** 0.5
        tiny = reach * self._frame.height < slope * ahead * SMALLEST
        return (reach > 0) & ((ahead < -reach) | outside | tiny)  # planes have no reach

    def colours(self) -> np.ndarray:
        """The picture."""
        pixels = np.empty((self._frame.height, self._frame.width, 3), dtype=np.uint8)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._uploaded)
        mujoco.mjr_render(self._frame, self._scene, self._uploaded)
        mujoco.mjr_readPixels(pixels, None, self._frame, self._uploaded)
        return np.ascontiguousarray(pixels[::-1])  # the driver's first row is the lowest

    def geoms(self) -> np.ndarray:
        """The id of the geom in every pixel."""
        flags = self._scene.flags
        before = flags.copy()
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = True
        try:
            red, green, blue = np.moveaxis(self.colours().astype(np.int32), 2, 0)
        finally:
            flags[:] = before
        ids = np.full(self._scene.ngeom + 1, -1, dtype=np.int32)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                ids[geom.segid + 1] = geom.objid
        return ids[red + (green << 8) + (blue << 16)]

    def close(self) -> None:
        """Give the driver its memory back."""
        self._uploaded.free()


def _open_context() -> Any:
    """A context of the driver that `MUJOCO_GL` names, current in this thread. MuJoCo's own choice is made when it is
    first imported, perhaps by other code and before the variable was set."""
    driver = os.environ.get("MUJOCO_GL", "cgl" if sys.platform == "darwin" else "glfw").lower()
    if driver in ("disable", "disabled", "off", "false", "0"):
        raise ConfigError(
            "pictures need an OpenGL driver, and none was found (Debian: apt-get install -y libegl1 libgl1-mesa-dri). "
            "Or set MUJOCO_GL (egl, osmesa or glfw). Kinds with text only work without."
        )
    # Mesa's own threads are lost in a fork, and a child that draws would wait for them forever. Without them a picture
    # costs as much processor time.
    os.environ.setdefault("LP_NUM_THREADS", "0")
    try:
        context = import_module(_CONTEXTS.get(driver, "mujoco.glfw")).GLContext(64, 64)
        context.make_current()
    except Exception as error:  # each driver has errors of its own
        raise ConfigError(
            f"the OpenGL driver {driver} cannot draw ({error}). "
            "Set MUJOCO_GL to another one (egl, osmesa or glfw), or use a kind with text only."
        ) from error
    return context


_lock = threading.Lock()
_by_process: dict[int, _Painter] = {}


on_forget.append(forget)
os.register_at_fork(after_in_child=_by_process.clear)

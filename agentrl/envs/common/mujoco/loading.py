"""`import mujoco` with a driver that draws without a display, and one sentence where something is missing.

MuJoCo reads `MUJOCO_GL` once, when it is imported; its own default on Linux needs a display. Everything here imports it
through `load`.
"""

from __future__ import annotations

import ctypes.util
import importlib
import os
import sys
from functools import cache
from types import ModuleType

from agentrl.core.errors import ConfigError, MissingExtra

DRIVERS = {"egl": "EGL", "osmesa": "OSMesa"}  # value of MUJOCO_GL -> shared library, in order of preference


@cache
def load() -> ModuleType:
    """MuJoCo, ready to draw where a driver exists; `MissingExtra` if it is not installed, `ConfigError` if the driver
    that `MUJOCO_GL` names is not."""
    early = "MUJOCO_GL" not in os.environ and "mujoco" in sys.modules
    if "MUJOCO_GL" not in os.environ and sys.platform.startswith("linux"):
        os.environ["MUJOCO_GL"] = next(
            (name for name, library in DRIVERS.items() if ctypes.util.find_library(library)), "disable"
        )
    try:
        import mujoco
        from mujoco import gl_context
    except ModuleNotFoundError as error:
        raise MissingExtra("mujoco", "robots") from error
    except Exception as error:  # PyOpenGL reports a missing library in many ways
        raise ConfigError(
            f"the OpenGL driver {os.environ.get('MUJOCO_GL')} cannot be loaded ({error}). Set MUJOCO_GL to another one "
            "(egl, osmesa or glfw), or to disable for kinds with text only."
        ) from error
    if early:  # somebody imported it before the driver was chosen
        importlib.reload(gl_context)
    return mujoco

"""`import mujoco` with a driver that draws without a display, and one sentence where something is missing.

MuJoCo reads `MUJOCO_GL` once, when it is imported; its own default on Linux needs a display. Everything here imports it
through `load`.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from functools import cache
from types import ModuleType

from agentrl.core.errors import ConfigError, MissingExtra

# Value of MUJOCO_GL -> shared library, in order of preference. EGL's first device is a GPU where its driver is
# installed; Mesa's draws by software.
DRIVERS = {"egl": "libEGL.so.1", "osmesa": "libOSMesa.so.8"}


@cache
def load() -> ModuleType:
    """MuJoCo, ready to draw where a driver exists; `MissingExtra` if it is not installed, `ConfigError` if the driver
    that `MUJOCO_GL` names is not."""
    early = "MUJOCO_GL" not in os.environ and "mujoco" in sys.modules
    if "MUJOCO_GL" not in os.environ and sys.platform.startswith("linux"):
        os.environ["MUJOCO_GL"] = next((name for name, library in DRIVERS.items() if _draws(library)), "disable")
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


def _draws(name: str) -> bool:
    """Is the library there, and has it a device to draw with if it is EGL's? (`find_library` knows nothing of
    LD_LIBRARY_PATH, where containers have the driver of a GPU.)"""
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return False
    if not hasattr(library, "eglGetProcAddress"):
        return True
    library.eglGetProcAddress.restype = ctypes.c_void_p
    query, count = library.eglGetProcAddress(b"eglQueryDevicesEXT"), ctypes.c_int(0)
    if query:
        ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(query)(
            0, None, ctypes.byref(count)
        )
    return count.value > 0

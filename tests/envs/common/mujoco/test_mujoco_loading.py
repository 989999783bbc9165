"""A driver is chosen even where somebody imported MuJoCo first, and a user's own choice stays."""

from __future__ import annotations

import os
import subprocess
import sys

DRAW = """
import mujoco
from agentrl.envs.common.mujoco import pictures
spec = mujoco.MjSpec()
spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(1, 0, 0), rgba=(1, 0, 0, 1))
spec.worldbody.add_camera(name="eye", pos=(0, 0, 3))
model = spec.compile()
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
print(pictures.draw(model, data, "eye", 32)[16, 16].tolist())
"""


def run(**driver: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    return subprocess.run([sys.executable, "-c", DRAW], env=clean | driver, capture_output=True, text=True, timeout=120)


def test_pictures_work_after_an_early_import() -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    red, green, blue = eval(done.stdout)
    assert red > 50 + max(green, blue)


def test_a_disabled_driver_says_what_to_install() -> None:
    done = run(MUJOCO_GL="disable")
    assert done.returncode and "none was found" in done.stderr

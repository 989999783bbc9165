"""Other light, another camera and other surfaces in a MuJoCo scene. What is simulated stays as it is, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from typing import Any

import numpy as np

from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.common.perturb import Perturbation

mujoco = load()
Colour = tuple[float, float, float]  # red, green and blue, from 0 to 1

# By level, from 1.
DARKER, BRIGHTER = (0.75, 0.55, 0.38), (1.08, 1.16, 1.25)  # of all lights
TINT = (0.05, 0.11, 0.18)  # more of red and less of blue, or the other way round
LIGHTS_TURN = (25.0, 55.0, 100.0)  # degrees about the vertical
ASIDE, UPWARDS, BACK = (4.0, 8.0, 14.0), (2.0, 4.0, 7.0), (1.02, 1.05, 1.09)  # degrees, degrees, share of the distance
PIXELS = 256  # sides of a texture
FAINT = (0.25, 0.5, 1.0)  # how far colours go from those of the room to drawn ones


def change_model(model: Any, change: Perturbation, task: str, camera: str, middle: tuple[float, float, float]) -> None:
    """Change lights, and move a camera about the middle of what it looks at, in a model that was not drawn yet."""
    if level := change.level("light"):
        change_light(model, level, change.random("light", task))
    if level := change.level("camera"):
        change_camera(model, camera, np.array(middle), level, change.random("camera", task))


def change_light(model: Any, level: int, random: np.random.Generator) -> None:
    """Darker or brighter, warmer or colder, and from another side."""
    dark, warm, side = random.random(3) < (0.6, 0.5, 0.5)
    tint = TINT[level - 1] * (1.0 if warm else -1.0)
    colour = (DARKER if dark else BRIGHTER)[level - 1] * np.array([1 + tint, 1.0, 1 - tint])
    turn = _about((0.0, 0.0, 1.0), LIGHTS_TURN[level - 1] * (1.0 if side else -1.0))
    for light in range(model.nlight):
        model.light_diffuse[light] *= colour
        model.light_pos[light], model.light_dir[light] = turn @ model.light_pos[light], turn @ model.light_dir[light]
    head = model.vis.headlight
    head.ambient[:], head.diffuse[:] = head.ambient * colour, head.diffuse * colour


def change_camera(model: Any, camera: str, middle: np.ndarray, level: int, random: np.random.Generator) -> None:
    """Go around the middle to one side, up or down and a little back, and look at it as before."""
    left, down = random.random(2) < 0.5
    number, axes = model.camera(camera).id, np.empty(9)
    mujoco.mju_quat2Mat(axes, model.cam_quat[number])
    right = axes.reshape(3, 3)[:, 0]
    turn = _about((0.0, 0.0, 1.0), ASIDE[level - 1] * (1.0 if left else -1.0)) @ _about(
        right, UPWARDS[level - 1] * (1.0 if down else -1.0)
    )
    model.cam_pos[number] = middle + BACK[level - 1] * turn @ (model.cam_pos[number] - middle)
    mujoco.mju_mat2Quat(model.cam_quat[number], (turn @ axes.reshape(3, 3)).flatten())


def change_surfaces(spec: Any, surfaces: Sequence[tuple[Any, Colour]], change: Perturbation, task: str) -> None:
    """Give some geoms, each with the colour that it has now, other patterns and colours, before a scene is compiled."""
    level = change.level("textures")
    random = change.random("textures", task)
    for number, (geom, colour) in enumerate(surfaces if level else ()):
        name = f"perturbed_{number}"
        texture = spec.add_texture(
            name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=PIXELS, height=PIXELS, nchannel=3
        )
        texture.data = pattern(colour, level, random).tobytes()
        names = [""] * mujoco.mjtTextureRole.mjNTEXROLE
        names[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        spec.add_material(name=name, textures=names, specular=0.1, shininess=0.1, texrepeat=(2.0, 2.0))
        geom.material, geom.rgba = name, (1.0, 1.0, 1.0, 1.0)


def pattern(colour: Colour, level: int, random: np.random.Generator) -> np.ndarray:
    """Boards, squares, stripes, clouds or dots in two tones, uint8 [PIXELS, PIXELS, 3]: at level 1 near a colour,
    at level 3 whatever was drawn."""
    # Muted, so that no surface looks like a thing on it.
    first, second = random.uniform(0.3, 0.8, (2, 1)) + random.uniform(-0.12, 0.12, (2, 3))
    kind, count, phase = int(random.integers(5)), int(random.integers(3, 9)), random.uniform(0, 2 * np.pi, 8)
    y, x = np.mgrid[0:PIXELS, 0:PIXELS] / PIXELS
    waves = [np.sin(2 * np.pi * ((k + 1) * x + (k % 3) * y) + phase[k]) / (k + 1) for k in range(6)]
    tone = (
        0.5 + 0.4 * np.sin(12.9 * np.floor(y * count)) + 0.05 * waves[3],
        (np.floor(x * count) + np.floor(y * count)) % 2,
        (np.floor((x + y) * count) % 2),
        0.5 + 0.3 * sum(waves),
        np.hypot((x * count) % 1 - 0.5, (y * count) % 1 - 0.5) < 0.3,
    )[kind]
    share = FAINT[level - 1]
    drawn = first + np.clip(tone, 0, 1)[..., None] * (second - first)
    return ((np.array(colour) + share * (drawn - colour)) * 255).astype(np.uint8)


def _about(axis: Any, degrees: float) -> np.ndarray:
    """The rotation about an axis of length 1."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + sin(radians(degrees)) * cross + (1 - cos(radians(degrees))) * cross @ cross

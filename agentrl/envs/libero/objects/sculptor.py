"""Adds shapes to a body of a MuJoCo scene. What is seen and what is touched may differ: fine shapes are drawn, simple
ones collide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import cos, hypot, pi, sin, tan
from typing import Any, NamedTuple

import numpy as np

from agentrl.envs.common.mujoco.loading import load
from agentrl.envs.libero.objects.model import Joint, Place, Vector

mujoco = load()

SLICES = 20

Outline = Sequence[tuple[float, float]]  # radius and height, from the axis below, outside up, inside down to the axis


class Mesh(NamedTuple):
    """Vertices [n, 3], faces [m, 3] and texture coordinates [n, 2]."""

    vertices: np.ndarray
    faces: np.ndarray
    coordinates: np.ndarray

    def moved(self, way: tuple[float, float, float]) -> Mesh:
        """The same shape elsewhere."""
        return self._replace(vertices=self.vertices + np.array(way))


def turned(outline: Outline, slices: int = SLICES, start: float = 0.0) -> Mesh:
    """An outline turned about the z axis. The texture goes once around, and once along the outline."""
    radius, height = np.array(outline).T
    angles = start + np.linspace(0, 2 * np.pi, slices + 1)
    rings = np.stack(
        [np.outer(radius, np.cos(angles)), np.outer(radius, np.sin(angles)), np.outer(height, np.ones_like(angles))],
        axis=-1,
    )
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(radius), np.diff(height)))])
    across, up = np.meshgrid(np.linspace(0, 1, slices + 1), along / max(along[-1], 1e-9))
    columns = slices + 1
    faces = []
    for row in range(len(outline) - 1):
        for column in range(columns - 1):
            a, b = row * columns + column, row * columns + column + 1
            c, d = b + columns, a + columns
            if radius[row] > 0:
                faces.append((a, b, c) if radius[row + 1] > 0 else (a, b, d))
            if radius[row + 1] > 0:
                faces.append((a, c, d))
    return Mesh(rings.reshape(-1, 3), np.array(faces), np.stack([across, 1 - up], -1).reshape(-1, 2))


def prism(outline: Sequence[tuple[float, float]], half: float) -> Mesh:
    """A convex outline in x and z, counterclockwise, from y = -half to y = half."""
    flat = np.array(outline)
    count = len(flat)
    front = np.column_stack([flat[:, 0], np.full(count, -half), flat[:, 1]])
    back = np.column_stack([flat[:, 0], np.full(count, half), flat[:, 1]])
    faces = [(0, i, i + 1) for i in range(1, count - 1)]
    faces += [(count, count + i + 1, count + i) for i in range(1, count - 1)]
    for i in range(count):
        j = (i + 1) % count
        faces += [(i, count + j, j), (i, count + i, count + j)]
    vertices = np.concatenate([front, back])
    return Mesh(vertices, np.array(faces), np.zeros((len(vertices), 2)))


class Label(NamedTuple):
    """What is printed on a package."""

    words: tuple[str, ...]  # lines
    paper: str  # colours such as "#ffcc00"
    ink: str
    band: str = ""  # colour of stripes at the upper and lower edge; empty: none
    spot: str = ""  # colour of a round spot behind the words; empty: none
    repeat: int = 1  # times around a can or bottle


@cache
def picture(label: Label, width: int = 128, height: int = 128) -> np.ndarray:
    """uint8 [height, width, 3]."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), label.paper)
    pen = ImageDraw.Draw(image)
    if label.band:
        pen.rectangle((0, 0, width, height // 8), fill=label.band)
        pen.rectangle((0, height - height // 8, width, height), fill=label.band)
    part = width // label.repeat
    for number in range(label.repeat):
        left = number * part
        if label.spot:
            pen.ellipse((left + part * 0.08, height * 0.2, left + part * 0.92, height * 0.8), fill=label.spot)
        _write(pen, label, left, part, height)
    return np.asarray(image).copy()


def _write(pen: Any, label: Label, left: int, width: int, height: int) -> None:
    if not label.words:
        return
    row = height * (0.56 if label.band or label.spot else 0.8) / len(label.words)
    size = row
    font = _font(size)
    while size > 5 and max(font.getlength(words) for words in label.words) > width * 0.88:
        size -= 1
        font = _font(size)
    top = height / 2 - row * (len(label.words) - 1) / 2
    for number, words in enumerate(label.words):
        place = (left + width / 2, top + number * row)
        pen.text(place, words, fill=label.ink, font=font, anchor="mm", stroke_width=1 if size > 14 else 0)


def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


BOX, CYLINDER, SPHERE, CAPSULE, MESH = (
    getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("BOX", "CYLINDER", "SPHERE", "CAPSULE", "MESH")
)


# ---------------------------------------------------------------------- building

SEEN, GLOWING, TOUCHED, REGION = 0, 1, 3, 5  # groups: always drawn, drawn when something is on, never drawn
LIFT = 0.0002  # metres by which what stands on a surface is above it
PER_METRE = 1600  # pixels of a label


def rotation(*columns: Vector) -> np.ndarray:
    """The quaternion of a frame whose axes are these."""
    found = np.empty(4)
    mujoco.mju_mat2Quat(found, np.array(columns, dtype=float).T.flatten())
    return found


def turned_about_z(angle: float) -> np.ndarray:
    """A quaternion."""
    return np.array([cos(angle / 2), 0.0, 0.0, sin(angle / 2)])


class Sculptor:
    """Works on one body. `name` is the thing's name in the task, `kind` its type: equal types share meshes."""

    def __init__(self, spec: Any, body: Any, name: str, kind: str) -> None:
        self.spec, self.body, self.name, self.kind = spec, body, name, kind

    # ---------------------------------------------------------------- shapes

    def box(
        self,
        middle: Vector,
        half: Vector,
        colour: str = "",
        *,
        quat: Any = None,
        solid: bool = True,
        material: str = "",
    ) -> None:
        """A box; without a colour it is touched and not seen, without `solid` seen and not touched."""
        self._geom(BOX, half, colour, solid, material, pos=middle, **({} if quat is None else {"quat": quat}))

    def cylinder(
        self, start: Vector, end: Vector, radius: float, colour: str = "", *, solid: bool = True, kind: Any = CYLINDER
    ) -> None:
        """A cylinder, or with `kind` a capsule, from one point to another."""
        self._geom(kind, (radius, 0.0, 0.0), colour, solid, "", fromto=(*start, *end))

    def glow(self, middle: Vector, radius: float, colour: str) -> None:
        """A disc that is drawn only while the thing is on."""
        low = (middle[0], middle[1], middle[2] - 0.0005)
        self._geom(CYLINDER, (radius, 0.0, 0.0), colour, False, "", group=GLOWING, fromto=(*low, *middle))

    def mesh(
        self, part: str, mesh: Mesh, colour: str, label: Label | None = None, size: tuple[int, int] = (256, 64)
    ) -> None:
        """A shape to be seen only."""
        name = f"{self.kind} {part}"
        if self.spec.mesh(name) is None:
            made = self.spec.add_mesh(name=name, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
            made.uservert, made.userface = mesh.vertices.flatten(), mesh.faces.flatten()
            made.usertexcoord = mesh.coordinates.flatten()
        material = "" if label is None else self._material(label, size)
        self._geom(MESH, (0.0, 0.0, 0.0), colour, False, material, meshname=name)

    def label(self, middle: Vector, right: Vector, up: Vector, half: tuple[float, float], label: Label) -> None:
        """A printed rectangle; `right` and `up` are those of somebody who reads it."""
        size = (max(16, int(half[0] * PER_METRE)), max(16, int(half[1] * PER_METRE)))
        quat = rotation(right, up, tuple(np.cross(right, up)))  # pyright: ignore[reportArgumentType]
        self._geom(BOX, (*half, 0.0003), "#ffffff", False, self._material(label, size), pos=middle, quat=quat)

    # ---------------------------------------------------------------- shapes to be touched

    def ring(
        self, low: tuple[float, float], high: tuple[float, float], thickness: float, count: int = 12, start: float = 0.0
    ) -> None:
        """The wall of something round, of `count` boards: outer radius and height below and above."""
        slope = hypot(high[0] - low[0], high[1] - low[1])
        along = ((high[0] - low[0]) / slope, (high[1] - low[1]) / slope)
        radius, height = (
            (low[0] + high[0]) / 2 - along[1] * thickness / 2,
            (low[1] + high[1]) / 2 + along[0] * thickness / 2,
        )
        half = (thickness / 2, max(low[0], high[0]) * tan(pi / count), slope / 2)
        for number in range(count):
            angle = start + 2 * pi * number / count
            x, y = cos(angle), sin(angle)
            out = (x * along[1], y * along[1], -along[0])
            quat = rotation(out, (-y, x, 0.0), (x * along[0], y * along[0], along[1]))
            self.box((radius * x, radius * y, height), half, quat=quat)

    def foot(self, radius: float, bottom: float, height: float = 0.004) -> None:
        """What something round stands on: two crossed boards, since a flat disc rests on one point only."""
        half = radius * 0.7
        for angle in (0.0, pi / 4):
            self.box((0.0, 0.0, bottom + height / 2), (half, half, height / 2), quat=turned_about_z(angle))

    # ---------------------------------------------------------------- parts

    def place(self, name: str, place: Place) -> None:
        """A region, as a site."""
        self.body.add_site(name=f"{self.name}_{name}", type=BOX, pos=place.middle, size=place.half, group=REGION)

    def part(
        self, name: str, joint: Joint, pos: Vector, axis: Vector, mass: float, half: Vector, middle: Vector
    ) -> Sculptor:
        """A body that moves; its origin is on the hinge, or where it is when shut."""
        body = self.body.add_body(name=f"{self.name}_{name}", pos=pos)
        kind = mujoco.mjtJoint.mjJNT_SLIDE if joint.kind == "slide" else mujoco.mjtJoint.mjJNT_HINGE
        damping, friction = (12.0, 3.0) if joint.kind == "slide" else (0.06, 0.03)
        body.add_joint(
            name=f"{self.name}_{name}", type=kind, axis=axis, range=joint.limits, limited=True, damping=damping,
            frictionloss=friction, armature=0.01, solref_limit=(0.01, 1.0),
        )  # fmt: skip
        weigh(body, mass, half, middle)
        self.spec.add_exclude(bodyname1=self.body.name, bodyname2=body.name)
        return Sculptor(self.spec, body, self.name, self.kind)

    # ---------------------------------------------------------------- inner

    def _geom(
        self, kind: Any, size: Vector, colour: str, solid: bool, material: str, group: int = SEEN, **where: Any
    ) -> None:
        touch = {} if solid else {"contype": 0, "conaffinity": 0}
        self.body.add_geom(
            type=kind, size=size, rgba=rgba(colour), material=material, mass=0.0,
            group=group if colour else TOUCHED, **touch, **where,
        )  # fmt: skip

    def _material(self, label: Label, size: tuple[int, int]) -> str:
        name = f"{self.kind} {' '.join(label.words)} {label.paper} {size[0]} x {size[1]}"
        if self.spec.material(name) is None:
            add_picture(self.spec, name, picture(label, *size))
        return name


def add_picture(spec: Any, name: str, pixels: np.ndarray, repeat: tuple[float, float] = (1.0, 1.0)) -> None:
    """A material that shows a picture."""
    texture = spec.add_texture(
        name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=pixels.shape[1], height=pixels.shape[0], nchannel=3
    )
    texture.data = pixels.tobytes()
    names = [""] * mujoco.mjtTextureRole.mjNTEXROLE
    names[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    spec.add_material(name=name, textures=names, specular=0.1, shininess=0.1, reflectance=0, texrepeat=repeat)


def weigh(body: Any, mass: float, half: Vector, middle: Vector = (0.0, 0.0, 0.0)) -> None:
    """Mass and inertia of a box of this size; thin walls would make small and lopsided ones."""
    x, y, z = (2 * side for side in half)
    body.mass, body.ipos, body.explicitinertial = mass, middle, True
    body.inertia = [mass / 12 * (y * y + z * z), mass / 12 * (x * x + z * z), mass / 12 * (x * x + y * y)]


def rgba(colour: str) -> tuple[float, float, float, float]:
    """`#rrggbb` as MuJoCo wants it; grey for nothing."""
    text = colour.removeprefix("#") or "808080"
    red, green, blue = (int(text[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue, 1.0

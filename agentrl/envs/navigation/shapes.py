"""Shapes of things: boxes, cylinders and ellipsoids, in the frame of the thing.

The frame: x to the right, y to the back (the front faces -y), z up, the origin in the middle of the footprint on the
floor. Metres. Colours are 0xRRGGBB; a texture is the name of one of `scene.PATTERNS`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Part:
    """One primitive body."""

    shape: str  # box, cylinder, ellipsoid
    centre: Vector
    half: Vector  # half of its sides; a cylinder runs along z before it is turned
    colour: int
    texture: str | None = None
    turned: Vector = (0.0, 0.0, 0.0)  # degrees about x, then y, then z
    opacity: float = 1.0


def box(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], colour: int, texture: str = "") -> Part:
    """A box between these limits along the axes."""
    centre = (x[0] + x[1]) / 2, (y[0] + y[1]) / 2, (z[0] + z[1]) / 2
    half = abs(x[1] - x[0]) / 2, abs(y[1] - y[0]) / 2, abs(z[1] - z[0]) / 2
    return Part("box", centre, half, colour, texture or None)


def slab(width: float, depth: float, z: tuple[float, float], colour: int, texture: str = "") -> Part:
    """A box around the middle."""
    return box((-width / 2, width / 2), (-depth / 2, depth / 2), z, colour, texture)


def rod(x: float, y: float, z: tuple[float, float], radius: float, colour: int, texture: str = "") -> Part:
    """An upright cylinder."""
    return Part("cylinder", (x, y, (z[0] + z[1]) / 2), (radius, radius, (z[1] - z[0]) / 2), colour, texture or None)


def rail(x: tuple[float, float], y: float, z: float, radius: float, colour: int) -> Part:
    """A cylinder that lies from left to right."""
    half = (x[1] - x[0]) / 2
    return Part("cylinder", ((x[0] + x[1]) / 2, y, z), (radius, radius, half), colour, turned=(0, 90, 0))


def disc(x: float, y: tuple[float, float], z: float, radius: float, colour: int) -> Part:
    """A cylinder that lies from front to back: seen from the front it is round."""
    half = (y[1] - y[0]) / 2
    return Part("cylinder", (x, (y[0] + y[1]) / 2, z), (radius, radius, half), colour, turned=(90, 0, 0))


def ball(x: float, y: float, z: float, radius: float, colour: int) -> Part:
    """A sphere."""
    return Part("ellipsoid", (x, y, z), (radius, radius, radius), colour)


def blob(centre: Vector, half: Vector, colour: int, texture: str = "") -> Part:
    """An ellipsoid."""
    return Part("ellipsoid", centre, half, colour, texture or None)


def tilted(part: Part, *, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Part:
    """The part turned by these degrees about its own middle."""
    return replace(part, turned=(part.turned[0] + x, part.turned[1] + y, part.turned[2] + z))


def glassy(part: Part, opacity: float = 0.45) -> Part:
    """The part, see-through."""
    return replace(part, opacity=opacity)


def legs(
    width: float, depth: float, height: float, colour: int, thick: float = 0.05, inset: float = 0.03
) -> list[Part]:
    """Four square legs below a board."""
    x, y, half = width / 2 - inset - thick / 2, depth / 2 - inset - thick / 2, thick / 2
    corners = ((-x, -y), (x, -y), (-x, y), (x, y))
    return [box((a - half, a + half), (b - half, b + half), (0, height), colour) for a, b in corners]


def drawers(
    width: float, front: float, z: tuple[float, float], rows: int, colour: int, knob: int, columns: int = 1
) -> list[Part]:
    """Drawer or cupboard fronts with knobs, at y = `front`."""
    parts = []
    high, wide = (z[1] - z[0]) / rows, width / columns
    for row in range(rows):
        for column in range(columns):
            left, low = -width / 2 + column * wide, z[0] + row * high
            x = left + 0.015, left + wide - 0.015
            parts.append(box(x, (front - 0.012, front), (low + 0.012, low + high - 0.012), colour))
            middle = (x[0] + x[1]) / 2
            parts.append(
                box(
                    (middle - 0.05, middle + 0.05),
                    (front - 0.03, front - 0.012),
                    (low + high * 0.72, low + high * 0.72 + 0.02),
                    knob,
                )
            )
    return parts

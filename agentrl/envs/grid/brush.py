"""A small vector brush: shapes in coordinates from 0 to 1, drawn large and then averaged down to smooth pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

Colour = tuple[int, int, int] | tuple[int, int, int, int]  # the fourth number is the opacity, 0 to 255
Point = tuple[float, float]


class Brush:
    """Draws on one square tile. (0, 0) is the top left corner, (1, 1) the bottom right one."""

    def __init__(self, pixels: int, background: Colour) -> None:
        # Eight samples a pixel and axis make clean edges; huge tiles have pixels enough of their own.
        self.samples = 8 if pixels <= 256 else 4 if pixels <= 512 else 2
        self.pixels = pixels
        self._image = Image.new("RGB", (pixels * self.samples, pixels * self.samples), background)
        self._draw = ImageDraw.Draw(self._image, "RGBA")
        self._x = self._y = 0.0
        self._scale = 1.0

    def inside(self, x: float, y: float, scale: float) -> Brush:
        """The same canvas with (0, 0) moved to (x, y) and everything `scale` as large."""
        part = object.__new__(Brush)
        part.__dict__.update(self.__dict__)
        part._x, part._y = self._x + x * self._scale, self._y + y * self._scale
        part._scale = self._scale * scale
        return part

    def hair(self, width: float) -> float:
        """`width`, but never thinner than one final pixel: thinner lines fade away on small tiles."""
        return max(width, 1 / (self.pixels * self._scale))

    def ellipse(self, x: float, y: float, across: float, down: float, colour: Colour) -> None:
        """A filled ellipse around (x, y) with these radii."""
        self._draw.ellipse([*self._at(x - across, y - down), *self._at(x + across, y + down)], fill=colour)

    def dome(self, x: float, y: float, across: float, up: float, colour: Colour) -> None:
        """The upper half of an ellipse around (x, y)."""
        self._draw.pieslice([*self._at(x - across, y - up), *self._at(x + across, y + up)], 180, 360, fill=colour)

    def ring(self, x: float, y: float, across: float, down: float, width: float, colour: Colour) -> None:
        """The outline of an ellipse, `width` thick, drawn inwards."""
        corners = [*self._at(x - across, y - down), *self._at(x + across, y + down)]
        self._draw.ellipse(corners, outline=colour, width=self._length(width))

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, radius: float = 0.0) -> None:
        """A filled rectangle with rounded corners."""
        (x0, y0), (x1, y1) = self._at(left, top), self._at(right, bottom)
        # Pillow counts the last sample in; neighbours must not overlap by one.
        corners = [x0, y0, max(x1 - 1, x0), max(y1 - 1, y0)]
        self._draw.rounded_rectangle(corners, radius=radius * self._unit, fill=colour)

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        """A filled polygon."""
        self._draw.polygon([self._at(*point) for point in points], fill=colour)

    def line(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """A line through the points with round ends (give opaque colours where it bends)."""
        placed = [self._at(*point) for point in points]
        self._draw.line(placed, fill=colour, width=self._length(width), joint="curve")
        if len(colour) == 3:
            for x, y in points:
                self.ellipse(x, y, width / 2, width / 2, colour)

    def arc(self, x: float, y: float, radius: float, start: float, end: float, width: float, colour: Colour) -> None:
        """Part of a circle's outline; angles in degrees, clockwise from the right."""
        corners = [*self._at(x - radius, y - radius), *self._at(x + radius, y + radius)]
        self._draw.arc(corners, start, end, fill=colour, width=self._length(width))

    def star(self, x: float, y: float, radius: float, colour: Colour, points: int = 4, waist: float = 0.35) -> None:
        """A star with one point straight up."""
        corners = []
        for i in range(2 * points):
            reach, angle = radius * (waist if i % 2 else 1.0), math.pi * (i / points - 0.5)
            corners.append((x + reach * math.cos(angle), y + reach * math.sin(angle)))
        self.polygon(corners, colour)

    def glow(self, x: float, y: float, across: float, down: float, colour: tuple[int, int, int], strength: int) -> None:
        """A soft spot, at its centre about `strength` of 255 opaque."""
        layers = 10
        for i in range(layers, 0, -1):
            self.ellipse(x, y, across * i / layers, down * i / layers, (*colour, max(1, strength // layers)))

    def pixels_of(self) -> np.ndarray:
        """The tile as uint8 [pixels, pixels, 3]."""
        return np.array(self._image.reduce(self.samples), np.uint8)

    @property
    def _unit(self) -> float:
        return self.pixels * self.samples * self._scale

    def _length(self, length: float) -> int:
        return max(1, round(length * self._unit))

    def _at(self, x: float, y: float) -> Point:
        whole = self.pixels * self.samples
        return (self._x + x * self._scale) * whole, (self._y + y * self._scale) * whole

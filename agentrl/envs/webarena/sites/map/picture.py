"""Draws the map as an SVG picture: water, parks, streets by class, names, a route, markers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from agentrl.envs.webarena.sites.map.atlas import Atlas
from agentrl.envs.webarena.sites.map.geo import CENTRE, Point, to_degrees, to_metres

WIDTH, HEIGHT = 930, 630
ZOOMS = range(8, 19)
AREA_COLOURS = {"town": "#e9e5de", "park": "#c8e6b4", "forest": "#b9d8a4", "water": "#a9d3de"}
LAND = "#f2efe6"
# Class -> (colour, edge colour, width in pixels at zoom 16, first zoom at which it is drawn), small streets first.
STREETS = {
    "path": ("#e08a7a", "", 1.6, 14),
    "cycleway": ("#4f6fd0", "", 1.8, 14),
    "pedestrian": ("#dcd8ea", "#9a94ad", 6.0, 14),
    "residential": ("#ffffff", "#c2bbb0", 6.5, 12),
    "secondary": ("#f7fabf", "#b9bb7f", 8.5, 11),
    "primary": ("#fcd6a4", "#c9975a", 9.5, 8),
    "motorway": ("#e892a2", "#c24e6e", 10.5, 8),
}
ICON_COLOURS = {
    "amenity": "#b5642c", "shop": "#a33aa8", "tourism": "#0b7a8c", "leisure": "#3b7d3b", "railway": "#3a4a9a",
    "highway": "#3a6fb0", "historic": "#6b4f3a", "aeroway": "#5b4fa0",
}  # fmt: skip


@dataclass(frozen=True)
class MapView:
    """A part of the map: its middle and its zoom level, each twice as large as the one before."""

    lat: float
    lon: float
    zoom: int

    @property
    def scale(self) -> float:
        """Metres per pixel."""
        return 156_543.03 * math.cos(math.radians(CENTRE[0])) / 2**self.zoom

    @property
    def middle(self) -> Point:
        """In metres."""
        return to_metres(self.lat, self.lon)

    def moved(self, right: float, down: float) -> MapView:
        """The view beside this one, by parts of its size."""
        x, y = self.middle
        lat, lon = to_degrees((x + right * WIDTH * self.scale, y - down * HEIGHT * self.scale))
        return MapView(round(max(-85.0, min(85.0, lat)), 5), round(max(-180.0, min(180.0, lon)), 5), self.zoom)

    def zoomed(self, steps: int) -> MapView:
        """The same place, nearer or from farther away."""
        return MapView(self.lat, self.lon, max(ZOOMS[0], min(ZOOMS[-1], self.zoom + steps)))


def fitting(points: Iterable[Point], closest: int = 16) -> MapView:
    """A view that shows all these points (latitude, longitude)."""
    spots = list(points)
    lats, lons = [lat for lat, _ in spots], [lon for _, lon in spots]
    lat, lon = round((min(lats) + max(lats)) / 2, 5), round((min(lons) + max(lons)) / 2, 5)
    (west, south), (east, north) = to_metres(min(lats), min(lons)), to_metres(max(lats), max(lons))
    for zoom in range(closest, ZOOMS[0], -1):
        view = MapView(lat, lon, zoom)
        if east - west < 0.85 * WIDTH * view.scale and north - south < 0.85 * HEIGHT * view.scale:
            return view
    return MapView(lat, lon, ZOOMS[0])


@lru_cache(64)
def draw(
    atlas: Atlas, view: MapView, markers: tuple[tuple[float, float, str], ...] = (), route: tuple[Point, ...] = ()
) -> str:
    """The picture. Markers are (latitude, longitude, text of one letter or ""); the route's points are in metres."""
    canvas = _Canvas(view)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{LAND}"/>',
    ]
    for kind, outline in atlas.areas:
        if canvas.shows(outline):
            # Water has an edge of its own colour: a river stays visible from far away.
            edge = f' stroke="{AREA_COLOURS[kind]}" stroke-width="2"' if kind == "water" else ""
            parts.append(f'<path d="{canvas.path(outline)}Z" fill="{AREA_COLOURS[kind]}"{edge}/>')
    parts += _streets(canvas, atlas)
    labels = _Labels(canvas)
    _label_settlements(labels, atlas)
    _label_streets(labels, atlas)
    if view.zoom >= 16:
        parts += _places(labels, atlas)
    if len(route) > 1:
        parts.append(canvas.line(route, "#ffffff", 9, 0.8) + canvas.line(route, "#5b3fd4", 5, 0.85))
    parts += labels.parts
    parts += [_marker(canvas, lat, lon, text) for lat, lon, text in markers]
    parts += [_scale_bar(view), "</svg>"]
    return "".join(parts)


class _Canvas:
    """From metres to pixels."""

    def __init__(self, view: MapView) -> None:
        self.view = view
        self._x, self._y = view.middle
        self._scale = view.scale

    def spot(self, point: Point) -> Point:
        return (
            round(WIDTH / 2 + (point[0] - self._x) / self._scale, 1),
            round(HEIGHT / 2 - (point[1] - self._y) / self._scale, 1),
        )

    def shows(self, points: Sequence[Point], margin: float = 40.0) -> bool:
        """May any of this be inside of the picture?"""
        spots = [self.spot(point) for point in points]
        return (
            max(x for x, _ in spots) > -margin
            and min(x for x, _ in spots) < WIDTH + margin
            and max(y for _, y in spots) > -margin
            and min(y for _, y in spots) < HEIGHT + margin
        )

    def path(self, points: Iterable[Point]) -> str:
        return "M" + "L".join(f"{x:g} {y:g}" for x, y in map(self.spot, points))

    def line(self, points: Iterable[Point], colour: str, width: float, opacity: float = 1.0) -> str:
        return (
            f'<path d="{self.path(points)}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-opacity="{opacity:g}" stroke-linejoin="round" stroke-linecap="round"/>'
        )


def _streets(canvas: _Canvas, atlas: Atlas) -> list[str]:
    """Every class as one edge path and one fill path: few elements, drawn fast."""
    zoom = canvas.view.zoom
    by_class: dict[str, list[str]] = {}
    for road in atlas.graph.roads:
        if zoom >= STREETS[road.way.kind][3]:
            ends = (atlas.graph.junctions[road.start], atlas.graph.junctions[road.end])
            if canvas.shows(ends):
                by_class.setdefault(road.way.kind, []).append(canvas.path(ends))
    edges, fills = [], []
    for kind, (colour, edge, width, _) in STREETS.items():
        data = "".join(by_class.get(kind, ()))
        size = max(1.2 if edge else 1.0, width * 2 ** (0.55 * (zoom - 16)))
        style = f'fill="none" stroke-linecap="round" d="{data}"'
        dashes = "" if edge else ' stroke-dasharray="5 3"'
        if data and edge and zoom >= 13:
            edges.append(f'<path stroke="{edge}" stroke-width="{size + 1.6:.1f}" {style}/>')
        if data:
            fills.append(f'<path stroke="{colour}" stroke-width="{size:.1f}" {style}{dashes}/>')
    return edges + fills


class _Labels:
    """Texts that do not cover each other: those that come first have the better places."""

    def __init__(self, canvas: _Canvas) -> None:
        self.canvas = canvas
        self.parts: list[str] = []
        self._boxes: list[tuple[float, float, float, float]] = []

    def add(self, x: float, y: float, text: str, size: int, colour: str, angle: float = 0.0) -> bool:
        """Write a text around a point, if there is room."""
        length, turn = len(text) * size * 0.55, math.radians(angle)
        wide = length * abs(math.cos(turn)) + size * abs(math.sin(turn))
        high = length * abs(math.sin(turn)) + size * abs(math.cos(turn))
        box = (x - wide / 2, y - high / 2 - 2, x + wide / 2, y + high / 2 + 2)
        inside = box[0] > 0 and box[1] > 0 and box[2] < WIDTH and box[3] < HEIGHT
        left, top, right, bottom = box
        if not inside or any(left < x1 and x0 < right and top < y1 and y0 < bottom for x0, y0, x1, y1 in self._boxes):
            return False
        self._boxes.append(box)
        turned = f' transform="rotate({angle:.1f} {x:.1f} {y:.1f})"' if angle else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size}" text-anchor="middle" fill="{colour}" '
            f'stroke="#ffffff" stroke-width="2.5" paint-order="stroke" stroke-linejoin="round"{turned}>'
            f"{escape(text)}</text>"
        )
        return True


def _label_settlements(labels: _Labels, atlas: Atlas) -> None:
    zoom = labels.canvas.view.zoom
    for place in atlas.settlements:
        sizes = {"City": 18 * (zoom < 13), "Town": 13 * (zoom < 15), "District": 13 * (12 <= zoom <= 15)}
        if sizes[place.label]:
            x, y = labels.canvas.spot(to_metres(place.lat, place.lon))
            labels.add(x, y, place.name, sizes[place.label], "#6b5a8a" if place.label == "District" else "#222222")
    if zoom >= 13:
        for place in atlas.by_category["park"]:
            x, y = labels.canvas.spot(to_metres(place.lat, place.lon))
            labels.add(x, y, place.name, 11, "#2f6b2f")


def _label_streets(labels: _Labels, atlas: Atlas) -> None:
    """The names of streets along their longest pieces."""
    zoom = labels.canvas.view.zoom
    least = {"motorway": 10, "primary": 14, "secondary": 15}
    named: set[tuple[int, int, int]] = set()
    for road in sorted(atlas.graph.roads, key=lambda road: -road.length):
        way = road.way
        if not way.name or zoom < least.get(way.kind, 16):
            continue
        start, end = (labels.canvas.spot(atlas.graph.junctions[number]) for number in (road.start, road.end))
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        key = (way.id, int(x // 420), int(y // 420))
        if not (0 < x < WIDTH and 0 < y < HEIGHT) or key in named or math.dist(start, end) < 4.2 * len(way.name):
            continue
        angle = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
        angle = angle - 180 if angle > 90 else angle + 180 if angle < -90 else angle
        if labels.add(x, y, way.name, 10, "#4a4a4a", angle):
            named.add(key)


def _places(labels: _Labels, atlas: Atlas) -> list[str]:
    """A dot for every place, and their names where there is room."""
    dots = []
    for place in atlas.places:
        if place.category in ("house", "park"):
            continue
        x, y = labels.canvas.spot(to_metres(place.lat, place.lon))
        if -20 < x < WIDTH + 20 and -20 < y < HEIGHT + 20:
            colour = next((ICON_COLOURS[key] for key in ICON_COLOURS if key in place.tags), "#666666")
            dots.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{colour}" stroke="#ffffff"/>')
            if labels.canvas.view.zoom >= 17 and place.category != "bus_stop":
                labels.add(x, y + 11, place.name, 10, colour)
    return dots


def _marker(canvas: _Canvas, lat: float, lon: float, text: str) -> str:
    x, y = canvas.spot(to_metres(lat, lon))
    return (
        f'<path d="M{x:g} {y:g}c-4 -11 -11 -14 -11 -22a11 11 0 0 1 22 0c0 8 -7 11 -11 22Z" fill="#d03a3a" '
        f'stroke="#7a1515"/><circle cx="{x:g}" cy="{y - 22:g}" r="7" fill="#ffffff"/>'
        f'<text x="{x:g}" y="{y - 18:g}" font-size="11" text-anchor="middle" fill="#7a1515">{escape(text)}</text>'
    )


def _scale_bar(view: MapView) -> str:
    metres = next(size for size in (50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 20)
                  if size / view.scale < 160)  # fmt: skip
    pixels, text = metres / view.scale, f"{metres // 1000} km" if metres >= 1000 else f"{metres} m"
    return (
        f'<path d="M12 {HEIGHT - 20}v8h{pixels:.0f}v-8" fill="none" stroke="#444444" stroke-width="1.5"/>'
        f'<text x="16" y="{HEIGHT - 16}" font-size="10" fill="#444444">{text}</text>'
    )

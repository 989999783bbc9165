"""Coordinates: degrees for people, metres east and north of the city's centre for geometry."""

from __future__ import annotations

import math

CENTRE = (46.82, -35.41)  # latitude and longitude of the city's centre, in the middle of a real ocean
METRES_PER_DEGREE = 111_320.0
_EAST = METRES_PER_DEGREE * math.cos(math.radians(CENTRE[0]))

Point = tuple[float, float]


def to_degrees(point: Point) -> Point:
    """(metres east, metres north) -> (latitude, longitude), to about ten centimetres."""
    return round(CENTRE[0] + point[1] / METRES_PER_DEGREE, 6), round(CENTRE[1] + point[0] / _EAST, 6)


def to_metres(lat: float, lon: float) -> Point:
    """Inverse of `to_degrees`."""
    return (lon - CENTRE[1]) * _EAST, (lat - CENTRE[0]) * METRES_PER_DEGREE


def distance(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Metres between two points, as the crow flies. Flat: exact enough for a region of this size."""
    return math.hypot((lon - other_lon) * _EAST, (lat - other_lat) * METRES_PER_DEGREE)


def nearest_on_segment(point: Point, start: Point, end: Point) -> tuple[float, float]:
    """The place of the point of a segment that is nearest to `point` (0 at the start, 1 at the end), and how far away
    it is."""
    east, north = end[0] - start[0], end[1] - start[1]
    square = east * east + north * north
    part = ((point[0] - start[0]) * east + (point[1] - start[1]) * north) / square if square else 0.0
    part = min(1.0, max(0.0, part))
    return part, math.hypot(point[0] - start[0] - part * east, point[1] - start[1] - part * north)


def parse(text: str) -> Point | None:
    """ "46.82, -35.41" as latitude and longitude; None where it is nothing of the kind."""
    parts = text.replace(";", ",").replace(",", " ").split()
    if len(parts) != 2 or any(len(part) > 24 for part in parts):
        return None
    try:
        lat, lon = float(parts[0]), float(parts[1])
    except ValueError:
        return None
    return (lat, lon) if abs(lat) <= 90 and abs(lon) <= 180 else None

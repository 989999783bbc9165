"""A route in words: distance and time as the site writes them, and what to do at each turn."""

from __future__ import annotations

import math
from typing import NamedTuple

from agentrl.envs.webarena.sites.map.graph import Graph, Leg, Road, Route

COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")


class Step(NamedTuple):
    """One line of the directions."""

    text: str
    distance: str
    icon: str  # straight, left, right, end: for the looks


def written_distance(metres: float) -> str:
    """ "850m", "3.4km", "27km"."""
    if metres < 999.5:
        return f"{round(metres)}m"
    return f"{metres / 1000:.1f}km" if metres < 9950 else f"{round(metres / 1000)}km"


def written_time(seconds: float) -> str:
    """Hours and minutes: "1:05"."""
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02d}"


def steps(graph: Graph, route: Route) -> list[Step]:
    """What a traveller does, one line for each street."""
    stretches: list[list[Leg]] = []
    for leg in route.legs:
        if stretches and _street(graph, stretches[-1][-1]) == _street(graph, leg):
            stretches[-1].append(leg)
        else:
            stretches.append([leg])
    found = []
    for number, stretch in enumerate(stretches):
        metres = sum(abs(leg.end - leg.begin) * graph.roads[leg.road].length for leg in stretch)
        before = stretches[number - 1][-1] if number else None
        text, icon = _instruction(graph, before, stretch[0])
        found.append(Step(text, written_distance(metres), icon))
    return [*found, Step("Arrive at your destination", "", "end")]


def _street(graph: Graph, leg: Leg) -> tuple[str, bool]:
    way = graph.roads[leg.road].way
    return way.name or "an unnamed path", way.bridge


def _instruction(graph: Graph, before: Leg | None, leg: Leg) -> tuple[str, str]:
    road, (name, bridge) = graph.roads[leg.road], _street(graph, leg)
    if before is None:
        return f"Head {_compass(_bearing(graph, leg))} on {name}", "straight"
    turn = (_bearing(graph, leg) - _bearing(graph, before) + 180) % 360 - 180
    side = "right" if turn > 0 else "left"
    if special := _special(graph.roads[before.road], road, name, bridge):
        return special, "straight"
    if abs(turn) < 22:
        return f"Continue on {name}", "straight"
    if abs(turn) < 50 or road.way.kind == "motorway":
        return f"Keep {side} onto {name}", side
    return f"{'Turn' if abs(turn) < 130 else 'Turn sharply'} {side} onto {name}", side


def _special(before: Road, road: Road, name: str, bridge: bool) -> str:
    """Instructions where the kind of road matters more than the angle."""
    if bridge:
        return f"Cross {name}"
    fast = (before.way.kind == "motorway", road.way.kind == "motorway")
    return {(False, True): f"Take the ramp onto {name}", (True, False): f"Leave the motorway onto {name}"}.get(fast, "")


def _bearing(graph: Graph, leg: Leg) -> float:
    """Degrees clockwise from north."""
    (x, y), (to_x, to_y) = graph.point(leg.road, leg.begin), graph.point(leg.road, leg.end)
    return math.degrees(math.atan2(to_x - x, to_y - y)) % 360


def _compass(bearing: float) -> str:
    return COMPASS[round(bearing / 45) % 8]

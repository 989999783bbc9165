"""Directions: a form with two fields, the fastest way between what they name, and that way in words."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from agentrl.envs.webarena.sites.map.atlas import Atlas
from agentrl.envs.webarena.sites.map.geo import CENTRE, Point, parse, to_degrees
from agentrl.envs.webarena.sites.map.graph import Graph, Leg, Route
from agentrl.envs.webarena.sites.map.picture import fitting
from agentrl.envs.webarena.sites.map.search import find
from agentrl.envs.webarena.sites.map.views import HOME, link, map_page, world_map
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

# ---------------------------------------------------------------------- a route in words

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
        if stretches and _street_of(graph, stretches[-1][-1]) == _street_of(graph, leg):
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


def _street_of(graph: Graph, leg: Leg) -> tuple[str, bool]:
    way = graph.roads[leg.road].way
    return way.name or "an unnamed path", way.bridge


def _instruction(graph: Graph, before: Leg | None, leg: Leg) -> tuple[str, str]:
    road, (name, bridge) = graph.roads[leg.road], _street_of(graph, leg)
    if before is None:
        return f"Head {COMPASS[round(_bearing(graph, leg) / 45) % 8]} on {name}", "straight"
    turn = (_bearing(graph, leg) - _bearing(graph, before) + 180) % 360 - 180
    side = "right" if turn > 0 else "left"
    # Where the kind of road matters more than the angle.
    was_fast, is_fast = graph.roads[before.road].way.kind == "motorway", road.way.kind == "motorway"
    if bridge:
        return f"Cross {name}", "straight"
    if was_fast != is_fast:
        return f"Take the ramp onto {name}" if is_fast else f"Leave the motorway onto {name}", "straight"
    if abs(turn) < 22:
        return f"Continue on {name}", "straight"
    if abs(turn) < 50 or road.way.kind == "motorway":
        return f"Keep {side} onto {name}", side
    return f"{'Turn' if abs(turn) < 130 else 'Turn sharply'} {side} onto {name}", side


def _bearing(graph: Graph, leg: Leg) -> float:
    """Degrees clockwise from north."""
    (x, y), (to_x, to_y) = graph.point(leg.road, leg.begin), graph.point(leg.road, leg.end)
    return math.degrees(math.atan2(to_x - x, to_y - y)) % 360


# ---------------------------------------------------------------------- the page


class Engine(NamedTuple):
    """An option of the form; the order is the benchmark's."""

    name: str
    mode: str
    label: str


ENGINES = (
    Engine("fossgis_osrm_bike", "bike", "Bicycle (OSRM)"),
    Engine("fossgis_osrm_car", "car", "Car (OSRM)"),
    Engine("fossgis_osrm_foot", "foot", "Foot (OSRM)"),
)
CAR = ENGINES[1]
Points = tuple[Point | None, Point | None]


def route_points(text: str) -> Points:
    """ "46.8,-35.4;46.9,-35.5" as two points; either may be missing."""
    start, _, end = text[:100].partition(";")
    return parse(start), parse(end)


def routed(atlas: Atlas, engine: str, points: Points) -> Route | None:
    """The fastest way between two points; None without both, or where no road is near."""
    mode = next((known.mode for known in ENGINES if known.name == engine), CAR.mode)
    start, end = points
    return None if start is None or end is None else _route(atlas, mode, start, end)


@lru_cache(256)
def _route(atlas: Atlas, mode: str, start: Point, end: Point) -> Route | None:
    begin, finish = atlas.graph.snap(*start, mode), atlas.graph.snap(*end, mode)
    return None if begin is None or finish is None else atlas.graph.route(begin, finish, mode)


def directions(context: Context) -> Response:
    """The form, and the route once both ends are known."""
    engine = next((known for known in ENGINES if known.name == context.query("engine")), CAR)
    typed = (context.query("route_from").strip(), context.query("route_to").strip())
    if any(typed):  # what was typed becomes points, and those an address that can be sent to others
        if not all(typed):
            return _page(context, engine, typed, (None, None), problem="Both ends of the route are needed.")
        found: list[str] = []
        for text in typed:
            feature = find(world_map(context), text, CENTRE)
            point = parse(text) or ((feature.lat, feature.lon) if feature else None)
            if point is None:
                problem = f"Sorry, nothing called '{text[:100]}' was found."
                return _page(context, engine, typed, (None, None), problem=problem)
            found.append(_written(point))
        return context.redirect(link("/directions", engine=engine.name, route=";".join(found)))
    points = route_points(context.query("route"))
    atlas = world_map(context)
    names = tuple("" if point is None else atlas.named(*point) for point in points)
    return _page(context, engine, names, points)


def _page(context: Context, engine: Engine, names: tuple[str, ...], points: Points, *, problem: str = "") -> Response:
    atlas = world_map(context)
    route = routed(atlas, engine.name, points)
    if route is None and None not in points:
        problem = "No route was found between these two places."
    shown = "" if points == (None, None) else ";".join("" if point is None else _written(point) for point in points)
    reverse = ";".join(reversed(shown.split(";"))) if shown else ""
    markers = [(*point, letter) for point, letter in zip(points, "AB", strict=True) if point is not None]
    view = fitting([(lat, lon) for lat, lon, _ in markers]) if markers else HOME
    if route is not None:
        view = fitting([to_degrees(point) for point in route.points])
    return map_page(
        context, "directions.html", view, markers,
        {"engine": engine.name, "route": shown} if route else None, engines=ENGINES, engine=engine,
        route_from=names[0], route_to=names[1], problem=problem,
        reverse=link("/directions", engine=engine.name, route=reverse) if reverse else "/directions",
        distance=written_distance(route.metres) if route else "", time=written_time(route.seconds) if route else "",
        steps=steps(atlas.graph, route) if route else [],
    )  # fmt: skip


def _written(point: Point) -> str:
    return f"{point[0]:.5f},{point[1]:.5f}"

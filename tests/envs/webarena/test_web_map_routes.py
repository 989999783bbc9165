"""Routes of the map: the fastest ones, as an independent search finds them, and coherent with each other."""

from __future__ import annotations

import heapq
import math
import random
from itertools import pairwise

import pytest

from agentrl.envs.webarena.sites.map.atlas import Atlas, Feature, atlas
from agentrl.envs.webarena.sites.map.directions import steps, written_distance, written_time
from agentrl.envs.webarena.sites.map.graph import MODES, Graph, Route, Snap
from agentrl.envs.webarena.sites.world import World


@pytest.fixture(scope="module")
def known() -> Atlas:
    return atlas(World().database("map"))


def pairs(known: Atlas, seed: int, count: int) -> list[tuple[Feature, Feature]]:
    rng = random.Random(seed)
    return [(rng.choice(known.places), rng.choice(known.places)) for _ in range(count)]


def route(known: Atlas, start: Feature, end: Feature, mode: str) -> Route:
    begin, finish = known.graph.snap(start.lat, start.lon, mode), known.graph.snap(end.lat, end.lon, mode)
    assert begin is not None
    assert finish is not None
    found = known.graph.route(begin, finish, mode)
    assert found is not None
    return found


Edges = dict[object, list[tuple[object, float]]]


def network(graph: Graph, mode: str) -> Edges:
    """All roads that a mode may use."""
    edges: Edges = {}
    for road in graph.roads:
        seconds = road.seconds(mode)
        if seconds is not None:
            edges.setdefault(road.start, []).append((road.end, seconds))
            if mode == "foot" or not road.way.oneway:
                edges.setdefault(road.end, []).append((road.start, seconds))
    return edges


def reference(graph: Graph, network: Edges, start: Snap, end: Snap, mode: str) -> float:
    """Plain Dijkstra over the junctions and the two points, which are junctions of their own here."""
    extra: Edges = {}
    for number in {start.road, end.road}:
        road = graph.roads[number]
        stops: list[tuple[float, object]] = [(0.0, road.start), (1.0, road.end)]
        stops += [(snap.part, name) for snap, name in ((start, "start"), (end, "end")) if snap.road == number]
        for (part, a), (further, b) in pairwise(sorted(stops, key=lambda stop: stop[0])):
            seconds = (further - part) * (road.seconds(mode) or 0.0)
            extra.setdefault(a, []).append((b, seconds))
            if mode == "foot" or not road.way.oneway:
                extra.setdefault(b, []).append((a, seconds))
    times: dict[object, float] = {"start": 0.0}
    waiting: list[tuple[float, int, object]] = [(0.0, 0, "start")]
    count = 0
    while waiting:
        so_far, _, junction = heapq.heappop(waiting)
        if junction == "end":
            return so_far
        for other, seconds in [*network.get(junction, ()), *extra.get(junction, ())]:
            if so_far + seconds < times.get(other, math.inf):
                times[other], count = so_far + seconds, count + 1
                heapq.heappush(waiting, (times[other], count, other))
    return math.inf


@pytest.mark.parametrize("mode", MODES)
def test_routes_are_the_fastest(known: Atlas, mode: str) -> None:
    edges = network(known.graph, mode)
    for start, end in pairs(known, 1, 50):
        found = route(known, start, end, mode)
        begin, finish = known.graph.snap(start.lat, start.lon, mode), known.graph.snap(end.lat, end.lon, mode)
        assert begin is not None
        assert finish is not None
        assert found.seconds == pytest.approx(reference(known.graph, edges, begin, finish, mode), abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_a_route_is_made_of_roads_that_may_be_used(known: Atlas, mode: str) -> None:
    for start, end in pairs(known, 2, 30):
        found, seconds, here = route(known, start, end, mode), 0.0, None
        for leg in found.legs:
            road = known.graph.roads[leg.road]
            assert leg.end > leg.begin or road.is_two_way(mode)
            whole = road.seconds(mode)
            assert whole is not None
            seconds += abs(leg.end - leg.begin) * whole
            begin, finish = known.graph.point(leg.road, leg.begin), known.graph.point(leg.road, leg.end)
            assert here is None or math.dist(here, begin) < 0.5
            here = finish
        assert seconds == pytest.approx(found.seconds)
        assert found.metres == pytest.approx(sum(map(math.dist, found.points, found.points[1:])), rel=0.01, abs=1)


def test_walking_takes_the_same_time_both_ways(known: Atlas) -> None:
    for start, end in pairs(known, 3, 40):
        assert route(known, start, end, "foot").seconds == pytest.approx(route(known, end, start, "foot").seconds)


def test_one_way_streets_make_some_ways_back_longer(known: Atlas) -> None:
    apart = [
        abs(route(known, start, end, "car").seconds - route(known, end, start, "car").seconds) > 1
        for start, end in pairs(known, 4, 60)
    ]
    assert any(apart)
    assert not all(apart)


@pytest.mark.parametrize("mode", MODES)
def test_no_detour_is_faster(known: Atlas, mode: str) -> None:
    rng = random.Random(5)
    for _ in range(20):
        a, b, c = rng.choice(known.places), rng.choice(known.places), rng.choice(known.places)
        whole = route(known, a, b, mode).seconds + route(known, b, c, mode).seconds
        assert route(known, a, c, mode).seconds <= whole + 1e-6


def test_cars_are_faster_on_long_trips_and_walkers_have_short_cuts(known: Atlas) -> None:
    shorter = 0
    for start, end in pairs(known, 6, 60):
        by = {mode: route(known, start, end, mode) for mode in MODES}
        if by["car"].metres > 3_000:
            assert by["car"].seconds < by["bike"].seconds < by["foot"].seconds
        shorter += by["foot"].metres < by["car"].metres - 50
    assert shorter > 10


def test_long_trips_take_hours(known: Atlas) -> None:
    towns = {place.name: place for place in known.settlements}
    assert route(known, towns["Grayling"], towns["Whitlock Sands"], "car").seconds > 2 * 3600
    assert route(known, towns["Veldhaven"], towns["Ashgrove"], "car").seconds < 3600


def test_directions_name_the_streets_and_add_up(known: Atlas) -> None:
    for start, end in pairs(known, 7, 30):
        found = route(known, start, end, "foot")
        lines = steps(known.graph, found)
        assert lines[-1].text == "Arrive at your destination"
        assert lines[0].text.startswith("Head ")
        streets = {known.graph.roads[leg.road].way.name for leg in found.legs} - {""}
        assert all(any(street in line.text for line in lines) for street in streets)


def test_a_route_to_the_same_point_is_empty(known: Atlas) -> None:
    place = known.places[7]
    found = route(known, place, place, "car")
    assert (found.metres, found.seconds) == (0, 0)
    assert steps(known.graph, found)


def test_points_far_from_all_roads_have_no_route(known: Atlas) -> None:
    assert known.graph.snap(0.0, 0.0, "car") is None
    assert known.graph.snap(90.0, 180.0, "foot") is None


@pytest.mark.parametrize(
    ("metres", "text"), [(0, "0m"), (999.4, "999m"), (999.6, "1.0km"), (9949, "9.9km"), (9951, "10km"), (26499, "26km")]
)
def test_distances_are_written(metres: float, text: str) -> None:
    assert written_distance(metres) == text


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (89, "0:01"), (3570, "1:00"), (36061, "10:01")])
def test_times_are_written(seconds: float, text: str) -> None:
    assert written_time(seconds) == text

"""What the tasks of the map share: places that a person can name, and the ways to their pages and routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any, TypeVar

from agentrl.envs.webarena.sites.map.atlas import Atlas, Feature, atlas
from agentrl.envs.webarena.sites.map.directions import ENGINES, routed
from agentrl.envs.webarena.sites.map.geo import CENTRE
from agentrl.envs.webarena.sites.map.graph import Route
from agentrl.envs.webarena.sites.map.search import search
from agentrl.envs.webarena.sites.map.views import link
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Choose, Click, Fill, On, literal

ENGINE = {engine.mode: engine for engine in ENGINES}
LANDMARKS = frozenset(
    {
        "museum", "theatre", "cinema", "library", "hotel", "hospital", "university", "college", "station", "stadium",
        "townhall", "gallery", "attraction", "monument", "zoo", "park",
    }
)  # fmt: skip
Row = dict[str, Any]
Span = tuple[float, float]  # metres
ANYWHERE: Span = (600.0, 1e9)
T = TypeVar("T")


def region(world: World) -> Atlas:
    """The atlas of the episode."""
    return atlas(world.database("map"))


def is_known_by_name(known: Atlas, place: Feature) -> bool:
    """Does a search for the name find just this place?"""
    hits = search(known, place.name, CENTRE) if place.name else ()
    return bool(hits) and hits[0].feature is place and (len(hits) == 1 or hits[1].feature.name != place.name)


def shuffled(items: Iterable[T], key: str) -> list[T]:
    """In an order that depends on nothing but the key."""
    found = list(items)
    return Random(f"map {key}").sample(found, len(found))


def named(known: Atlas, key: str, fits: Callable[[Feature], bool]) -> Iterator[Feature]:
    """Places that can be named without saying where they are, in the order of the key."""
    return (place for place in shuffled(known.places, key) if fits(place) and is_known_by_name(known, place))


def landmarks(known: Atlas, key: str, count: int) -> list[Feature]:
    """Well-known places of the city."""
    found = named(known, key, lambda place: place.category in LANDMARKS and place.settlement == "Veldhaven")
    return [place for place, _ in zip(found, range(count), strict=False)]


def trips(known: Atlas, key: str, count: int, apart: Span = ANYWHERE) -> list[tuple[Feature, Feature]]:
    """Pairs of well-known places that are so far apart, as the crow flies."""
    places, pairs, rng = landmarks(known, key, 70), dict[tuple[int, int], tuple[Feature, Feature]](), Random(key)
    for _ in range(20 * count):
        start, end = rng.sample(places, 2)
        if apart[0] <= start.metres_to(end.lat, end.lon) <= apart[1]:
            pairs.setdefault((start.id, end.id), (start, end))
    return list(pairs.values())[:count]


def route(known: Atlas, mode: str, start: Feature, end: Feature) -> Route:
    """The route that the site shows."""
    found = routed(known, ENGINE[mode].name, ((start.lat, start.lon), (end.lat, end.lon)))
    assert found is not None
    return found


def route_path(mode: str, start: Feature, end: Feature) -> str:
    """The address of the page with the route."""
    return link("/directions", engine=ENGINE[mode].name, route=f"{start.coordinates};{end.coordinates}")


# ---------------------------------------------------------------------- solutions


def searching(query: str, *acts: Act) -> list[On]:
    """Search for something, and then do this on the page with the results."""
    return [
        On("__MAP__", [Fill("#query", query, enter=True)]),
        On("__MAP__/directions", [Click("a", "Back to search")]),
        On("__MAP__" + literal(link("/search", query=query)), list(acts)),
    ]


def opening(query: str, path: str, *acts: Act) -> list[On]:
    """Search for a place, open its page (whose address is `path`), and do this there."""
    return [*searching(query, Click(f'a[href="{path}"]')), On(f"__MAP__{literal(path)}$", list(acts))]


def routing(legs: Sequence[tuple[str, str, str, str]], *acts: Act) -> list[On]:
    """Ask for one route after the other, and do this on the page of the last one.

    A leg is the mode, the two names and the address of the page with the route.
    """
    first = legs[0]
    found = [On("__MAP__", [Click("a.button-directions")]), On("__MAP__/directions", _asking(first))]
    for (*_, path), following in pairwise(legs):
        found.append(On("__MAP__" + literal(path), _asking(following)))
    return [*found, On("__MAP__" + literal(legs[-1][3]), list(acts))]


def _asking(leg: tuple[str, str, str, str]) -> list[Act]:
    mode, start, end, _ = leg
    return [
        Fill("#route_from", start), Fill("#route_to", end), Choose("select.routing_engines", ENGINE[mode].label),
        Click("button.routing_go"),
    ]  # fmt: skip


def leg(mode: str, start: Feature, end: Feature) -> tuple[str, str, str, str]:
    """What `routing` needs to know about a route."""
    return mode, start.name, end.name, route_path(mode, start, end)


# ---------------------------------------------------------------------- evaluations


def must_include(*texts: str) -> dict[str, Any]:
    """The answer contains all of these."""
    return {"eval_types": ["string_match"], "reference_answers": {"must_include": list(texts)}}


def exact(text: str) -> dict[str, Any]:
    """The answer is this."""
    return {"eval_types": ["string_match"], "reference_answers": {"exact_match": text}}


def at_url(path: str) -> dict[str, Any]:
    """The agent ends on this page."""
    return {"eval_types": ["url_match"], "reference_answers": None, "reference_url": f"__MAP__{path}",
            "url_note": "GOLD in PRED"}  # fmt: skip

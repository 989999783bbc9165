"""Templates of the map: about places (their pages, what is near, how many there are) and routes between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle, islice
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.map.atlas import Atlas, Feature, atlas
from agentrl.envs.webarena.sites.map.directions import ENGINES, routed, steps, written_distance, written_time
from agentrl.envs.webarena.sites.map.geo import CENTRE
from agentrl.envs.webarena.sites.map.graph import Route
from agentrl.envs.webarena.sites.map.search import search
from agentrl.envs.webarena.sites.map.views import link
from agentrl.envs.webarena.sites.map.words import CATEGORIES
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import (
    Act,
    Answer,
    Choose,
    Click,
    Fill,
    On,
    Parameters,
    Reveal,
    Template,
    template,
)
from agentrl.envs.webarena.tasks.vocabulary import Row, answer, done, ends_at, shows, some, text_of, value_of

SITES = ("map",)
MENU = ".leaflet-contextmenu a"
SEVERAL, TRIPS = 150, 80  # instances of a template about places, and about routes
ENGINE = {engine.mode: engine for engine in ENGINES}
LANDMARKS = frozenset({
    "museum", "theatre", "cinema", "library", "hotel", "hospital", "university", "college", "station", "stadium",
    "townhall", "gallery", "attraction", "monument", "zoo", "park",
})  # fmt: skip
NEAR_KINDS = (
    "cafe", "restaurant", "pharmacy", "supermarket", "bank", "hotel", "bakery", "library", "post_office", "fuel",
)  # fmt: skip
PHONED_KINDS = ("pharmacy", "hotel", "library", "clinic", "dentist", "police", "hospital")
SILENT_KINDS = ("viewpoint", "park", "playground", "monument", "parking", "station", "marketplace")  # have no phone
COUNTED = ("hotel", "restaurant", "cafe", "pharmacy", "supermarket", "school", "pub", "fuel", "bakery", "bank")
KITCHENS = ("italian", "thai", "indian", "japanese", "mexican", "greek", "french", "korean")
Span = tuple[float, float]  # metres
ANYWHERE: Span = (600.0, 1e9)
FAR: Span = (1500.0, 1e9)
IN_TOWN: Span = (500.0, 3500.0)  # between places that one walks to


# ---------------------------------------------------------------------- places that a person can name


def region(world: World) -> Atlas:
    """The atlas of the episode."""
    return atlas(world.database("map"))


def is_known_by_name(known: Atlas, place: Feature) -> bool:
    """Does a search for the name find just this place?"""
    hits = search(known, place.name, CENTRE) if place.name else ()
    return bool(hits) and hits[0].feature is place and (len(hits) == 1 or hits[1].feature.name != place.name)


def named(world: World, key: str, count: int, fits: Callable[[Feature], bool]) -> Iterator[Feature]:
    """Places that can be named without saying where they are, in the order of the key."""
    known = region(world)
    drawn = some(known.places, f"map {key}")
    return islice((place for place in drawn if fits(place) and is_known_by_name(known, place)), count)


def _landmarks(world: World, key: str, count: int) -> list[Feature]:
    """Well-known places of the city."""
    return list(named(world, key, count, lambda place: place.category in LANDMARKS and place.settlement == "Veldhaven"))


def opening(row: Parameters, *acts: Act, by: str = "name") -> list[On]:
    """Search for a place, open its page, and do this there."""
    return [*_searching(row[by], Click(f'a[href="{row["path"]}"]')), On(f"__MAP__{re.escape(row['path'])}$", acts)]


def _searching(query: str, *acts: Act) -> list[On]:
    """Search for something, and then do this on the page with the results."""
    return [
        On("__MAP__", [Fill("#query", query, enter=True)]),
        On("__MAP__/directions", [Click("a", "Back to search")]),
        On("__MAP__" + re.escape(link("/search", query=query)), acts),
    ]


# ---------------------------------------------------------------------- pages of places


def _rows(places: Iterable[Feature], **more: Callable[[Feature], Any]) -> Iterator[Row]:
    for place in places:
        told = {name: value(place) for name, value in more.items()}
        yield {"name": place.name, "path": place.path, "label": place.label.lower(), **told}


def _from_menu(row: Parameters) -> str:
    """The address that an entry of the map's own menu leads to."""
    lat, lon = row["at"].split(",")
    engine, at = ENGINE["car"].name, row["at"]
    return {
        "Directions from here": link("/directions", engine=engine, route=f"{at};"),
        "Directions to here": link("/directions", engine=engine, route=f";{at}"),
        "Query features": link("/query", lat=lat, lon=lon),
    }[row["entry"]]


@template(
    "map-right-click", SITES, "open-menu",
    ("Open the page of {name}, right-click the middle of the map there and choose \"{entry}\".",
     "On the map around {name}, use the menu of the right mouse button: {entry}."),
    lambda row: ends_at("__MAP__" + _from_menu(row), exact=True),
    lambda row: [
        *opening(row, Reveal(MENU, "right_click", ".leaflet-container"), Click(MENU, row["entry"])),
        done("__MAP__" + re.escape(_from_menu(row))),
    ],
)  # fmt: skip
def right_click(world: World) -> Iterator[Row]:
    entries = cycle(("Directions from here", "Directions to here", "Query features"))
    for place, entry in zip(named(world, "menu", SEVERAL, lambda place: True), entries, strict=False):
        yield {"name": place.name, "path": place.path, "at": f"{place.lat:.5f},{place.lon:.5f}", "entry": entry}


def _read_tag(name: str, tag: str, *intents: str, held_out: bool = False) -> Template:
    """Find a place and tell the value of one of its tags."""
    return Template(
        name, SITES, "read-value", intents,
        lambda world: _rows(
            named(world, name, SEVERAL, lambda place: bool(place.tags.get(tag))), answer=lambda place: place.tags[tag]
        ),
        lambda row: answer(row["answer"]), lambda row: opening(row, Answer(row["answer"])), held_out=held_out,
    )  # fmt: skip


PAGES = (
    _read_tag(
        "map-postcode", "addr:postcode", "What is the postcode of {name}?", "Tell me the zip code of {name}.",
        "I want to send a letter to {name}. Which postcode does it have?",
    ),
    _read_tag(
        "map-phone", "phone", "What is the phone number of {name}?", "I need to call {name}. Which number do I dial?",
        "Look up the telephone number of {name} on the map.",
    ),
    _read_tag(
        "map-opening-hours", "opening_hours", "What are the opening hours of {name}, as the map gives them?",
        "When is {name} open? Answer with the opening hours as they are written on the map.", held_out=True,
    ),
    _read_tag(
        "map-cuisine", "cuisine", "Which cuisine does {name} serve, according to the map?",
        "What kind of food does {name} have? Give the cuisine as the map's tag names it.",
    ),
    Template(
        "map-coordinates", SITES, "read-value",
        ("What are the coordinates of {name} in decimal degrees?", "Tell me the latitude and longitude of {name}.",
         "Give me the coordinates of {name} with five decimal places."),
        lambda world: _rows(
            named(world, "coordinates", SEVERAL, lambda place: place.category != "house"),
            lat=lambda place: f"{place.lat:.5f}", lon=lambda place: f"{place.lon:.5f}",
        ),
        lambda row: answer(row["lat"], row["lon"]), lambda row: opening(row, Answer(f"{row['lat']}, {row['lon']}")),
    ),
    Template(
        "map-address", SITES, "read-value",
        ("What is the street address of {name}?", "In which street and at which house number is {name}?"),
        lambda world: _rows(
            named(world, "address", SEVERAL, lambda place: bool(place.number)),
            number=lambda place: place.number, street=lambda place: place.street,
        ),
        lambda row: answer(row["street"], row["number"]),
        lambda row: opening(row, Answer(f"{row['number']} {row['street']}")),
    ),
    Template(
        "map-missing-phone", SITES, "recognise-impossible",
        ("What is the phone number of {name}? Answer N/A if the map has none.",
         "Give me the telephone number of {name}, or N/A if it is not on the map."),
        lambda world: _rows(
            named(world, "no phone", 2 * SEVERAL, lambda place: place.category in (*SILENT_KINDS, *PHONED_KINDS)),
            answer=lambda place: place.tags.get("phone") or "N/A",
        ),
        lambda row: answer(row["answer"]), lambda row: opening(row, Answer(row["answer"])),
    ),
    Template(
        "map-open-page", SITES, "open-record",
        ("Pull up the description page of {name} on the map.", "Open the page of {name} with all its tags.",
         "Show me the details of {name} on the map."),
        lambda world: _rows(_landmarks(world, "page", SEVERAL)), lambda row: ends_at(f"__MAP__{row['path']}"),
        lambda row: opening(row, Answer()),
    ),
    Template(
        "map-marker", SITES, "open-record",
        ("Show the map with a marker at {name}: open the map through the coordinates on its page.",
         "On the page of {name}, follow its location to the map."),
        lambda world: _rows(
            _landmarks(world, "marker", 80), marker=lambda place: f"/?mlat={place.lat}&mlon={place.lon}"
        ),
        lambda row: ends_at(f"__MAP__{row['marker']}"),
        lambda row: [*opening(row, Click("a.geo")), done("__MAP__" + re.escape(row["marker"]))],
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- searches


def _nearest(world: World, key: str, kinds: Sequence[str]) -> Iterator[tuple[Row, Feature]]:
    """What is looked for near a place, and the nearest one, which is clearly nearer than the next."""
    count, known = 120, region(world)
    found = 0
    for number, place in enumerate(_landmarks(world, key, 3 * count)):
        kind = CATEGORIES[kinds[number % len(kinds)]]
        query = f"{kind.plural} near {place.name}"
        hits = search(known, query, CENTRE)
        if len(hits) < 2 or found == count:
            continue
        first, second = hits[0], hits[1]
        assert first.metres is not None and second.metres is not None
        if second.metres > first.metres + 30 and first.feature.name != second.feature.name:
            found += 1
            yield {"name": place.name, "kind": kind.label.lower(), "query": query}, first.feature


@template(
    "map-count", SITES, "count-items",
    ("How many {plural} are there in {town}?", "Count the {plural} in {town}.",
     "According to the map, what is the number of {plural} in {town}?"),
    lambda row: answer(row["answer"]), lambda row: _searching(row["query"], Answer(row["answer"])),
)  # fmt: skip
def count(world: World) -> Iterator[Row]:
    known = region(world)
    towns = [place for place in known.settlements if place.label in ("Town", "District")]
    for town, kind in some(((town, kind) for town in towns for kind in COUNTED), "map count"):
        query = f"{CATEGORIES[kind].plural} in {town.name}"
        hits = search(known, query, CENTRE)
        if len(hits) > 1 and is_known_by_name(known, town):
            yield {"town": town.name, "plural": CATEGORIES[kind].plural, "query": query, "answer": str(len(hits))}


@template(
    "map-nearest-cuisine", SITES, "nearest",
    ("Find the {kitchen} restaurant closest to {name}. Tell me its name and street.",
     "Where is the nearest {kitchen} restaurant to {name}? Give its name and the street it is in."),
    lambda row: answer(row["answer"], row["street"]),
    lambda row: _searching(row["query"], Answer(f"{row['answer']}, {row['street']}")),
)  # fmt: skip
def nearest_cuisine(world: World) -> Iterator[Row]:
    known = region(world)
    for number, place in enumerate(_landmarks(world, "kitchen", 150)):
        kitchen = KITCHENS[number % len(KITCHENS)]
        query = f"{kitchen} restaurants near {place.name}"
        hits = search(known, query, CENTRE)
        if hits and is_known_by_name(known, hits[0].feature):
            told = {"answer": hits[0].feature.name, "street": hits[0].feature.street}
            yield {"name": place.name, "kitchen": kitchen.capitalize(), "query": query, **told}


SEARCHES = (
    Template(
        "map-nearest", SITES, "nearest",
        ("Which {kind} is nearest to {name}, as the crow flies?", "Tell me the name of the closest {kind} to {name}.",
         "I am at {name} and look for a {kind}. Which one is the nearest?"),
        lambda world: ({**row, "answer": place.name} for row, place in _nearest(world, "nearest", NEAR_KINDS)),
        lambda row: answer(row["answer"]), lambda row: _searching(row["query"], Answer(row["answer"])),
    ),
    Template(
        "map-nearest-phone", SITES, "nearest",
        ("What is the phone number of the {kind} nearest to {name}, as the crow flies?",
         "I am at {name}. Which number do I call to reach the closest {kind}?"),
        lambda world: (
            {**row, "path": place.path, "answer": place.tags["phone"]}
            for row, place in _nearest(world, "nearest phone", PHONED_KINDS)
        ),
        lambda row: answer(row["answer"]), lambda row: opening(row, Answer(row["answer"]), by="query"), held_out=True,
    ),
    nearest_cuisine,
    Template(
        "map-search-around", SITES, "search",
        ("Find {plural} near {name}: search the map for \"{plural} near {name}\".",
         "Search for {plural} around {name}, with the words \"{query}\"."),
        lambda world: (
            {"name": place.name, "plural": kind.plural, "query": f"{kind.plural} near {place.name}"}
            for place, kind in zip(_landmarks(world, "around", 100), cycle(CATEGORIES[kind] for kind in NEAR_KINDS))
        ),
        lambda row: ends_at("__MAP__" + link("/search", query=row["query"])),
        lambda row: _searching(row["query"], Answer()),
    ),
    count,
    Template(
        "map-whats-there", SITES, "reverse-lookup",
        ("Which place is at the coordinates {point}?", "What is located at {point}? Tell me its name."),
        lambda world: (
            {"point": f"{place.lat:.5f}, {place.lon:.5f}", "answer": place.name}
            for place in named(world, "point", SEVERAL, lambda place: place.category != "house")
        ),
        lambda row: answer(row["answer"]), lambda row: _searching(row["point"], Answer(row["answer"])), held_out=True,
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- routes


def _trips(world: World, key: str, count: int, apart: Span = ANYWHERE) -> list[tuple[Feature, Feature]]:
    """Pairs of well-known places that are so far apart, as the crow flies."""
    places, pairs, rng = _landmarks(world, key, 70), dict[tuple[int, int], tuple[Feature, Feature]](), Random(key)
    for _ in range(20 * count):
        start, end = rng.sample(places, 2)
        if apart[0] <= start.metres_to(end.lat, end.lon) <= apart[1]:
            pairs.setdefault((start.id, end.id), (start, end))
    return list(pairs.values())[:count]


def _route(world: World, mode: str, start: Feature, end: Feature) -> Route:
    """The route that the site shows."""
    found = routed(region(world), ENGINE[mode].name, ((start.lat, start.lon), (end.lat, end.lon)))
    assert found is not None
    return found


def _minutes(world: World, mode: str, start: Feature, end: Feature) -> int:
    return round(_route(world, mode, start, end).seconds / 60)


def _leg(mode: str, start: Feature, end: Feature) -> tuple[str, str, str, str]:
    """The mode, the two names and the address of the page with the route."""
    path = link("/directions", engine=ENGINE[mode].name, route=f"{start.coordinates};{end.coordinates}")
    return mode, start.name, end.name, path


def _pair(start: Feature, end: Feature, *modes: str, **more: Any) -> Row:
    return {"start": start.name, "end": end.name, "legs": [_leg(mode, start, end) for mode in modes], **more}


def _routing(row: Parameters, *acts: Act) -> list[On]:
    """Ask for one route after the other, and do this on the page of the last one."""
    forms = [
        [Fill("#route_from", start), Fill("#route_to", end), Choose("select.routing_engines", ENGINE[mode].label),
         Click("button.routing_go")]
        for mode, start, end, _ in row["legs"]
    ]  # fmt: skip
    pages = ["__MAP__" + re.escape(path) for *_, path in row["legs"]]
    return [
        On("__MAP__", [Click("a.button-directions")]),
        On("__MAP__/directions", forms[0]),
        *(On(page, form) for page, form in zip(pages, forms[1:], strict=False)),
        On(pages[-1], acts),
    ]


def _tell(row: Parameters) -> list[On]:
    """Look at the routes and tell the answer."""
    return _routing(row, Answer(row["answer"]))


def _one_value(
    name: str, mode: str, what: str, *intents: str, held_out: bool = False, apart: Span = ANYWHERE
) -> Template:
    """The time or the distance of a route."""

    @template(name, SITES, "route", intents, lambda row: answer(row["answer"]), _tell, held_out)
    def one_value(world: World) -> Iterator[Row]:
        for start, end in _trips(world, name, TRIPS, apart):
            found = _route(world, mode, start, end)
            told = written_time(found.seconds) if what == "time" else written_distance(found.metres)
            yield _pair(start, end, mode, answer=told)

    return one_value


@template(
    "map-compare-modes", SITES, "compare-values",
    ("Compare the time for walking and driving from {start} to {end}. Give both as h:mm.",
     "How long does it take from {start} to {end} on foot, and how long by car? Write both times as h:mm."),
    lambda row: answer(row["foot"], row["car"]),
    lambda row: _routing(row, Answer(f"walking {row['foot']}, driving {row['car']}")),
)  # fmt: skip
def compare_modes(world: World) -> Iterator[Row]:
    for start, end in _trips(world, "compare", TRIPS, IN_TOWN):
        times = {mode: written_time(_route(world, mode, start, end).seconds) for mode in ("foot", "car")}
        yield _pair(start, end, "foot", "car", **times)


@template(
    "map-within-minutes", SITES, "route",
    ("Can I walk from {start} to {end} within {limit} minutes? Answer Yes or No.",
     "Is {end} at most {limit} minutes on foot from {start}? Answer with Yes or No only."),
    lambda row: answer(row["answer"]), _tell,
)  # fmt: skip
def within_minutes(world: World) -> Iterator[Row]:
    """Limits that are clearly met or clearly missed, half of each."""
    rng = Random("within")
    for number, (start, end) in enumerate(_trips(world, "within", TRIPS, IN_TOWN)):
        minutes = _minutes(world, "foot", start, end)
        limit = minutes + rng.randint(3, 12) if number % 2 else max(2, minutes - rng.randint(3, 12))
        yield _pair(start, end, "foot", limit=limit, answer="Yes" if minutes <= limit else "No")


@template(
    "map-closest-of-three", SITES, "compare-values",
    ("Which of these is the shortest drive from {start}: {a}, {b} or {c}? Give its name only.",
     "I start at {start} by car. Which has the shortest distance: {a}, {b} or {c}? Give only the name."),
    lambda row: answer(row["answer"], without=[row[name] for name in "abc" if row[name] != row["answer"]]), _tell,
    held_out=True,
)  # fmt: skip
def closest_of_three(world: World) -> Iterator[Row]:
    rng, walks = Random("closest"), _trips(world, "closest", 110, IN_TOWN)
    for start, _ in walks:
        others = [end for other, end in walks if end is not start and other is not start]
        ends = list({end.id: end for end in rng.sample(others, 8)}.values())[:3]
        measured = sorted((_route(world, "car", start, end).metres, end.id, end) for end in ends)
        if len(measured) == 3 and measured[1][0] > 1.08 * measured[0][0] + 100:
            yield {"start": start.name, "a": ends[0].name, "b": ends[1].name, "c": ends[2].name,
                   "legs": [_leg("car", start, end) for end in ends], "answer": measured[0][2].name}  # fmt: skip


@template(
    "map-walk-then-drive", SITES, "multi-leg-route",
    ("How many minutes does it take to walk from {start} to {between} and then drive to {end}? Add up the "
     "times that the map shows.",
     "I walk from {start} to {between}, then take the car to {end}. How many minutes is that in total?"),
    lambda row: answer(row["answer"]), _tell, held_out=True,
)  # fmt: skip
def walk_then_drive(world: World) -> Iterator[Row]:
    walks, drives = _trips(world, "walk first", TRIPS, IN_TOWN), _trips(world, "then drive", TRIPS, FAR)
    for (start, between), (_, end) in zip(walks, drives, strict=False):
        if len({start.id, between.id, end.id}) == 3:
            minutes = _minutes(world, "foot", start, between) + _minutes(world, "car", between, end)
            yield {"start": start.name, "between": between.name, "end": end.name, "answer": str(minutes),
                   "legs": [_leg("foot", start, between), _leg("car", between, end)]}  # fmt: skip


@template(
    "map-towns-within", SITES, "compare-values",
    ("Which of {a}, {b} and {c} can be reached from {start} by car within {limit} minutes? List them in "
     "this order, separated by commas.",
     "I have {limit} minutes to drive from {start}. Where can I get to: {a}, {b}, {c}? Answer with the "
     "names only, in this order, with commas between them."),
    lambda row: answer(*row["inside"], without=[row[name] for name in "abc" if row[name] not in row["inside"]]), _tell,
)  # fmt: skip
def towns_within(world: World) -> Iterator[Row]:
    """Three towns, some within a time by car and some not, none near the limit."""
    rng = Random("towns")
    towns = [place for place in region(world).settlements if place.label in ("City", "Town")]
    for _ in range(260):
        start, *ends = rng.sample(towns, 4)
        limit = rng.choice((30, 45, 60, 75))
        times = [_minutes(world, "car", start, end) for end in ends]
        inside = [end.name for end, minutes in zip(ends, times, strict=True) if minutes <= limit]
        if 0 < len(inside) < 3 and all(abs(minutes - limit) > 3 for minutes in times):
            yield {"start": start.name, "a": ends[0].name, "b": ends[1].name, "c": ends[2].name, "limit": limit,
                   "legs": [_leg("car", start, end) for end in ends], "inside": inside,
                   "answer": ", ".join(inside)}  # fmt: skip


@template(
    "map-bridge", SITES, "read-steps",
    ("Which bridge does the walking route from {start} to {end} cross?",
     "I walk from {start} to {end} as the map says. What is the name of the bridge on the way?"),
    lambda row: answer(row["answer"]), _tell,
)  # fmt: skip
def bridge(world: World) -> Iterator[Row]:
    for start, end in _trips(world, "bridges", 240, (800.0, 6000.0)):
        lines = steps(region(world).graph, _route(world, "foot", start, end))
        crossed = [line.text.removeprefix("Cross ") for line in lines if line.text.startswith("Cross ")]
        if len(crossed) == 1:
            yield _pair(start, end, "foot", answer=crossed[0])


@template(
    "map-show-directions", SITES, "fill-form",
    ("Show me the route from {start} to {end} {by}.", "Get directions {by} from {start} to {end}.",
     "Set up the way from {start} to {end} {by} on the map."),
    lambda row: shows(  # the fields and the option of the form, read as the benchmark does
        ("last", value_of('[name="route_from"]'), [row["start"]]),
        ("last", value_of('[name="route_to"]'), [row["end"]]),
        ("last", 'document.querySelector("div#content select.routing_engines").selectedIndex', str(row["option"])),
        ("last", text_of('[id="sidebar_content"]'), ["Distance: "]),
    ),
    lambda row: _routing(row, Answer()),
)  # fmt: skip
def show_directions(world: World) -> Iterator[Row]:
    by = {"car": "by car", "foot": "on foot", "bike": "by bicycle"}
    for number, (start, end) in enumerate(_trips(world, "show", 120)):
        mode = tuple(by)[number % 3]
        yield _pair(start, end, mode, by=by[mode], option=list(ENGINE).index(mode))


ROUTES = (
    _one_value(
        "map-drive-time", "car", "time", "How long does it take to drive from {start} to {end}? Answer as h:mm.",
        "What is the estimated driving time between {start} and {end}, as the map writes it (h:mm)?",
        "I am staying at {start}. How much time do I need by car to {end}? Write it like 0:07.",
    ),
    _one_value(
        "map-walk-distance", "foot", "distance",
        "What is the walking distance from {start} to {end}? Write it as the map does, such as 850m or 2.3km.",
        "How far is it on foot from {start} to {end}? Give the distance as the map shows it.", apart=IN_TOWN,
    ),
    _one_value(
        "map-drive-distance", "car", "distance",
        "How many kilometres is the drive from {start} to {end}? Write it as the map does, such as 3.4km or 12km.",
        "Measure the distance by car between {start} and {end}; write it as the map does.", apart=FAR,
    ),
    _one_value(
        "map-bike-time", "bike", "time", "How long does the bicycle ride from {start} to {end} take? Answer as h:mm.",
        "What does the map say: how much time do I need by bike from {start} to {end} (h:mm)?", held_out=True,
    ),
    compare_modes,
    within_minutes, closest_of_three, walk_then_drive, towns_within, bridge,
    show_directions,
)  # fmt: skip
TEMPLATES = (*PAGES, right_click, *SEARCHES, *ROUTES)

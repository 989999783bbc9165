"""Tasks of the map about places: what is written on their pages, what is near by, how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from agentrl.envs.webarena.sites.map.atlas import Atlas, Feature
from agentrl.envs.webarena.sites.map.geo import CENTRE
from agentrl.envs.webarena.sites.map.search import search
from agentrl.envs.webarena.sites.map.views import link
from agentrl.envs.webarena.sites.map.words import CATEGORIES
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, On, Template, literal
from agentrl.envs.webarena.tasks.templates.map.kit import (
    Row,
    at_url,
    exact,
    is_known_by_name,
    landmarks,
    must_include,
    named,
    opening,
    region,
    searching,
    shuffled,
)

SITES = ("map",)
SEVERAL = 150  # instances of a template
NEAR_KINDS = (
    "cafe",
    "restaurant",
    "pharmacy",
    "supermarket",
    "bank",
    "hotel",
    "bakery",
    "library",
    "post_office",
    "fuel",
)
COUNTED = ("hotel", "restaurant", "cafe", "pharmacy", "supermarket", "school", "pub", "fuel", "bakery", "bank")


def _row(place: Feature, **more: str) -> Row:
    return {"name": place.name, "path": place.path, "label": place.label.lower(), **more}


def _tagged(key: str, tag: str, count: int = SEVERAL) -> Callable[[World], Iterator[Row]]:
    """Places with a tag, whose value is the answer."""

    def rows(world: World) -> Iterator[Row]:
        places = named(region(world), key, lambda place: bool(place.tags.get(tag)))
        return (_row(place, answer=place.tags[tag]) for place in islice(places, count))

    return rows


def _read_value(name: str, tag: str, *intents: str, held_out: bool = False) -> Template:
    """Find a place and tell the value of one of its tags."""
    return Template(
        name=name, sites=SITES, skill="read-value", intents=intents, parameters=_tagged(name, tag),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: opening(row["name"], row["path"], Answer(row["answer"])), held_out=held_out,
    )  # fmt: skip


# ---------------------------------------------------------------------- pages of places


def _located(world: World) -> Iterator[Row]:
    for place in islice(named(region(world), "coordinates", lambda place: place.category != "house"), SEVERAL):
        yield _row(place, lat=f"{place.lat:.5f}", lon=f"{place.lon:.5f}")


def _addressed(world: World) -> Iterator[Row]:
    for place in islice(named(region(world), "address", lambda place: bool(place.number)), SEVERAL):
        yield _row(place, number=place.number, street=place.street)


def _without_phone(world: World) -> Iterator[Row]:
    kinds = ("viewpoint", "park", "playground", "monument", "parking", "station", "marketplace")
    places = named(region(world), "no phone", lambda place: place.category in kinds)
    return (_row(place) for place in islice(places, SEVERAL))


def _marked(world: World) -> Iterator[Row]:
    for place in landmarks(region(world), "marker", 80):
        yield _row(place, marker=f"/?mlat={place.lat}&mlon={place.lon}")


PAGES = (
    _read_value(
        "map-postcode", "addr:postcode", "What is the postcode of {name}?", "Tell me the zip code of {name}.",
        "I want to send a letter to {name}. Which postcode does it have?",
    ),
    _read_value(
        "map-phone", "phone", "What is the phone number of {name}?", "I need to call {name}. Which number do I dial?",
        "Look up the telephone number of {name} on the map.",
    ),
    _read_value(
        "map-opening-hours", "opening_hours", "What are the opening hours of {name}, as the map gives them?",
        "When is {name} open? Answer with the opening hours as they are written on the map.", held_out=True,
    ),
    _read_value(
        "map-cuisine", "cuisine", "Which cuisine does {name} serve, according to the map?",
        "What kind of food does {name} have? Give the cuisine as the map's tag names it.",
    ),
    Template(
        name="map-coordinates", sites=SITES, skill="read-value", parameters=_located,
        intents=("What are the coordinates of {name} in decimal degrees?",
                 "Tell me the latitude and longitude of {name}.",
                 "Give me the coordinates of {name} with five decimal places."),
        evaluation=lambda row: must_include(row["lat"], row["lon"]),
        solution=lambda row: opening(row["name"], row["path"], Answer(f"{row['lat']}, {row['lon']}")),
    ),
    Template(
        name="map-address", sites=SITES, skill="read-value", parameters=_addressed,
        intents=("What is the street address of {name}?", "In which street and at which house number is {name}?"),
        evaluation=lambda row: must_include(row["street"], row["number"]),
        solution=lambda row: opening(row["name"], row["path"], Answer(f"{row['number']} {row['street']}")),
    ),
    Template(
        name="map-missing-phone", sites=SITES, skill="recognise-impossible", parameters=_without_phone,
        intents=("What is the phone number of {name}? Answer N/A if the map has none.",
                 "Give me the telephone number of {name}, or N/A if it is not on the map."),
        evaluation=lambda row: exact("N/A"),
        solution=lambda row: opening(row["name"], row["path"], Answer("N/A")),
    ),
    Template(
        name="map-open-page", sites=SITES, skill="open-record",
        parameters=lambda world: (_row(place) for place in landmarks(region(world), "page", SEVERAL)),
        intents=("Pull up the description page of {name} on the map.", "Open the page of {name} with all its tags.",
                 "Show me the details of {name} on the map."),
        evaluation=lambda row: at_url(row["path"]),
        solution=lambda row: opening(row["name"], row["path"], Answer()),
    ),
    Template(
        name="map-marker", sites=SITES, skill="open-record", parameters=_marked,
        intents=("Show the map with a marker at {name}: open the map through the coordinates on its page.",
                 "On the page of {name}, follow its location to the map."),
        evaluation=lambda row: at_url(row["marker"]),
        solution=lambda row: [
            *opening(row["name"], row["path"], Click("a.geo")), On("__MAP__" + literal(row["marker"]), [Answer()])
        ],
    ),
)  # fmt: skip


# ---------------------------------------------------------------------- searches


def _nearest(known: Atlas, key: str, count: int, kinds: tuple[str, ...]) -> Iterator[tuple[Feature, str, Feature, str]]:
    """A place, the kind that is looked for, the nearest one (clearly nearer than the next), what to search for."""
    found = 0
    for number, place in enumerate(landmarks(known, key, 3 * count)):
        kind = kinds[number % len(kinds)]
        query = f"{CATEGORIES[kind].plural} near {place.name}"
        hits = search(known, query, CENTRE)
        if len(hits) < 2 or found == count:
            continue
        first, second = hits[0], hits[1]
        assert first.metres is not None and second.metres is not None
        if second.metres > first.metres + 30 and first.feature.name != second.feature.name:
            found += 1
            yield place, kind, first.feature, query


def _nearest_named(world: World) -> Iterator[Row]:
    for place, kind, nearest, query in _nearest(region(world), "nearest", 120, NEAR_KINDS):
        yield {"name": place.name, "kind": CATEGORIES[kind].label.lower(), "query": query, "answer": nearest.name}


def _nearest_phone(world: World) -> Iterator[Row]:
    kinds = ("pharmacy", "hotel", "library", "clinic", "dentist", "police", "hospital")
    for place, kind, nearest, query in _nearest(region(world), "nearest phone", 120, kinds):
        yield {"name": place.name, "kind": CATEGORIES[kind].label.lower(), "query": query, "path": nearest.path,
               "answer": nearest.tags["phone"]}  # fmt: skip


def _around(world: World) -> Iterator[Row]:
    for number, place in enumerate(landmarks(region(world), "around", 100)):
        plural = CATEGORIES[NEAR_KINDS[number % len(NEAR_KINDS)]].plural
        yield {"name": place.name, "plural": plural, "query": f"{plural} near {place.name}"}


def _counted(world: World) -> Iterator[Row]:
    known = region(world)
    towns = [place for place in known.settlements if place.label in ("Town", "District")]
    for town, kind in shuffled(((town, kind) for town in towns for kind in COUNTED), "count"):
        query = f"{CATEGORIES[kind].plural} in {town.name}"
        hits = search(known, query, CENTRE)
        if len(hits) > 1 and is_known_town(known, town):
            yield {"town": town.name, "plural": CATEGORIES[kind].plural, "query": query, "answer": str(len(hits))}


def is_known_town(known: Atlas, town: Feature) -> bool:
    """Is the name of the town or district that of nothing else?"""
    hits = search(known, town.name, CENTRE)
    return hits[0].feature is town and (len(hits) == 1 or hits[1].feature.name != town.name)


def _points(world: World) -> Iterator[Row]:
    known = region(world)
    for place in islice(named(known, "point", lambda place: place.category != "house"), SEVERAL):
        yield {"point": f"{place.lat:.5f}, {place.lon:.5f}", "answer": place.name}


def _cuisine_near(world: World) -> Iterator[Row]:
    known = region(world)
    kitchens = ("italian", "thai", "indian", "japanese", "mexican", "greek", "french", "korean")
    for number, place in enumerate(landmarks(known, "kitchen", 150)):
        kitchen = kitchens[number % len(kitchens)]
        query = f"{kitchen} restaurants near {place.name}"
        hits = search(known, query, CENTRE)
        if hits and is_known_by_name(known, hits[0].feature):
            nearest = hits[0].feature
            yield {"name": place.name, "kitchen": kitchen.capitalize(), "query": query, "answer": nearest.name,
                   "street": nearest.street}  # fmt: skip


SEARCHES = (
    Template(
        name="map-nearest", sites=SITES, skill="nearest", parameters=_nearest_named,
        intents=("Which {kind} is nearest to {name}, as the crow flies?",
                 "Tell me the name of the closest {kind} to {name}.",
                 "I am at {name} and look for a {kind}. Which one is the nearest?"),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: searching(row["query"], Answer(row["answer"])),
    ),
    Template(
        name="map-nearest-phone", sites=SITES, skill="nearest", held_out=True, parameters=_nearest_phone,
        intents=("What is the phone number of the {kind} nearest to {name}, as the crow flies?",
                 "I am at {name}. Which number do I call to reach the closest {kind}?"),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: opening(row["query"], row["path"], Answer(row["answer"])),
    ),
    Template(
        name="map-nearest-cuisine", sites=SITES, skill="nearest", parameters=_cuisine_near,
        intents=("Find the {kitchen} restaurant closest to {name}. Tell me its name and street.",
                 "Where is the nearest {kitchen} restaurant to {name}? Give its name and the street it is in."),
        evaluation=lambda row: must_include(row["answer"], row["street"]),
        solution=lambda row: searching(row["query"], Answer(f"{row['answer']}, {row['street']}")),
    ),
    Template(
        name="map-search-around", sites=SITES, skill="search", parameters=_around,
        intents=("Find {plural} near {name}: search the map for \"{plural} near {name}\".",
                 "Search for {plural} around {name}, with the words \"{query}\"."),
        evaluation=lambda row: at_url(link("/search", query=row["query"])),
        solution=lambda row: searching(row["query"], Answer()),
    ),
    Template(
        name="map-count", sites=SITES, skill="count-items", parameters=_counted,
        intents=("How many {plural} are there in {town}?", "Count the {plural} in {town}.",
                 "According to the map, what is the number of {plural} in {town}?"),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: searching(row["query"], Answer(row["answer"])),
    ),
    Template(
        name="map-whats-there", sites=SITES, skill="reverse-lookup", held_out=True, parameters=_points,
        intents=("Which place is at the coordinates {point}?", "What is located at {point}? Tell me its name."),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: searching(row["point"], Answer(row["answer"])),
    ),
)  # fmt: skip

TEMPLATES: tuple[Template, ...] = (*PAGES, *SEARCHES)

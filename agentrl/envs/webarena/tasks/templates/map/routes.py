"""Tasks of the map about routes: distances and times by car, bicycle and on foot, and directions to be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from agentrl.envs.webarena.sites.map.atlas import Feature
from agentrl.envs.webarena.sites.map.directions import steps, written_distance, written_time
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Parameters, Template
from agentrl.envs.webarena.tasks.templates.map.kit import (
    ANYWHERE,
    ENGINE,
    Row,
    Span,
    exact,
    leg,
    must_include,
    region,
    route,
    routing,
    trips,
)

SITES = ("map",)
SEVERAL = 80  # instances of a template
BY = {"car": "by car", "bike": "by bicycle", "foot": "on foot"}
IN_TOWN: Span = (500.0, 3500.0)  # between places that one walks to


def _minutes(seconds: float) -> int:
    return round(seconds / 60)


def _pair(start: Feature, end: Feature, mode: str, **more: Any) -> Row:
    return {"start": start.name, "end": end.name, "legs": [leg(mode, start, end)], **more}


def _legs(row: Parameters) -> list[tuple[str, str, str, str]]:
    return [tuple(part) for part in row["legs"]]


def _simple(mode: str, key: str, what: str, apart: Span) -> Callable[[World], Iterator[Row]]:
    """Trips with the time or the distance of their route as the answer."""

    def rows(world: World) -> Iterator[Row]:
        known = region(world)
        for start, end in trips(known, key, SEVERAL, apart):
            found = route(known, mode, start, end)
            answer = written_time(found.seconds) if what == "time" else written_distance(found.metres)
            yield _pair(start, end, mode, answer=answer)

    return rows


def _one_value(
    name: str, mode: str, what: str, *intents: str, held_out: bool = False, apart: Span = ANYWHERE
) -> Template:
    return Template(
        name=name, sites=SITES, skill="route", intents=intents, parameters=_simple(mode, name, what, apart),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: routing(_legs(row), Answer(row["answer"])), held_out=held_out,
    )  # fmt: skip


# ---------------------------------------------------------------------- several routes


def _compared(world: World) -> Iterator[Row]:
    known = region(world)
    for start, end in trips(known, "compare", SEVERAL, IN_TOWN):
        times = {mode: written_time(route(known, mode, start, end).seconds) for mode in ("foot", "car")}
        yield {"start": start.name, "end": end.name, "legs": [leg("foot", start, end), leg("car", start, end)], **times}


def _within(world: World) -> Iterator[Row]:
    """Limits that are clearly met or clearly missed, half of each."""
    known, rng = region(world), Random("within")
    for number, (start, end) in enumerate(trips(known, "within", SEVERAL, IN_TOWN)):
        minutes = _minutes(route(known, "foot", start, end).seconds)
        limit = minutes + rng.randint(3, 12) if number % 2 else max(2, minutes - rng.randint(3, 12))
        yield _pair(start, end, "foot", limit=limit, answer="Yes" if minutes <= limit else "No")


def _closest(world: World) -> Iterator[Row]:
    known, rng = region(world), Random("closest")
    walks = trips(known, "closest", 110, IN_TOWN)
    for start, _ in walks:
        others = [end for other, end in walks if end is not start and other is not start]
        ends = list({end.id: end for end in rng.sample(others, 8)}.values())[:3]
        measured = sorted((route(known, "car", start, end).metres, end.id, end) for end in ends)
        if len(measured) == 3 and measured[1][0] > 1.08 * measured[0][0] + 100:
            yield {"start": start.name, "a": ends[0].name, "b": ends[1].name, "c": ends[2].name,
                   "legs": [leg("car", start, end) for end in ends], "answer": measured[0][2].name}  # fmt: skip


def _two_legs(world: World) -> Iterator[Row]:
    known = region(world)
    walks = trips(known, "walk first", SEVERAL, IN_TOWN)
    for (start, between), (_, end) in zip(walks, trips(known, "then drive", SEVERAL, (1500.0, 1e9)), strict=False):
        if len({start.id, between.id, end.id}) == 3:
            minutes = sum(_minutes(route(known, mode, a, b).seconds)
                          for mode, a, b in (("foot", start, between), ("car", between, end)))  # fmt: skip
            yield {"start": start.name, "between": between.name, "end": end.name, "answer": str(minutes),
                   "legs": [leg("foot", start, between), leg("car", between, end)]}  # fmt: skip


def _towns(world: World) -> Iterator[Row]:
    """Three towns, some within a time by car and some not, none near the limit."""
    known, rng = region(world), Random("towns")
    towns = [place for place in known.settlements if place.label in ("City", "Town")]
    for _ in range(260):
        start, *ends = rng.sample(towns, 4)
        limit = rng.choice((30, 45, 60, 75))
        times = [_minutes(route(known, "car", start, end).seconds) for end in ends]
        inside = [end.name for end, minutes in zip(ends, times, strict=True) if minutes <= limit]
        if 0 < len(inside) < 3 and all(abs(minutes - limit) > 3 for minutes in times):
            yield {"start": start.name, "a": ends[0].name, "b": ends[1].name, "c": ends[2].name, "limit": limit,
                   "legs": [leg("car", start, end) for end in ends], "answer": ", ".join(inside)}  # fmt: skip


def _bridges(world: World) -> Iterator[Row]:
    known = region(world)
    for start, end in trips(known, "bridges", 240, (800.0, 6000.0)):
        lines = steps(known.graph, route(known, "foot", start, end))
        crossed = [line.text.removeprefix("Cross ") for line in lines if line.text.startswith("Cross ")]
        if len(crossed) == 1:
            yield _pair(start, end, "foot", answer=crossed[0])


def _shown(world: World) -> Iterator[Row]:
    known = region(world)
    for number, (start, end) in enumerate(trips(known, "show", 120)):
        mode = ("car", "foot", "bike")[number % 3]
        yield _pair(start, end, mode, by=BY[mode], option=list(ENGINE).index(mode))


def _directions_shown(row: Parameters) -> dict[str, Any]:
    """The two fields and the option of the form, read as the benchmark does."""
    fields = (
        ("document.querySelector('[name=\"route_from\"]').value", {"must_include": [row["start"]]}),
        ("document.querySelector('[name=\"route_to\"]').value", {"must_include": [row["end"]]}),
        ('document.querySelector("div#content select.routing_engines").selectedIndex',
         {"exact_match": str(row["option"])}),
        ("document.querySelector('[id=\"sidebar_content\"]').outerText", {"must_include": ["Distance: "]}),
    )  # fmt: skip
    targets = [{"url": "last", "locator": locator, "required_contents": wanted} for locator, wanted in fields]
    return {"eval_types": ["program_html"], "reference_answers": None, "program_html": targets}


TEMPLATES: tuple[Template, ...] = (
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
        "Measure the distance by car between {start} and {end}; write it as the map does.", apart=(1500.0, 1e9),
    ),
    _one_value(
        "map-bike-time", "bike", "time", "How long does the bicycle ride from {start} to {end} take? Answer as h:mm.",
        "What does the map say: how much time do I need by bike from {start} to {end} (h:mm)?", held_out=True,
    ),
    Template(
        name="map-compare-modes", sites=SITES, skill="compare-values", parameters=_compared,
        intents=("Compare the time for walking and driving from {start} to {end}. Give both as h:mm.",
                 "How long does it take from {start} to {end} on foot, and how long by car? Write both times as h:mm."),
        evaluation=lambda row: must_include(row["foot"], row["car"]),
        solution=lambda row: routing(_legs(row), Answer(f"walking {row['foot']}, driving {row['car']}")),
    ),
    Template(
        name="map-within-minutes", sites=SITES, skill="route", parameters=_within,
        intents=("Can I walk from {start} to {end} within {limit} minutes? Answer Yes or No.",
                 "Is {end} at most {limit} minutes on foot from {start}? Answer with Yes or No only."),
        evaluation=lambda row: exact(row["answer"]),
        solution=lambda row: routing(_legs(row), Answer(row["answer"])),
    ),
    Template(
        name="map-closest-of-three", sites=SITES, skill="compare-values", held_out=True, parameters=_closest,
        intents=("Which of these is the shortest drive from {start}: {a}, {b} or {c}? Give its name only.",
                 "I start at {start} by car. Which has the shortest distance: {a}, {b} or {c}? Give only the name."),
        evaluation=lambda row: exact(row["answer"]),
        solution=lambda row: routing(_legs(row), Answer(row["answer"])),
    ),
    Template(
        name="map-walk-then-drive", sites=SITES, skill="multi-leg-route", held_out=True, parameters=_two_legs,
        intents=("How many minutes does it take to walk from {start} to {between} and then drive to {end}? Add up the "
                 "times that the map shows.",
                 "I walk from {start} to {between}, then take the car to {end}. How many minutes is that in total?"),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: routing(_legs(row), Answer(row["answer"])),
    ),
    Template(
        name="map-towns-within", sites=SITES, skill="compare-values", parameters=_towns,
        intents=("Which of {a}, {b} and {c} can be reached from {start} by car within {limit} minutes? List them in "
                 "this order, separated by commas.",
                 "I have {limit} minutes to drive from {start}. Where can I get to: {a}, {b}, {c}? Answer with the "
                 "names only, in this order, with commas between them."),
        evaluation=lambda row: exact(row["answer"]),
        solution=lambda row: routing(_legs(row), Answer(row["answer"])),
    ),
    Template(
        name="map-bridge", sites=SITES, skill="read-steps", parameters=_bridges,
        intents=("Which bridge does the walking route from {start} to {end} cross?",
                 "I walk from {start} to {end} as the map says. What is the name of the bridge on the way?"),
        evaluation=lambda row: must_include(row["answer"]),
        solution=lambda row: routing(_legs(row), Answer(row["answer"])),
    ),
    Template(
        name="map-show-directions", sites=SITES, skill="fill-form", parameters=_shown,
        intents=("Show me the route from {start} to {end} {by}.", "Get directions {by} from {start} to {end}.",
                 "Set up the way from {start} to {end} {by} on the map."),
        evaluation=_directions_shown,
        solution=lambda row: routing(_legs(row), Answer()),
    ),
)  # fmt: skip

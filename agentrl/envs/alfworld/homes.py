"""Our own homes: 120 rooms drawn from a seed, and tasks in them, each a placement of things with a goal.

A room decides which receptacles there are and where one stands to reach them; a task, which things lie where.
Everything follows from the room's number and the task's, by integer hashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import splitmix64_int, uniform
from agentrl.envs.alfworld.games import ABILITY, DONE_AT, FAMILIES, LOOK, TWO, Game, Goal, Receptacle, Thing, Wording
from agentrl.envs.common.data_files import data_file

ROOMS = ("kitchen", "living room", "bedroom", "bathroom")
PER_KIND = 30  # rooms
UNSEEN = range(24, 30)  # numbers of the rooms that only the test split has
OPENABLE = ("cabinet", "drawer", "fridge", "microwave", "safe")
BASINS = {"sinkbasin": "sink", "bathtubbasin": "bathtub"}
PAIRED = ("cabinet", "stoveburner", "shelf", "drawer")  # two of a kind may be reached from one place
TYPICAL = 6.0  # how much likelier a usual place is than another
SEED = 20201008  # of all homes
START = "loc_bar_00"  # the middle of the room
LAMPS = ("desklamp", "floorlamp")
MOST_ALIKE = 4  # things of a kind in a rebuilt scene
MOST_DRAWS = 700  # numbers that a room or a task may use


@dataclass(frozen=True)
class Kind:
    """A kind of thing."""

    fits: frozenset[str]
    usual: frozenset[str]
    can: frozenset[str]
    most: dict[str, int]  # in a room of each kind


@cache
def tables() -> dict[str, Any]:
    """`things.toml`, with groups written out and all names in lower case."""
    data = data_file("agentrl.envs.alfworld", "things.toml")
    groups = {name: words.split() for name, words in data["groups"].items()}

    def spelled(words: str) -> frozenset[str]:
        return frozenset(kind.lower() for word in words.split() for kind in groups.get(word, [word]))

    def kind(on: str, usual: str, can: str, most: list[int]) -> Kind:
        return Kind(spelled(on), spelled(usual), frozenset(can.split()), dict(zip(ROOMS, most, strict=True)))

    things = {
        name.lower(): kind(on, usual, f"take {can}", most) for name, (on, usual, can, most) in data["things"].items()
    }
    fixed = {
        name.lower(): kind(on, on, "use" if "Lamp" in name else "", most) for name, (on, most) in data["fixed"].items()
    }
    rooms = {kind: {name.lower(): counts for name, counts in data[kind].items()} for kind in ROOMS}
    fits = frozenset((receptacle, name) for name, each in things.items() for receptacle in each.fits)  # in types
    return {"kinds": things | fixed, "fits": fits, "rooms": rooms, "tasks": data["tasks"]}


def _draws(*parts: int) -> Iterator[float]:
    key = SEED
    for part in parts:
        key = splitmix64_int(key * 1_000_003 + part)
    return iter(uniform(key, 0, (MOST_DRAWS,)).tolist())


@lru_cache(maxsize=PER_KIND * len(ROOMS))
def room(kind: str, number: int) -> tuple[Receptacle, ...]:
    """The receptacles of a room, and from where each is reached."""
    draws = _draws(ROOMS.index(kind), number)
    found: list[Receptacle] = []
    places = 0
    for name, (least, most) in tables()["rooms"][kind].items():
        count = least + int(next(draws) * (most - least + 1))
        for index in range(count):
            beside = name in PAIRED and index % 2 == 1 and next(draws) < 0.5
            places += not beside
            key = f"{BASINS.get(name, name)}_bar_{index + 1:02d}" + (f"_bar_{name}" if name in BASINS else "")
            found.append(Receptacle(key, name, f"loc_bar_{places:02d}", name in OPENABLE))
    return tuple(found)


@cache
def task_ids(split: str, families: tuple[str, ...] = FAMILIES) -> tuple[str, ...]:
    """The tasks of a split, `kitchen-07-012`: room and number."""
    rooms = UNSEEN if split == "test" else range(UNSEEN.start)
    found = []
    for kind in ROOMS:
        counts = tables()["tasks"][kind]
        first = counts["train"] if split == "dev" else 0
        for number in range(first, first + counts[split]):
            found += [f"{kind.replace(' ', '')}-{place:02d}-{number:03d}" for place in rooms]
    return tuple(task for task in found if family_of(task) in families)


@dataclass(frozen=True)
class Stock:
    """What a room can hold, worked out once."""

    receptacles: tuple[Receptacle, ...]
    by_type: dict[str, list[Receptacle]]
    kinds: dict[str, Kind]
    spots: dict[str, list[tuple[str, float]]]  # kind of thing -> types of receptacles here that take it, and how likely


@lru_cache(maxsize=PER_KIND * len(ROOMS))
def stock(kind: str, number: int) -> Stock:
    """The receptacles and possible things of a room of ours."""
    kinds = {name: each for name, each in tables()["kinds"].items() if each.most[kind]}
    return stock_of(room(kind, number), kinds)


def stock_of(receptacles: tuple[Receptacle, ...], kinds: dict[str, Kind]) -> Stock:
    """What of these kinds can be where among receptacles."""
    here: dict[str, list[Receptacle]] = {}
    for each in receptacles:
        here.setdefault(each.type, []).append(each)
    spots = {
        name: [(found, TYPICAL if found in each.usual else 1.0) for found in here if found in each.fits]
        for name, each in kinds.items()
    }
    return Stock(receptacles, here, {name: kinds[name] for name in kinds if spots[name]}, spots)


def parts_of(task: str) -> tuple[str, int, int]:
    """Kind and number of the room, and number of the task."""
    word, place, number = task.split("-")
    return next(name for name in ROOMS if name.replace(" ", "") == word), int(place), int(number)


def family_of(task: str) -> str:
    """Every room has tasks of all the families of its kind, in turn."""
    kind, place, number = parts_of(task)
    families = tables()["tasks"][kind]["families"]
    return families[(number + place) % len(families)]


def build(task: str, wording: Wording) -> Game:
    """The game of a task id."""
    kind, place, number = parts_of(task)
    here = stock(kind, place)
    draws = _draws(ROOMS.index(kind), place, 1 + number)
    counts = {name: int(next(draws) * (each.most[kind] + 1)) for name, each in here.kinds.items()}
    goal = _goal(family_of(task), counts, here, kind, draws)
    things = tuple(thing for name, count in counts.items() for thing in _lay(name, count, here, goal, draws))
    instruction = goal.instruction(int(next(draws) * 2))
    return Game(task, here.receptacles, things, tables()["fits"], START, goal, instruction, wording)


def _lay(name: str, count: int, here: Stock, goal: Goal, draws: Iterator[float]) -> Iterator[Thing]:
    """Things of one kind, each in a place of its own."""
    spots = here.spots[name]
    if name == goal.thing:  # never where it is to be in the end
        spots = [spot for spot in spots if spot[0] != goal.receptacle]
    for index in range(count):
        stands = here.by_type[_weighted(spots, next(draws))]
        at = stands[int(next(draws) * len(stands))]
        yield Thing(f"{name}_bar_{index + 1:02d}", name, (at.id,), (at.place,), here.kinds[name].can)


def _goal(family: str, counts: dict[str, int], here: Stock, kind: str, draws: Iterator[float]) -> Goal:
    """A goal that this room allows; `counts` then has as many things as it needs."""
    need = 2 if family == TWO else 1
    names = [
        name
        for name, each in here.kinds.items()
        if "take" in each.can
        and each.most[kind] >= need
        and (family not in ABILITY or ABILITY[family] in each.can)
        and len(here.spots[name]) > 1
    ]
    name = names[int(next(draws) * len(names))]
    counts[name] = max(counts[name], need)
    if family == LOOK:
        lamps = [lamp for lamp in LAMPS if lamp in counts]
        lamp = lamps[int(next(draws) * len(lamps))]
        counts[lamp] = 1
        return Goal(family, name, lamp=lamp)
    barred = DONE_AT.get(family)  # else the last errand would be none
    targets = [found for found, _ in here.spots[name] if found != barred]
    return Goal(family, name, targets[int(next(draws) * len(targets))])


def _weighted(spots: Sequence[tuple[str, float]], draw: float) -> str:
    left = draw * sum(weight for _, weight in spots)
    for name, weight in spots:
        left -= weight
        if left < 0:
            return name
    return spots[-1][0]


def rebuilt_room(
    name: str, kind: str, number: int, seed: int, goal: Goal, counts: Mapping[str, int], wording: Wording
) -> Game:
    """A room of ours with a given goal and given numbers of things, for a scene whose arrangement is not known."""
    receptacles, kinds = room(kind, number % PER_KIND), tables()["kinds"]
    known = {"", *tables()["rooms"][kind], *(each for each, _ in tables()["fits"])}
    if goal.thing not in kinds or (goal.lamp or goal.thing) not in kinds or goal.receptacle not in known:
        raise ConfigError(f"{name}: its goal must name things and receptacles of the benchmark; got {goal}")
    if goal.receptacle and all(each.type != goal.receptacle for each in receptacles):
        place = f"loc_bar_{len(receptacles) + 1:02d}"
        extra = Receptacle(f"{goal.receptacle}_bar_01", goal.receptacle, place, goal.receptacle in OPENABLE)
        receptacles = (*receptacles, extra)
    need = {goal.thing: 2 if goal.family == TWO else 1} | ({goal.lamp: 1} if goal.lamp else {})
    here = stock_of(receptacles, kinds)
    numbers = {each: max(counts.get(each, 0), need.get(each, 0)) for each in here.kinds}
    draws = _draws(ROOMS.index(kind), number, seed)
    free = {each: [spot for spot, _ in here.spots[each] if spot != goal.receptacle] for each in need}
    if not all(free.values()):
        raise ConfigError(
            f"{name}: a {goal.thing} must have a place but the {goal.receptacle}; there is none in this room"
        )
    things = tuple(
        thing for each, count in numbers.items() for thing in _lay(each, min(count, MOST_ALIKE), here, goal, draws)
    )
    return Game(name, receptacles, things, tables()["fits"], START, goal, goal.instruction(), wording)

"""What a game is: receptacles, things, the goal, and the wording; the same for our homes and for loaded files.

Everything goes by the ids of the game's PDDL: their order is the order of every list of the text, and their numbers
follow from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

FAMILIES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
SIMPLE, LOOK, CLEAN, HEAT, COOL, TWO = FAMILIES
TREATED = {CLEAN: "clean", HEAT: "hot", COOL: "cool"}  # family -> what the thing must be in the end
ABILITY = {CLEAN: "clean", HEAT: "heat", COOL: "cool"}  # family -> what must be possible with it
DONE_AT = {CLEAN: "sinkbasin", HEAT: "microwave", COOL: "fridge"}  # family -> where it is done
# The sentences of the benchmark, two a family.
INSTRUCTIONS = {
    SIMPLE: ("put a {thing} in {receptacle}", "put some {thing} on {receptacle}"),
    LOOK: ("look at {thing} under the {lamp}", "examine the {thing} with the {lamp}"),
    CLEAN: ("put a clean {thing} in {receptacle}", "clean some {thing} and put it in {receptacle}"),
    HEAT: ("put a hot {thing} in {receptacle}", "heat some {thing} and put it in {receptacle}"),
    COOL: ("put a cool {thing} in {receptacle}", "cool some {thing} and put it in {receptacle}"),
    TWO: ("put two {thing} in {receptacle}", "find two {thing} and put them in {receptacle}"),
}


@dataclass(frozen=True)
class Wording:
    """How a game speaks. The defaults are those of ALFWorld 0.4; `EARLIER` is what came before."""

    put: bool = False  # "put X in/on Y", not "move X to Y"
    places: bool = False  # "You arrive at loc 3.", not at the receptacle
    help: bool = True  # is there a command for help?
    cleaners: frozenset[str] = frozenset({"sinkbasin"})  # types of receptacles that clean


EARLIER = Wording(put=True, places=True, help=False, cleaners=frozenset({"sink", "sinkbasin"}))
WORDINGS = {"0.4": Wording(), "0.3": EARLIER}


@dataclass(frozen=True)
class Receptacle:
    """Something that things lie on or in, and where one stands to reach it."""

    id: str
    type: str  # in lower case, as all types; empty where a file does not tell it
    place: str
    openable: bool = False
    opened: bool = False


@dataclass(frozen=True)
class Thing:
    """Something that lies around."""

    id: str
    type: str
    inside: tuple[str, ...] = ()  # ids of receptacles; files may name several
    places: tuple[str, ...] = ()  # where it can be cut, as the file says
    can: frozenset[str] = frozenset()  # of take, heat, cool, clean, slice, use, hold
    states: frozenset[str] = frozenset()  # of hot, cool, clean, sliced, on
    holds: tuple[str, ...] = ()  # ids of what lies in it


@dataclass(frozen=True)
class Goal:
    """What must be true in the end, by types."""

    family: str
    thing: str
    receptacle: str = ""
    lamp: str = ""

    def instruction(self, form: int = 0) -> str:
        """The goal in one of the benchmark's two sentences for it."""
        return INSTRUCTIONS[self.family][form].format(thing=self.thing, receptacle=self.receptacle, lamp=self.lamp)


@dataclass(frozen=True)
class Game:
    """A home and a task in it, before the first step."""

    name: str
    receptacles: tuple[Receptacle, ...]
    things: tuple[Thing, ...]
    fits: frozenset[tuple[str, str]]  # (type of receptacle, type of thing)
    start: str  # place of the agent
    goal: Goal
    instruction: str
    wording: Wording = field(default_factory=Wording)

    @cached_property
    def names(self) -> dict[str, str]:
        """id -> the name in the text."""
        places = {self.start, *(each.place for each in self.receptacles)}
        places |= {place for thing in self.things for place in thing.places}
        return numbered([*(each.id for each in self.receptacles), *(each.id for each in self.things), *places])


def numbered(ids: Iterable[str]) -> dict[str, str]:
    """Names by ALFWorld's rule: the type and a number, the highest number for the first id of a type."""
    by_type: dict[str, list[str]] = defaultdict(list)
    names = {}
    for key in sorted(set(ids)):
        kind, mark, _ = key.partition("_bar_")
        if mark:
            by_type[kind + "basin" if "basin" in key else kind].append(key)
        else:
            names[key] = f"{key} "
    for kind, keys in by_type.items():
        names.update((key, f"{kind} {len(keys) - place}") for place, key in enumerate(keys))
    return names

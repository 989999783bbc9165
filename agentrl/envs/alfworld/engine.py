"""The household engine: the sentences, commands and rules of ALFWorld's text games, without a planner or a grammar."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from agentrl.envs.alfworld.games import ABILITY, LOOK, TREATED, TWO, Game, Receptacle, Thing

NOTHING = "Nothing happens."
MIDDLE = "You are in the middle of a room. Looking quickly around you, you see {}."
WELCOME = "-= Welcome to TextWorld, ALFRED! =-"
HELP = """Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""
KNIVES = ("knife", "butterknife")
CHANGED = {"heat": ("hot", "cool"), "cool": ("cool", "hot"), "clean": ("clean", "")}  # verb -> (gained, lost)


def listing(names: Sequence[str]) -> str:
    """ "a mug 2, a mug 1, and a cup 1": always "a", and "nothing" where there is nothing."""
    if len(names) < 2:
        return f"a {names[0]}" if names else "nothing"
    return f"a {', a '.join(names[:-1])}, and a {names[-1]}"


class World:
    """A game that is played. Receptacles and things are numbers in the order of their ids."""

    def __init__(self, game: Game) -> None:
        self.game, wording, names = game, game.wording, game.names
        self.receptacles = sorted(game.receptacles, key=lambda each: each.id)
        self.things = sorted(game.things, key=lambda each: each.id)
        self.recs = [names[each.id] for each in self.receptacles]  # names
        self.objs = [names[each.id] for each in self.things]
        self.rec_at = {name: number for number, name in enumerate(self.recs)}
        self.obj_at = {name: number for number, name in enumerate(self.objs)}
        self.place = [each.place for each in self.receptacles]
        self.near: dict[str, list[int]] = defaultdict(list)
        for number, place in enumerate(self.place):
            self.near[place].append(number)
        self.openable = [each.openable for each in self.receptacles]

        def of_type(each_of: Sequence[Receptacle | Thing], *types: str) -> list[int]:
            return [number for number, each in enumerate(each_of) if each.type in types]

        heats, cools = of_type(self.receptacles, "microwave"), of_type(self.receptacles, "fridge")
        self.appliances = {"heat": heats, "cool": cools, "clean": of_type(self.receptacles, *wording.cleaners)}
        goal, ability = game.goal, ABILITY.get(game.goal.family)
        wanted = of_type(self.things, goal.thing)
        self.wanted = [number for number in wanted if ability is None or ability in self.things[number].can]
        self.targets = of_type(self.receptacles, goal.receptacle)
        lamps = of_type(self.things, goal.lamp) if goal.family == LOOK else []
        self.lamps = [number for number in lamps if "use" in self.things[number].can]
        self.put_verb, self.put_word = ("put", " in/on ") if wording.put else ("move", " to ")
        self._steps = {
            "look": self._look, "inventory": self._inventory, "help": self._help, "go": self._go, "open": self._open,
            "close": self._close, "take": self._take, self.put_verb: self._put, "examine": self._examine,
            "use": self._use, "slice": self._slice, **{verb: partial(self._treat, verb) for verb in CHANGED},
        }  # fmt: skip
        self.reset()

    def reset(self) -> str:
        """To the beginning; what the game says first."""
        self.here, self.held = self.game.start, -1
        self.opened = [each.opened for each in self.receptacles]
        self.inside: list[list[int]] = [[] for _ in self.receptacles]
        ids = {each.id: number for number, each in enumerate(self.receptacles)}
        for number, thing in enumerate(self.things):
            for key in thing.inside:
                self.inside[ids[key]].append(number)
        self.states = [set(each.states) for each in self.things]
        self.places = [set(each.places) for each in self.things]  # of things, for the knife and for "next to it"
        self.taken: list[set[int]] = [set() for _ in self.things]  # receptacles that a thing was taken from
        self._possible: list[str] | None = None  # the commands of this moment, once they are asked for
        # A game that begins at a receptacle begins by saying so.
        first = self._look("") if self.here in self.near else MIDDLE.format(listing(self.recs))
        return f"{WELCOME}\n\n{first}\n\nYour task is to: {self.game.instruction}."

    # ------------------------------------------------------------------ commands

    def step(self, command: str) -> str:
        """Do what a command says; anything that is not admissible does nothing."""
        command = command.strip()
        if command not in self.commands():
            return NOTHING
        self._possible = None
        verb, _, rest = command.partition(" ")
        return self._steps[verb](rest)

    def _look(self, _: str) -> str:
        near = self.near.get(self.here)
        if not near:  # only the beginning tells what is around
            return MIDDLE.format(listing(()))
        floor = [
            self.objs[thing]
            for thing, places in enumerate(self.places)
            if self.taken[thing] and self.here in places
            for receptacle in near
            if receptacle in self.taken[thing]
        ]
        facing = [self.recs[number] for number in near]
        facing = [*facing[:-2], ", and ".join(facing[-2:])]
        return f"You are facing the {', '.join(facing)}. Next to it, you see {listing(floor)}."

    def _inventory(self, _: str) -> str:
        return "You are not carrying anything." if self.held < 0 else f"You are carrying: a {self.objs[self.held]}."

    def _help(self, _: str) -> str:
        return HELP

    def _go(self, rest: str) -> str:
        number = self.rec_at[rest.removeprefix("to ")]
        self.here = self.place[number]
        where = self.game.names[self.here] if self.game.wording.places else self.recs[number]
        return f"You arrive at {where}. {self._describe(number)}"

    def _open(self, rest: str) -> str:
        number = self.rec_at[rest]
        self.opened[number] = True
        return f"You open the {rest}. {self._describe(number)}"

    def _close(self, rest: str) -> str:
        self.opened[self.rec_at[rest]] = False
        return f"You close the {rest}."

    def _take(self, rest: str) -> str:
        what, where = rest.split(" from ")
        thing, number = self.obj_at[what], self.rec_at[where]
        self.inside[number].remove(thing)
        self.places[thing].discard(self.here)
        self.taken[thing].add(number)
        self.held = thing
        return f"You pick up the {what} from the {where}."

    def _put(self, rest: str) -> str:
        what, where = rest.split(self.put_word)
        thing, number = self.held, self.rec_at[where]
        if thing not in self.inside[number]:
            insort(self.inside[number], thing)
        self.places[thing].add(self.here)
        self.taken[thing].discard(number)
        self.held = -1
        return f"You {self.put_verb} the {what}{self.put_word}the {where}."

    def _treat(self, verb: str, rest: str) -> str:
        what, where = rest.split(" with ")
        gained, lost = CHANGED[verb]
        self.states[self.held].add(gained)
        self.states[self.held].discard(lost)
        return f"You {verb} the {what} using the {where}."

    def _use(self, rest: str) -> str:
        self.states[self.obj_at[rest]].add("on")  # nothing ever counts as off again
        return f"You turn on the {rest}."

    def _slice(self, rest: str) -> str:
        what, knife = rest.split(" with ")
        self.states[self.obj_at[what]].add("sliced")
        return f"You sliced the {what} with the {knife}."

    def _examine(self, rest: str) -> str:
        return self._describe(self.rec_at[rest]) if rest in self.rec_at else self._describe_thing(self.held)

    # ------------------------------------------------------------------ sentences

    def _describe(self, number: int) -> str:
        name = self.recs[number]
        if self.closed(number):
            return f"The {name} is closed."
        seen = listing([self.objs[thing] for thing in self.inside[number]])
        if self.openable[number]:
            return f"The {name} is open. In it, you see {seen}."
        return f"On the {name}, you see {seen}."

    def _describe_thing(self, thing: int) -> str:
        name, states, able = self.objs[thing], self.states[thing], self.things[thing].can
        if "hold" in able:
            holds = [self.game.names[key] for key in sorted(self.things[thing].holds)]
            return f"This is a normal {name}. In it, you see {listing(holds)}."
        warmth = "hot" if "hot" in states else "cool" if "cool" in states else ""
        words = " and ".join(word for word in (warmth, "clean") if word in states)
        if words and states & {"clean", "sliced"}:
            return f"This is a {words} {'sliced ' if 'sliced' in states else ''}{name}."
        if warmth:
            return f"This is a {'cold' if warmth == 'cool' else warmth} {name}."
        if "use" in able and "on" in states:
            return f"This {name} is on."
        if "slice" in able and "sliced" in states:
            return f"This is a sliced {name}."
        return f"There's nothing special about {name}."

    # ------------------------------------------------------------------ what can be asked

    def accepts(self, number: int, thing: int) -> bool:
        """Does a thing fit there?"""
        return (self.receptacles[number].type, self.things[thing].type) in self.game.fits

    def closed(self, number: int) -> bool:
        """Must it be opened before anything can be seen or taken there?"""
        return self.openable[number] and not self.opened[number]

    def visible(self) -> list[int]:
        """The things in sight: in the hand, and in what is near and not closed."""
        seen = {self.held} if self.held >= 0 else set()
        for number in self.near.get(self.here, ()):
            if not self.closed(number):
                seen.update(self.inside[number])
        return sorted(seen)

    def commands(self) -> list[str]:
        """All commands that do something here, sorted."""
        if self._possible is None:
            self._possible = sorted(self._commands())
        return list(self._possible)

    def _commands(self) -> Iterator[str]:
        here, held, objs, recs = self.here, self.held, self.objs, self.recs
        near = self.near.get(here, ())
        reached = [number for number in near if not self.closed(number)]
        yield from ("help", "inventory", "look") if self.game.wording.help else ("inventory", "look")
        yield from (f"go to {name}" for name, place in zip(recs, self.place, strict=True) if place != here)
        for number in near:
            yield f"examine {recs[number]}"
            if self.openable[number]:
                yield f"{'close' if self.opened[number] else 'open'} {recs[number]}"
        lamps = {thing for number in near for thing in self.inside[number] if "use" in self.things[thing].can}
        yield from (f"use {objs[thing]}" for thing in lamps)
        if held < 0:
            inside = [(thing, number) for number in reached for thing in self.inside[number]]
            takes = [(thing, number) for thing, number in inside if "take" in self.things[thing].can]
            yield from (f"take {objs[thing]} from {recs[number]}" for thing, number in takes)
            return
        # Things can be examined in the hand only: a comma in ALFWorld's domain makes its other case impossible.
        yield f"examine {objs[held]}"
        puts = [number for number in reached if self.accepts(number, held)]
        yield from (f"{self.put_verb} {objs[held]}{self.put_word}{recs[number]}" for number in puts)
        for verb in self.appliances.keys() & self.things[held].can:
            fitting = [number for number in near if number in self.appliances[verb]]
            yield from (f"{verb} {objs[held]} with {recs[number]}" for number in fitting)
        if self.things[held].type in KNIVES:
            for thing, each in enumerate(self.things):
                if "slice" in each.can and here in self.places[thing]:
                    yield f"slice {objs[thing]} with {objs[held]}"

    def key(self) -> tuple[Any, ...]:
        """Equal for equal states of the same game."""
        inside, states = tuple(map(tuple, self.inside)), tuple(map(frozenset, self.states))
        return self.here, self.held, tuple(self.opened), inside, states

    def won(self) -> bool:
        """Is the goal reached?"""
        goal = self.game.goal
        if goal.family == LOOK:
            near = self.near.get(self.here, ())
            return self.held in self.wanted and any(
                "on" in self.states[lamp] and any(lamp in self.inside[number] for number in near) for lamp in self.lamps
            )
        need, enough = TREATED.get(goal.family), 2 if goal.family == TWO else 1
        for inside in [self.inside[number] for number in self.targets if self.inside[number]]:
            right = [thing in inside and (need is None or need in self.states[thing]) for thing in self.wanted]
            if sum(right) >= enough:
                return True
        return False

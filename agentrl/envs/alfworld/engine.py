"""The household engine: the sentences, commands and rules of ALFWorld's text games, without a planner or a grammar."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from agentrl.envs.alfworld.games import ABILITY, LOOK, TREATED, TWO, Game

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
ALONE = ("look", "inventory", "help")  # nothing follows these
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
        self.appliances = {
            "heat": [each.type == "microwave" for each in self.receptacles],
            "cool": [each.type == "fridge" for each in self.receptacles],
            "clean": [each.type in wording.cleaners for each in self.receptacles],
        }
        goal = game.goal
        self.wanted = [number for number, each in enumerate(self.things) if each.type == goal.thing]
        if (ability := ABILITY.get(goal.family)) is not None:
            self.wanted = [number for number in self.wanted if ability in self.things[number].can]
        self.targets = [number for number, each in enumerate(self.receptacles) if each.type == goal.receptacle]
        lamps = [number for number, each in enumerate(self.things) if each.type == goal.lamp and "use" in each.can]
        self.lamps = lamps if goal.family == LOOK else []
        self.put_verb, self.put_word = ("put", " in/on ") if wording.put else ("move", " to ")
        self._steps = {
            "look": self._look, "inventory": self._inventory, "help": self._help, "go": self._go, "open": self._open,
            "close": self._close, "take": self._take, self.put_verb: self._put, "examine": self._examine,
            "use": self._use, "slice": self._slice, **{verb: partial(self._treat, verb) for verb in CHANGED},
        }  # fmt: skip
        self._always: dict[str, list[str]] = {}  # place -> the commands that always do something there
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
        # A game that begins at a receptacle begins by saying so.
        first = self._look("") if self.here in self.near else MIDDLE.format(listing(self.recs))
        return f"{WELCOME}\n\n{first}\n\nYour task is to: {self.game.instruction}."

    # ------------------------------------------------------------------ commands

    def step(self, command: str) -> str:
        """Do what a command says; anything that is not admissible does nothing."""
        verb, _, rest = command.strip().partition(" ")
        act = self._steps.get(verb)
        if act is None or (rest and verb in ALONE):
            return NOTHING
        return act(rest) or NOTHING

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

    def _help(self, _: str) -> str | None:
        return HELP if self.game.wording.help else None

    def _go(self, rest: str) -> str | None:
        number = self.rec_at.get(rest[3:]) if rest.startswith("to ") else None
        if number is None or self.place[number] == self.here:
            return None
        self.here = self.place[number]
        where = self.game.names[self.here] if self.game.wording.places else self.recs[number]
        return f"You arrive at {where}. {self._describe(number)}"

    def _open(self, rest: str) -> str | None:
        number = self.rec_at.get(rest)
        if number is None or not self.closed(number) or self.place[number] != self.here:
            return None
        self.opened[number] = True
        return f"You open the {rest}. {self._describe(number)}"

    def _close(self, rest: str) -> str | None:
        number = self.rec_at.get(rest)
        if number is None or not self.openable[number] or not self.opened[number] or self.place[number] != self.here:
            return None
        self.opened[number] = False
        return f"You close the {rest}."

    def _take(self, rest: str) -> str | None:
        what, _, where = rest.partition(" from ")
        thing, number = self.obj_at.get(what), self.rec_at.get(where)
        if thing is None or number is None or self.held >= 0 or not self._reached(number):
            return None
        if thing not in self.inside[number] or "take" not in self.things[thing].can:
            return None
        self.inside[number].remove(thing)
        self.places[thing].discard(self.here)
        self.taken[thing].add(number)
        self.held = thing
        return f"You pick up the {what} from the {where}."

    def _put(self, rest: str) -> str | None:
        what, _, where = rest.partition(self.put_word)
        thing, number = self.obj_at.get(what), self.rec_at.get(where)
        if thing is None or number is None or self.held != thing:
            return None
        if not self.accepts(number, thing) or not self._reached(number):
            return None
        if thing not in self.inside[number]:
            insort(self.inside[number], thing)
        self.places[thing].add(self.here)
        self.taken[thing].discard(number)
        self.held = -1
        return f"You {self.put_verb} the {what}{self.put_word}the {where}."

    def _treat(self, verb: str, rest: str) -> str | None:
        what, _, where = rest.partition(" with ")
        thing, number = self.obj_at.get(what), self.rec_at.get(where)
        if thing is None or number is None or self.held != thing or verb not in self.things[thing].can:
            return None
        if self.place[number] != self.here or not self.appliances[verb][number]:
            return None
        gained, lost = CHANGED[verb]
        self.states[thing].add(gained)
        self.states[thing].discard(lost)
        return f"You {verb} the {what} using the {where}."

    def _use(self, rest: str) -> str | None:
        thing = self.obj_at.get(rest)
        if thing is None or "use" not in self.things[thing].can:
            return None
        if not any(thing in self.inside[number] for number in self.near.get(self.here, ())):
            return None
        self.states[thing].add("on")  # nothing ever counts as off again
        return f"You turn on the {rest}."

    def _slice(self, rest: str) -> str | None:
        what, _, knife = rest.partition(" with ")
        thing, tool = self.obj_at.get(what), self.obj_at.get(knife)
        if thing is None or tool is None or self.held != tool or self.things[tool].type not in KNIVES:
            return None
        if "slice" not in self.things[thing].can or self.here not in self.places[thing]:
            return None
        self.states[thing].add("sliced")
        return f"You sliced the {what} with the {knife}."

    def _examine(self, rest: str) -> str | None:
        if (number := self.rec_at.get(rest)) is not None and self.place[number] == self.here:
            return self._describe(number)
        # Things can be examined in the hand only: a comma in ALFWorld's domain makes its other case impossible.
        return self._describe_thing(self.held) if self.obj_at.get(rest, -2) == self.held else None

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

    def _reached(self, number: int) -> bool:
        return self.place[number] == self.here and not self.closed(number)

    def visible(self) -> list[int]:
        """The things in sight: in the hand, and in what is near and not closed."""
        seen = {self.held} if self.held >= 0 else set()
        for number in self.near.get(self.here, ()):
            if not self.closed(number):
                seen.update(self.inside[number])
        return sorted(seen)

    def commands(self) -> list[str]:
        """All commands that do something here, sorted."""
        here, held, objs, recs = self.here, self.held, self.objs, self.recs
        near = self.near.get(here, ())
        reached = [number for number in near if not self.closed(number)]
        if here not in self._always:
            goes = [f"go to {name}" for name, place in zip(recs, self.place, strict=True) if place != here]
            about = ["help", "inventory", "look"] if self.game.wording.help else ["inventory", "look"]
            self._always[here] = [*(f"examine {recs[number]}" for number in near), *goes, *about]
        found = [*self._always[here]]
        found += [
            f"{'close' if self.opened[number] else 'open'} {recs[number]}" for number in near if self.openable[number]
        ]
        lamps = {thing for number in near for thing in self.inside[number] if "use" in self.things[thing].can}
        found += [f"use {objs[thing]}" for thing in lamps]
        if held < 0:
            inside = [(thing, number) for number in reached for thing in self.inside[number]]
            takes = [(thing, number) for thing, number in inside if "take" in self.things[thing].can]
            return sorted([*found, *(f"take {objs[thing]} from {recs[number]}" for thing, number in takes)])
        name = objs[held]
        found.append(f"examine {name}")
        puts = [number for number in reached if self.accepts(number, held)]
        found += [f"{self.put_verb} {name}{self.put_word}{recs[number]}" for number in puts]
        for verb in CHANGED:
            if verb in self.things[held].can:
                found += [f"{verb} {name} with {recs[number]}" for number in near if self.appliances[verb][number]]
        if self.things[held].type in KNIVES:
            cut = [
                thing for thing, each in enumerate(self.things) if "slice" in each.can and here in self.places[thing]
            ]
            found += [f"slice {objs[thing]} with {name}" for thing in cut]
        return sorted(found)

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

"""The shortest way to the goal from any state, with everything known.

With one hand, every plan is a chain of errands: free the hand, fetch a thing, treat it, put it down (or use a lamp).
All chains over the things, receptacles and lamps that can matter are tried; each takes its own shortest way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from agentrl.envs.alfworld.engine import World
from agentrl.envs.alfworld.games import ABILITY, LOOK, TREATED, TWO


class Chain(NamedTuple):
    """The beginning of a plan, and what has changed by its commands; each method gives longer ones."""

    world: World
    here: str
    held: int  # a thing, or -1
    opened: frozenset[int]  # receptacles
    commands: tuple[str, ...] = ()

    def do(self, command: str) -> Chain:
        """Give a command that leaves the agent where it is."""
        return self._replace(commands=(*self.commands, command))

    def go(self, number: int) -> Chain:
        """Stand at a receptacle."""
        place = self.world.place[number]
        return self if place == self.here else self.do(f"go to {self.world.recs[number]}")._replace(here=place)

    def reach(self, number: int) -> Chain:
        """Stand at a receptacle that is not closed."""
        chain = self.go(number)
        if not self.world.openable[number] or number in self.opened:
            return chain
        return chain.do(f"open {self.world.recs[number]}")._replace(opened=self.opened | {number})

    def put(self, number: int) -> Chain:
        """Put what is in the hand down."""
        world = self.world
        command = f"{world.put_verb} {world.objs[self.held]}{world.put_word}{world.recs[number]}"
        return self.reach(number).do(command)._replace(held=-1)

    def freed(self, source: int) -> list[Chain]:
        """The hand made free: here, where the next thing is, or, if nothing there takes what it holds, anywhere."""
        world, held = self.world, self.held
        if held < 0:
            return [self]
        fitting = [number for number in range(len(world.recs)) if world.accepts(number, held)]
        on_the_way = [number for number in fitting if world.place[number] in (self.here, world.place[source])]
        return [self.put(number) for number in on_the_way or fitting]

    def fetched(self, thing: int) -> list[Chain]:
        """A thing brought into the hand."""
        if self.held == thing:
            return [self]
        chains = []
        for source, inside in enumerate(self.world.inside):
            command = f"take {self.world.objs[thing]} from {self.world.recs[source]}"
            chains += [chain.reach(source).do(command) for chain in (self.freed(source) if thing in inside else ())]
        return [chain._replace(held=thing) for chain in chains]

    def treated(self) -> list[Chain]:
        """What is in the hand made hot, cool or clean, if it is to be and is not."""
        world = self.world
        if not lacks(world, self.held):
            return [self]
        verb, thing = ABILITY[world.game.goal.family], world.objs[self.held]
        return [self.go(number).do(f"{verb} {thing} with {world.recs[number]}") for number in world.appliances[verb]]


def plan(world: World) -> list[str] | None:
    """The commands of a shortest plan; none if the goal is reached, None if it cannot be."""
    if world.won():
        return []
    opened = frozenset(number for number, is_open in enumerate(world.opened) if is_open)
    start = Chain(world, world.here, world.held, opened)
    chains = (_look if world.game.goal.family == LOOK else _placements)(world, start)
    best = min(chains, key=lambda chain: len(chain.commands), default=None)
    return None if best is None else list(best.commands)


def lacks(world: World, thing: int) -> bool:
    """Must it still be made hot, cool or clean?"""
    need = TREATED.get(world.game.goal.family)
    return need is not None and need not in world.states[thing]


def _look(world: World, start: Chain) -> Iterator[Chain]:
    for chain in [chain for thing in world.wanted for chain in start.fetched(thing)]:
        for lamp in world.lamps:
            for number, inside in enumerate(world.inside):
                if lamp in inside:
                    there = chain.go(number)
                    yield there if "on" in world.states[lamp] else there.do(f"use {world.objs[lamp]}")


def _placements(world: World, start: Chain) -> Iterator[Chain]:
    for target in world.targets:
        there = [thing for thing in world.wanted if thing in world.inside[target] and not lacks(world, thing)]
        missing = max((2 if world.game.goal.family == TWO else 1) - len(there), 1)
        left = [thing for thing in world.wanted if thing not in there and world.accepts(target, thing)]
        for order in permutations([thing for thing in left if "take" in world.things[thing].can], missing):
            chains = [start]
            for thing in order:
                fetched = [chain for each in chains for chain in each.fetched(thing)]
                chains = [chain.put(target) for each in fetched for chain in each.treated()]
            yield from chains

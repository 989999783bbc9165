"""The shortest way to the goal from any state, with everything known.

With one hand, every plan is a chain of errands: free the hand, fetch a thing, treat it, put it down (or use a lamp).
All chains over the things, receptacles and lamps that can matter are tried; each takes its own shortest way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

from agentrl.envs.alfworld.engine import World
from agentrl.envs.alfworld.games import ABILITY, LOOK, TREATED, TWO


class Chain:
    """Commands of a plan that is being made, and what has changed by them."""

    def __init__(self, world: World, here: str, opened: Iterable[int], commands: Iterable[str] = ()) -> None:
        self.world, self.here, self.opened, self.commands = world, here, set(opened), list(commands)

    def copy(self) -> Chain:
        """The same, to go on in another way."""
        return Chain(self.world, self.here, self.opened, self.commands)

    def do(self, command: str) -> Chain:
        """Give a command that leaves the agent where it is."""
        self.commands.append(command)
        return self

    def go(self, number: int) -> Chain:
        """Stand at a receptacle."""
        world = self.world
        if world.place[number] != self.here:
            self.commands.append(f"go to {world.recs[number]}")
            self.here = world.place[number]
        return self

    def reach(self, number: int) -> Chain:
        """Stand at a receptacle that is not closed."""
        self.go(number)
        if self.world.openable[number] and number not in self.opened:
            self.commands.append(f"open {self.world.recs[number]}")
            self.opened.add(number)
        return self

    def put(self, thing: int, number: int) -> Chain:
        """Put what is in the hand down."""
        world = self.world
        return self.reach(number).do(f"{world.put_verb} {world.objs[thing]}{world.put_word}{world.recs[number]}")


def plan(world: World) -> list[str] | None:
    """The commands of a shortest plan; none if the goal is reached, None if it cannot be."""
    if world.won():
        return []
    start = Chain(world, world.here, [number for number, opened in enumerate(world.opened) if opened])
    chains = (_look if world.game.goal.family == LOOK else _placements)(world, start)
    best = min(chains, key=lambda chain: len(chain.commands), default=None)
    return None if best is None else best.commands


def _look(world: World, start: Chain) -> Iterator[Chain]:
    for thing in world.wanted:
        for chain in _fetched(world, start, thing, world.held):
            for lamp in world.lamps:
                for number, inside in enumerate(world.inside):
                    if lamp in inside:
                        done = chain.copy().go(number)
                        yield done if "on" in world.states[lamp] else done.do(f"use {world.objs[lamp]}")


def _placements(world: World, start: Chain) -> Iterator[Chain]:
    goal = world.game.goal
    need = TREATED.get(goal.family)
    for target in world.targets:
        there = [thing for thing in world.wanted if thing in world.inside[target] and not _lacks(world, thing, need)]
        missing = max((2 if goal.family == TWO else 1) - len(there), 1)
        movable = [
            thing
            for thing in world.wanted
            if thing not in there and "take" in world.things[thing].can and world.accepts(target, thing)
        ]
        for order in permutations(movable, missing):
            chains = [start]
            for place, thing in enumerate(order):
                held = world.held if place == 0 else -1
                chains = [
                    treated.put(thing, target)
                    for chain in chains
                    for fetched in _fetched(world, chain, thing, held)
                    for treated in _treated(world, fetched, thing, need)
                ]
            yield from chains


def _lacks(world: World, thing: int, need: str | None) -> bool:
    return need is not None and need not in world.states[thing]


def _treated(world: World, chain: Chain, thing: int, need: str | None) -> Iterator[Chain]:
    """A thing in the hand made hot, cool or clean, if it is not."""
    if not _lacks(world, thing, need):
        yield chain
        return
    verb = ABILITY[world.game.goal.family]
    for number, fits in enumerate(world.appliances[verb]):
        if fits:
            yield chain.copy().go(number).do(f"{verb} {world.objs[thing]} with {world.recs[number]}")


def _fetched(world: World, chain: Chain, thing: int, held: int) -> Iterator[Chain]:
    """A thing brought into the hand, which holds `held` (-1: nothing)."""
    if held == thing:
        yield chain.copy()
        return
    for source, inside in enumerate(world.inside):
        for start in _freed(world, chain, held, source) if thing in inside else ():
            yield start.reach(source).do(f"take {world.objs[thing]} from {world.recs[source]}")


def _freed(world: World, chain: Chain, held: int, source: int) -> Iterator[Chain]:
    """The hand made free: here, where the next thing is, or, if nothing there takes what it holds, anywhere."""
    if held < 0:
        yield chain.copy()
        return
    fitting = [number for number in range(len(world.recs)) if world.accepts(number, held)]
    on_the_way = [number for number in fitting if world.place[number] in (chain.here, world.place[source])]
    for number in on_the_way or fitting:
        yield chain.copy().put(held, number)

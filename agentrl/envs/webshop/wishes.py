"""Wishes: goals about the products of a generated catalogue that ask for more, less or something else of them.

A wish is written behind the id of a goal: `train-17:a0.2:o3:p4` asks for the product of `train-17` with the first and
third of its family's attributes, the fourth value of its first option, at less than 40 dollars (`p0`: at any price).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.core.task_generator import Mutations, Task
from agentrl.envs.webshop.goals import GeneratedGoals, Room, Wish
from agentrl.envs.webshop.navigation import actions_needed
from agentrl.envs.webshop.pages import Place
from agentrl.envs.webshop.reward import best_choices

if TYPE_CHECKING:
    from agentrl.envs.webshop.env import WebShopEnv

LOOSER = (1, 2, 3, 5)  # tens of dollars by which a limit may be raised


@dataclass(frozen=True)
class Wished:
    """A goal's number and what is wished for."""

    number: int
    wish: Wish


class WishMutations(Mutations):
    """Changes goals of a generated shop's training split.

    - nearby: other attributes, other option values or another limit, as many as before;
    - easier: an attribute or an option less, or a higher limit, or none;
    - harder: an attribute or an option more, or the lowest limit that the price allows;
    - recombined: as many attributes and options as one goal has, of the product of another.

    Every product belongs to a goal of the training split, and is found, fits and can be bought within the turns.
    """

    def __init__(self, env: WebShopEnv, goals: GeneratedGoals) -> None:
        self._env, self._goals = env, goals

    def knows(self, task: Task) -> bool:
        """Is it a goal of the training split, or a wish about one?"""
        return self._read(task) is not None

    def feasible(self, task: Task) -> bool:
        """Can the product be found and bought with all that is wished for, in the turns there are?"""
        if self._read(task) is None:
            return False
        shop, place = self._env.shop, self._env._find_task(task.id)
        goal = shop.goal("train", place)
        chosen = tuple(best_choices(shop.known(goal.asin), goal, shop.rules).items())
        moves = actions_needed(shop, Place(), goal)
        fits = shop.score("train", place, goal.asin, chosen).success
        return fits and moves is not None and moves <= self._env.max_turns

    def new(self, rng: np.random.Generator) -> Task:
        """Any goal."""
        task = f"train-{rng.integers(len(self._goals))}"
        return Task(task, instruction=self._env.instruction_of(task), kind="new")

    def mutate(self, kind: str, seed: Task, seeds: Sequence[Task], rng: np.random.Generator) -> Task | None:
        """A wish that stands to the seed as the kind says."""
        old = self._read(seed)
        if old is None:
            return None
        if kind == "recombined":
            others = [found for other in seeds if other != seed and (found := self._read(other)) is not None]
            number = _chosen(rng, others).number if others else int(rng.integers(len(self._goals)))
            wishes = list(_shaped(old.wish, self._goals.room(number), rng))
        else:
            change = {"nearby": _nearby, "easier": _easier, "harder": _harder}[kind]
            number = old.number
            wishes = list(change(old.wish, self._goals.room(number), rng))
        if not wishes:
            return None
        wish = _chosen(rng, wishes)
        task = f"train-{number}" + ("" if self._goals.wish(number) == wish else str(wish))
        try:
            return Task(task, instruction=self._env.instruction_of(task), kind=kind)
        except ConfigError:  # above the highest limit
            return None

    def _read(self, task: Task) -> Wished | None:
        if not isinstance(task.id, str) or task.kwargs:
            return None
        try:
            self._env._find_task(task.id)
        except ConfigError:
            return None
        number, mark, rest = task.id.removeprefix("train-").partition(":")
        wish = Wish.parse(mark + rest) if mark else self._goals.wish(int(number))
        return None if wish is None else Wished(int(number), wish)


# ---------------------------------------------------------------------- every change that is possible, once each


def _nearby(wish: Wish, room: Room, rng: np.random.Generator) -> Iterator[Wish]:
    if free := _not_asked(wish, room):
        gone = _chosen(rng, wish.attributes)
        kept = [place for place in wish.attributes if place != gone]
        yield replace(wish, attributes=tuple(sorted([*kept, _chosen(rng, free)])))
    if wish.options:
        place = int(rng.integers(len(wish.options)))
        value = int(rng.integers(room.values[place]))
        yield replace(wish, options=(*wish.options[:place], value, *wish.options[place + 1 :]))


def _easier(wish: Wish, room: Room, rng: np.random.Generator) -> Iterator[Wish]:
    if len(wish.attributes) > 1:
        gone = _chosen(rng, wish.attributes)
        yield replace(wish, attributes=tuple(place for place in wish.attributes if place != gone))
    if wish.options:
        yield replace(wish, options=wish.options[:-1])
    if wish.limit:
        yield replace(wish, limit=_chosen(rng, (*(wish.limit + more for more in LOOSER), 0)))


def _harder(wish: Wish, room: Room, rng: np.random.Generator) -> Iterator[Wish]:
    if free := _not_asked(wish, room):
        yield replace(wish, attributes=tuple(sorted([*wish.attributes, _chosen(rng, free)])))
    if len(wish.options) < len(room.values):
        yield replace(wish, options=(*wish.options, int(rng.integers(room.values[len(wish.options)]))))
    if room.lowest_limit and (not wish.limit or wish.limit > room.lowest_limit):
        yield replace(wish, limit=room.lowest_limit)


def _shaped(shape: Wish, room: Room, rng: np.random.Generator) -> Iterator[Wish]:
    """A wish for another product that asks for as much; none where that product has less to offer."""
    if room.attributes < len(shape.attributes) or len(room.values) < len(shape.options):
        return
    attributes = rng.permutation(room.attributes)[: len(shape.attributes)].tolist()
    options = tuple(int(rng.integers(count)) for count in room.values[: len(shape.options)])
    limit = room.lowest_limit + int(rng.integers(3)) if shape.limit else 0
    yield Wish(tuple(sorted(attributes)), options, limit)


def _not_asked(wish: Wish, room: Room) -> list[int]:
    """The attributes that the product has and the wish leaves out."""
    return [place for place in range(room.attributes) if place not in wish.attributes]


def _chosen(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    return items[int(rng.integers(len(items)))]

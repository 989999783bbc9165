"""Which tasks there are: homes by split, several tasks a home, each drawn from its name alone.

The name of a task is `home-SEED:SET:NUMBER`. Which target and start it has is only drawn when it is begun, so that
listing thousands of homes costs nothing. All draws are SplitMix64 (see `core.seeding`): no library moves them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from agentrl.core.errors import ConfigError
from agentrl.core.parsing import quote
from agentrl.core.seeding import splitmix64_int, uniform
from agentrl.envs.navigation.sight import Eye, Place
from agentrl.envs.navigation.walking import Cell
from agentrl.envs.navigation.world import Rules

SETS = ("base", "common")
NAMED = (
    "Please go to the {noun}.",
    "Walk over to the {noun} and stop there.",
    "Find the {noun} and stand close to it.",
    "I want you next to the {noun}.",
    "Make your way to the {noun}.",
    "Can you get to the {noun}?",
    "Move up to the {noun}.",
    "Your destination is the {noun}.",
)
DESCRIBED = (
    "{use} Go to the right object for it.",
    "{use} Find what I need and stop beside it.",
    "{use} Please walk to the thing that helps me.",
    "{use} Stand next to what serves for that.",
)


def instruction(chosen: str, noun: str, uses: tuple[str, ...], number: int) -> str:
    """The instruction for a target; `number` chooses among the wordings, always in the same way."""
    if chosen == "base":
        return NAMED[splitmix64_int(number) % len(NAMED)].format(noun=noun)
    if chosen == "common":
        use = uses[splitmix64_int(number) % len(uses)]
        return DESCRIBED[splitmix64_int(number + 1) % len(DESCRIBED)].format(use=use)
    raise ConfigError(f"instructions must be one of {', '.join(SETS)}; got {chosen!r}")


HOMES = {"test": range(0, 1_000), "dev": range(1_000, 2_000), "train": range(2_000, 10_000)}  # seeds of each split
PER_HOME = 8  # tasks of a home
IN_VIEW = 0.75  # the share of tasks that begin with the target in view, unless `in_view` says otherwise
TO_LOOK_AROUND = 3  # actions that a task must leave over where the target is out of view: a whole turn round
TRIES = 8  # starts tried for a target
PERIOD = 5  # actions of a fixed reply, which must not solve a task


class Name(NamedTuple):
    """A task by its name."""

    home: int
    instructions: str
    number: int

    def __str__(self) -> str:
        return f"home-{self.home}:{self.instructions}:{self.number}"


@dataclass(frozen=True)
class Start:
    """What is drawn for a task."""

    target: int  # index among the items of the home
    cell: Cell
    heading: int


class TaskNames(Sequence[str]):
    """The names of a split's tasks, spelled only when looked at: first one task of every home, then the second ..."""

    def __init__(self, split: str, homes: int | None, instructions: str) -> None:
        self._homes, self._set = HOMES[split][:homes], instructions

    def __len__(self) -> int:
        return len(self._homes) * PER_HOME

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number, place = divmod(range(len(self))[index], len(self._homes))
        return str(Name(self._homes[place], self._set, number))


def find(task: Any, split: str) -> Name:
    """A name that was given as text; `ConfigError` if this split has no such task."""
    example = f"for example {str(Name(HOMES[split][0], SETS[0], 0))!r}"
    if not isinstance(task, str):
        raise ConfigError(f"a task must be text, {example}; got {type(task).__name__}")
    read = re.fullmatch(rf"home-(0|[1-9][0-9]{{0,8}}):({'|'.join(SETS)}):([0-9])", task)
    if read is None or int(read[3]) >= PER_HOME:
        raise ConfigError(f"unknown task {quote(task)}; a task is home-SEED:SET:NUMBER, {example}")
    if int(read[1]) not in HOMES[split]:
        owned = HOMES[split]
        raise ConfigError(f"the homes of split {split} have the seeds {owned[0]} to {owned[-1]}; got {quote(task)}")
    return Name(int(read[1]), read[2], int(read[3]))


def draw(place: Place, number: int, rules: Rules) -> Start:
    """Target and start of the task of this number in a home: one that takes steering, if the home has any."""
    key = splitmix64_int(place.home.seed * PER_HOME + number)
    wanted = rules.in_view if rules.in_view is not None else bool(uniform(key, 0, (1,))[0] < IN_VIEW)
    targets = list(place.targets(rules.success_distance))
    targets.sort(key=lambda index: splitmix64_int(place.home.seed << 16 | index))
    first = number % len(targets) if targets else 0  # every number begins with another one
    for blind in (False, True):
        second_best: Start | None = None
        for target in targets[first:] + targets[:first]:
            for start in _starts(place, target, key, rules, wanted, blind):
                x, y = place.floor.place(start.cell)
                if (target in place.seen(Eye(x, y, start.heading, 0), rules.fov)) == wanted:
                    return start
                second_best = second_best or start
        if second_best is not None and rules.in_view is None:
            return second_best
    raise ConfigError(
        f"home {place.home.seed} has no task of {rules.min_solution} to {rules.max_solution} actions"
        f"{'' if rules.in_view is None else f' with in_view={rules.in_view}'}; widen min_solution..max_solution"
    )


def _starts(place: Place, target: int, key: int, rules: Rules, in_view: bool, blind: bool) -> Iterator[Start]:
    """Some places from which a target is as far away as it should be, with each heading: those from which one of
    `blind_walks` comes past it, or those from which none does."""
    floor, steps = place.floor, place.steps_to(target, rules.success_distance)
    spare = 0 if in_view else TO_LOOK_AROUND
    longest = max(rules.min_solution, rules.max_solution - spare)
    cells = np.argwhere((steps >= rules.min_solution) & (steps <= longest))
    if not len(cells):
        return
    places, turns = uniform(key ^ splitmix64_int(target), 1, (2, TRIES))
    cells = np.repeat(cells[(places * len(cells)).astype(int)], 4, axis=0)
    headings = ((turns * 4).astype(int)[:, None] + np.arange(4)).ravel() % 4
    led = floor.led_to(steps == 0, cells, headings, blind_walks(rules.max_solution)).any(axis=1)
    for (i, j), heading in zip(cells[led == blind].tolist(), headings[led == blind].tolist(), strict=True):
        yield Start(target, (i + floor.low[0], j + floor.low[1]), heading)


@cache
def blind_walks(length: int) -> np.ndarray:
    """What the same few steps, repeated in every turn, amount to: int [walks, length].

    Straight on, or two directions in turn by every ratio that five actions allow.
    """
    walks = []
    for side in range(4):
        for ahead, beside in product(range(1, PERIOD + 1), range(PERIOD)):
            if ahead + beside <= PERIOD and math.gcd(ahead, beside) == 1:
                steps = [side] * ahead + [(side + 1) % 4] * beside
                walks += [steps, steps[::-1]]
    return np.unique([np.resize(steps, length) for steps in walks], axis=0)

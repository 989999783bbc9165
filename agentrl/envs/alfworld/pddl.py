"""A game's PDDL problem, read and written. The domain is ALFWorld's; only its facts and six forms of goal occur."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from agentrl.core.errors import ConfigError
from agentrl.core.parsing import quote
from agentrl.envs.alfworld.games import ABILITY, FAMILIES, LOOK, TREATED, TWO, Game, Goal, Receptacle, Thing, Wording

ABILITIES = {
    "pickupable": "take", "heatable": "heat", "coolable": "cool", "cleanable": "clean", "sliceable": "slice",
    "toggleable": "use", "isreceptacleobject": "hold",
}  # fmt: skip
STATES = {"ishot": "hot", "iscool": "cool", "isclean": "clean", "issliced": "sliced", "istoggled": "on"}
PAIRS = (
    "receptacletype", "objecttype", "cancontain", "receptacleatlocation", "objectatlocation", "inreceptacle",
    "inreceptacleobject", "atlocation",
)  # fmt: skip
IGNORED = ("ison", "wasinreceptacle", "checked", "examined", "moveable", "full", "=")  # neither shown nor asked for
ARITY = {**dict.fromkeys((*ABILITIES, *STATES, "openable", "opened"), 1), **dict.fromkeys(PAIRS, 2)}
TOKEN = re.compile(r"[()]|[^\s();]+|;[^\n]*|\n")
MAX_DEPTH = 60


class Words(list):
    """A bracket of PDDL, and the line where it begins."""

    line = 1


def parse(text: str, source: str) -> Words:
    """All brackets of a text, nested; `ConfigError` with the line where one does not fit."""
    stack, line = [Words()], 1
    for token in TOKEN.findall(text.lower()):
        if token == "\n":
            line += 1
        elif token == "(":
            if len(stack) > MAX_DEPTH:
                raise ConfigError(f"{source}, line {line}: brackets are nested more than {MAX_DEPTH} deep")
            inner = Words()
            inner.line = line
            stack[-1].append(inner)
            stack.append(inner)
        elif token == ")":
            if len(stack) == 1:
                raise ConfigError(f"{source}, line {line}: a bracket is closed that was never opened")
            stack.pop()
        elif token[0] != ";":
            stack[-1].append(token)
    if len(stack) > 1:
        raise ConfigError(f"{source}, line {stack[-1].line}: a bracket is never closed")
    return stack[0]


def read_problem(text: str, source: str, name: str, instruction: str = "", wording: Wording | None = None) -> Game:
    """The game of a problem; without an instruction, the first of the benchmark's sentences for its goal."""
    top = parse(text, source)
    if len(top) != 1 or not isinstance(top[0], Words) or top[0][:1] != ["define"]:
        raise ConfigError(f"{source}: a problem must be one bracket (define (problem ...) ...)")
    sections = {str(part[0]): part for part in top[0] if isinstance(part, Words) and part}
    for needed in (":init", ":goal"):
        if needed not in sections:
            raise ConfigError(f"{source}: a problem must have a part ({needed} ...)")
    facts: dict[str, list[list[Any]]] = defaultdict(list)  # of texts, which is checked below
    for fact in sections[":init"][1:]:
        head, *arguments = fact if isinstance(fact, Words) and fact else [fact]
        known = ARITY.get(head) if isinstance(head, str) else None
        if known != len(arguments) or not all(isinstance(each, str) for each in arguments):
            if known is None and head in IGNORED:
                continue
            line = fact.line if isinstance(fact, Words) else sections[":init"].line
            raise ConfigError(f"{source}, line {line}: {quote(_written(fact))} is no fact of ALFWorld's domain")
        facts[str(head)].append(arguments)
    starts = [place for _, place in facts["atlocation"]]
    if len(starts) != 1:
        raise ConfigError(f"{source}: the agent must stand at one place; got {len(starts)}")
    goal = _goal(sections[":goal"], source)
    return Game(
        name=name,
        receptacles=tuple(_receptacles(facts, source)),
        things=tuple(_things(facts, source)),
        fits=frozenset((_kind(receptacle), _kind(thing)) for receptacle, thing in facts["cancontain"]),
        start=starts[0],
        goal=goal,
        instruction=instruction or goal.instruction(),
        wording=wording or Wording(),
    )


def _receptacles(facts: dict[str, list[list[Any]]], source: str) -> Iterator[Receptacle]:
    types = dict(facts["receptacletype"])
    openable, opened = ({key for (key,) in facts[name]} for name in ("openable", "opened"))
    places: dict[str, str] = {}
    for key, place in facts["receptacleatlocation"]:
        if places.setdefault(key, place) != place:
            raise ConfigError(f"{source}: a receptacle must stand at one place; {quote(key)} stands at two")
    if not places:
        raise ConfigError(f"{source}: there must be a receptacle with a place (receptacleAtLocation)")
    for key, place in places.items():
        yield Receptacle(key, _kind(types.get(key, "")), place, key in openable, key in opened)


def _things(facts: dict[str, list[list[Any]]], source: str) -> Iterator[Thing]:
    types, placed = dict(facts["objecttype"]), {key for key, _ in facts["receptacleatlocation"]}
    inside = _grouped((key, receptacle) for key, receptacle in facts["inreceptacle"] if receptacle in placed)
    places = _grouped(facts["objectatlocation"])
    holds = _grouped((outer, inner) for inner, outer in facts["inreceptacleobject"])
    can = _grouped((key, word) for fact, word in ABILITIES.items() for (key,) in facts[fact])
    states = _grouped((key, word) for fact, word in STATES.items() for (key,) in facts[fact])
    for key in sorted(set(types).union(inside, places, holds, can, states, *holds.values()) - placed):
        lying, near, held = (tuple(sorted(table[key])) for table in (inside, places, holds))
        yield Thing(key, _kind(types.get(key, "")), lying, near, frozenset(can[key]), frozenset(states[key]), held)


def _grouped(pairs: Iterable[Iterable[str]]) -> dict[str, set[str]]:
    found = defaultdict(set)
    for key, value in pairs:
        found[key].add(value)
    return found


def _kind(word: str) -> str:
    return word.removesuffix("type")


def _written(part: object) -> str:
    return f"({' '.join(_written(each) for each in part)})" if isinstance(part, Words) else str(part)


def _goal(part: Words, source: str) -> Goal:
    """One of the six, recognised by the words that occur in it."""
    found = list(_facts_of(part))
    family = _families_by_words().get(_heads(found))
    types = {(head, variable): _kind(kind) for head, variable, kind in (fact for fact in found if len(fact) == 3)}
    if family == LOOK:
        lamp = next((fact[1] for fact in found if fact[0] == "toggleable"), "")
        held = next((fact[2] for fact in found if fact[0] == "holds" and len(fact) == 3), "")
        if ("objecttype", held) in types and ("objecttype", lamp) in types:
            return Goal(LOOK, types["objecttype", held], lamp=types["objecttype", lamp])
    elif family is not None:
        things, places = (
            {kind for (head, _), kind in types.items() if head == wanted} for wanted in ("objecttype", "receptacletype")
        )
        if len(things) == len(places) == 1:
            return Goal(family, things.pop(), places.pop())
    raise ConfigError(f"{source}, line {part.line}: the goal must be that of one of the six families of tasks")


@cache
def _families_by_words() -> dict[frozenset[str], str]:
    """The words of each goal, whatever its variables are called, and its family."""
    goals = {family: parse(_written_goal(Goal(family, "x", "x", "x")), family) for family in FAMILIES}
    return {_heads(_facts_of(goal[0])): family for family, goal in goals.items()}


def _heads(found: Iterable[list[str]]) -> frozenset[str]:
    return frozenset(head for head, *_ in found) - {"and", ":goal"}


def _facts_of(part: Words) -> Iterator[list[str]]:
    yield [word for word in part if isinstance(word, str)]
    for inner in part:
        if isinstance(inner, Words) and inner and isinstance(inner[0], str) and not inner[0].startswith("?"):
            yield from _facts_of(inner)


# ---------------------------------------------------------------------- written


def write_problem(game: Game) -> str:
    """A game as a problem of ALFWorld's domain, without the types that it has nothing of."""
    receptacle_types, thing_types = ({each.type for each in some} for some in (game.receptacles, game.things))
    fits = sorted(pair for pair in game.fits if pair[0] in receptacle_types and pair[1] in thing_types)
    places = {game.start, *(each.place for each in game.receptacles)}.union(*(each.places for each in game.things))
    # The domain and the goal name these, so they must be there.
    receptacle_types |= {"sink", "sinkbasin", "microwave", "fridge", game.goal.receptacle}
    thing_types |= {"knife", "butterknife", game.goal.thing}
    declared = {
        "receptacle": {each.id for each in game.receptacles},
        "object": {each.id for each in game.things},
        "location": places,
        "rtype": {f"{each}type" for each in receptacle_types if each},
        "otype": {f"{each}type" for each in thing_types if each},
    }
    names = "".join(f"  {name} - {kind}\n" for kind, names in declared.items() for name in sorted(names))
    facts = "".join(f"  ({' '.join(fact)})\n" for fact in _facts(game, fits))
    head = f"(define (problem game)\n(:domain alfred)\n(:objects\n  agent1 - agent\n{names})\n"
    return f"{head}(:init\n{facts})\n{_written_goal(game.goal)})\n"


def _facts(game: Game, fits: Iterable[tuple[str, str]]) -> Iterable[tuple[str, ...]]:
    yield "atLocation", "agent1", game.start
    for each in game.receptacles:
        yield "receptacleAtLocation", each.id, each.place
        if each.type:
            yield "receptacleType", each.id, f"{each.type}type"
        if each.openable:
            yield "openable", each.id
        if each.opened:
            yield "opened", each.id
    for receptacle, thing in fits:
        yield "canContain", f"{receptacle}type", f"{thing}type"
    abilities, states = ({word: fact for fact, word in table.items()} for table in (ABILITIES, STATES))
    for each in game.things:
        if each.type:
            yield "objectType", each.id, f"{each.type}type"
        yield from ((abilities[word], each.id) for word in sorted(each.can))
        yield from ((states[word], each.id) for word in sorted(each.states))
        yield from (("inReceptacle", each.id, key) for key in each.inside)
        yield from (("objectAtLocation", each.id, key) for key in each.places)
        yield from (("inReceptacleObject", key, each.id) for key in each.holds)


def _written_goal(goal: Goal) -> str:
    thing, receptacle, lamp = (f"{kind}type" for kind in (goal.thing, goal.receptacle, goal.lamp))
    if goal.family == LOOK:
        return f"""(:goal (and
  (exists (?ot - object ?r - receptacle ?a - agent ?l - location)
    (and (objectType ?ot {lamp}) (toggleable ?ot) (isToggled ?ot)
      (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))
  (exists (?o - object ?a - agent) (and (objectType ?o {thing}) (holds ?a ?o)))))"""
    placed = f"(objectType {{0}} {thing}) (receptacleType ?r {receptacle}) (inReceptacle {{0}} ?r)"
    if goal.family == TWO:
        second = f"(exists (?o2 - object) (and (not (= ?o1 ?o2)) {placed.format('?o2')}))"
        inner = f"(exists (?o1 - object) (and {placed.format('?o1')} {second}))"
    else:
        need = TREATED.get(goal.family)
        treated = f"({ABILITY[goal.family]}able ?o) (is{need.capitalize()} ?o) " if need else ""
        inner = f"(exists (?o - object) (and {treated}{placed.format('?o')}))"
    return f"(:goal (and (exists (?r - receptacle) {inner})))"

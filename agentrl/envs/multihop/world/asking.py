"""Questions of two to four pages about a world: along a chain, from clues, or after a comparison.

Every question is a `Program`. Its answer is what `execute` finds by running the program over the whole graph; a program
that has not exactly one answer is no question.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from agentrl.envs.multihop.questions import Find, Question, normalised
from agentrl.envs.multihop.world.graph import Entity, World
from agentrl.envs.multihop.world.pages import fields_of, shown_number
from agentrl.envs.multihop.world.relations import Relation, relations_of

GROUPS = (
    *(("composition", hops) for hops in (2, 3, 4)),
    *(("bridge", hops) for hops in (2, 3, 4)),
    *(("comparison", hops) for hops in (3, 4)),
)
TRIES = 400  # for each question
SAME_ANSWER = {"train": 3, "dev": 1, "test": 1}  # how many questions of a split may have the same answer
MAKER_OF = {"work": "creator", "org": "founder", "event": "leader"}
SETTINGS = (
    "Of {a} and {b}, take the one that {how}. {ask}",
    "Compare {a} with {b}, and consider the one that {how}. {ask}",
    "{a} or {b}: one of the two {how}. {ask}",
)
Answer = Entity | int
Steps = list[tuple[Entity, Relation]]  # what is asked of each entity on the way
Finds = Callable[[str, int], bool]


class Program(NamedTuple):
    """What a question asks, in terms of the graph."""

    path: tuple[str, ...]  # relations from the start to the answer
    start: tuple[int, ...] = ()  # one page, or two to be compared
    clues: tuple[tuple[str, int], ...] = ()  # in the place of a start: what is stated of it
    noun: str = ""  # what kind of thing the clues are about
    before: str = ""  # a relation that leads from the two pages to those that are compared
    by: str = ""  # the number that they are compared by
    least: bool = True


def execute(world: World, program: Program) -> list[Answer]:
    """Every answer that a program has in the world."""
    here = [world.entities[page] for page in program.start]
    if program.clues:
        (relation, page), *others = program.clues
        here = [each for each in world.holders[relation, page] if each.noun == program.noun]
        here = [each for each in here if all(each.facts.get(name) == value for name, value in others)]
    if program.by:
        if program.before:
            here = [world.entities[each.facts[program.before]] for each in here]
        best = (min if program.least else max)(each.values[program.by] for each in here)
        here = [each for each in here if each.values[program.by] == best]
    for relation in program.path[:-1]:
        here = [world.entities[each.facts[relation]] for each in here if relation in each.facts]
    last, found = program.path[-1], []
    for each in here:
        if last in each.facts:
            found.append(world.entities[each.facts[last]])
        elif last in each.values:
            found.append(each.values[last])
    return list(dict.fromkeys(found))


class Draft(NamedTuple):
    """A program in words, what the words name, and how its pages are found."""

    program: Program
    text: str
    named: tuple[Entity, ...]
    stages: tuple[tuple[Find, ...], ...]


class Asker:
    """Makes the questions of one split: all their evidence stands on pages of that split."""

    def __init__(self, world: World, split: str, finds: Finds) -> None:
        self._world, self._split, self._finds = world, split, finds
        self._rng = Random(f"questions {world.seed} {split}")
        self._pages = [entity for entity in world.entities if entity.split == split]
        self._alike: dict[tuple[str, str], list[Entity]] = defaultdict(list)  # what may be compared
        for entity in self._pages:
            self._alike[entity.kind, entity.noun].append(entity)
        self._answers: Counter[str] = Counter()
        self._texts: set[str] = set()

    def questions(self, count: int) -> Iterator[Question]:
        """As many as wanted, of all groups in turn; fewer where the world has no more."""
        groups, number = deque(GROUPS), 0
        while groups and number < count:
            group = groups.popleft()
            if (question := self._question(f"{self._split}-{number}", *group)) is not None:
                number += 1
                groups.append(group)
                yield question

    def _question(self, name: str, kind: str, hops: int) -> Question | None:
        drafts = (getattr(self, f"_{kind}")(hops) for _ in range(TRIES))
        return next(filter(None, (self._checked(name, kind, draft) for draft in drafts if draft is not None)), None)

    # ------------------------------------------------------------------ the three kinds

    def _composition(self, hops: int) -> Draft | None:
        start = self._rng.choice(self._pages)
        if not (steps := self._walk(start, hops, ())):
            return None
        program = Program(path_of(steps), (start.number,))
        return Draft(program, self._asked(named(start), steps), (start,), one_by_one(steps))

    def _bridge(self, hops: int) -> Draft | None:
        rng, start = self._rng, self._rng.choice(self._pages)
        told = [each for each in relations_of(start.kind) if each.name in start.facts and each.clue]
        if len(told) < 2:
            return None
        clues = rng.sample(told, 2)
        if not (steps := self._walk(start, hops, tuple(each.name for each in clues))):
            return None
        stated = tuple(self._world.entities[start.facts[each.name]] for each in clues)
        words = []
        for clue, other in zip(clues, stated, strict=True):
            words.append(rng.choice(clue.clue).format(**{**fields_of(start), "y": mention(other)}))
        subject = f"the {start.noun} {'who' if start.kind == 'person' else 'that'} {' and '.join(words)}"
        pairs = tuple((each.name, start.facts[each.name]) for each in clues)
        program = Program(path_of(steps), clues=pairs, noun=start.noun)
        first = Find(start.number, " ".join([start.noun, *(other.title for other in stated)]))
        return Draft(program, self._asked(subject, steps), stated, ((first,), *one_by_one(steps[1:])))

    def _comparison(self, hops: int) -> Draft | None:
        """Two things alike, or in half of the questions of four pages those who made them."""
        rng, first = self._rng, self._rng.choice(self._pages)
        second = rng.choice(self._alike[first.kind, first.noun])
        before = MAKER_OF.get(first.kind, "") if hops == 4 and rng.random() < 0.5 else ""
        pair = [self._world.entities[each.facts[before]] if before else each for each in (first, second)]
        by = next((each for each in relations_of(pair[0].kind) if each.least), None)
        if by is None or len({first, second, *pair}) < (4 if before else 2):
            return None
        if any(each.split != self._split for each in pair) or len({each.values[by.name] for each in pair}) < 2:
            return None
        least = rng.random() < 0.5
        winner, loser = sorted(pair, key=lambda each: each.values[by.name], reverse=not least)
        steps = self._walk(winner, 1 if before else hops - 1, (before,), avoid=(first, second, *pair))
        path = path_of(steps)
        if not steps or self._run(path, loser) == self._run(path, winner):  # the comparison must matter
            return None
        names = [named(each) for each in (first, second)]
        if before:
            lead = next(each for each in relations_of(first.kind) if each.name == before)
            names = [rng.choice(lead.np).format(**{**fields_of(first), "x": name}) for name in names]
        ask = self._asked(f"that {'person' if winner.kind == 'person' else winner.noun}", steps)
        how = rng.choice(by.least if least else by.most)
        text = rng.choice(SETTINGS).format(a=names[0], b=names[1], how=how, ask=ask)
        stages = [(first, second), *([(loser, winner)] if before else []), *((entity,) for entity, _ in steps[1:])]
        program = Program(path, (first.number, second.number), before=before, by=by.name, least=least)
        finds = tuple(tuple(Find(each.number, each.title) for each in stage) for stage in stages)
        return Draft(program, text[0].upper() + text[1:], (first, second), finds)

    def _run(self, path: tuple[str, ...], start: Entity) -> list[Answer]:
        return execute(self._world, Program(path, (start.number,)))

    # ------------------------------------------------------------------ parts

    def _walk(self, start: Entity, count: int, but: tuple[str, ...], avoid: tuple[Entity, ...] = ()) -> Steps:
        """Relations that lead away from an entity, the first not among `but`, over pages of this split; empty where a
        step leads back, or nowhere."""
        steps: Steps = []
        here, seen = start, {start, *avoid}
        for left in reversed(range(count)):
            open_ = [each for each in relations_of(here.kind) if each.name not in but]
            open_ = [each for each in open_ if (left == 0 and each.is_literal) or each.name in here.facts]
            if not open_:
                return []
            relation = self._rng.choice(open_)
            steps.append((here, relation))
            if relation.is_literal:
                break
            here = self._world.entities[here.facts[relation.name]]
            if here in seen or (left and here.split != self._split):
                return []
            seen.add(here)
            but = (relation.name,) if relation.name in ("spouse", "twin") else ()
        return steps

    def _asked(self, subject: str, steps: Steps) -> str:
        """The question that follows these steps from what the subject names."""
        for number, (entity, relation) in enumerate(steps, 1):
            forms = relation.ask if number == len(steps) else relation.np
            fields = {**fields_of(entity), "x": subject}
            form = self._rng.choice(forms).format_map(fields)
            subject = form.format_map(fields)  # a form may hold words of the kind of work, which hold the subject
        return subject

    def _checked(self, name: str, kind: str, draft: Draft) -> Question | None:
        """The question, if it has one answer, which is new and not in its own words, and if its clues can be found."""
        answers = execute(self._world, draft.program)
        if len(answers) != 1 or draft.text in self._texts:
            return None
        answer, asked, aliases = answers[0], draft.program.path[-1], ()
        if isinstance(answer, Entity):
            answer, asked, aliases = answer.title, answer.kind, answer.aliases
        else:
            answer = shown_number(asked, answer)
        key = normalised(answer)
        if self._answers[key] >= SAME_ANSWER[self._split] or f" {key} " in f" {normalised(draft.text)} ":
            return None
        first = draft.stages[0][0]
        if kind == "bridge" and not self._finds(first.query, first.page):
            return None
        self._answers[key] += 1
        self._texts.add(draft.text)
        titles = tuple(each.title for each in draft.named)
        return Question(name, draft.text, answer, aliases, kind, draft.stages, asked, titles)


def path_of(steps: Steps) -> tuple[str, ...]:
    """Their relations."""
    return tuple(relation.name for _, relation in steps)


def one_by_one(steps: Steps) -> tuple[tuple[Find, ...], ...]:
    """A stage for each page, which is found by its title."""
    return tuple((Find(entity.number, entity.title),) for entity, _ in steps)


def named(entity: Entity) -> str:
    """How a question names what it starts from."""
    return f"the {entity.noun} {entity.title}" if entity.kind in ("work", "org") else mention(entity)


def mention(entity: Entity) -> str:
    """A name inside a sentence."""
    return f"the {entity.title}" if entity.kind in ("event", "river") else entity.title

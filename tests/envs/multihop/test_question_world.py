"""The generated encyclopaedia: true pages, varied prose, questions with one answer that no cheap way finds."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from agentrl.core.env import SPLITS
from agentrl.envs.multihop.collection import Collection
from agentrl.envs.multihop.env import MultiHopQAEnv
from agentrl.envs.multihop.questions import Question, normalised
from agentrl.envs.multihop.world.asking import Asker, Program, execute
from agentrl.envs.multihop.world.graph import World
from agentrl.envs.multihop.world.pages import shown_number
from agentrl.envs.multihop.world.relations import choose, parse, relations_of
from benchmarks.learning.results import KEPT
from benchmarks.multihop import difficulty, variety
from tests.envs.multihop.question_kit import SMALL, small_env

ALL = [pytest.param(SMALL, id="small"), pytest.param(20_000, id="full", marks=pytest.mark.long)]


@pytest.fixture(scope="module", params=ALL)
def collection(request: pytest.FixtureRequest) -> Collection:
    return small_env(pages=request.param).collection


@pytest.fixture(scope="module")
def world(collection: Collection) -> World:
    return World(0, len(collection))


def all_questions(collection: Collection) -> list[Question]:
    return [question for split in SPLITS for question in collection.questions[split]]


def test_every_fact_of_the_graph_stands_on_its_page(collection: Collection, world: World) -> None:
    pages = collection.pages(range(len(collection)))
    for entity, page in zip(world.entities, pages, strict=True):
        assert page.title == entity.title
        stated = [world.entities[other].title for other in entity.facts.values()]
        stated += [shown_number(name, value) for name, value in entity.values.items()]
        assert [name for name in stated if name not in page.text] == []
        assert not re.search(r"[\[\]{}|]|  ", page.text)


def test_titles_are_unique_however_they_are_written(world: World) -> None:
    names = Counter(normalised(entity.title) for entity in world.entities)
    names.update(normalised(alias) for entity in world.entities for alias in entity.aliases)
    shared = [name for name, count in names.items() if count > 1]
    assert len({normalised(entity.title) for entity in world.entities}) == len(world.entities)
    assert len(shared) <= len(world.entities) // 200  # aliases of people with the same initial


def test_the_prose_is_varied(collection: Collection) -> None:
    found = variety(collection, min(56_000, 80 * len(collection)))
    print(f"{found:.3f} distinct trigrams per word")
    assert found >= 0.45


def test_every_question_has_one_answer_in_the_graph(world: World, collection: Collection) -> None:
    for split in SPLITS:
        asker, checked = Asker(world, split, lambda query, page: True), 0
        for kind in ("composition", "bridge", "comparison"):
            for _ in range(300):
                draft = getattr(asker, f"_{kind}")(3)
                if draft is None or (question := asker._checked("name", kind, draft)) is None:
                    continue
                (answer,) = slowly(world, draft.program)
                shown = shown_number(draft.program.path[-1], answer) if isinstance(answer, int) else answer.title
                assert question.answer == shown
                checked += 1
        assert checked > 20


def slowly(world: World, program: Program) -> set[Any]:
    """The answers found by going through the whole world, without an index and without looking at how it was asked."""
    here: set[Any] = {world.entities[page] for page in program.start}
    if program.clues:
        here = {e for e in world.entities if e.noun == program.noun and program.clues[0] in e.facts.items()}
        here = {e for e in here if program.clues[1] in e.facts.items()}
    if program.before:
        here = {world.entities[e.facts[program.before]] for e in here}
    if program.by:
        values = sorted(e.values[program.by] for e in here)
        best = values[0] if program.least else values[-1]
        here = {e for e in here if e.values[program.by] == best}
    for name in program.path:
        here = {e.values[name] if name in e.values else world.entities[e.facts[name]] for e in here}
    assert here == set(execute(world, program))
    return here


def test_the_last_supporting_page_states_the_answer_and_the_question_does_not(collection: Collection) -> None:
    for question in all_questions(collection):
        pages = collection.pages(question.support)
        assert question.answer in pages[-1].text, question
        assert f" {normalised(question.answer)} " not in f" {normalised(question.text)} "
        assert normalised(question.answer) not in map(normalised, question.named)
        assert 2 <= question.hops <= 4 and not re.search(r"\{|the the\b|of the two.*of the two", question.text)
        assert normalised(question.answer) not in ("yes", "no")


def test_splits_share_no_supporting_page_and_no_question(collection: Collection) -> None:
    pages = {s: {page for q in collection.questions[s] for page in q.support} for s in SPLITS}
    texts = {s: {question.text for question in collection.questions[s]} for s in SPLITS}
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert not pages[one] & pages[other] and not texts[one] & texts[other]
        assert all(len(texts[s]) == len(collection.questions[s]) for s in SPLITS)


def test_questions_are_hard_to_guess_and_take_more_than_one_search(collection: Collection) -> None:
    for split in SPLITS:
        found = difficulty(collection, split)
        print(split, found)
        assert found["last page among 5"] < 0.3
        few = max(1, 0.02 * found["questions"]) if split != "train" or len(collection) > SMALL else found["questions"]
        assert found["commonest answer of the kind in training"] * found["questions"] <= few
        assert found["an entity of the question"] == 0
        assert {"composition 2", "bridge 3", "comparison 3"} <= found["groups"].keys()


def test_the_page_of_the_environment_says_what_was_measured() -> None:
    kept = json.loads((KEPT / "multihop.json").read_text())
    said, test = " ".join((MultiHopQAEnv.__doc__ or "").split()), kept["splits"]["test"]
    last, support = (round(100 * test[f"{name} among 5"]) for name in ("last page", "supporting pages"))
    assert f"among five in {last} of 100 cases, and {support} of 100 supporting pages" in said
    assert f"The prose has {kept['distinct trigrams per word']:.2f} distinct trigrams" in said
    assert kept["distinct trigrams per word"] >= 0.45 and test["commonest answer of the kind in this split"] < 0.02


def test_the_same_seed_makes_the_same_world_and_another_seed_another(world: World) -> None:
    again, other = World(0, SMALL), World(1, SMALL)
    if len(world.entities) == SMALL:
        assert [entity.title for entity in again.entities] == [entity.title for entity in world.entities]
        assert [entity.facts for entity in again.entities] == [entity.facts for entity in world.entities]
    assert not {entity.title for entity in other.entities} & {entity.title for entity in again.entities}


def test_lives_are_possible(world: World) -> None:
    for entity in world.entities:
        if entity.kind == "person" and "teacher" in entity.facts:
            assert world.entities[entity.facts["teacher"]].values["year"] < entity.values["year"]
        if entity.kind == "work":
            assert world.entities[entity.facts["creator"]].values["year"] + 20 < entity.values["year"]
        if "spouse" in entity.facts:
            assert world.entities[entity.facts["spouse"]].facts["spouse"] == entity.number


def test_choices_nest() -> None:
    draws = iter((0.9, 0.0))
    assert choose(parse("a [small|large [red|blue]] house[|s]"), lambda: next(draws, 0.0)) == "a large red house"
    for broken in ("a [b", "a] b"):
        with pytest.raises(ValueError, match="bracket"):
            parse(broken)
    kinds = ("person", "work", "org", "event", "city", "region", "river")
    assert sum(len(relations_of(kind)) for kind in kinds) == 34  # as the page of the environment says

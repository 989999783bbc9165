"""All templates of generated tasks, one by one: many instances, solved by their own solution and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentrl.envs.webarena.acting.actions import perform
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.evaluators.evaluate import evaluate
from agentrl.envs.webarena.oracle import next_action, text_of
from agentrl.envs.webarena.sites.places import cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.addresses import resolve
from agentrl.envs.webarena.tasks.generated import novelty, templates
from agentrl.envs.webarena.tasks.schema import WebTask, task_from_json
from agentrl.envs.webarena.tasks.template import Act, Fill, On, Parameters, Template
from benchmarks.webarena.templates import play
from tests.longer import only

TURNS = 25
ALL = tuple(templates().values())
# As many as the data has; 40 of all others.
FEW = {
    "admin-filter-customers": 30,
    "code-most-discussed-issue": 15,
    "code-finish-todo": 15,
    "code-merge": 15,
    "shop-sum-orders": 20,
}


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.fixture
def backend(world: World) -> Iterator[DomBackend]:
    world.clear()
    yield DomBackend(world)
    world.clear()


def task_of(template: Template, values: Parameters) -> WebTask:
    intent = template.intents[0].format(**values)
    return resolve(
        task_from_json({"intent": intent, "sites": list(template.sites), "eval": template.evaluation(values)})
    )


def solve(
    template: Template, values: Parameters, backend: DomBackend, world: World, pages: list[str] | None = None
) -> str:
    """Follow the solution from wherever the backend is to its end; the answer. The texts of its pages go to `pages`."""
    task = task_of(template, values)
    for _ in range(TURNS):
        if pages is not None:
            pages.append(text_of(backend.view().root))
        action = next_action(template.solution(values), backend.view(), world, task.start_url)
        assert action is not None, backend.view().url
        if action.ends:
            return action.answer
        perform(action, backend)
    raise AssertionError(f"not done after {TURNS} turns: {backend.view().url}")


def test_there_are_as_many_as_the_page_says() -> None:
    assert len(ALL) == len({template.name for template in ALL}) == 184


# One half of them; the environment's own tests play others.
@pytest.mark.parametrize("template", only(ALL[::2], ALL), ids=lambda template: template.name)
def test_its_solution_solves_it_and_nothing_else_does(template: Template, backend: DomBackend, world: World) -> None:
    rows = list(template.parameters(world))
    assert rows == list(template.parameters(world))
    assert len({json.dumps(row) for row in rows}) == len(rows) >= FEW.get(template.name, 40)
    values = rows[len(rows) // 3]
    wordings = {intent.format(**values) for intent in template.intents}
    assert 2 <= len(wordings) == len(template.intents) and not any("{" in wording for wording in wordings)

    task = task_of(template, values)
    backend.start(list(task.start_urls), cookies(template.sites))
    assert evaluate(task, "I do not know", backend).score == 0.0
    pages: list[str] = []
    reply = solve(template, values, backend, world, pages)
    assert [evaluate(task, reply, backend, dialect).score for dialect in ("lite", "webarena")] == [1.0, 1.0]
    # What was done for one instance must not pass for another that asks for something else.
    other = next((row for row in rows if template.evaluation(row) != template.evaluation(values)), None)
    assert other is not None and evaluate(task_of(template, other), reply, backend).score == 0.0
    # Nor is the answer to be had by pasting what was seen.
    if "string_match" in template.evaluation(values)["eval_types"]:
        pasted = (pages[0], pages[-1], "\n".join(pages))
        assert [evaluate(task, text, backend).score for text in pasted] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("across-post-open-issues", "#submission_body"),
        ("across-post-product-price", "#submission_body"),
        ("across-comment-product-price", ".reply textarea"),
        ("across-promote-project", "#submission_body"),
    ],
)
def test_what_must_be_posted_cannot_be_hidden_among_guesses(
    name: str, field: str, backend: DomBackend, world: World
) -> None:
    template = templates()[name]
    values = next(iter(template.parameters(world)))

    def padded(act: Act) -> Act:
        guesses = "$1.00 2 3 4 5 Blue Red"
        return Fill(field, f"{act.text} {guesses}") if isinstance(act, Fill) and act.selector == field else act

    def hedged(row: Parameters) -> list[On]:
        return [replace(step, acts=[padded(act) for act in step.acts]) for step in template.solution(row)]

    task = task_of(template, values)
    for played, score in ((template, 1.0), (replace(template, solution=hedged), 0.0)):
        world.clear()
        backend.start(list(task.start_urls), cookies(template.sites))
        assert evaluate(task, solve(played, values, backend, world), backend).score == score


def test_a_solution_works_from_wherever_the_agent_went(backend: DomBackend, world: World) -> None:
    template = templates()["admin-product-price"]
    values = next(iter(template.parameters(world)))
    task = task_of(template, values)
    backend.start([task.start_url], cookies(template.sites))
    for url in (
        "/reports/report_sales/tax/",
        "/catalog/product/?search=zzz",
        "/customer/index/edit/id/3/",
        "/nowhere/",
    ):
        backend.open(task.start_url + url)
        assert evaluate(task, solve(template, values, backend, world), backend).score == 1.0, url
        world.clear()


@pytest.mark.parametrize("site", ["admin", "code", "forum", "map", "shop"])
def test_a_site_mixes_answers_pages_and_changes_and_holds_templates_out_with_and_without_a_trained_skill(
    site: str, world: World
) -> None:
    here = [template for template in ALL if template.name.startswith(f"{site}-")]
    rows = {template.name: next(iter(template.parameters(world))) for template in here}
    kinds = {kind for template in here for kind in template.evaluation(rows[template.name])["eval_types"]}
    assert kinds >= {"string_match", "url_match"} and (site == "map" or "program_html" in kinds)
    held = [template for template in here if template.held_out]
    assert len(here) / 5 <= len(held) <= len(here) / 2.5
    assert {novelty(template) for template in held} == {"template", "skill"}


def test_tasks_on_two_sites_open_a_tab_for_each_and_the_oracle_solves_them_through_the_environment() -> None:
    env = WebArenaLiteEnv(split="train")
    here = [template for template in ALL if len(template.sites) == 2]
    tasks = {name: [task for task in env.tasks() if task.rpartition(".")[0] == name] for name in (t.name for t in here)}
    trained = {name: known[-1] for name, known in tasks.items() if known}
    assert len(here) >= 5 and len(trained) >= 3
    for task in trained.values():
        env.reset(options={"task": task})
        assert len(env.backend.view().tabs) == 2
        played = play(env, task)
        assert played.success and played.turns <= TURNS, played.problem
    env.close()

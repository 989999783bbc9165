"""Tasks of the administration: their solutions pass their evaluators, and doing nothing or something else does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentrl.envs.webarena.acting.actions import perform
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.evaluators.evaluate import evaluate
from agentrl.envs.webarena.oracle import next_action
from agentrl.envs.webarena.sites.places import cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.addresses import resolve
from agentrl.envs.webarena.tasks.schema import WebTask, task_from_json
from agentrl.envs.webarena.tasks.template import Parameters, Template
from agentrl.envs.webarena.tasks.templates.admin import TEMPLATES

TURNS = 25
BY_NAME = {template.name: template for template in TEMPLATES}


@pytest.fixture
def backend(shared_world: World) -> Iterator[DomBackend]:
    shared_world.clear()
    yield DomBackend(shared_world)
    shared_world.clear()


def instances(template: Template, world: World) -> list[dict[str, Any]]:
    return list(template.parameters(world))


def task_of(template: Template, values: Parameters) -> WebTask:
    intent = template.intents[0].format(**values)
    return resolve(
        task_from_json({"intent": intent, "sites": list(template.sites), "eval": template.evaluation(values)})
    )


def solve(template: Template, values: Parameters, backend: DomBackend, world: World) -> tuple[str | None, int]:
    """Follow the solution; the answer and how many turns it took."""
    task = task_of(template, values)
    backend.start([task.start_url], cookies(template.sites))
    for turn in range(1, TURNS + 1):
        action = next_action(template.solution(values), backend.view(), world, task.start_url)
        assert action is not None, backend.view().url
        if action.ends:
            return action.answer, turn
        perform(action, backend)
    return None, TURNS


@pytest.mark.parametrize("name", BY_NAME)
def test_the_solution_passes_and_nothing_else_does(name: str, backend: DomBackend, shared_world: World) -> None:
    template = BY_NAME[name]
    found = instances(template, shared_world)
    values = found[len(found) // 3]
    task = task_of(template, values)
    backend.start([task.start_url], cookies(template.sites))
    assert evaluate(task, "I do not know", backend).score == 0.0
    reply, _ = solve(template, values, backend, shared_world)
    assert [evaluate(task, reply, backend, dialect).score for dialect in ("lite", "webarena")] == [1.0, 1.0]
    # What was done for one instance must not pass for another that asks for something else.
    other = next((each for each in found if template.evaluation(each) != template.evaluation(values)), None)
    assert other is not None and evaluate(task_of(template, other), reply, backend).score == 0.0


def test_there_are_plenty_of_instances_that_differ(shared_world: World) -> None:
    assert len(TEMPLATES) >= 40 and len(BY_NAME) == len(TEMPLATES)
    for template in TEMPLATES:
        found = instances(template, shared_world)
        assert len(found) >= 30, template.name
        assert len({intent.format(**values) for values in found for intent in template.intents[:1]}) == len(found)
        assert found == instances(template, shared_world)
        assert 2 <= len(template.intents) <= 4


def test_some_held_out_templates_share_a_skill_with_training_and_some_do_not() -> None:
    trained = {template.skill for template in TEMPLATES if not template.held_out}
    held_out = [template for template in TEMPLATES if template.held_out]
    shared = [template for template in held_out if template.skill in trained]
    assert 0.2 <= len(held_out) / len(TEMPLATES) <= 0.33
    assert 0 < len(shared) < len(held_out)


def test_a_solution_works_from_wherever_the_agent_went(backend: DomBackend, shared_world: World) -> None:
    template = BY_NAME["admin-product-price"]
    values = instances(template, shared_world)[0]
    task = task_of(template, values)
    backend.start([task.start_url], cookies(template.sites))
    for url in (
        "/reports/report_sales/tax/",
        "/catalog/product/?search=zzz",
        "/customer/index/edit/id/3/",
        "/nowhere/",
    ):
        backend.open(task.start_url + url)
        for _ in range(TURNS):
            action = next_action(template.solution(values), backend.view(), shared_world, task.start_url)
            assert action is not None
            if action.ends:
                break
            perform(action, backend)
        assert evaluate(task, "", backend).score == 1.0, url
        shared_world.clear()

"""Tasks of the shop: their solutions pass their evaluators, and doing nothing does not."""

from __future__ import annotations

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
from agentrl.envs.webarena.tasks.templates.shop import TEMPLATES

TURNS = 25
FEW = {"shop-sum-orders": 20}  # months with complete orders
BY_NAME = {template.name: template for template in TEMPLATES}


def task_of(template: Template, values: Parameters) -> WebTask:
    intent = template.intents[0].format(**values)
    return resolve(
        task_from_json({"intent": intent, "sites": list(template.sites), "eval": template.evaluation(values)})
    )


def solve(template: Template, values: Parameters, backend: DomBackend, world: World) -> str:
    """Follow the solution; the answer."""
    task = task_of(template, values)
    backend.start([task.start_url], cookies(template.sites))
    for _ in range(TURNS):
        action = next_action(template.solution(values), backend.view(), world, task.start_url)
        assert action is not None, backend.view().url
        if action.ends:
            return action.answer
        perform(action, backend)
    raise AssertionError(f"not done after {TURNS} turns: {backend.view().url}")


@pytest.mark.parametrize("name", BY_NAME)
def test_the_solution_passes_and_doing_nothing_fails(emma: Any, name: str) -> None:
    template, world = BY_NAME[name], emma.world
    rows = list(template.parameters(world))
    assert len(rows) >= FEW.get(name, 40)
    assert len({str(row) for row in rows}) == len(rows)
    backend = DomBackend(world)
    for values in (rows[len(rows) // 3], rows[-1]):
        for intent in template.intents:
            assert "{" not in intent.format(**values)
        task = task_of(template, values)
        world.clear()
        backend.start([task.start_url], cookies(template.sites))
        assert evaluate(task, "I do not know", backend).score == 0
        result = evaluate(task, solve(template, values, backend, world), backend)
        assert result.score == 1, result.lacks


def test_a_quarter_of_the_templates_is_held_out_with_known_and_with_new_skills() -> None:
    held = [template for template in TEMPLATES if template.held_out]
    trained = {template.skill for template in TEMPLATES if not template.held_out}
    assert len(TEMPLATES) >= 16 and 0.2 <= len(held) / len(TEMPLATES) <= 0.35
    assert {template.skill in trained for template in held} == {True, False}

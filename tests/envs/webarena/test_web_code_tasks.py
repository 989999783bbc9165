"""Tasks of the code host: many instances, none done beforehand, every template solved by its own solution."""

from __future__ import annotations

import json

import pytest

from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.generated import generated_ids, novelty
from agentrl.envs.webarena.tasks.template import Template
from agentrl.envs.webarena.tasks.templates.code import TEMPLATES
from benchmarks.webarena.templates import play

FEW = {"code-most-discussed-issue", "code-finish-todo", "code-merge"}  # as many as the data has


@pytest.fixture(scope="module")
def env() -> WebArenaLiteEnv:
    return WebArenaLiteEnv(split="test", sites=("gitlab",))


def instances(template: Template, *splits: str) -> list[str]:
    return [
        task
        for split in splits
        for task in generated_ids(split, ("gitlab",))
        if task.rpartition(".")[0] == template.name
    ]


def test_there_are_enough_templates_of_every_kind() -> None:
    kinds = {kind for template in TEMPLATES for kind in template.evaluation(_first(template))["eval_types"]}
    assert len(TEMPLATES) >= 36 and kinds == {"string_match", "url_match", "program_html"}
    held = [template for template in TEMPLATES if template.held_out]
    assert len(TEMPLATES) / 5 <= len(held) <= len(TEMPLATES) / 3
    assert {novelty(template) for template in held} == {"template", "skill"}


def _first(template: Template) -> dict:
    return next(iter(template.parameters(World())))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_template_is_solved_within_25_turns_and_never_by_doing_nothing(
    template: Template, env: WebArenaLiteEnv
) -> None:
    tasks = instances(template, "test")
    assert len(instances(template, "train", "dev", "test")) >= (15 if template.name in FEW else 40)
    assert 2 <= len(template.intents) <= 4
    task = tasks[len(tasks) // 2]
    env.reset(options={"task": task})
    *_, info = env.step('exit(message="")')
    assert not info["success"]
    played = play(env, task)
    assert played.success and played.turns <= 25, played.problem


def test_wrong_answers_and_wrong_places_fail(env: WebArenaLiteEnv) -> None:
    for name in ("code-star-count", "code-top-contributor", "code-role-of-member", "code-open-issue"):
        template = next(one for one in TEMPLATES if one.name == name)
        env.reset(options={"task": instances(template, "test")[0]})
        *_, info = env.step('exit(message="Nobody, 100000 times")')
        assert not info["success"]


def test_evaluations_can_be_written_as_json() -> None:
    for template in TEMPLATES:
        row = _first(template)
        assert json.loads(json.dumps(template.evaluation(row)))["eval_types"]

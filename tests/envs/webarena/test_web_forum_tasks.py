"""Tasks of the forum and on two sites: their own solutions solve them, an idle agent does not, and there are many."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.tasks.generated import find_generated, generated_ids, novelty
from agentrl.envs.webarena.tasks.templates import across
from agentrl.envs.webarena.tasks.templates.forum import TEMPLATES

NAMES = [template.name for template in (*TEMPLATES, *across.TEMPLATES)]
TURNS = 25


def instances(name: str) -> list[tuple[str, str]]:
    """(split, task) of a template."""
    return [
        (split, task)
        for split in ("train", "dev", "test")
        for task in generated_ids(split)
        if task.rpartition(".")[0] == name
    ]


@pytest.fixture(scope="module")
def envs() -> Iterator[dict[str, WebArenaLiteEnv]]:
    envs = {split: WebArenaLiteEnv(split=split) for split in ("train", "dev", "test")}
    yield envs
    for env in envs.values():
        env.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_of_a_template_solves_its_last_instance(envs: dict[str, WebArenaLiteEnv], name: str) -> None:
    known = instances(name)
    assert len(known) >= 40
    split, task = known[-1]
    env, info = envs[split], {}
    env.reset(options={"task": task})
    for _ in range(TURNS):
        action = env.oracle()
        assert action is not None, task
        *_, terminated, _, info = env.step(action)
        if terminated:
            break
    assert info["success"], task


@pytest.mark.parametrize("name", NAMES)
def test_doing_nothing_solves_nothing(envs: dict[str, WebArenaLiteEnv], name: str) -> None:
    split, task = instances(name)[0]
    envs[split].reset(options={"task": task})
    *_, info = envs[split].step('exit(message="I do not know")')
    assert not info["success"]


def test_templates_mix_answers_pages_and_changes_and_some_are_held_out() -> None:
    kinds = {kind for template in TEMPLATES for kind in _evaluation(template.name)["eval_types"]}
    assert kinds == {"string_match", "url_match", "program_html"}
    held_out = [template for template in TEMPLATES if template.held_out]
    assert len(TEMPLATES) / 5 <= len(held_out) <= len(TEMPLATES) / 2.5
    assert {novelty(template) for template in held_out} == {"template", "skill"}


def test_tasks_on_two_sites_open_a_tab_for_each(envs: dict[str, WebArenaLiteEnv]) -> None:
    assert len(across.TEMPLATES) >= 5
    for template in across.TEMPLATES:
        split, task = instances(template.name)[0]
        envs[split].reset(options={"task": task})
        assert len(envs[split].backend.view().tabs) == len(template.sites) == 2


def test_intents_are_phrased_in_several_ways_and_name_every_value() -> None:
    for template in (*TEMPLATES, *across.TEMPLATES):
        assert 2 <= len(template.intents) <= 4
        split_and_task = instances(template.name)[0]
        found = find_generated(split_and_task[1])
        assert found is not None
        for intent in template.intents:
            assert "{" not in intent.format(**found.parameters)


def _evaluation(name: str) -> dict:
    found = find_generated(instances(name)[0][1])
    assert found is not None
    return found.official()["eval"]

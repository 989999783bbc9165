"""Tasks of the map: plenty of instances, and the answers are what the pages say."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest
from lxml import html

from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Template
from agentrl.envs.webarena.tasks.templates.map import TEMPLATES

ORIGIN = "http://map.localhost"
READ_OFF = (
    "map-postcode", "map-phone", "map-opening-hours", "map-cuisine", "map-nearest", "map-nearest-phone", "map-count",
    "map-nearest-cuisine", "map-whats-there", "map-drive-time", "map-walk-distance", "map-drive-distance",
    "map-bike-time", "map-bridge",
)  # fmt: skip


WORLD = World()


@cache
def rows_of(template: Template) -> list[str]:
    """All instances, as a snapshot holds them."""
    return [json.dumps(row) for row in template.parameters(WORLD)]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_templates_have_many_different_instances(template: Template) -> None:
    rows = rows_of(template)
    assert len(rows) >= 40
    assert len(set(rows)) == len(rows)
    for text in rows[:20]:
        row = json.loads(text)
        intents = {intent.format(**row) for intent in template.intents}
        assert len(intents) == len(template.intents) >= 2
        assert template.evaluation(row)["eval_types"]
        assert isinstance(template.solution(row)[-1].acts[-1], Answer)


@pytest.mark.parametrize("name", READ_OFF)
def test_the_answer_stands_on_the_last_page_of_the_solution(name: str) -> None:
    template = next(template for template in TEMPLATES if template.name == name)
    for row in map(json.loads, rows_of(template)[::12]):
        last = template.solution(row)[-1]
        path = re.sub(r"\\(.)", r"\1", last.url.removeprefix("__MAP__").removesuffix("$"))
        response = WORLD.fetch(Request("GET", ORIGIN + path))
        sidebar = html.fromstring(response.text).get_element_by_id("sidebar_content")
        assert row["answer"] in " ".join(sidebar.text_content().split())


def test_a_part_of_the_templates_is_held_out_with_and_without_a_trained_skill() -> None:
    trained = {template.skill for template in TEMPLATES if not template.held_out}
    held_out = [template for template in TEMPLATES if template.held_out]
    assert 0.2 <= len(held_out) / len(TEMPLATES) <= 0.3
    assert any(template.skill in trained for template in held_out)
    assert any(template.skill not in trained for template in held_out)


@pytest.mark.parametrize("name", ["map-postcode", "map-count", "map-drive-time"])
def test_instances_are_the_same_every_time(name: str) -> None:
    template = next(template for template in TEMPLATES if template.name == name)
    assert [json.dumps(row) for row in template.parameters(World())] == rows_of(template)

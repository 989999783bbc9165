"""Tasks of the map: the answers are what the pages say."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest
from lxml import html

from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Template
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


@pytest.mark.parametrize("name", READ_OFF)
def test_the_answer_stands_on_the_last_page_of_the_solution(name: str) -> None:
    template = next(template for template in TEMPLATES if template.name == name)
    for row in map(json.loads, rows_of(template)[::12]):
        last = template.solution(row)[-1]
        path = re.sub(r"\\(.)", r"\1", last.url.removeprefix("__MAP__").removesuffix("$"))
        response = WORLD.fetch(Request("GET", ORIGIN + path))
        sidebar = html.fromstring(response.text).get_element_by_id("sidebar_content")
        assert row["answer"] in " ".join(sidebar.text_content().split())

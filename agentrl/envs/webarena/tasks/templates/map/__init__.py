"""Tasks of the map: about places, and about routes between them."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.template import Template
from agentrl.envs.webarena.tasks.templates.map import places, routes

TEMPLATES: tuple[Template, ...] = (*places.TEMPLATES, *routes.TEMPLATES)

"""Tasks of the map: about places, and about routes between them."""

from __future__ import annotations

from agentrl.envs.webarena.tasks import map_places, map_routes
from agentrl.envs.webarena.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (*map_places.TEMPLATES, *map_routes.TEMPLATES)

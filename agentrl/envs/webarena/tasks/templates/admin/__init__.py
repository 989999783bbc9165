"""The templates of the shop's administration."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.templates.admin import asking, catalog, orders

TEMPLATES = (*asking.TEMPLATES, *orders.TEMPLATES, *catalog.TEMPLATES)

"""The templates of the code host."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.templates.code import projects, reading, tickets

TEMPLATES = (*reading.TEMPLATES, *tickets.TEMPLATES, *projects.TEMPLATES)

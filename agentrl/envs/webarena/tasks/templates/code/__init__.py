"""Tasks of the code host."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.templates.code import issues, people, projects, reading, tickets

TEMPLATES = (
    *reading.TEMPLATES,
    *issues.TEMPLATES,
    *tickets.TEMPLATES,
    *projects.TEMPLATES,
    *people.TEMPLATES,
)

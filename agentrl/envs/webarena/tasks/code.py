"""Tasks of the code host."""

from __future__ import annotations

from agentrl.envs.webarena.tasks import code_issues, code_people, code_projects, code_reading, code_tickets

TEMPLATES = (
    *code_reading.TEMPLATES,
    *code_issues.TEMPLATES,
    *code_tickets.TEMPLATES,
    *code_projects.TEMPLATES,
    *code_people.TEMPLATES,
)

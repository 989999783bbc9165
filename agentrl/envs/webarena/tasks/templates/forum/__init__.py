"""Tasks of the forum: questions about it, pages to find, texts to write, things to change."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.template import Template
from agentrl.envs.webarena.tasks.templates.forum import changing, finding, reading, writing

TEMPLATES: tuple[Template, ...] = (
    *reading.TEMPLATES,
    *finding.TEMPLATES,
    *writing.TEMPLATES,
    *changing.TEMPLATES,
)

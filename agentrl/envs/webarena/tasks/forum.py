"""Tasks of the forum: questions about it, pages to find, texts to write, things to change."""

from __future__ import annotations

from agentrl.envs.webarena.tasks import forum_changing, forum_finding, forum_reading, forum_writing
from agentrl.envs.webarena.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    *forum_reading.TEMPLATES,
    *forum_finding.TEMPLATES,
    *forum_writing.TEMPLATES,
    *forum_changing.TEMPLATES,
)

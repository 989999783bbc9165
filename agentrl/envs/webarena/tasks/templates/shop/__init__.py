"""The shop's templates."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.templates.shop import ordering, reading, writing

TEMPLATES = (*reading.TEMPLATES, *ordering.TEMPLATES, *writing.TEMPLATES)

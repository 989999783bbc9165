"""The forum's templates."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.templates.forum import reading, writing

TEMPLATES = (*reading.TEMPLATES, *writing.TEMPLATES)

"""The shop's templates."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.shop_changing import CHANGING
from agentrl.envs.webarena.tasks.shop_finding import FINDING
from agentrl.envs.webarena.tasks.shop_reading import READING
from agentrl.envs.webarena.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (*READING, *FINDING, *CHANGING)

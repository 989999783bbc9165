"""The shop's templates."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.template import Template
from agentrl.envs.webarena.tasks.templates.shop.buying import BUYING
from agentrl.envs.webarena.tasks.templates.shop.finding import FINDING
from agentrl.envs.webarena.tasks.templates.shop.orders import ORDERS
from agentrl.envs.webarena.tasks.templates.shop.reading import READING
from agentrl.envs.webarena.tasks.templates.shop.writing import WRITING

TEMPLATES: tuple[Template, ...] = (*READING, *FINDING, *ORDERS, *BUYING, *WRITING)

"""The shop's templates."""

from __future__ import annotations

from agentrl.envs.webarena.tasks.shop_buying import BUYING
from agentrl.envs.webarena.tasks.shop_finding import FINDING
from agentrl.envs.webarena.tasks.shop_orders import ORDERS
from agentrl.envs.webarena.tasks.shop_reading import READING
from agentrl.envs.webarena.tasks.shop_writing import WRITING
from agentrl.envs.webarena.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (*READING, *FINDING, *ORDERS, *BUYING, *WRITING)

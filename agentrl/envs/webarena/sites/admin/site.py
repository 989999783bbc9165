"""The administration with all its pages: importing a module of pages registers them."""

from agentrl.envs.webarena.sites.admin import customers, marketing, orders, products, reports, system  # noqa: F401
from agentrl.envs.webarena.sites.admin.base import site

__all__ = ["site"]

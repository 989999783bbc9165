"""The administration with all its pages: importing a module of pages registers them."""

from agentrl.envs.webarena.sites.admin import (  # noqa: F401
    account,
    cart_rules,
    categories,
    content,
    customer_addresses,
    customers,
    dashboard,
    order_documents,
    orders,
    other_reports,
    product_form,
    products,
    reviews,
    sales_reports,
    search_terms,
    stores,
    subscribers,
)
from agentrl.envs.webarena.sites.admin.base import site

__all__ = ["site"]

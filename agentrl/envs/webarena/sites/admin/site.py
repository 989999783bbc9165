"""The administration with all its pages: importing a module of pages registers them, more special ones first."""

from agentrl.envs.webarena.sites.admin import (
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
    products,
    reviews,
    sales_reports,
    search_terms,
    stores,
    subscribers,
)
from agentrl.envs.webarena.sites.admin.base import site

__all__ = [
    "account", "cart_rules", "categories", "content", "customer_addresses", "customers",
    "dashboard", "order_documents", "orders",
    "other_reports", "products", "reviews", "sales_reports", "search_terms", "site", "stores", "subscribers",
]  # fmt: skip

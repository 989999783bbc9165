"""The menu at the left: sections, and what lies in each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Entry:
    """A page that the menu leads to; an entry without an address is a heading within its section."""

    label: str
    path: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the menu. Its own link leads to its first page; on its pages all entries are listed."""

    label: str
    path: str
    entries: tuple[Entry, ...] = ()


@cache
def sections() -> tuple[Section, ...]:
    """The menu, top to bottom."""
    return (
        Section("Dashboard", "/admin/dashboard"),
        Section("Sales", "/admin/sales/order/", (
            Entry("Orders", "/admin/sales/order/"),
            Entry("Invoices", "/admin/sales/invoice/"),
            Entry("Shipments", "/admin/sales/shipment/"),
            Entry("Credit Memos", "/admin/sales/creditmemo/"),
        )),
        Section("Catalog", "/admin/catalog/product/", (
            Entry("Products", "/admin/catalog/product/"),
            Entry("Categories", "/admin/catalog/category/"),
        )),
        Section("Customers", "/admin/customer/index/", (
            Entry("All Customers", "/admin/customer/index/"),
            Entry("Customer Groups", "/admin/customer/group/"),
        )),
        Section("Marketing", "/admin/sales_rule/promo_quote/", (
            Entry("Cart Price Rules", "/admin/sales_rule/promo_quote/"),
            Entry("Newsletter Subscribers", "/admin/newsletter/subscriber/"),
            Entry("Search Terms", "/admin/search/term/"),
            Entry("All Reviews", "/admin/review/product/"),
            Entry("Pending Reviews", "/admin/review/product/pending/"),
        )),
        Section("Content", "/admin/cms/page/", (
            Entry("Pages", "/admin/cms/page/"),
            Entry("Themes", "/admin/admin/system_design_theme/"),
        )),
        Section("Reports", "/admin/reports/report_sales/sales/", (
            Entry("Marketing"),
            Entry("Search Terms", "/admin/search/term/report/"),
            Entry("Reviews"),
            Entry("By Customers", "/admin/reports/report_review/customer/"),
            Entry("By Products", "/admin/reports/report_review/product/"),
            Entry("Sales"),
            Entry("Orders", "/admin/reports/report_sales/sales/"),
            Entry("Tax", "/admin/reports/report_sales/tax/"),
            Entry("Invoiced", "/admin/reports/report_sales/invoiced/"),
            Entry("Shipping", "/admin/reports/report_sales/shipping/"),
            Entry("Refunds", "/admin/reports/report_sales/refunded/"),
            Entry("Coupons", "/admin/reports/report_sales/coupons/"),
            Entry("Customers"),
            Entry("Order Total", "/admin/reports/report_customer/totals/"),
            Entry("Order Count", "/admin/reports/report_customer/orders/"),
            Entry("Products"),
            Entry("Views", "/admin/reports/report_product/viewed/"),
            Entry("Bestsellers", "/admin/reports/report_sales/bestsellers/"),
            Entry("Low Stock", "/admin/reports/report_product/lowstock/"),
        )),
        Section("Stores", "/admin/admin/system_config/", (
            Entry("Configuration", "/admin/admin/system_config/"),
            Entry("All Stores", "/admin/admin/system_store/"),
        )),
        Section("System", "/admin/admin/system_account/", (
            Entry("My Account", "/admin/admin/system_account/"),
            Entry("All Users", "/admin/admin/user/"),
        )),
    )  # fmt: skip


# Pages that no entry leads to, by the start of their path.
_ELSEWHERE = {
    "/admin/sales/": "Sales", "/admin/admin/order_shipment/": "Sales", "/admin/catalog/": "Catalog",
    "/admin/customer/": "Customers", "/admin/sales_rule/": "Marketing", "/admin/review/": "Marketing",
    "/admin/newsletter/": "Marketing", "/admin/search/": "Marketing", "/admin/cms/": "Content",
    "/admin/admin/system_design_theme/": "Content",
    "/admin/reports/": "Reports", "/admin/search/term/report": "Reports",
    "/admin/admin/system_config": "Stores", "/admin/admin/system_store": "Stores",
    "/admin/admin/system_account": "System", "/admin/admin/user": "System",
}  # fmt: skip


def open_section(path: str) -> str:
    """The label of the section that a page belongs to: that of the longest path it starts with."""
    found = max((start for start in _ELSEWHERE if path.startswith(start)), key=len, default=None)
    return "Dashboard" if found is None else _ELSEWHERE[found]

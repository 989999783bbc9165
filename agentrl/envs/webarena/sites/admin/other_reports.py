"""Reports about products, customers and reviews: grids over sums."""

from __future__ import annotations

from agentrl.envs.webarena.sites.admin.base import site
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

CUSTOMER_SUMS = (
    "SELECT c.id AS id, c.firstname || ' ' || c.lastname AS name, c.email AS email, count(o.id) AS orders,"
    " coalesce(round(avg(o.grand_total), 2), 0.0) AS average, coalesce(sum(o.grand_total), 0.0) AS total,"
    " max(o.created_at) AS last_order"
    " FROM customer c JOIN sales_order o ON o.customer_id = c.id AND o.status != 'Canceled' GROUP BY c.id"
)
CUSTOMER_COLUMNS = (
    Column("name", "Customer"), Column("email", "Email", width=260), Column("orders", "Orders", "number", 100),
    Column("average", "Average", "money", 120), Column("total", "Total", "money", 130),
    Column("last_order", "Last Order", "date", 180),
)  # fmt: skip
GRIDS = (
    ("report_viewed", Grid(
        "/admin/reports/report_product/viewed/", "Product Views Report",
        "SELECT v.id AS id, v.month AS month, p.name AS product, p.sku AS sku, p.price AS price, v.views AS views"
        " FROM product_view v JOIN product p ON p.id = v.product_id",
        (
            Column("month", "Month", width=100), Column("product", "Product"), Column("sku", "SKU", width=150),
            Column("price", "Price", "money", 110), Column("views", "Views", "number", 90),
        ), sort="views", open_filters=True,
    )),
    ("report_lowstock", Grid(
        "/admin/reports/report_product/lowstock/", "Low Stock Report",
        "SELECT id, name, sku, qty FROM product WHERE status = 1",
        (Column("name", "Product"), Column("sku", "SKU", width=180), Column("qty", "Stock Qty", "number", 140)),
        sort="qty", descending=False, open_filters=True, edit="/admin/catalog/product/edit/id/{id}/",
    )),
    ("report_customer_orders", Grid(
        "/admin/reports/report_customer/orders/", "Order Count Report", CUSTOMER_SUMS, CUSTOMER_COLUMNS, sort="orders",
        open_filters=True, edit="/admin/customer/index/edit/id/{id}/", edit_label="View",
    )),
    ("report_customer_totals", Grid(
        "/admin/reports/report_customer/totals/", "Order Total Report", CUSTOMER_SUMS, CUSTOMER_COLUMNS, sort="total",
        open_filters=True, edit="/admin/customer/index/edit/id/{id}/", edit_label="View",
    )),
    ("report_review_customer", Grid(
        "/admin/reports/report_review/customer/", "Customer Reviews Report",
        "SELECT c.id AS id, c.firstname || ' ' || c.lastname AS name, c.email AS email, count(r.id) AS reviews"
        " FROM customer c JOIN review r ON r.customer_id = c.id GROUP BY c.id",
        (Column("name", "Customer"), Column("email", "Email", width=320), Column("reviews", "Reviews", "number", 120)),
        sort="reviews", open_filters=True, edit="/admin/customer/index/edit/id/{id}/tab/reviews/",
        edit_label="Show Reviews",
    )),
    ("report_review_product", Grid(
        "/admin/reports/report_review/product/", "Product Reviews Report",
        "SELECT p.id AS id, p.name AS name, p.sku AS sku, reviews, average, approved, last_review FROM ("
        "SELECT product_id, count(*) AS reviews, round(avg(rating), 2) AS average, max(created_at) AS last_review,"
        " round(avg(CASE WHEN status = 'Approved' THEN rating END), 2) AS approved FROM review GROUP BY product_id"
        ") r JOIN product p ON p.id = r.product_id",
        (
            Column("name", "Product"), Column("sku", "SKU", width=140), Column("reviews", "Reviews", "number", 90),
            Column("average", "Average", "number", 90), Column("approved", "Average (Approved)", "number", 140),
            Column("last_review", "Last Review", "date", 180),
        ),
        sort="reviews", open_filters=True, edit="/admin/catalog/product/edit/id/{id}/", edit_label="Product",
    )),
)  # fmt: skip


def _register(kind: str, grid: Grid) -> None:
    @site.get(grid.path)
    def show(context: Context) -> Response:
        _ = context.member
        return context.page("grid.html", kind=kind, title=grid.title, view=grid.view(context))


for _kind, _grid in GRIDS:
    _register(_kind, _grid)

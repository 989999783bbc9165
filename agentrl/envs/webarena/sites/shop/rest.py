"""The REST interface that the benchmark's helper functions ask: a token, orders, reviews of a product."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.shop.base import site
from agentrl.envs.webarena.sites.site import Context, session_token

ORDER_FIELDS = (
    "increment_id", "status", "created_at", "updated_at", "subtotal", "shipping_amount", "tax_amount",
    "discount_amount", "grand_total", "customer_id", "customer_email", "coupon_code",
)  # fmt: skip
CONDITIONS = {
    "eq": "=", "neq": "<>", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<=", "like": "LIKE", "from": ">=", "to": "<=",
}  # fmt: skip
MAX_PER_PAGE = 300
_FILTER = re.compile(r"searchCriteria\[(?:filter_groups|filterGroups)\]\[(\d+)\]\[filters\]\[(\d+)\]\[(\w+)\]")


@site.post("/rest/default/V1/integration/admin/token", "/rest/V1/integration/admin/token")
def token(context: Context) -> Response:
    """A token for an administrator with the right password."""
    given = _decoded(context)
    name, password = str(given.get("username", "")), str(given.get("password", ""))
    user = context.db.row("SELECT * FROM admin_user WHERE username = ? AND password = ?", name, password)
    if user is None:
        return _refused(context)
    return context.json(json.dumps(_token(user["username"])))


@site.get("/rest/V1/orders", "/rest/default/V1/orders")
def orders(context: Context) -> Response:
    """Orders by filters, sorted, page by page."""
    if not _is_allowed(context):
        return _refused(context)
    asked = {name.replace("sort_orders", "sortOrders"): value for name, value in context.request.query}
    where, values = _conditions(asked)
    total = context.db.value(f"SELECT count(*) FROM sales_order WHERE {where}", *values)
    size = min(context.number(asked.get("searchCriteria[pageSize]", ""), 20) or 20, MAX_PER_PAGE)
    page = max(1, context.number(asked.get("searchCriteria[currentPage]", "1"), 1, 10**6))
    column = _column(asked.get("searchCriteria[sortOrders][0][field]", "")) or "id"
    direction = "ASC" if asked.get("searchCriteria[sortOrders][0][direction]", "").upper() == "ASC" else "DESC"
    found = context.db.rows(
        f"SELECT * FROM sales_order WHERE {where} ORDER BY {column} {direction}, id {direction} LIMIT ? OFFSET ?",
        *values, size, (page - 1) * size,
    )  # fmt: skip
    return context.json(json.dumps({"items": [_order(context, row) for row in found], "total_count": total}))


@site.get("/rest/V1/products/{sku}/reviews", "/rest/default/V1/products/{sku}/reviews")
def reviews(context: Context) -> Response:
    """All reviews of a product in the order in which they came, also those that wait for approval."""
    if not _is_allowed(context):
        return _refused(context)
    rows = context.db.rows(
        "SELECT review.* FROM review JOIN product ON product.id = product_id WHERE sku = ? ORDER BY review.id",
        context.params["sku"],
    )
    return context.json(json.dumps([_review(row) for row in rows]))


def _order(context: Context, order: sqlite3.Row) -> dict[str, Any]:
    items = context.db.rows("SELECT * FROM order_item WHERE order_id = ? ORDER BY id", order["id"])
    return {
        "entity_id": order["id"],
        **{name: order[name] for name in ORDER_FIELDS},
        "items": [
            {"item_id": item["id"], "sku": item["sku"], "name": item["name"], "price": item["price"],
             "qty_ordered": item["qty"], "row_total": item["row_total"]}
            for item in items
        ],
    }  # fmt: skip


def _review(review: sqlite3.Row) -> dict[str, Any]:
    percent = review["rating"] * 20
    rating = {
        "vote_id": review["id"], "rating_id": 4, "rating_name": "Rating", "percent": percent, "value": review["rating"],
    }  # fmt: skip
    status = {"Approved": 1, "Pending": 2, "Not Approved": 3}.get(review["status"], 2)
    return {
        **{name: review[name] for name in ("id", "title", "detail", "nickname", "customer_id", "created_at")},
        "ratings": [rating], "review_entity": "product", "review_status": status,
        "entity_pk_value": review["product_id"],
    }  # fmt: skip


def _conditions(asked: dict[str, str]) -> tuple[str, list[str]]:
    """A WHERE clause: groups are joined by AND, the filters of a group by OR. Unknown fields are left out."""
    groups: dict[str, dict[str, dict[str, str]]] = {}
    for name, value in asked.items():
        if found := _FILTER.fullmatch(name):
            group, number, part = found.groups()
            groups.setdefault(group, {}).setdefault(number, {})[part.replace("conditionType", "condition_type")] = value
    clauses, values = [], []
    for group in groups.values():
        parts = []
        for one in group.values():
            sign = CONDITIONS.get(one.get("condition_type", "eq"))
            field = _column(one.get("field", ""))
            if sign and field:
                parts.append(f"{field} {sign} ?")
                values.append(one.get("value", ""))
        if parts:
            clauses.append(f"({' OR '.join(parts)})")
    return " AND ".join(clauses) or "1", values


def _column(name: str) -> str | None:
    """Only these become part of a statement."""
    return "id" if name == "entity_id" else name if name in ORDER_FIELDS else None


def _token(username: str) -> str:
    return session_token("rest", username)


def _is_allowed(context: Context) -> bool:
    given = context.request.headers.get("authorization", "")
    names = context.db.rows("SELECT username FROM admin_user")
    return any(given == f"Bearer {_token(row['username'])}" for row in names)


def _refused(context: Context) -> Response:
    return context.json(json.dumps({"message": "The consumer isn't authorized to access this resource."}), 401)


def _decoded(context: Context) -> dict[str, Any]:
    try:
        given = json.loads(context.request.body or b"{}")
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}

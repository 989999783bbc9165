"""Categories: the tree, and the form of one category with its products."""

from __future__ import annotations

import sqlite3

from agentrl.envs.webarena.sites.admin.base import Refused, record, required, returns_to, site
from agentrl.envs.webarena.sites.admin.grid import Grid
from agentrl.envs.webarena.sites.admin.products import PRODUCTS
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

EDIT = "/admin/catalog/category/edit/id/{id}/"


def _tree(context: Context, chosen: sqlite3.Row | None) -> list[tuple[int, sqlite3.Row]]:
    """Level and category: those at the top, and below the open ones their children."""
    rows = context.db.rows("SELECT * FROM category ORDER BY position, id")
    by_id = {row["id"]: row for row in rows}
    opened: set[int | None] = {None}
    while chosen is not None and chosen["id"] not in opened:
        opened.add(chosen["id"])
        chosen = by_id.get(chosen["parent_id"])
    found: list[tuple[int, sqlite3.Row]] = []

    def add(parent: int | None, level: int) -> None:
        for row in rows:
            top = parent is None and row["parent_id"] not in by_id
            if top or (parent is not None and row["parent_id"] == parent):
                found.append((min(level, 2), row))
                if row["id"] in opened and level < 8:
                    add(row["id"], level + 1)

    add(None, 0)
    return found


@site.get("/admin/catalog/category/", "/admin/catalog/category/index/")
def tree(context: Context) -> Response:
    """All categories at the top."""
    _ = context.member
    return context.page(
        "category.html", kind="categories", title="Categories", category=None, tree=_tree(context, None)
    )


@site.get(EDIT)
def edit(context: Context) -> Response:
    """One category."""
    category = record(context, "category")
    products: Grid = PRODUCTS.among(
        f"SELECT * FROM ({PRODUCTS.source}) WHERE id IN (SELECT id FROM product WHERE category_id = ?)", category["id"],
        path=EDIT.format(id=category["id"]), actions=(), add=None,
    )  # fmt: skip
    return context.page(
        "category.html", kind="category", title=f"{category['name']} (ID: {category['id']})", category=category,
        tree=_tree(context, category), view=products.view(context),
    )  # fmt: skip


@site.post("/admin/catalog/category/save/id/{id}/")
@returns_to(EDIT)
def save(context: Context) -> Response:
    """Change the name and position of a category; its address stays."""
    category = record(context, "category")
    position = context.form("position").strip()
    if not position.isascii() or not position.isdigit() or len(position) > 6:
        raise Refused('"Position" must be a whole number.')
    name = required(context.form("name"), "Category Name")
    context.db.update("category", category["id"], name=name, position=int(position))
    return context.redirect(EDIT.format(id=category["id"]), "You saved the category.")

"""Products: the grid, and actions for marked ones."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.sites.admin.base import Refused, amount, returns_to, site, whole
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.database import Database
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

EDIT = "/admin/catalog/product/edit/id/{id}/"
ENABLED, DISABLED = 1, 2
STATUS_CHOICES = ((str(ENABLED), "Enabled"), (str(DISABLED), "Disabled"))
STOCK_CHOICES = (("1", "In Stock"), ("0", "Out of Stock"))
PRODUCTS = Grid(
    "/admin/catalog/product/", "Products",
    "SELECT p.id AS id, p.name AS name, p.sku AS sku, p.price AS price, p.qty AS qty, p.status AS status,"
    " p.is_in_stock AS is_in_stock, p.brand AS brand, c.name AS category, p.updated_at AS updated_at"
    " FROM product p LEFT JOIN category c ON c.id = p.category_id",
    (
        Column("id", "ID", "number", 64), Column("name", "Name"), Column("sku", "SKU", width=130),
        Column("category", "Category", width=130), Column("price", "Price", "money", 84),
        Column("qty", "Quantity", "number", 84), Column("is_in_stock", "Stock", "choice", 96, STOCK_CHOICES),
        Column("status", "Status", "choice", 80, STATUS_CHOICES), Column("brand", "Brand", shown=False),
        Column("updated_at", "Last Updated", "date", shown=False),
    ),
    searched=("name", "sku"), edit=EDIT, add=("/admin/catalog/product/new/", "Add Product"), descending=False,
    actions=(("delete", "Delete"), ("enable", "Enable"), ("disable", "Disable"), ("update", "Update attributes")),
    actions_path="/admin/catalog/product/massAction/",
)  # fmt: skip


@site.get(PRODUCTS.path, "/admin/catalog/product/index/")
def grid(context: Context) -> Response:
    """All products."""
    _ = context.member
    return context.page("grid.html", kind="products", title=PRODUCTS.title, view=PRODUCTS.view(context))


@site.post(PRODUCTS.actions_path)
@returns_to(PRODUCTS.path)
def mass_action(context: Context) -> Response:
    """Delete, enable or disable marked products, or go on to change values of all of them."""
    action = context.form("action")
    if action not in dict(PRODUCTS.actions):
        raise Refused("Please select an action.")
    chosen = _marked(context)
    if action == "update":
        return context.redirect(f"/admin/catalog/product_action_attribute/edit/?ids={','.join(map(str, chosen))}")
    for number in chosen:
        if action == "delete":
            delete_product(context.db, number)
        else:
            change_product(context.db, number, status=ENABLED if action == "enable" else DISABLED)
    done = "deleted" if action == "delete" else "updated"
    return context.redirect(PRODUCTS.path, f"A total of {len(chosen)} record(s) have been {done}.")


def delete_product(db: Database, number: int) -> None:
    """Remove a product with all that is about it alone; orders keep what was sold."""
    for table in ("product_option", "product_view", "review", "cart_item", "wishlist_item"):
        for row in db.rows(f"SELECT id FROM {table} WHERE product_id = ?", number):
            db.delete(table, row["id"])
    db.delete("product", number)


def _marked(context: Context) -> list[int]:
    numbers = [context.number(text) for text in context.forms("selected")]
    if not (chosen := [number for number in numbers if context.db.get("product", number) is not None]):
        raise Refused("You haven't selected any items!")
    return list(dict.fromkeys(chosen))


def change_product(db: Database, number: int, **values: Any) -> None:
    """Change columns of a product."""
    db.update("product", number, **values, updated_at=db.now())


# ---------------------------------------------------------------------- several products at once


@site.get("/admin/catalog/product_action_attribute/edit/")
def edit_many(context: Context) -> Response:
    """Values for all marked products; empty fields leave them as they are."""
    _ = context.member
    ids = [context.number(text) for text in context.query("ids").split(",")[:200]]
    chosen = [row for number in ids if (row := context.db.get("product", number)) is not None]
    return context.page(
        "products_update.html", kind="products_update", title="Update Attributes", products=chosen,
        statuses=STATUS_CHOICES, stocks=STOCK_CHOICES,
    )  # fmt: skip


@site.post("/admin/catalog/product_action_attribute/save/")
@returns_to(PRODUCTS.path)
def save_many(context: Context) -> Response:
    """Change what was filled in, for all of them."""
    form = context.form
    values: dict[str, Any] = {}
    if form("attributes[price]").strip():
        values["price"] = amount(form("attributes[price]"), "Price")
    if form("inventory[qty]").strip():
        values["qty"] = whole(form("inventory[qty]"), "Quantity")
    for name, field in (
        ("status", "attributes[status]"),
        ("is_in_stock", "inventory[is_in_stock]"),
        ("sale", "attributes[sale]"),
    ):
        if form(field) in ("0", "1", "2"):
            values[name] = int(form(field))
    if not values:
        raise Refused("Fill in at least one value to change.")
    chosen = _marked(context)
    for number in chosen:
        change_product(context.db, number, **values)
    return context.redirect(PRODUCTS.path, f"A total of {len(chosen)} record(s) were updated.")
